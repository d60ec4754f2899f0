//! Many Workspaces over a day.

use std::collections::BTreeMap;
use std::time::Duration;

use super::*;

const MANY: u32 = 200;
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// Workspaces that settled one after the other.
fn fleet(apart: Duration) -> Vec<World> {
    let settled = |number: u32| {
        let mut world = World::new();
        world.uid = format!("uid-{number}");
        world.pass(apart * number);
        assert_eq!(world.walk().last(), Some(&"settled"));
        world.active.now = Timestamp::from_second(3600).unwrap();
        world
    };
    (0..MANY).map(settled).collect()
}

/// The times at which a Workspace is looked at in a day, when it is brought up as the decision says.
fn looks(world: &mut World) -> Vec<Timestamp> {
    let end = world.active.now.saturating_add(HOUR * 24).unwrap();
    let mut looks = Vec::new();
    loop {
        let Step::Settled { next_check: Some(next) } = world.decide() else { panic!("it is not settled") };
        if next > end {
            return looks;
        }
        world.active.now = next;
        assert_eq!(world.walk(), ["plan", "confirm", "settled"]);
        looks.push(next);
    }
}

#[test]
fn no_terraform_runs_in_an_hour_without_a_change() {
    for mut world in fleet(Duration::from_secs(18)) {
        for _ in 0..60 {
            assert_eq!(world.walk(), ["settled"]);
            world.pass(MINUTE);
        }
    }
}

#[test]
fn a_restart_looks_at_none_of_them() {
    for world in fleet(Duration::from_secs(18)) {
        assert_eq!(world.restarted().walk(), ["settled"]);
    }
}

#[rstest]
#[case::over_an_hour(Duration::from_secs(18), 10)]
#[case::at_the_same_moment(Duration::ZERO, 15)]
fn each_is_looked_at_about_four_times_a_day_and_they_spread(#[case] apart: Duration, #[case] most: usize) {
    let mut by_minute = BTreeMap::<i64, usize>::new();
    for mut world in fleet(apart) {
        let looks = looks(&mut world);
        assert!((3..=4).contains(&looks.len()), "{looks:?}");
        for look in looks {
            *by_minute.entry(look.as_second() / 60).or_default() += 1;
        }
    }
    let found = by_minute.values().max().copied();
    assert!(found <= Some(most), "{found:?} of {MANY} in one minute");
}
