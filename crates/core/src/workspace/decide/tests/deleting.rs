//! Workspaces that are being deleted.

use super::*;

fn blocked() -> Blocked {
    Blocked::new(Reason::SourceNotReady, "the repository is gone")
}

/// A Workspace whose inputs have changed since the last apply, and which is deleted before they are applied.
fn changed() -> World {
    World::settled().changed("second").deleted()
}

#[test]
fn infrastructure_is_destroyed_by_a_plan() {
    let mut world = World::settled().deleted();
    assert_eq!(world.walk(), ["plan destroy", "destroy", "finish"]);
    assert_eq!(world.real, None);
}

#[test]
fn what_is_not_held_is_left() {
    assert_eq!(World::settled().with(|active| active.held = false).deleted().walk(), ["leave"]);
}

#[rstest]
#[case::there(World::settled())]
#[case::whose_state_is_missing(World::settled().with(|active| active.state = State::Absent))]
#[case::whose_inputs_cannot_be_had(World::settled().with(|active| active.inputs = Err(blocked())))]
fn what_is_to_stay_is_let_go_without_a_run(#[case] world: World) {
    let mut world = world.deleted();
    world.going.as_mut().unwrap().destroys = false;
    assert_eq!(world.walk(), ["orphan"]);
}

#[test]
fn others_let_go_first() {
    let mut world = World::settled().deleted();
    let others = vec!["example.com/hold".to_owned()];
    world.going.as_mut().unwrap().others.clone_from(&others);
    assert_eq!(world.decide(), Step::AwaitOthers(others));
}

#[rstest]
#[case::never_planned(World::new())]
#[case::inputs_never_resolved(World::new().with(|active| active.inputs = Err(blocked())))]
#[case::kept_elsewhere_and_never_resolved(World::new().with(|active| {
    active.state = State::Elsewhere;
    active.inputs = Err(blocked());
}))]
#[case::the_name_was_taken(World::new().with(|active| {
    active.state = State::NotOurs { workspace: "theirs".to_owned() };
}))]
#[case::an_empty_state(World::settled().with(|active| active.state = State::Present { empty: true }))]
#[case::an_empty_state_without_inputs(World::settled().with(|active| {
    active.state = State::Present { empty: true };
    active.inputs = Err(blocked());
}))]
fn what_has_no_infrastructure_goes_without_a_run(#[case] world: World) {
    let mut world = world.with(|active| active.held = true).deleted();
    assert_eq!(world.walk(), ["finish"]);
}

/// Before anything goes it is noted that nothing will be missed. What is left then goes in this order: note, state, record.
#[rstest]
#[case::with_everything_left(|_: &mut Active| {}, &["finish"])]
#[case::with_everything_but_the_note(|active: &mut Active| active.state_noted = false, &["finish"])]
#[case::with_the_record(|active: &mut Active| {
    (active.state, active.state_noted) = (State::Absent, false);
}, &["finish"])]
#[case::with_nothing_but_outputs(|active: &mut Active| {
    (active.state, active.state_noted, active.memory) = (State::Absent, false, Memory::default());
}, &["finish"])]
#[case::with_nothing_but_outputs_of_a_state_elsewhere(|active: &mut Active| {
    (active.state, active.state_noted, active.memory) = (State::Elsewhere, false, Memory::default());
}, &["plan destroy", "finish"])]
fn a_finish_that_was_killed_half_way_comes_to_its_end(
    #[case] left: fn(&mut Active),
    #[case] expected: &[&str],
) {
    let mut world = World::settled().with(|active| {
        active.state = State::Present { empty: true };
        active.missing_state_accepted = true;
        active.traces.made = true;
    });
    left(&mut world.active);
    world.real = None;
    assert_eq!(world.deleted().walk(), expected);
}

#[test]
fn an_empty_state_proves_nothing_while_an_apply_may_go_on() {
    let mut world = World::new().failing([None, failure(Retry::Backoff)]);
    assert_eq!(world.walk(), ["claim", "plan", "apply", "hold"]);
    let mut world = world.restarted().deleted();
    assert_eq!(world.active.state, State::Present { empty: true });
    world.real = Some("first".to_owned());
    assert_eq!(world.walk(), ["plan destroy", "destroy", "finish"]);
}

#[test]
fn a_plan_that_destroys_nothing_is_the_end() {
    let mut world = World::settled().deleted();
    world.real = None;
    assert_eq!(world.walk(), ["plan destroy", "finish"]);
}

#[test]
fn a_missing_state_that_is_accepted_is_the_end() {
    let mut world = World::settled().with(|active| {
        active.state = State::Absent;
        active.missing_state_accepted = true;
    });
    world.active.held = true;
    assert_eq!(world.deleted().walk(), ["finish"]);
}

#[test]
fn inputs_that_cannot_be_had_are_replaced_by_those_of_the_last_apply() {
    let mut world = World::settled().with(|active| active.inputs = Err(blocked())).deleted();
    assert_eq!(world.walk(), ["plan destroy (kept)", "destroy (kept)", "finish"]);
}

#[test]
fn without_any_inputs_it_waits_for_them() {
    let mut world = World::settled().with(|active| active.inputs = Err(blocked())).deleted();
    world.kept = None;
    assert_eq!(world.decide(), Step::Hold { blocked: blocked(), until: None });
}

