//! Two managers and an API server that stops answering, in the test's own time.

mod server;

use std::time::Duration;

use capt_core::lease::Scope;
use rstest::rstest;
use tokio::time::Instant;

use server::{Frozen, Server};

use super::Leadership;
use crate::options::LeaderElection;
use crate::uptime::UptimeClock;

const LEASE: Duration = Duration::from_secs(15);

fn leadership(client: kube::Client, identity: &str, lease_duration: Duration) -> Leadership {
    let options = LeaderElection {
        namespace: "capt-system".to_owned(),
        name: "capt".to_owned(),
        identity: identity.to_owned(),
        lease_duration,
    };
    let began = Instant::now();
    let clock = UptimeClock::new(move || began.elapsed());
    Leadership { clock, ..Leadership::new(client, options, Scope::default()) }
}

/// Whatever moment of its round the leader is in when the server stops answering it.
#[rstest]
#[case::requests_do_not_arrive(Frozen::Requests)]
#[case::answers_do_not_arrive(Frozen::Answers)]
#[tokio::test(start_paused = true)]
async fn a_leader_that_cannot_renew_stops_before_anybody_else_begins(#[case] frozen: Frozen) {
    for moment in 0..90 {
        let server = Server::new();
        let ((first, path), (second, _)) = (server.client(), server.client());
        let (first, second) = (leadership(first, "first", LEASE), leadership(second, "second", LEASE));
        let term = first.acquire().await.unwrap().term;
        let acting = async {
            first.keep(&term).await;
            assert!(term.is_over());
            Instant::now()
        };
        let standing_by = async {
            second.acquire().await;
            Instant::now()
        };
        let freezing = async {
            tokio::time::sleep(Duration::from_millis(10_000 + moment * 70)).await;
            path.set(frozen);
        };
        let (stopped, began, ()) = tokio::join!(acting, standing_by, freezing);
        assert!(
            stopped < began,
            "frozen at moment {moment}: the first acts {:?} after the second began",
            stopped - began
        );
    }
}

/// It may wait for Terraform for many minutes, and nobody else may begin as long as it does.
#[tokio::test(start_paused = true)]
async fn a_manager_that_does_not_act_any_more_keeps_its_lease_until_it_releases_it() {
    let server = Server::new();
    let (first, second) = (server.client().0, server.client().0);
    let (first, second) = (leadership(first, "first", LEASE), leadership(second, "second", LEASE));
    let term = first.acquire().await.unwrap().term;
    term.end();
    tokio::select! {
        () = first.keep(&term) => panic!("it does not renew its Lease any more"),
        _ = second.acquire() => panic!("the second leads"),
        () = tokio::time::sleep(LEASE * 10) => {}
    }
    first.release().await;
    second.acquire().await;
}

/// What others are told must not be shorter than what the holder counts on.
#[rstest]
#[case::whole(Duration::from_secs(15), 15)]
#[case::a_part(Duration::from_millis(1500), 2)]
#[case::less_than_one(Duration::from_millis(900), 1)]
#[case::more_than_can_be_told(Duration::MAX, i32::MAX)]
#[tokio::test(start_paused = true)]
async fn a_lease_lasts_at_least_as_long_as_its_holder_counts_on(
    #[case] duration: Duration,
    #[case] told: i32,
) {
    let server = Server::new();
    leadership(server.client().0, "first", duration).acquire().await;
    assert_eq!(server.lease().unwrap().spec.unwrap().lease_duration_seconds, Some(told));
}
