use capt_api::names::Reason;
use rstest::rstest;

use super::super::lock::Holder;
use super::super::observed::{Active, Connection, Deleting, Ending, Remains};
use super::super::traces::Traces;
use super::*;
use crate::tie::ApplyKey;
use world::{World, failure, locked, reason};

mod approvals;
mod deleting;
mod drift;
mod failures;
mod fleet;
mod interrupted;
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

fn unanswered() -> crate::apply::Blocked {
    let workspace = serde_json::from_value(serde_json::json!({
        "metadata": { "name": "demo" },
        "spec": { "forProvider": { "source": "Inline", "module": "" } },
    }));
    crate::workspace::handover::unanswered(&workspace.unwrap())
}

#[rstest]
#[case::of_others(Observed::NotOurs, Step::Leave)]
#[case::passing(Observed::Passing(Move::Take), Step::Pass(Move::Take))]
#[case::asked(Observed::Asked { unanswered: unanswered(), due: Timestamp::MAX, now: Timestamp::UNIX_EPOCH }, Step::AwaitCrossplane { until: Timestamp::MAX })]
#[case::frozen(Observed::Frozen(freeze()), Step::Freeze(freeze()))]
#[case::abandoned(Observed::Abandoned(freeze()), Step::Abandon(freeze()))]
#[case::left_behind(left_behind(Remains::Nothing), Step::Drop(freeze()))]
#[case::left_behind_with_an_empty_state(left_behind(Remains::EmptyState), Step::Drop(freeze()))]
#[case::paused_after_an_apply(Observed::Unsettled { freeze: freeze(), publishes: true }, Step::Publish)]
#[case::paused_with_an_apply_that_nobody_saw_end(Observed::Unsettled { freeze: freeze(), publishes: false }, Step::Settle(freeze()))]
#[case::paused(Observed::Paused, Step::Pause)]
#[case::busy(Observed::Busy { outdated: false }, Step::Wait)]
#[case::busy_with_what_is_to_go(Observed::Busy { outdated: true }, Step::Interrupt)]
fn standing_comes_before_everything_else(#[case] seen: Observed, #[case] expected: Step) {
    assert_eq!(decide(&seen), expected);
}

fn left_behind(remains: Remains) -> Observed {
    Observed::LeftBehind { freeze: freeze(), remains, now: Timestamp::UNIX_EPOCH }
}

#[rstest]
#[case::process(Remains::Process, Reason::StateLeftBehind, "still goes on here", true)]
#[case::file(Remains::Unstored, Reason::StatePushFailed, "errored.tfstate", false)]
#[case::secret(Remains::State("a/tfstate-x-capt".to_owned()), Reason::StateLeftBehind, "Secret `a/tfstate-x-capt`", false)]
fn what_is_left_behind_is_kept_while_a_state_of_it_is_nowhere_else(
    #[case] remains: Remains,
    #[case] expected: Reason,
    #[case] says: &str,
    #[case] has_no_event: bool,
) {
    let step = decide(&left_behind(remains));
    assert_eq!(reason(&step), Some(expected));
    let Step::Hold { blocked, until } = step else { panic!("{step:?}") };
    assert!(blocked.message.contains(says), "{}", blocked.message);
    assert_eq!(until.is_some(), has_no_event);
}

#[test]
fn that_crossplane_does_not_answer_is_told_with_the_verb_that_helps() {
    let due = Timestamp::UNIX_EPOCH;
    let step = decide(&Observed::Asked { unanswered: unanswered(), due, now: due });
    let told = unanswered();
    assert_eq!(told.reason, Reason::HandoverUnanswered);
    let expected = "capt migrate from-crossplane demo --provider-stopped";
    assert!(told.message.contains(expected), "{}", told.message);
    assert_eq!(step, Step::Hold { blocked: told, until: None });
}
