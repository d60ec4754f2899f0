use k8s_openapi::jiff::Timestamp;
use rstest::rstest;
use serde_json::{Value, json};

use super::super::decide::{Content, Reach, Sets};
use super::super::gate::Gate;
use super::super::route::Route;
use super::*;
use crate::apply::Blocked;

const NOW: i64 = 10_000;

fn at(second: i64) -> Time {
    Time(Timestamp::from_second(second).unwrap())
}

fn stamp() -> Stamp {
    Stamp { generation: Some(1), now: at(NOW) }
}

fn after(before: Option<Value>, progress: &Progress, state: StepState, reason: Reason) -> StepStatus {
    with_facts(before, |facts| {
        step(facts, progress, &Verdict { state, reason, message: "m".to_owned() }, Vec::new())
    })
}

/// What is known of an add-on of which this was told before.
fn with_facts<T>(before: Option<Value>, look: impl FnOnce(&Facts<'_>) -> T) -> T {
    let addon =
        serde_json::from_value(json!({ "name": "flux", "gateLabel": "x", "removal": "Delete" })).unwrap();
    let before: Option<StepStatus> = before.map(|before| serde_json::from_value(before).unwrap());
    let facts = Facts {
        addon: &addon,
        before: before.as_ref(),
        missing: Vec::new(),
        gate: Gate::None,
        route: &Route::Direct,
        content: Ok(content()),
        reach: Reach::Open,
        sets: Sets::Applied { remark: None },
        requested: false,
        due: None,
        now: at(NOW).0,
    };
    look(&facts)
}

fn content() -> Content {
    Content { manifests: Some("sha256:a".to_owned()), ..Content::default() }
}

fn before(state: &str, failures: u32) -> Value {
    json!({
        "name": "flux", "state": state, "reason": "X", "since": at(50), "started": at(40), "failures": failures,
        "attempted": content().digest(), "readyOnce": at(45),
    })
}

fn failed() -> Progress {
    Progress {
        delivered: Some(Err(Blocked::new(Reason::ObjectRefused, "m".to_owned()))),
        ..Progress::default()
    }
}

#[test]
fn a_first_failure_is_counted_and_tried_again_soon() {
    let step = after(None, &failed(), StepState::Failed, Reason::ObjectRefused);
    assert_eq!((step.failures, step.next_attempt), (1, Some(at(NOW + 2))));
    assert_eq!((step.since, step.started), (at(NOW), Some(at(NOW))));
    assert_eq!((step.attempted, step.delivered), (Some(content().digest()), None));
    assert_eq!(step.removal, capt_api::addon_stack::Removal::Delete);
}

#[test]
fn failures_in_a_row_are_counted_on() {
    let step = after(Some(before("Failed", 3)), &failed(), StepState::Failed, Reason::ObjectRefused);
    assert_eq!((step.failures, step.next_attempt), (4, Some(at(NOW + 16))));
    assert_eq!((step.since, step.started), (at(50), Some(at(40))));
}

#[test]
fn what_is_ready_has_not_failed_and_was_ready_once() {
    let progress = Progress { delivered: Some(Ok(2)), opened: true, ..Progress::default() };
    let step = after(None, &progress, StepState::Ready, Reason::AddonReady);
    assert_eq!((step.failures, step.next_attempt.clone()), (0, None));
    assert_eq!((step.ready_once, step.delivered.as_deref()), (Some(at(NOW)), Some("sha256:a")));
    assert!(step.gate_opened);
}

#[test]
fn what_was_ready_gets_its_time_anew_and_stays_ready_once() {
    let step = after(
        Some(before("Ready", 0)),
        &Progress::default(),
        StepState::WaitingForReady,
        Reason::AddonDegraded,
    );
    assert_eq!((step.started, step.ready_once), (Some(at(NOW)), Some(at(45))));
}

#[test]
fn trouble_lasts_until_it_is_ready() {
    let mut told = after(None, &failed(), StepState::Failed, Reason::ObjectRefused);
    assert_eq!(told.failed_since, Some(at(NOW)));
    for state in [StepState::WaitingForReady, StepState::Pending, StepState::Blocked] {
        told = after(Some(json!(told)), &Progress::default(), state, Reason::AddonNotReady);
        assert_eq!(told.failed_since, Some(at(NOW)), "{state:?}");
    }
    told = after(Some(json!(told)), &Progress::default(), StepState::Ready, Reason::AddonReady);
    assert_eq!(told.failed_since, None);
    let blocked = |reason| after(None, &Progress::default(), StepState::Blocked, reason).failed_since;
    assert_eq!(blocked(Reason::GateClosed), None);
    assert_eq!(blocked(Reason::ResourceMissing), Some(at(NOW)));
}

#[test]
fn waiting_for_others_starts_no_clock() {
    let step = after(None, &Progress::default(), StepState::Pending, Reason::WaitingForAddons);
    assert_eq!((step.started, step.attempted, step.ready_once), (None, None, None));
}

fn one(name: &str, state: StepState, reason: Reason, message: &str) -> StepStatus {
    let mut step = after(None, &Progress::default(), state, reason);
    step.name = name.to_owned();
    step.message = message.to_owned();
    step
}

#[rstest]
#[case::all_ready(&[("flux", StepState::Ready), ("karpenter", StepState::Ready)], "True/AddonsReady ready: flux, karpenter at None")]
#[case::the_first_that_is_not(&[("flux", StepState::WaitingForReady), ("karpenter", StepState::Pending)],
    "False/AddonNotReady `flux`: m at flux")]
