//! Plans that wait for the user.

use capt_api::workspace_template_apply::UpdatePolicy;

use super::super::super::observed::PlannedAction;
use super::super::super::protection::Protection;
use super::world::INTERVAL;
use super::*;

fn awaited(world: &World) -> (String, Vec<Concern>) {
    match world.decide() {
        Step::AwaitApproval { hash, why, next_check: _ } => (hash, why),
        other => panic!("expected to wait for approval, got {other:?}"),
    }
}

/// A plan that replaces a protected resource, and waits.
fn replacing() -> World {
    let mut world = World::settled().changed("second");
    world.action = Some(PlannedAction::Replace);
    assert_eq!(world.walk(), ["plan", "await approval"]);
    world
}

fn guarded(policy: UpdatePolicy) -> World {
    World::settled().with(|active| active.update_policy = policy).changed("second")
}

#[test]
fn a_plan_that_hurts_what_is_protected_waits() {
    let (_, why) = awaited(&replacing());
    assert_eq!(why, [Concern::Protected(vec!["aws_vpc.main".to_owned()])]);
}

#[test]
fn a_plan_that_hurts_nothing_protected_does_not_wait() {
    let mut world = World::settled().changed("second");
    world.action = Some(PlannedAction::Replace);
    let mut world = world.with(|active| active.protection = Protection::new(["none"]));
    assert_eq!(world.walk(), ["plan", "apply", "publish", "settled"]);
}

#[rstest]
#[case::by_its_hash(64, true)]
#[case::by_a_long_beginning(12, true)]
#[case::by_a_short_beginning(11, false)]
fn an_approved_plan_is_applied(#[case] length: usize, #[case] applied: bool) {
    let mut world = replacing();
    let (hash, _) = awaited(&world);
    world.active.approvals = vec!["another".repeat(3), hash[..length].to_owned()];
    let expected: &[&str] = if applied { &["apply", "publish", "settled"] } else { &["await approval"] };
    assert_eq!(world.walk(), expected);
}

#[test]
fn an_approval_outlives_the_manager_and_a_stale_plan() {
    let mut world = replacing();
    world.active.approvals = vec![awaited(&world).0];
    let mut world = world.failing([failure(Retry::Replan)]);
    assert_eq!(world.walk(), ["apply", "plan", "apply", "publish", "settled"]);

    let mut world = replacing();
    world.active.approvals = vec![awaited(&world).0];
    assert_eq!(world.restarted().walk(), ["plan", "apply", "publish", "settled"]);
}

#[test]
fn an_approval_is_for_one_plan_only() {
    let mut world = replacing();
    world.active.approvals = vec![awaited(&world).0];
    let mut world = world.changed("third");
    assert_eq!(world.walk(), ["plan", "await approval"]);
}

#[test]
fn a_plan_that_waits_is_made_again_when_the_interval_is_over() {
    let world = replacing();
    let Step::AwaitApproval { next_check: Some(next), .. } = world.decide() else { panic!("never again") };
    let mut world = world.with(|active| active.now = next);
    assert_eq!(world.walk(), ["plan", "await approval"]);
    assert_eq!(world.walk(), ["await approval"]);
}

#[test]
fn a_plan_that_waits_is_dropped_when_its_inputs_go_back() {
    assert_eq!(replacing().changed("first").walk(), ["settled"]);
}

#[test]
fn drift_that_hurts_what_is_protected_waits() {
    let mut world = World::settled().drifted().later(INTERVAL * 2);
    world.action = Some(PlannedAction::Replace);
    assert_eq!(world.walk(), ["plan", "await approval"]);
    assert_eq!(world.restarted().walk(), ["plan", "await approval"]);
}

#[test]
fn what_somebody_else_made_is_changed_only_with_approval() {
    let mut world = World::taken_over("another");
    assert_eq!(world.walk(), ["claim", "plan", "await approval"]);
    let (hash, why) = awaited(&world);
    assert_eq!(why, [Concern::TakenOver]);
    world.active.approvals = vec![hash];
    assert_eq!(world.walk(), ["apply", "publish", "settled"]);
    assert_eq!(world.changed("second").walk(), ["plan", "apply", "publish", "settled"]);
}

#[rstest]
#[case::something_is_there(Some("another"), &["claim", "plan", "await approval"])]
#[case::nothing_is_there(None, &["claim", "plan", "apply", "publish", "settled"])]
fn a_state_that_nobody_can_look_at_is_judged_by_the_plan(#[case] real: Option<&str>, #[case] way: &[&str]) {
    let mut world = World::new().with(|active| active.state = State::Elsewhere);
    world.real = real.map(ToOwned::to_owned);
    assert_eq!(world.walk(), way);
}

#[rstest]
#[case::automatic(UpdatePolicy::Automatic, &["plan", "apply", "publish", "settled"])]
#[case::approve(UpdatePolicy::Approve, &["plan", "await approval"])]
#[case::pinned(UpdatePolicy::Pinned, &["plan", "await approval"])]
fn what_changed_underneath_waits_where_the_apply_asks_for_approval(
    #[case] policy: UpdatePolicy,
    #[case] way: &[&str],
) {
    assert_eq!(guarded(policy).walk(), way);
}

#[test]
fn what_came_through_the_apply_was_approved_there() {
    let mut world = guarded(UpdatePolicy::Approve);
    world.active.inputs.as_mut().unwrap().digest = Some("sha256:approved".to_owned());
    assert_eq!(world.walk(), ["plan", "apply", "publish", "settled"]);
}

#[test]
fn a_workspace_without_an_apply_has_nobody_to_ask() {
    let mut world = guarded(UpdatePolicy::Approve);
    world.active.inputs.as_mut().unwrap().digest = None;
    world.active.memory.applied.as_mut().unwrap().digest = None;
    assert_eq!(world.walk(), ["plan", "apply", "publish", "settled"]);
}

#[test]
fn what_was_approved_and_begun_needs_no_second_approval() {
    let mut world = guarded(UpdatePolicy::Pinned).failing([None, failure(Retry::Backoff)]);
    world.walk();
    world.active.approvals = vec![awaited(&world).0];
    assert_eq!(world.walk(), ["apply", "hold"]);
    world.real = Some("half second".to_owned());
    assert_eq!(world.later(schedule::pause(1)).walk(), ["plan", "apply", "publish", "settled"]);
}

#[test]
fn drift_is_no_change_underneath() {
    let mut world = World::settled().drifted().with(|active| active.update_policy = UpdatePolicy::Pinned);
    world.pass(INTERVAL * 2);
    let mut world = world.failing([None, failure(Retry::Backoff)]);
    assert_eq!(world.walk(), ["plan", "apply", "hold"]);
    assert_eq!(world.later(schedule::pause(1)).walk(), ["plan", "apply", "publish", "settled"]);
}
