//! What an interrupted apply has made and nobody can import.

use super::*;

fn interrupted(world: World) -> World {
    let mut world = world;
    world.not_imported = vec!["aws_vpc.main".to_owned()];
    world
}

fn asks(step: &Step) -> Option<String> {
    let Step::AwaitApproval { hash, why, .. } = step else { return None };
    let concern = Concern::NotImported(vec!["aws_vpc.main".to_owned()]);
    why.contains(&concern).then(|| hash.clone())
}

#[test]
fn what_would_be_made_a_second_time_waits_for_approval() {
    let mut world = interrupted(World::new());
    assert_eq!(world.walk(), ["claim", "plan", "await approval"]);
    let hash = asks(&world.decide()).unwrap();
    world.active.approvals = vec![hash];
    world.not_imported.clear();
    assert_eq!(world.walk(), ["apply", "publish", "settled"]);
}

#[test]
fn what_the_plan_does_not_make_again_is_no_reason_to_wait() {
    let mut world = World::new();
    world.not_imported = vec!["aws_eip.gone_from_the_module".to_owned()];
    assert_eq!(world.walk(), ["claim", "plan", "apply", "publish", "settled"]);
}

#[test]
fn where_nothing_would_be_made_nobody_is_asked() {
    let mut world = interrupted(World::settled());
    world.active.requested = true;
    assert_eq!(world.walk(), ["plan", "confirm", "settled"]);
}

#[test]
fn a_destroy_that_leaves_something_behind_waits_for_approval() {
    let mut world = interrupted(World::settled()).deleted();
    assert_eq!(world.walk(), ["plan destroy", "await approval"]);
    let hash = asks(&world.decide()).unwrap();
    world.active.approvals = vec![hash];
    assert_eq!(world.walk(), ["destroy", "finish"]);
}

#[test]
fn a_destroy_of_nothing_that_leaves_something_behind_waits_for_approval() {
    let mut world = interrupted(World::settled());
    world.real = None;
    let mut world = world.deleted();
    assert_eq!(world.walk(), ["plan destroy", "await approval"]);
    let hash = asks(&world.decide()).unwrap();
    world.active.approvals = vec![hash];
    assert_eq!(world.walk(), ["finish"]);
}
