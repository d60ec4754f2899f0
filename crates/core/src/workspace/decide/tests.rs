use capt_api::names::Reason;
use rstest::rstest;

use super::super::lock::Holder;
use super::super::observed::{Active, Connection, Deleting, Ending};
use super::*;
use crate::tie::ApplyKey;
use world::{World, failure, locked, reason};

mod approvals;
mod deleting;
mod drift;
mod failures;
mod fleet;
mod lifecycle;
mod preview;
mod properties;
mod restored;
mod state;
mod world;

fn freeze() -> Freeze {
    Freeze::ApplyGone(ApplyKey { namespace: "team-a".to_owned(), name: "demo-apply".to_owned() })
}

#[rstest]
#[case::of_others(Observed::NotOurs, Step::Leave)]
#[case::frozen(Observed::Frozen(freeze()), Step::Freeze(freeze()))]
#[case::abandoned(Observed::Abandoned(freeze()), Step::Abandon(freeze()))]
#[case::paused(Observed::Paused, Step::Pause)]
#[case::busy(Observed::Busy { outdated: false }, Step::Wait)]
#[case::busy_with_what_is_to_go(Observed::Busy { outdated: true }, Step::Interrupt)]
fn standing_comes_before_everything_else(#[case] seen: Observed, #[case] expected: Step) {
    assert_eq!(decide(&seen), expected);
}
