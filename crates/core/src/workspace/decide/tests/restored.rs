//! States that somebody put back.

use capt_api::workspace_template_apply::DriftPolicy;

use super::*;

fn restored(world: World) -> World {
    world.with(|active| active.restored = true)
}

#[test]
fn what_is_in_line_with_the_state_that_was_put_back_is_only_looked_at() {
    let mut world = restored(World::settled());
    assert_eq!(world.walk(), ["plan", "confirm", "settled"]);
    assert_eq!(world.walk(), ["settled"]);
}

#[rstest]
#[case::correct(DriftPolicy::Correct)]
#[case::report(DriftPolicy::Report)]
#[case::ignore(DriftPolicy::Ignore)]
fn nothing_is_changed_before_somebody_approves_it_whatever_the_policy(#[case] policy: DriftPolicy) {
    let mut world = restored(World::settled().drifted()).with(|active| active.drift_policy = policy);
    assert_eq!(world.walk(), ["plan", "await approval"]);
    let Step::AwaitApproval { hash, why, .. } = world.decide() else { panic!("nothing waits") };
    assert_eq!(why, [Concern::Restored]);

    let mut world = world.with(|active| active.approvals = vec![hash]);
    assert_eq!(world.walk(), ["apply", "publish", "settled"]);
}

#[test]
fn a_restart_forgets_nothing_of_it() {
    let mut world = restored(World::settled().drifted());
    world.walk();
    assert_eq!(world.restarted().walk(), ["plan", "await approval"]);
}

#[test]
fn where_nothing_may_be_changed_it_is_told_and_whoever_permits_it_later_has_not_approved_it() {
    let mut world = restored(World::settled().drifted()).permitting(false, false);
    assert_eq!(world.walk(), ["plan", "report drift"]);
    assert_eq!(world.permitting(true, true).walk(), ["await approval"]);
}

#[test]
fn outputs_that_are_published_again_meanwhile_approve_nothing() {
    let mut world = restored(World::settled().drifted()).permitting(false, false);
    world.active.connection = Connection::Incomplete;
    assert_eq!(world.walk(), ["plan", "outputs", "publish", "plan", "report drift"]);
    assert_eq!(world.permitting(true, true).walk(), ["await approval"]);
}
