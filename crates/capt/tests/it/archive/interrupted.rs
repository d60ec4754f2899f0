//! Killed after each of its writes, and run again.

use std::process::{Command, Stdio};

use capt_testkit::way::Way;
use rustix::process::{Pid, Signal, kill_process};

use super::cluster::assert_restored;
use super::stage::{PASSPHRASE, Stage, seal, unsealed};
use crate::printed;
use crate::up::CAPT;

/// More writes than a restore of the stage has.
const MOST: usize = 60;

#[tokio::test(flavor = "multi_thread")]
async fn whatever_it_has_written_last_running_it_again_finishes_it() {
    let stage = Stage::set().await;
    let before = stage.objects().await;
    let (expensive, file) = (stage.file("backup.age"), stage.file("cheap.age"));
    printed(&mut stage.backup(&expensive));
    // A passphrase that is cheap to check, since it is checked often.
    seal(&file, unsealed(&expensive).as_bytes());
    for writes in 1..MOST {
        stage.wipe().await;
        let way = Way::open(stage.client.clone(), writes).await.unwrap();
        let mut command = Command::new(CAPT);
        command
            .arg("restore")
            .arg(&file)
            .env("KUBECONFIG", way.kubeconfig())
            .env("CAPT_BACKUP_PASSPHRASE", PASSPHRASE);
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_child(&child);
        let mut running = tokio::task::spawn_blocking(move || child.wait_with_output());
        tokio::select! {
            ended = &mut running => {
                let ended = ended.unwrap().unwrap();
                assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
                assert!(writes > 20, "only {writes} writes");
                assert_restored(&stage, &before).await;
                return;
            }
            () = way.is_over() => kill_process(pid, Signal::KILL).unwrap(),
        }
        running.await.unwrap().unwrap();

        printed(&mut stage.restore(&file));

        assert_restored(&stage, &before).await;
    }
    panic!("it has not ended after {MOST} writes");
}
