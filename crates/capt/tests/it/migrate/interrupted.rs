//! Killed after each of its writes, and run again.

use capt_testkit::way::Way;
use rustix::process::{Pid, Signal, kill_process};

use super::stage::{Stage, command, ended};

/// More writes than a migration has.
const MOST: usize = 40;

#[tokio::test(flavor = "multi_thread")]
async fn whatever_it_has_written_last_running_it_again_finishes_it() {
    for writes in 1..MOST {
        let stage = Stage::set().await;
        let manager = stage.play_manager();
        let way = Way::open(stage.client.clone(), writes).await.unwrap();
        let child = command(way.kubeconfig(), &stage.namespace, "json", &["--yes"]).spawn().unwrap();
        let pid = Pid::from_child(&child);
        let mut running = tokio::spawn(ended(child));
        tokio::select! {
            result = &mut running => {
                let (code, _, told) = result.unwrap();
                assert_eq!(code, Some(0), "{told}");
                assert!(writes > 8, "only {writes} writes");
                stage.assert_migrated().await;
                manager.abort();
                return;
            }
            () = way.is_over() => kill_process(pid, Signal::KILL).unwrap(),
        }
        running.await.unwrap();

        let (code, _, told) = stage.migrate(&["--yes"]).await;

        assert_eq!(code, Some(0), "after {writes} writes: {told}");
        stage.assert_migrated().await;
        manager.abort();
    }
    panic!("it has not ended after {MOST} writes");
}
