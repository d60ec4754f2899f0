//! Runs that fail: when they are tried again, and how often.

use super::*;

fn until(step: &Step) -> Timestamp {
    match step {
        Step::Hold { until: Some(until), .. } | Step::AwaitLock { until, .. } => *until,
        other => panic!("expected to wait for a time, got {other:?}"),
    }
}

#[test]
fn pauses_grow_over_plans_that_succeed() {
    let mut world = World::settled().changed("second");
    let mut pauses = Vec::new();
    for _ in 0..5 {
        world = world.failing([None, failure(Retry::Backoff)]);
        assert_eq!(world.walk(), ["plan", "apply", "hold"]);
        let until = until(&world.decide());
        pauses.push(until.duration_since(world.active.ended.as_ref().unwrap().at).as_secs());
        world.active.now = until;
    }
    assert_eq!(pauses, [10, 20, 40, 80, 160]);
    assert_eq!(world.walk(), ["plan", "apply", "publish", "settled"]);
}

#[test]
fn what_cannot_work_without_a_change_waits_for_one() {
    let mut world = World::settled().changed("second").failing([failure(Retry::OnChange)]);
    assert_eq!(world.walk(), ["plan", "hold"]);
    let blocked = failure(Retry::OnChange).unwrap().blocked;
    assert_eq!(world.decide(), Step::Hold { blocked, until: None });
    let mut world = world.later(super::world::INTERVAL * 10);
    assert_eq!(world.walk(), ["hold"]);
    assert_eq!(world.changed("third").walk(), ["plan", "apply", "publish", "settled"]);
}

#[rstest]
#[case::what_waits_for_a_change(failure(Retry::OnChange))]
#[case::what_waits_for_its_time(failure(Retry::Backoff))]
#[case::what_waits_for_a_lock(locked(Holder::Unknown))]
fn a_request_hurries(#[case] failure: Option<Failure>) {
    let mut world = World::settled().changed("second").failing([failure]);
    world.walk();
    let mut world = world.with(|active| active.requested = true);
    assert_eq!(world.walk(), ["plan", "apply", "publish", "settled"]);
}

#[test]
fn a_plan_that_goes_stale_is_made_again_at_once_but_not_for_ever() {
    let stale = || [None, failure(Retry::Replan)];
    let mut world = World::settled().changed("second").failing((0..4).flat_map(|_| stale()));
    let way = world.walk();
    assert_eq!(way, ["plan", "apply", "plan", "apply", "plan", "apply", "plan", "apply", "hold"]);
    world.active.now = until(&world.decide());
    assert_eq!(world.walk(), ["plan", "apply", "publish", "settled"]);
}

#[test]
fn a_lock_whose_holder_may_be_alive_is_waited_for() {
    let mut world = World::settled().changed("second").failing([None, locked(Holder::Unknown)]);
    assert_eq!(world.walk(), ["plan", "apply", "await lock"]);
    world.active.now = until(&world.decide());
    assert_eq!(world.walk(), ["plan", "apply", "publish", "settled"]);
}

#[test]
fn a_lock_whose_holder_is_dead_is_released() {
    let mut world = World::settled().changed("second").failing([None, locked(Holder::Dead)]);
    assert_eq!(world.walk(), ["plan", "apply", "unlock", "plan", "apply", "publish", "settled"]);
}

#[rstest]
#[case::this_one("id", &["unlock", "plan", "apply", "publish", "settled"])]
#[case::another_one("another", &["await lock"])]
fn a_lock_that_the_user_names_is_released(#[case] named: &str, #[case] way: &[&str]) {
    let mut world = World::settled().changed("second").failing([None, locked(Holder::Unknown)]);
    world.walk();
    let mut world = world.with(|active| active.force_unlock = Some(named.to_owned()));
    assert_eq!(world.walk(), way);
}

#[test]
fn a_lock_that_cannot_be_released_is_not_tried_all_the_time() {
    let dead = || locked(Holder::Dead);
    let mut world = World::settled().changed("second").failing([None, dead(), dead(), dead(), dead()]);
    assert_eq!(world.walk(), ["plan", "apply", "unlock", "unlock", "unlock", "await lock"]);
    world.active.now = until(&world.decide());
    assert_eq!(world.walk(), ["unlock", "plan", "apply", "publish", "settled"]);
}

#[test]
fn the_end_of_time_is_no_trouble() {
    let mut world = World::settled().changed("second").failing([failure(Retry::Backoff)]);
    world.walk();
    world.active.ended.as_mut().unwrap().at = Timestamp::MAX;
    assert_eq!(until(&world.decide()), Timestamp::MAX);
}
