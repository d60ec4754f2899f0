//! Workspaces that are made, changed and looked at, and what is published.

use super::super::super::policy::Permissions;
use super::world::ALL;
use super::*;

fn blocked() -> Blocked {
    Blocked::new(Reason::InputMissing, "Secret `a/b` does not exist")
}

#[test]
fn a_new_workspace_is_planned_applied_and_published() {
    let world = World::settled();
    assert_eq!(world.real.as_deref(), Some("first"));
    assert_eq!(world.active.memory.begun, None);
    assert!(matches!(world.decide(), Step::Settled { next_check: Some(_) }));
}

#[test]
fn nothing_is_run_while_nothing_changes() {
    let mut world = World::settled();
    for _ in 0..100 {
        assert_eq!(world.walk(), ["settled"]);
    }
    assert_eq!(world.restarted().walk(), ["settled"]);
}

#[test]
fn what_goes_in_anew_is_planned_and_applied() {
    let mut world = World::settled().changed("second");
    assert_eq!(world.walk(), ["plan", "apply", "publish", "settled"]);
    assert_eq!(world.real.as_deref(), Some("second"));
}

#[test]
fn what_goes_in_anew_during_a_run_is_planned_after_it() {
    let mut world = World::settled().changed("second");
    let step = world.decide();
    world.act(&step);
    let mut world = world.changed("third");
    assert_eq!(world.walk(), ["plan", "apply", "publish", "settled"]);
    assert_eq!(world.real.as_deref(), Some("third"));
}

#[test]
fn a_plan_for_what_no_longer_goes_in_is_not_applied() {
    let mut world = World::settled().changed("second");
    let step = world.decide();
    world.act(&step);
    assert_eq!(world.changed("first").walk(), ["settled"]);
}

#[test]
fn what_is_there_already_as_it_should_be_is_only_published() {
    assert_eq!(World::taken_over("first").walk(), ["claim", "plan", "outputs", "publish", "settled"]);
}

#[test]
fn the_outputs_of_an_apply_are_published_although_the_next_one_is_blocked() {
    let mut world = World::settled().changed("second");
    for expected in ["plan", "apply"] {
        let step = world.decide();
        assert_eq!(world::word(&step), expected);
        world.act(&step);
    }
    world.active.inputs = Err(blocked());
    assert_eq!(world.walk(), ["publish", "hold"]);
}

#[test]
fn inputs_that_cannot_be_had_wait_and_change_nothing() {
    let mut world = World::settled().with(|active| active.inputs = Err(blocked()));
    assert_eq!(world.decide(), Step::Hold { blocked: blocked(), until: None });
    assert_eq!(world.walk(), ["hold"]);
    assert_eq!(world.changed("first").walk(), ["settled"]);
}

#[test]
fn an_apply_that_a_killed_manager_began_is_looked_at_first() {
    let mut world = World::settled().changed("second");
    for _ in ["plan", "apply"] {
        let step = world.decide();
        world.act(&step);
    }
    let mut done = world.restarted();
    assert_eq!(done.walk(), ["plan", "outputs", "publish", "settled"]);
    assert_eq!(done.active.memory.begun, None);
}

#[test]
fn going_back_after_half_an_apply_is_an_apply_too() {
    let mut world = World::settled().changed("second").failing([None, failure(Retry::Backoff)]);
    assert_eq!(world.walk(), ["plan", "apply", "hold"]);
    world.real = Some("half second".to_owned());
    assert_eq!(world.changed("first").walk(), ["plan", "apply", "publish", "settled"]);
}

#[rstest]
#[case::is_published_again(Connection::Incomplete, &["outputs", "publish", "settled"])]
#[case::is_there(Connection::Complete, &["settled"])]
#[case::cannot_be_written(Connection::Refused(blocked()), &["hold"])]
fn a_connection_secret_that_is_not_as_published(#[case] connection: Connection, #[case] way: &[&str]) {
    let mut world = World::settled().with(|active| active.connection = connection);
    let checked = world.active.memory.checked_at;
    assert_eq!(world.walk(), way);
    assert_eq!(world.active.memory.checked_at, checked, "nobody looked at reality");
}

#[test]
fn a_connection_secret_that_cannot_be_written_does_not_end_the_checks() {
    let mut world = World::settled().with(|active| active.connection = Connection::Refused(blocked()));
    let Step::Hold { until: Some(until), .. } = world.decide() else { panic!("it does not wait") };
    world.active.now = until;
    assert_eq!(world.walk(), ["plan", "confirm", "hold"]);
}

#[test]
fn policies_that_cannot_be_combined_wait() {
    let mut world = World::settled().with(|active| active.permissions = Err(blocked()));
    assert_eq!(world.walk(), ["hold"]);
}

#[test]
fn no_policies_at_all_pause() {
    let none = Permissions { any: false, create: false, update: false, delete: false };
    assert_eq!(World::settled().with(|active| active.permissions = Ok(none)).walk(), ["pause"]);
}

#[rstest]
#[case::there_as_it_should_be(World::taken_over("first"), &["claim", "plan", "outputs", "publish", "settled"])]
#[case::there_and_different(World::taken_over("another"), &["claim", "plan", "outputs", "publish", "settled"])]
#[case::not_there(World::new(), &["claim", "plan", "hold"])]
fn who_may_only_look_reads_the_outputs_of_what_is_there(#[case] world: World, #[case] way: &[&str]) {
    let mut world = world.permitting(false, false);
    assert_eq!(world.walk(), way);
    assert_eq!(world.walk(), [*way.last().unwrap()]);
}

#[test]
fn what_was_only_looked_at_is_not_known_as_ours_when_changes_are_permitted() {
    let mut world = World::taken_over("another").permitting(false, false);
    world.walk();
    assert_eq!(world.active.memory.applied, None);
    let mut world = world.with(|active| active.permissions = Ok(ALL));
    assert_eq!(world.walk(), ["plan", "await approval"]);
    world.real = Some("first".to_owned());
    let mut world = world.restarted();
    assert_eq!(world.walk(), ["plan", "outputs", "publish", "settled"]);
    assert!(world.active.memory.applied.is_some());
}

#[test]
fn nothing_is_made_without_permission_and_it_is_looked_for_again() {
    let mut world = World::new().permitting(false, true);
    assert_eq!(world.walk(), ["claim", "plan", "hold"]);
    let step = world.decide();
    assert_eq!(reason(&step), Some(Reason::NotPermitted));
    let Step::Hold { until: Some(until), .. } = step else { panic!("{step:?} waits for ever") };
    world.active.now = until;
    world.real = Some("first".to_owned());
    world.active.state = State::Present { empty: false };
    assert_eq!(world.walk(), ["plan", "outputs", "publish", "settled"]);
}

#[test]
fn who_may_only_make_goes_on_with_what_was_begun_and_changes_nothing_later() {
    let mut world = World::new().permitting(true, false).failing([None, failure(Retry::Backoff)]);
    assert_eq!(world.walk(), ["claim", "plan", "apply", "hold"]);
    world.real = Some("half".to_owned());
    world.active.state = State::Present { empty: false };
    let mut world = world.later(schedule::pause(1));
    assert_eq!(world.walk(), ["plan", "apply", "publish", "settled"]);
    let mut world = world.changed("second");
    assert_eq!(world.walk(), ["plan", "outputs", "publish", "settled"]);
    assert_eq!(world.real.as_deref(), Some("first"));
    let mut world = world.with(|active| active.permissions = Ok(ALL));
    assert_eq!(world.walk(), ["plan", "apply", "publish", "settled"]);
}
