//! Looks at reality: when they are due, and what becomes of what they find.

use capt_api::workspace_template_apply::DriftPolicy;

use super::world::INTERVAL;
use super::*;

fn drifting(policy: DriftPolicy) -> World {
    World::settled().with(|active| active.drift_policy = policy).drifted()
}

#[test]
fn a_look_is_due_after_the_interval_and_not_before() {
    assert_eq!(World::settled().later(INTERVAL.mul_f64(0.89)).walk(), ["settled"]);
    assert_eq!(World::settled().later(INTERVAL.mul_f64(1.11)).walk(), ["plan", "confirm", "settled"]);
}

#[rstest]
#[case::correct(DriftPolicy::Correct, &["plan", "apply", "publish", "settled"], &["settled"])]
#[case::report(DriftPolicy::Report, &["plan", "report drift"], &["report drift"])]
#[case::ignore(DriftPolicy::Ignore, &["settled"], &["settled"])]
fn drift_is_treated_by_policy(#[case] policy: DriftPolicy, #[case] way: &[&str], #[case] then: &[&str]) {
    let mut world = drifting(policy).later(INTERVAL * 2);
    assert_eq!(world.walk(), way);
    assert_eq!(world.walk(), then);
}

#[rstest]
#[case::correct(DriftPolicy::Correct)]
#[case::report(DriftPolicy::Report)]
fn outputs_that_differ_each_time_are_no_drift(#[case] policy: DriftPolicy) {
    let mut world = World::settled().with(|active| active.drift_policy = policy);
    world.volatile_outputs = true;
    let mut world = world.later(INTERVAL * 2);
    assert_eq!(world.walk(), ["plan", "confirm", "settled"]);
    assert_eq!(world.later(INTERVAL * 2).walk(), ["plan", "confirm", "settled"]);
}

#[test]
fn a_change_that_reaches_outputs_alone_is_applied_once() {
    let mut world = World::settled();
    world.volatile_outputs = true;
    world.real = Some("second".to_owned());
    let mut world = world.with(|active| active.inputs = Ok(super::world::inputs("second")));
    assert_eq!(world.walk(), ["plan", "apply", "publish", "settled"]);
    assert_eq!(world.walk(), ["settled"]);
}

#[test]
fn a_request_looks_at_once_and_once() {
    let mut world = drifting(DriftPolicy::Correct).with(|active| active.requested = true);
    assert_eq!(world.walk(), ["plan", "apply", "publish", "settled"]);
}

#[test]
fn a_request_looks_even_where_drift_is_ignored_and_corrects_nothing() {
    let mut world = drifting(DriftPolicy::Ignore).with(|active| active.requested = true);
    assert_eq!(world.walk(), ["plan", "report drift"]);
    assert_eq!(world.walk(), ["report drift"]);
}

#[test]
fn a_request_makes_a_plan_that_waits_anew() {
    let mut world = drifting(DriftPolicy::Report).later(INTERVAL * 2);
    world.walk();
    let mut world = world.with(|active| active.requested = true);
    assert_eq!(world.walk(), ["plan", "report drift"]);
}

#[test]
fn drift_that_was_told_is_looked_for_again_and_goes_when_it_is_gone() {
    let mut world = drifting(DriftPolicy::Report).later(INTERVAL * 2);
    world.walk();
    let Step::ReportDrift { next_check: Some(next), .. } = world.decide() else { panic!("never again") };
    world.active.now = next;
    assert_eq!(world.walk(), ["plan", "report drift"]);
    world.real = Some("first".to_owned());
    assert_eq!(world.later(INTERVAL * 2).walk(), ["plan", "confirm", "settled"]);
}

#[test]
fn drift_that_was_told_is_corrected_when_the_policy_says_so() {
    let mut world = drifting(DriftPolicy::Report).later(INTERVAL * 2);
    world.walk();
    let mut world = world.with(|active| active.drift_policy = DriftPolicy::Correct);
    assert_eq!(world.walk(), ["apply", "publish", "settled"]);
}

#[test]
fn drift_does_not_keep_outputs_from_being_published_again() {
    let mut world = drifting(DriftPolicy::Report).later(INTERVAL * 2);
    world.walk();
    let mut world = world.with(|active| active.connection = Connection::Incomplete);
    assert_eq!(world.walk(), ["outputs", "publish", "settled"]);
}

#[test]
fn a_look_that_fails_is_taken_again_after_a_pause() {
    let mut world = World::settled().later(INTERVAL * 2).failing([failure(Retry::Backoff)]);
    assert_eq!(world.walk(), ["plan", "hold"]);
    assert_eq!(world.later(schedule::pause(1)).walk(), ["plan", "confirm", "settled"]);
}

#[rstest]
#[case::made(World::new().with(|active| active.held = true), Priority::Creation)]
#[case::changed(World::settled().changed("second"), Priority::Change)]
#[case::looked_at(World::settled().later(INTERVAL * 2), Priority::Check)]
#[case::destroyed(World::settled().deleted(), Priority::Deletion)]
fn who_is_waited_for_goes_first(#[case] world: World, #[case] expected: Priority) {
    let Step::Start(start) = world.decide() else { panic!("nothing is run") };
    assert_eq!(start.priority, expected);
}
