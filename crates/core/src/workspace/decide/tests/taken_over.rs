//! What Crossplane has run, and what is handed back to it.

use super::world::ALL;
use super::*;
use crate::workspace::observed::PlannedAction;

const MADE: Traces = Traces { ran: true, made: true, theirs: true, noted: false };

fn left_by_crossplane(world: World) -> World {
    world.with(|active| active.traces = MADE)
}

#[rstest]
#[case::nothing_is_there(left_by_crossplane(World::new()))]
#[case::a_first_apply_was_killed(World::new().with(|active| active.traces = Traces { ran: false, made: true, theirs: true, noted: false }))]
#[case::nothing_is_in_it(left_by_crossplane(World::new()).with(|active| active.state = State::Present { empty: true }))]
fn what_crossplane_made_is_not_made_a_second_time(#[case] mut world: World) {
    assert_eq!(world.walk(), ["claim", "hold"]);
    let step = world.decide();
    assert_eq!(reason(&step), Some(Reason::StateMissing));
    let Step::Hold { blocked, until: None } = step else { panic!("{step:?} is tried again") };
    assert!(blocked.message.contains("on its own disk"), "{}", blocked.message);
    assert_eq!(world.clone().deleted().walk(), ["hold"], "what it made would be left behind");

    let accepted = world.with(|active| active.missing_state_accepted = true);
    assert_eq!(accepted.clone().walk(), ["plan", "apply", "publish", "settled"]);
    assert_eq!(accepted.deleted().walk(), ["finish"]);
}

#[test]
fn where_crossplane_only_looked_nothing_is_missing() {
    let mut world = World::new()
        .with(|active| active.traces = Traces { ran: true, made: false, theirs: false, noted: false });
    assert_eq!(world.walk(), ["claim", "plan", "apply", "publish", "settled"]);
}

#[rstest]
#[case::by_itself(left_by_crossplane(World::taken_over("first")))]
#[case::whose_first_apply_was_killed(World::taken_over("first").with(|active| active.traces = Traces { ran: false, made: true, theirs: true, noted: false }))]
fn an_empty_plan_takes_over_what_crossplane_made(#[case] mut world: World) {
    assert_eq!(world.walk(), ["claim", "plan", "outputs", "publish", "settled"]);
}

#[test]
fn a_change_of_what_crossplane_made_waits_for_approval() {
    let mut world = left_by_crossplane(World::taken_over("theirs"));
    assert_eq!(world.walk(), ["claim", "plan", "await approval"]);
}

#[test]
fn a_record_of_before_crossplane_ran_counts_for_nothing() {
    let mut same = left_by_crossplane(World::settled());
    assert_eq!(same.walk(), ["plan", "outputs", "publish", "settled"]);

    let mut changed = left_by_crossplane(World::settled().drifted());
    assert_eq!(changed.walk(), ["plan", "await approval"]);
    let Step::AwaitApproval { hash, why, .. } = changed.decide() else { panic!() };
    assert_eq!(why, [Concern::TakenOver]);
    changed.active.approvals = vec![hash];
    assert_eq!(changed.walk(), ["apply", "publish", "settled"]);
}

#[test]
fn a_state_that_is_elsewhere_and_holds_nothing_is_shown_before_everything_is_made() {
    let mut world = left_by_crossplane(World::new()).with(|active| active.state = State::Elsewhere);
    world.action = Some(PlannedAction::Create);
    assert_eq!(world.walk(), ["claim", "plan", "await approval"]);
    let Step::AwaitApproval { why, .. } = world.decide() else { panic!() };
    assert_eq!(why, [Concern::MadeBefore]);
    assert_eq!(world.deleted().walk(), ["plan destroy", "hold"], "nothing would be destroyed");
}

#[test]
fn what_crossplane_keeps_elsewhere_is_not_forgotten_when_nothing_can_be_read() {
    let blocked = crate::apply::Blocked::new(Reason::ProviderConfigMissing, "it is not there");
    let world = left_by_crossplane(World::new().with(|active| {
        active.held = true;
        active.state = State::Elsewhere;
        active.inputs = Err(blocked);
    }));
    assert_eq!(world.deleted().walk(), ["hold"]);
}

fn going_back(world: World) -> World {
    world.with(|active| active.hand_back = Some(Ok(())))
}

