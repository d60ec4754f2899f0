//! States that are missing, or that belong to somebody else.

use capt_api::workspace_template_apply::DriftPolicy;

use super::world::ALL;
use super::*;

/// A state that somebody has deleted.
fn lost() -> World {
    let mut world = World::settled();
    world.active.state = State::Absent;
    world
}

#[rstest]
#[case::on_record(lost().with(|active| active.state_noted = false))]
#[case::noted(lost().with(|active| active.memory = Memory::default()))]
#[case::begun({
    let mut world = World::new().failing([None, failure(Retry::Backoff)]);
    world.walk();
    world.with(|active| active.state = State::Absent).restarted()
})]
#[case::with_other_inputs(lost().changed("second"))]
#[case::asked_for_a_look(lost().with(|active| active.requested = true))]
fn a_missing_state_waits_for_a_human(#[case] mut world: World) {
    assert_eq!(world.walk(), ["hold"]);
    assert_eq!(reason(&world.decide()), Some(Reason::StateMissing));
    assert_eq!(world.deleted().walk(), ["hold"]);
}

#[rstest]
#[case::kept_in_line(lost())]
#[case::only_told_about(lost().with(|active| active.drift_policy = DriftPolicy::Report))]
#[case::that_may_be_made_and_not_changed(lost().permitting(true, false))]
fn a_missing_state_that_is_accepted_begins_anew(#[case] world: World) {
    let mut world = world.with(|active| active.missing_state_accepted = true);
    world.real = None;
    assert_eq!(world.walk(), ["plan", "apply", "publish", "settled"]);
    assert_eq!(world.real.as_deref(), Some("first"));
}

#[test]
fn an_accepted_loss_of_nothing_ends() {
    let mut world = lost().with(|active| active.missing_state_accepted = true);
    assert_eq!(world.walk(), ["plan", "confirm", "settled"]);
}

#[test]
fn a_state_that_never_was_is_not_missing() {
    assert_eq!(World::new().walk().last(), Some(&"settled"));
}

#[test]
fn a_state_of_another_workspace_is_not_touched() {
    let state = State::NotOurs { workspace: "theirs".to_owned() };
    let taken = World::settled().with(|active| active.state = state);
    let step = taken.decide();
    assert_eq!(reason(&step), Some(Reason::StateNotOwned));
    let Step::Hold { blocked, until: None } = step else { panic!("{step:?} is tried again") };
    assert!(blocked.message.contains("Workspace `theirs`"), "{}", blocked.message);
    assert!(blocked.message.contains("crossplane.io/external-name"), "{}", blocked.message);
    assert_eq!(reason(&taken.clone().changed("second").decide()), Some(Reason::StateNotOwned));
    assert_eq!(reason(&taken.deleted().decide()), Some(Reason::StateNotOwned), "a destroy would be theirs");
}

#[test]
fn policies_come_before_the_state() {
    let paused = super::super::super::policy::Permissions { any: false, ..ALL };
    assert_eq!(lost().with(|active| active.permissions = Ok(paused)).walk(), ["pause"]);
}

#[rstest]
#[case::another_place(Some("declared:1"), Some("declared:2"), &["plan", "hold"], &["plan destroy", "hold"])]
#[case::the_same(Some("declared:1"), Some("declared:1"), &["plan", "outputs", "publish", "settled"], &["plan destroy", "destroy", "finish"])]
#[case::as_an_earlier_version_put_it(Some("declared"), Some("declared:1"), &["plan", "outputs", "publish", "settled"], &["plan destroy", "destroy", "finish"])]
fn a_backend_that_changes_is_held_up_and_nothing_is_made_or_forgotten(
    #[case] before: Option<&str>,
    #[case] now: Option<&str>,
    #[case] kept: &[&str],
    #[case] deleted: &[&str],
) {
    let mut world = World::settled().changed("second").with(|active| {
        active.state = State::Elsewhere;
        active.memory.elsewhere = before.map(ToOwned::to_owned);
    });
    world.real = Some("second".to_owned());
    world.elsewhere = now.map(ToOwned::to_owned);
    assert_eq!(world.clone().walk(), kept);
    assert_eq!(world.deleted().walk(), deleted);
}
