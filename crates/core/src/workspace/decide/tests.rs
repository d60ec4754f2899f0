use capt_api::names::Reason;
use rstest::rstest;

use super::super::lock::Holder;
use super::super::observed::{Active, Connection, Deleting, Ending};
use super::super::traces::Traces;
use super::*;
use crate::tie::ApplyKey;
use world::{World, failure, locked, reason};

mod approvals;
mod deleting;
mod drift;
mod failures;
mod fleet;
mod lifecycle;
mod moved;
mod preview;
mod properties;
mod restored;
mod state;
mod taken_over;
mod world;

fn freeze() -> Freeze {
    Freeze::ApplyGone(ApplyKey { namespace: "team-a".to_owned(), name: "demo-apply".to_owned() })
}

#[rstest]
#[case::of_others(Observed::NotOurs, Step::Leave)]
#[case::passing(Observed::Passing(Move::Take), Step::Pass(Move::Take))]
#[case::frozen(Observed::Frozen(freeze()), Step::Freeze(freeze()))]
#[case::abandoned(Observed::Abandoned(freeze()), Step::Abandon(freeze()))]
#[case::left_behind(Observed::LeftBehind(freeze()), Step::Drop(freeze()))]
#[case::paused_after_an_apply(Observed::Unsettled { freeze: freeze(), publishes: true }, Step::Publish)]
#[case::paused_with_an_apply_that_nobody_saw_end(Observed::Unsettled { freeze: freeze(), publishes: false }, Step::Settle(freeze()))]
#[case::paused(Observed::Paused, Step::Pause)]
#[case::busy(Observed::Busy { outdated: false }, Step::Wait)]
#[case::busy_with_what_is_to_go(Observed::Busy { outdated: true }, Step::Interrupt)]
fn standing_comes_before_everything_else(#[case] seen: Observed, #[case] expected: Step) {
    assert_eq!(decide(&seen), expected);
}