#[rstest]
#[case::settled(going_back(World::settled()), &["hand back"])]
#[case::that_never_was_anybodys_but_crossplanes(going_back(left_by_crossplane(World::new())).with(|active| active.held = true), &["hand back"])]
#[case::with_something_to_change(going_back(World::settled().changed("second")), &["hand back"])]
#[case::that_is_paused(going_back(World::settled()).with(|active| active.permissions = Ok(crate::workspace::policy::Permissions { any: false, ..ALL })), &["hand back"])]
#[case::whose_state_is_missing_which_is_accepted(going_back(World::settled()).with(|active| {
    active.state = State::Absent;
    active.missing_state_accepted = true;
}), &["hand back"])]
#[case::that_failed({
    let mut world = World::new().failing([None, failure(Retry::Backoff)]);
    world.walk();
    going_back(world)
}, &["hand back"])]
fn a_workspace_is_handed_back(#[case] mut world: World, #[case] expected: &[&str]) {
    assert_eq!(world.walk(), expected);
}

#[test]
fn what_was_begun_is_ended_before_it_is_handed_back() {
    let mut applied = World::new();
    assert_eq!(applied.decide(), Step::Claim);
    for _ in 0..3 {
        let step = applied.decide();
        applied.act(&step);
    }
    assert_eq!(applied.decide(), Step::Publish);
    assert_eq!(going_back(applied).walk(), ["publish", "hand back"]);

    let mut killed = World::new().failing([None, failure(Retry::Backoff)]);
    killed.walk();
    let way = going_back(killed.restarted()).walk();
    assert_eq!(way.first(), Some(&"plan"), "a process of before may be at work");
    assert_eq!(way.last(), Some(&"hand back"));
}

#[test]
fn what_is_locked_or_not_stored_is_not_handed_back() {
    let mut world = World::new().failing([None, locked(Holder::Unknown)]);
    world.walk();
    assert_eq!(going_back(world).walk(), ["await lock"]);
}

#[rstest]
#[case::on_record(World::settled().with(|active| active.state = State::Absent))]
#[case::only_noted(World::new().with(|active| {
    active.held = true;
    active.state_noted = true;
}))]
#[case::made_by_crossplane_elsewhere(World::new().with(|active| {
    active.held = true;
    active.traces = Traces { ran: false, made: true, theirs: false, noted: true };
}))]
fn what_has_lost_its_state_is_not_handed_back(#[case] world: World) {
    let mut world = going_back(world);
    assert_eq!(world.walk(), ["hold"]);
    let step = world.decide();
    assert_eq!(reason(&step), Some(Reason::HandBackRefused));
    let Step::Hold { blocked, until: None } = step else { panic!("{step:?} is tried again") };
    assert!(blocked.message.contains("not handed back to Crossplane"), "{}", blocked.message);
    assert!(blocked.message.contains("accept-missing-state"), "{}", blocked.message);
}

#[test]
fn outputs_of_capt_alone_are_not_blamed_on_crossplane() {
    let own = Traces { ran: false, made: true, theirs: false, noted: false };
    let mut world = World::new().with(|active| active.traces = own);
    assert_eq!(world.walk(), ["claim", "hold"], "nothing is made a second time all the same");
    let Step::Hold { blocked, .. } = world.decide() else { panic!() };
    assert_eq!(blocked.reason, Reason::StateMissing);
    assert!(!blocked.message.contains("Crossplane"), "{}", blocked.message);
}

#[test]
fn a_state_that_is_not_stored_yet_is_stored_before_it_is_handed_back() {
    let unstored = |world: World| going_back(world).with(|active| active.unstored = true);
    assert_eq!(unstored(World::settled()).walk(), ["plan", "hand back"]);

    let mut failed = World::new().failing([None, failure(Retry::Backoff)]);
    failed.walk();
    assert_ne!(unstored(failed).walk().first(), Some(&"hand back"));

    let nothing = crate::workspace::policy::Permissions { any: false, ..ALL };
    let mut idle = unstored(World::settled()).with(|active| active.permissions = Ok(nothing));
    assert_eq!(idle.walk(), ["hold"]);
    assert_eq!(reason(&idle.decide()), Some(Reason::StatePushFailed));
}

#[test]
fn what_crossplane_would_not_find_is_not_handed_back() {
    let blocked = crate::apply::Blocked::new(Reason::HandBackRefused, "it is elsewhere");
    let mut world = World::settled().with(|active| active.hand_back = Some(Err(blocked)));
    assert_eq!(world.walk(), ["hold"]);
    assert_eq!(reason(&world.decide()), Some(Reason::HandBackRefused));
}
