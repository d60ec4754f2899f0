//! Workspaces that were derived again in the cluster that their apply was moved to.

use super::*;

#[test]
fn the_first_thing_is_a_plan_and_an_empty_one_takes_over() {
    let mut world = World::settled().moved();
    assert_eq!(world.walk(), ["claim", "plan", "outputs", "publish", "settled"][1..]);
    assert_eq!(world.walk(), ["settled"]);
}

#[test]
fn nothing_is_changed_before_somebody_approves_it() {
    let mut world = World::settled().drifted().moved();
    assert_eq!(world.walk(), ["plan", "await approval"]);
    let Step::AwaitApproval { hash, why, .. } = world.decide() else { panic!("nothing waits") };
    assert_eq!(why, [Concern::Moved]);
    assert_eq!(world.clone().restarted().walk(), ["plan", "await approval"]);

    let mut world = world.with(|active| active.approvals = vec![hash]);
    assert_eq!(world.walk(), ["apply", "publish", "settled"]);
}

#[test]
fn what_was_begun_elsewhere_is_not_finished_without_approval() {
    let mut world = World::new();
    world.active.held = true;
    let Step::Start(_) = world.decide() else { panic!("nothing is planned") };
    world.act(&world.decide());
    world.act(&world.decide());
    assert!(world.active.memory.begun.is_some(), "an apply was begun");
    // The state that came along is from before it ended.
    world.real = None;
    world.active.state = State::Present { empty: true };
    assert_eq!(world.moved().walk(), ["plan", "await approval"]);
}

#[test]
fn a_state_that_did_not_come_along_is_waited_for_even_without_a_record() {
    let mut world = World::settled().moved().with(|active| active.state = State::Absent);
    assert_eq!(reason(&world.decide()), Some(Reason::StateMissing));
    world.active.memory = Memory::default();
    assert!(world.active.state_noted);
    assert_eq!(reason(&world.decide()), Some(Reason::StateMissing));
}

#[test]
fn where_nothing_may_be_changed_it_is_told_and_whoever_permits_it_later_has_not_approved_it() {
    let mut world = World::settled().drifted().moved().permitting(false, false);
    assert_eq!(world.walk(), ["plan", "outputs", "publish", "settled"]);
    let mut world = world.permitting(true, true);
    assert_eq!(world.walk(), ["plan", "await approval"]);
}
