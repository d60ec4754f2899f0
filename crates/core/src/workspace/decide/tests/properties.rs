//! What holds whatever was seen.

mod generate;

use proptest::prelude::*;

use super::*;
use generate::{active, deleting, standing, world};

/// Whether a run changes something.
fn changes(step: &Step) -> Option<&str> {
    match step {
        Step::Start(Start { operation: Operation::Apply { hash } | Operation::Destroy { hash }, .. }) => {
            Some(hash)
        }
        _ => None,
    }
}

fn is_started(step: &Step) -> bool {
    matches!(step, Step::Start(_))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn who_is_not_to_be_run_is_not_run(seen in standing()) {
        prop_assert!(!is_started(&decide(&seen)));
    }

    #[test]
    fn only_the_plan_at_hand_is_applied(seen in active()) {
        let step = decide(&Observed::Active(Box::new(seen.clone())));
        if let Some(hash) = changes(&step) {
            let Some(Ended { fingerprint, result: Ending::Planned(plan), .. }) = &seen.ended else {
                panic!("{hash} is applied without a plan");
            };
            prop_assert_eq!(hash, &plan.hash);
            prop_assert!(!plan.destroy && !plan.is_empty());
            prop_assert_eq!(fingerprint, &seen.inputs.as_ref().unwrap().fingerprint);
            let is_apply = matches!(step, Step::Start(Start { operation: Operation::Apply { .. }, inputs: Which::Current, .. }));
            prop_assert!(is_apply);
        }
    }

    #[test]
    fn what_is_destroyed_was_planned_with_the_same_inputs(seen in deleting()) {
        let step = decide(&Observed::Deleting(Box::new(seen.clone())));
        if let Some(hash) = changes(&step) {
            let Some(Ended { fingerprint, result: Ending::Planned(plan), .. }) = &seen.ended else {
                panic!("{hash} is applied without a plan");
            };
            prop_assert_eq!(hash, &plan.hash);
            prop_assert!(plan.destroy);
            let Step::Start(Start { operation: Operation::Destroy { .. }, inputs, .. }) = step else {
                panic!("something is applied while it is deleted");
            };
            let current = seen.inputs.as_ref().ok().map(|inputs| &inputs.fingerprint);
            let expected = match inputs {
                Which::Current => current,
                Which::Kept => seen.kept.as_ref(),
                Which::Candidate => None,
            };
            prop_assert_eq!(Some(fingerprint), expected);
        }
    }

    #[test]
    fn nothing_is_run_for_what_is_not_to_be_destroyed(seen in deleting()) {
        let stays = !seen.destroys || !seen.held || !seen.others.is_empty();
        let step = decide(&Observed::Deleting(Box::new(seen)));
        prop_assert!(!stays || !is_started(&step));
    }

    #[test]
    fn inputs_that_are_not_there_are_not_used(seen in deleting()) {
        if let Step::Start(Start { inputs, .. }) = decide(&Observed::Deleting(Box::new(seen.clone()))) {
            match inputs {
                Which::Current => prop_assert!(seen.inputs.is_ok()),
                Which::Kept => prop_assert!(seen.kept.is_some()),
                Which::Candidate => prop_assert!(false, "nobody plans other content of what is deleted"),
            }
        }
    }

    #[test]
    fn a_missing_state_that_nobody_accepted_is_left_alone(active in active(), deleting in deleting()) {
        let (noted, memory, traces) = (active.state_noted, active.memory.clone(), active.traces);
        let missing = Active { state: State::Absent, missing_state_accepted: false, hand_back: None, ..active };
        if is_state_missing(&missing.state, noted, &memory, traces) {
            prop_assert!(!is_started(&decide(&Observed::Active(Box::new(missing)))));
        }
        let (noted, memory, traces) = (deleting.state_noted, deleting.memory.clone(), deleting.traces);
        let missing = Deleting { state: State::Absent, missing_state_accepted: false, ..deleting };
        if is_state_missing(&missing.state, noted, &memory, traces) {
            prop_assert!(!is_started(&decide(&Observed::Deleting(Box::new(missing)))));
        }
    }

    #[test]
    fn the_state_of_another_workspace_is_left_alone(active in active(), deleting in deleting()) {
        let state = State::NotOurs { workspace: "theirs".to_owned() };
        let active = Active { state: state.clone(), ..active };
        prop_assert!(!is_started(&decide(&Observed::Active(Box::new(active)))));
        let deleting = Deleting { state, ..deleting };
        prop_assert!(!is_started(&decide(&Observed::Deleting(Box::new(deleting)))));
    }

    #[test]
    fn after_a_state_was_put_back_only_what_is_approved_is_applied(seen in active()) {
        let restored = Active { restored: true, approvals: Vec::new(), ..seen };
        prop_assert!(changes(&decide(&Observed::Active(Box::new(restored)))).is_none());
    }

    #[test]
    fn after_a_move_only_what_is_approved_is_applied(seen in active()) {
        let moved = Active { moved: true, approvals: Vec::new(), ..seen };
        prop_assert!(changes(&decide(&Observed::Active(Box::new(moved)))).is_none());
    }

    #[test]
    fn only_who_may_change_something_does(seen in active()) {
        let step = decide(&Observed::Active(Box::new(seen.clone())));
        if changes(&step).is_some() {
            let permissions = seen.permissions.unwrap();
            prop_assert!(permissions.any && (permissions.create || permissions.update));
        }
    }

    #[test]
    fn every_way_has_an_end(mut world in world()) {
        let way = world.walk();
        let last = world.walk();
        prop_assert_eq!(last.len(), 1, "{:?} goes on with {:?}", way, last);
    }
}
