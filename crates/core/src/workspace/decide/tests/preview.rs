//! Plans that are made because somebody wants to see them.

use capt_api::workspace_template_apply::DriftPolicy;

use super::super::super::observed::Preview;
use super::*;

fn wanted(world: World) -> World {
    world.with(|active| active.preview = Preview::Wanted)
}

#[rstest]
#[case::nothing_differs(World::settled(), &["preview", "show", "settled"])]
#[case::something_differs(World::settled().drifted(), &["preview", "show", "settled"])]
#[case::something_is_to_be_made(World::new(), &["claim", "preview", "show", "plan", "apply", "publish", "settled"])]
#[case::something_is_to_change(World::settled().changed("second"), &["preview", "show", "plan", "apply", "publish", "settled"])]
fn a_plan_that_is_asked_for_is_shown_and_leads_to_nothing(#[case] world: World, #[case] way: &[&str]) {
    assert_eq!(wanted(world).walk(), way);
}

#[test]
fn what_waits_for_approval_goes_on_waiting_by_the_plan_that_it_has() {
    let mut world = World::taken_over("theirs");
    assert_eq!(world.walk(), ["claim", "plan", "await approval"]);
    let before = world.decide();
    let mut world = wanted(world);
    assert_eq!(world.walk(), ["preview", "show", "await approval"]);
    assert_eq!(world.decide(), before);
}

#[test]
fn drift_that_was_told_stays_told() {
    let mut world = World::settled().with(|active| active.drift_policy = DriftPolicy::Report).drifted();
    world.active.requested = true;
    assert_eq!(world.walk(), ["plan", "report drift"]);
    assert_eq!(wanted(world).walk(), ["preview", "show", "report drift"]);
}

#[rstest]
#[case::nothing_is_the_matter(World::settled(), &["preview", "show", "settled"])]
#[case::its_own_content_cannot_be_had(World::settled().with(|active| active.inputs = Err(Blocked::new(Reason::InputMissing, "x"))), &["preview", "show", "hold"])]
fn other_content_is_planned_whatever_the_workspace_says(#[case] world: World, #[case] way: &[&str]) {
    assert_eq!(world.with(|active| active.preview = Preview::CandidateWanted).walk(), way);
}

#[test]
fn other_content_is_not_planned_without_the_state_that_was_there() {
    let world = World::settled().with(|active| {
        active.preview = Preview::CandidateWanted;
        active.state = State::Absent;
    });
    assert_eq!(reason(&world.decide()), Some(Reason::StateMissing));
}

#[rstest]
#[case::inputs_are_missing(World::settled().with(|active| active.inputs = Err(Blocked::new(Reason::InputMissing, "x"))), Reason::InputMissing)]
#[case::the_state_is_missing(World::settled().with(|active| active.state = State::Absent), Reason::StateMissing)]
fn where_no_plan_can_be_made_none_is(#[case] world: World, #[case] why: Reason) {
    let world = wanted(world);
    assert_eq!(reason(&world.decide()), Some(why));
}

#[test]
fn what_came_of_it_is_shown_whatever_has_happened_since() {
    let mut world = World::settled().with(|active| {
        active.preview = Preview::Made;
        active.inputs = Err(Blocked::new(Reason::InputMissing, "x"));
    });
    assert_eq!(world.walk(), ["show", "hold"]);
}