#[test]
fn inputs_that_fail_and_those_of_the_last_apply_take_turns() {
    let mut world = changed().failing((0..4).map(|_| failure(Retry::OnChange)));
    assert_eq!(world.walk(), ["plan destroy", "plan destroy (kept)", "hold"]);
    let Step::Hold { until: Some(until), .. } = world.decide() else { panic!("it waits for a change") };
    world.active.now = until;
    assert_eq!(world.walk(), ["plan destroy", "plan destroy (kept)", "hold"]);
    let Step::Hold { until: Some(until), .. } = world.decide() else { panic!("it waits for a change") };
    world.active.now = until;
    assert_eq!(world.walk(), ["plan destroy", "destroy", "finish"]);
}

#[test]
fn a_destroy_that_fails_is_planned_with_the_other_inputs() {
    let mut world = changed().failing([None, failure(Retry::Backoff)]);
    assert_eq!(world.walk(), ["plan destroy", "destroy", "plan destroy (kept)", "destroy (kept)", "finish"]);
}

#[test]
fn a_plan_is_carried_out_with_what_it_was_made_with() {
    let mut world = changed().failing([failure(Retry::Backoff)]);
    for expected in ["plan destroy", "plan destroy (kept)"] {
        let step = world.decide();
        assert_eq!(world::word(&step), expected);
        world.act(&step);
    }
    assert_eq!(world::word(&world.decide()), "destroy (kept)");
    let mut world = world.changed("third");
    assert_eq!(world.walk(), ["destroy (kept)", "finish"]);
}

#[test]
fn a_plan_whose_inputs_are_gone_is_made_again() {
    let mut world = changed();
    let step = world.decide();
    world.act(&step);
    assert_eq!(world.clone().changed("third").walk(), ["plan destroy", "destroy", "finish"]);
    let mut broken = world.with(|active| active.inputs = Err(blocked()));
    assert_eq!(broken.walk(), ["plan destroy (kept)", "destroy (kept)", "finish"]);
}

#[rstest]
#[case::for_a_change(failure(Retry::OnChange))]
#[case::for_its_time(failure(Retry::Backoff))]
fn a_change_that_failed_does_not_keep_a_destroy_waiting(#[case] trouble: Option<Failure>) {
    let mut world = World::settled().changed("second").failing([None, trouble]);
    assert_eq!(world.walk(), ["plan", "apply", "hold"]);
    assert_eq!(world.deleted().walk(), ["plan destroy", "destroy", "finish"]);
}

#[test]
fn a_creation_that_failed_is_destroyed() {
    let mut world = World::new().failing([None, failure(Retry::OnChange)]);
    assert_eq!(world.walk(), ["claim", "plan", "apply", "hold"]);
    world.real = Some("half".to_owned());
    world.active.state = State::Present { empty: false };
    assert_eq!(world.deleted().walk(), ["plan destroy", "destroy", "finish"]);
}

#[test]
fn an_apply_that_ends_while_it_is_deleted_is_destroyed() {
    let mut world = World::settled().changed("second");
    for _ in ["plan", "apply"] {
        let step = world.decide();
        world.act(&step);
    }
    assert_eq!(world.deleted().walk(), ["plan destroy", "destroy", "finish"]);
}

#[test]
fn a_plan_that_changes_is_not_taken_for_one_that_destroys() {
    let mut world = World::settled().changed("second");
    let step = world.decide();
    world.act(&step);
    assert_eq!(world.deleted().walk(), ["plan destroy", "destroy", "finish"]);
}

#[test]
fn a_stale_plan_is_made_again_with_the_same_inputs() {
    let mut world = changed().failing([None, failure(Retry::Replan)]);
    assert_eq!(world.walk(), ["plan destroy", "destroy", "plan destroy", "destroy", "finish"]);
}

#[test]
fn a_lock_is_waited_for_with_the_same_inputs() {
    let troubles = [failure(Retry::Backoff), None, locked(Holder::Unknown)];
    let mut world = changed().failing(troubles);
    let way = ["plan destroy", "plan destroy (kept)", "destroy (kept)", "await lock"];
    assert_eq!(world.walk(), way);
    let mut world = world.later(schedule::pause(2));
    assert_eq!(world.walk(), ["plan destroy (kept)", "destroy (kept)", "finish"]);
}

#[test]
fn a_lock_whose_holder_is_dead_is_released_first() {
    let mut world = World::settled().deleted().failing([None, locked(Holder::Dead)]);
    assert_eq!(world.walk(), ["plan destroy", "destroy", "unlock", "plan destroy", "destroy", "finish"]);
}

#[rstest]
#[case::in_a_state_of_ours(State::Present { empty: false })]
#[case::in_a_state_elsewhere(State::Elsewhere)]
fn what_somebody_else_made_is_destroyed_only_with_approval(#[case] state: State) {
    let mut world = World::taken_over("another").with(|active| active.state = state);
    assert_eq!(world.walk(), ["claim", "plan", "await approval"]);
    let mut world = world.deleted();
    assert_eq!(world.walk(), ["plan destroy", "await approval"]);
    let Step::AwaitApproval { hash, why, .. } = world.decide() else { panic!("it does not wait") };
    assert_eq!(why, [Concern::TakenOver]);
    world.active.approvals = vec![hash];
    assert_eq!(world.walk(), ["destroy", "finish"]);
}

#[rstest]
#[case::with_what_is_kept(true, "unlock")]
#[case::not_at_all(false, "hold")]
fn a_lock_is_released_with_inputs_that_can_still_be_had(#[case] kept: bool, #[case] expected: &str) {
    let mut world = World::settled().deleted().failing([None, locked(Holder::Unknown)]);
    assert_eq!(world.walk(), ["plan destroy", "destroy", "await lock"]);
    world.kept = world.kept.filter(|_| kept);
    world.active.inputs = Err(blocked());
    world.active.force_unlock = Some("id".to_owned());
    assert_eq!(world::word(&world.decide()), expected);
}
