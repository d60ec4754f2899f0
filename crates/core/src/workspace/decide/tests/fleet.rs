//! Many Workspaces over a day.

use std::collections::BTreeMap;
use std::time::Duration;

use super::*;

const MANY: usize = 200;
const MINUTE: Duration = Duration::from_secs(60);

/// Workspaces that settle within an hour, as when a fleet is made.
fn fleet() -> Vec<World> {
    let settled = |number: usize| {
        let mut world = World::new();
        world.uid = format!("uid-{number}");
        world.pass(Duration::from_secs(number as u64 * 18));
        world.walk();
        world.active.now = Timestamp::from_second(3600).unwrap();
        world
    };
    (0..MANY).map(settled).collect()
}

/// How many runs of each Workspace begin in each minute.
fn runs(fleet: &mut [World], minutes: usize) -> Vec<BTreeMap<usize, usize>> {
    let minute = |fleet: &mut [World]| {
        let mut begun = BTreeMap::new();
        for (number, world) in fleet.iter_mut().enumerate() {
            let way = world.walk();
            let count = way.iter().filter(|word| **word == "plan").count();
            if count > 0 {
                assert_eq!(way, ["plan", "confirm", "settled"]);
                begun.insert(number, count);
            }
            world.pass(MINUTE);
        }
        begun
    };
    (0..minutes).map(|_| minute(fleet)).collect()
}

#[test]
fn no_terraform_runs_in_an_hour_without_a_change() {
    let begun: usize = runs(&mut fleet(), 60).iter().map(BTreeMap::len).sum();
    assert_eq!(begun, 0);
}

#[test]
fn each_is_looked_at_about_four_times_a_day_and_never_all_at_once() {
    let mut fleet = fleet();
    let by_minute = runs(&mut fleet, 24 * 60);
    let mut by_workspace = BTreeMap::<usize, usize>::new();
    for (number, count) in by_minute.iter().flatten() {
        *by_workspace.entry(*number).or_default() += count;
    }
    assert_eq!(by_workspace.len(), MANY);
    assert!(by_workspace.values().all(|count| (3..=4).contains(count)), "{by_workspace:?}");
    let most = by_minute.iter().map(BTreeMap::len).max();
    assert!(most <= Some(10), "{most:?} of {MANY} in one minute");
}

#[test]
fn a_restart_does_not_look_at_all_of_them() {
    let mut fleet: Vec<World> = fleet().into_iter().map(World::restarted).collect();
    assert_eq!(runs(&mut fleet, 1), [BTreeMap::new()]);
}

#[test]
fn those_that_settled_in_the_same_moment_spread() {
    let mut fleet = fleet();
    let at = fleet[0].active.memory.checked_at;
    for world in &mut fleet {
        world.active.memory.checked_at = at;
    }
    let most = runs(&mut fleet, 24 * 60).iter().map(BTreeMap::len).max();
    assert!(most <= Some(15), "{most:?} of {MANY} in one minute");
}
