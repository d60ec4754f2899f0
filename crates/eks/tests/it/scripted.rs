//! The minter for other people's tests.

use capt_eks::scripted::ScriptedMinter;
use capt_eks::{Error, Minter, Request, describe};
use jiff::{SignedDuration, Timestamp};
use secrecy::ExposeSecret as _;

fn request() -> Request {
    Request { region: "eu-west-1".to_owned(), cluster_name: "demo".to_owned(), role: None }
}

#[tokio::test]
async fn scripted_tokens_are_real_and_never_the_same() {
    let minter = ScriptedMinter::default();
    let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    minter.stop_clock_at(now);
    minter.end_session_at(now + SignedDuration::from_mins(5));

    let [one, other] = [minter.mint(&request()).await.unwrap(), minter.mint(&request()).await.unwrap()];

    assert_ne!(one.value.expose_secret(), other.value.expose_secret());
    assert_eq!(describe(one.value.expose_secret()).unwrap().signed_at, now);
    assert_eq!(one.expires_at, now + SignedDuration::from_mins(5));
    assert_eq!(minter.requests(), [request(), request()]);
}

#[tokio::test]
async fn a_scripted_failure_lasts_until_it_is_taken_back() {
    let minter = ScriptedMinter::default();
    minter.fail(Some(Error::NoIdentity { tried: Vec::new() }));

    assert!(matches!(minter.mint(&request()).await, Err(Error::NoIdentity { .. })));
    assert!(minter.caller(&request()).await.is_err());

    minter.fail(None);
    assert!(minter.mint(&request()).await.is_ok());
}