#[case::what_failed_before_what_waits(&[("dns", StepState::WaitingForReady), ("flux", StepState::Failed)],
    "False/ObjectRefused `flux`: m at flux")]
#[case::what_is_blocked_before_what_waits(&[("dns", StepState::WaitingForReady), ("flux", StepState::Blocked)],
    "False/GateClosed `flux`: m at flux")]
fn where_a_stack_stands_is_told(#[case] steps: &[(&str, StepState)], #[case] expected: &str) {
    let reason = |state| match state {
        StepState::Ready => Reason::AddonReady,
        StepState::Failed => Reason::ObjectRefused,
        StepState::Blocked => Reason::GateClosed,
        _ => Reason::AddonNotReady,
    };
    let steps = steps.iter().map(|(name, state)| one(name, *state, reason(*state), "m")).collect();
    let status = status(None, steps, &Whole::Goes, None, Some(4), None, &stamp());
    let ready = crate::condition::find(&status.conditions, "Ready").unwrap();
    let at = status.at.as_deref().unwrap_or("None");
    assert_eq!(format!("{}/{} {} at {at}", ready.status, ready.reason, ready.message), expected);
    assert_eq!(status.stack_generation, Some(4));
}

fn binding(steps: Vec<StepStatus>) -> AddonStackBindingStatus {
    status(None, steps, &Whole::Goes, None, None, None, &stamp())
}

#[test]
fn failing_and_recovering_is_news_and_waiting_is_not() {
    let waiting = binding(vec![one("flux", StepState::WaitingForReady, Reason::AddonNotReady, "1 of 2")]);
    let failed = binding(vec![one("flux", StepState::Failed, Reason::ObjectRefused, "refused")]);
    let other = binding(vec![one("flux", StepState::Failed, Reason::ObjectRefused, "refused otherwise")]);
    let ready = binding(vec![one("flux", StepState::Ready, Reason::AddonReady, "")]);
    let told = |before: Option<&AddonStackBindingStatus>, next: &AddonStackBindingStatus| {
        let notes = notes(before, next).into_iter();
        notes.map(|note| format!("{} {} {}", note.warning, note.reason, note.message)).collect::<Vec<_>>()
    };
    assert_eq!(told(None, &waiting), [""; 0]);
    assert_eq!(told(Some(&waiting), &failed), ["true ObjectRefused `flux`: refused"]);
    assert_eq!(told(Some(&failed), &failed), [""; 0]);
    assert_eq!(told(Some(&failed), &other), ["true ObjectRefused `flux`: refused otherwise"]);
    assert_eq!(told(Some(&failed), &ready), ["false AddonRecovered `flux`: ready again after it had failed"]);
    assert_eq!(told(Some(&waiting), &ready), ["false AddonReady `flux`: ready"]);
}

#[test]
fn a_cluster_is_told_the_worst_of_its_stacks() {
    let ready = binding(vec![one("flux", StepState::Ready, Reason::AddonReady, "")]);
    let waiting = binding(vec![one("dns", StepState::WaitingForReady, Reason::AddonNotReady, "1 of 2")]);
    let failed = binding(vec![one("flux", StepState::Failed, Reason::ObjectRefused, "refused")]);
    let told = |bindings: &[(&str, Option<&AddonStackBindingStatus>)]| {
        let (truth, reason, message) = of_cluster(bindings.iter().copied());
        format!("{}/{reason} {message}", truth.as_str())
    };
    assert_eq!(told(&[("a", Some(&ready)), ("b", Some(&ready))]), "True/AddonsReady ready: a, b");
    assert_eq!(
        told(&[("a", Some(&ready)), ("b", Some(&waiting)), ("c", Some(&failed))]),
        "False/ObjectRefused AddonStack `c`: `flux`: refused"
    );
    assert_eq!(
        told(&[("a", None), ("b", Some(&ready))]),
        "False/AddonNotReady AddonStack `a` has not been looked at yet"
    );
}

#[test]
fn what_was_repaired_is_told_and_what_is_brought_for_the_first_time_is_not() {
    let told = |before: Option<Value>, written: usize| {
        let progress = Progress { delivered: Some(Ok(written)), ..Progress::default() };
        with_facts(before, |facts| repaired(facts, &progress)).map(|note| note.message)
    };
    let message = "`flux`: 2 objects had been changed in the cluster and were brought in line".to_owned();
    assert_eq!(told(Some(before("Ready", 0)), 2), Some(message));
    assert_eq!(told(Some(before("Ready", 0)), 0), None);
    assert_eq!(told(Some(before("Failed", 0)), 2), None);
    assert_eq!(told(None, 2), None);
}
