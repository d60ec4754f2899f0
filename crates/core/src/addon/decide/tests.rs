use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// What may differ between cases; everything else is as well as can be.
struct Case {
    addon: Value,
    before: Option<Value>,
    missing: Vec<&'static str>,
    gate: Gate,
    route: Route,
    content: Result<Content, Blocked>,
    reach: Reach,
    sets: Sets,
    requested: bool,
    due: Option<i64>,
    progress: Progress,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            addon: json!({ "name": "karpenter", "delivery": "Direct", "resources": [{ "kind": "ConfigMap", "name": "k" }] }),
            before: None,
            missing: Vec::new(),
            gate: Gate::None,
            route: Route::Direct,
            content: Ok(content()),
            reach: Reach::Open,
            sets: Sets::Applied { remark: None },
            requested: false,
            due: None,
            progress: Progress::default(),
        }
    }
}

const NOW: i64 = 10_000;

fn content() -> Content {
    Content { manifests: Some("sha256:a".to_owned()), ..Content::default() }
}

fn with_values() -> Content {
    Content { values: vec!["v1".to_owned()], ..content() }
}

/// Statuses hold them: whatever changes one of them brings every add-on of every fleet again.
#[test]
fn digests_of_content_never_change() {
    assert_eq!(content().digest(), "2de93dd4504fea12");
    assert_eq!(with_values().digest(), "fb65a557d5f0b949");
    assert_eq!(Content::default().digest(), "af5570f5a1810b7a");
}

/// How it was told last, with the same content.
fn before(state: &str, reason: &str) -> Value {
    json!({
        "name": "karpenter", "state": state, "reason": reason, "since": Time(at(NOW - 50)),
        "message": "no answer", "started": Time(at(NOW - 100)), "attempted": content().digest(), "delivered": "sha256:a", "failures": 1,
    })
}

fn told(case: Case) -> String {
    let addon = serde_json::from_value(case.addon).unwrap();
    let before: Option<StepStatus> = case.before.map(|before| serde_json::from_value(before).unwrap());
    let facts = Facts {
        addon: &addon,
        before: before.as_ref(),
        missing: case.missing.iter().map(|name| (*name).to_owned()).collect(),
        gate: case.gate,
        route: &case.route,
        content: case.content,
        reach: case.reach,
        sets: case.sets,
        requested: case.requested,
        due: case.due.map(at),
        now: at(NOW),
    };
    match decide(&facts, &case.progress) {
        Step::Tell(Verdict { state, reason, message }) => format!("{state:?}/{reason}: {message}"),
        step => format!("{step:?}"),
    }
}

/// Manifests were brought, and the cluster was asked.
fn looked(state: State) -> Progress {
    let health = Health { state, message: "1 of 2 replicas are ready".to_owned() };
    Progress { delivered: Some(Ok(0)), health: Some(Ok(health)), ..Progress::default() }
}

fn trouble() -> Blocked {
    Blocked::new(Reason::ObjectRefused, "Deployment `a/b` was refused".to_owned())
}

#[rstest]
#[case::others_first(Case { missing: vec!["flux", "dns"], gate: Gate::Closed, ..Case::default() },
    "Pending/WaitingForAddons: waits until `flux`, `dns` is ready")]
#[case::started_by_hand(Case { missing: vec!["flux"], gate: Gate::Open, ..Case::default() }, "Deliver")]
#[case::a_dependency_that_came_later_stops_nothing(
    Case { missing: vec!["new"], before: Some(before("WaitingForReady", "AddonNotReady")), ..Case::default() }, "Deliver")]
#[case::held_by_the_user(Case { gate: Gate::Held { message: "off".to_owned() }, ..Case::default() }, "Blocked/GateClosed: off")]
#[case::no_manifests(
    Case { content: Err(Blocked::new(Reason::ResourceMissing, "ConfigMap `k` does not exist".to_owned())), ..Case::default() },
    "Blocked/ResourceMissing: ConfigMap `k` does not exist")]
#[case::no_manifests_any_more(
    Case {
        content: Err(Blocked::new(Reason::ResourceMissing, "ConfigMap `k` does not exist".to_owned())),
        before: Some(before("Ready", "AddonReady")),
        ..Case::default()
    },
    "Blocked/ResourceMissing: ConfigMap `k` does not exist; what was brought stays")]
#[case::nobody_brings_it(Case { route: Route::Missing { message: "no set".to_owned() }, ..Case::default() },
    "Blocked/ResourceSetMissing: no set")]
#[case::no_cluster_yet(Case { reach: Reach::Waiting("no credentials yet".to_owned()), ..Case::default() },
    "Pending/WaitingForCredentials: no credentials yet")]
#[case::credentials_gone(
    Case { reach: Reach::Waiting("no credentials".to_owned()), before: Some(before("Ready", "AddonReady")), ..Case::default() },
    "Failed/ClusterUnreachable: no credentials")]
#[case::still_unreachable(Case { reach: Reach::StillUnreachable("no answer".to_owned()), ..Case::default() },
    "Failed/ClusterUnreachable: no answer")]
#[case::still_unreachable_as_was_told(
    Case {
        reach: Reach::StillUnreachable("no answer".to_owned()),
        before: Some(before("Failed", "ClusterUnreachable")),
        ..Case::default()
    },
    "Rest")]
#[case::unreachable(Case { reach: Reach::Unreachable("no answer".to_owned()), ..Case::default() },
    "Failed/ClusterUnreachable: no answer")]
fn what_holds_it_is_told(#[case] case: Case, #[case] expected: &str) {
    assert_eq!(told(case), expected);
}

#[rstest]
#[case::values_first(Case { content: Ok(with_values()), gate: Gate::Closed, ..Case::default() }, "WriteValues")]
#[case::then_the_gate(
    Case {
        content: Ok(with_values()),
        gate: Gate::Closed,
        progress: Progress { values: Some(Ok(())), ..Progress::default() },
        ..Case::default()
    },
    "OpenGate")]
#[case::then_the_manifests(
    Case {
        content: Ok(with_values()),
        gate: Gate::Closed,
        progress: Progress { values: Some(Ok(())), opened: true, ..Progress::default() },
        ..Case::default()
    },
    "Deliver")]
#[case::then_a_look(Case { progress: Progress { delivered: Some(Ok(3)), ..Progress::default() }, ..Case::default() }, "Look")]
#[case::sets_are_waited_for(
    Case { route: Route::Ours { set: "s".to_owned() }, sets: Sets::Waiting("not yet".to_owned()), ..Case::default() },
    "Delivering/Delivering: not yet")]
#[case::sets_that_fail(
    Case { route: Route::Ours { set: "s".to_owned() }, sets: Sets::Failed("refused".to_owned()), ..Case::default() },
    "Failed/NotApplied: refused")]
#[case::sets_that_are_done(Case { route: Route::Ours { set: "s".to_owned() }, ..Case::default() }, "Look")]
#[case::values_that_fail(
    Case { content: Ok(with_values()), progress: Progress { values: Some(Err(trouble())), ..Progress::default() }, ..Case::default() },
    "Failed/ObjectRefused: Deployment `a/b` was refused")]
#[case::manifests_that_fail(
    Case { progress: Progress { delivered: Some(Err(trouble())), ..Progress::default() }, ..Case::default() },
    "Failed/ObjectRefused: Deployment `a/b` was refused")]
fn one_thing_is_done_after_the_other(#[case] case: Case, #[case] expected: &str) {
    assert_eq!(told(case), expected);
}

#[rstest]
#[case::ready(State::Current, None, "Ready/AddonReady: ")]
#[case::not_ready_yet(State::InProgress, None, "WaitingForReady/AddonNotReady: 1 of 2 replicas are ready")]
#[case::failed(State::Failed, None, "Failed/AddonFailed: 1 of 2 replicas are ready")]
#[case::no_longer_ready(
    State::InProgress,
    Some(before("Ready", "AddonReady")),
    "WaitingForReady/AddonDegraded: 1 of 2 replicas are ready"
)]
#[case::still_not_ready_again(
    State::InProgress,
    Some(before("WaitingForReady", "AddonDegraded")),
    "WaitingForReady/AddonDegraded: 1 of 2 replicas are ready"
)]
fn the_cluster_says_how_it_is(#[case] state: State, #[case] before: Option<Value>, #[case] expected: &str) {
    assert_eq!(told(Case { before, progress: looked(state), ..Case::default() }), expected);
}

#[test]
fn what_takes_too_long_is_told_as_failed_and_stays_so_until_it_is_ready() {
    let addon =
        json!({ "name": "karpenter", "timeout": "90s", "resources": [{ "kind": "ConfigMap", "name": "k" }] });
    let overdue = "Failed/AddonOverdue: not ready after 90s: 1 of 2 replicas are ready";
    for (state, reason) in [("WaitingForReady", "AddonNotReady"), ("Failed", "AddonOverdue")] {
        let progress = looked(State::InProgress);
        let case =
            Case { addon: addon.clone(), before: Some(before(state, reason)), progress, ..Case::default() };
        assert_eq!(told(case), overdue);
    }
    // Something new has its own time, and so has what was ready until now.
    let mut other = before("WaitingForReady", "AddonNotReady");
    other["attempted"] = json!("other");
    for before in [other, before("Ready", "AddonReady")] {
        let progress = looked(State::InProgress);
        let told = told(Case { addon: addon.clone(), before: Some(before), progress, ..Case::default() });
        assert!(told.starts_with("WaitingForReady/"), "{told}");
    }
}

#[rstest]
#[case::ready_and_not_due(before("Ready", "AddonReady"), Some(NOW + 1), "Rest")]
#[case::ready_after_a_restart(before("Ready", "AddonReady"), None, "Rest")]
#[case::ready_and_due(before("Ready", "AddonReady"), Some(NOW), "Deliver")]
#[case::failed_and_not_due(before("Failed", "ObjectRefused"), Some(NOW + 1), "Rest")]
#[case::reached_again(before("Failed", "ClusterUnreachable"), Some(NOW + 1), "Deliver")]
#[case::failed_after_a_restart(before("Failed", "ObjectRefused"), None, "Deliver")]
#[case::waiting_and_not_due(before("WaitingForReady", "AddonNotReady"), Some(NOW + 1), "Rest")]
#[case::given_up(before("Failed", "RetriesExhausted"), Some(NOW), "Rest")]
#[case::was_blocked(before("Blocked", "GateClosed"), Some(NOW + 1), "Deliver")]
fn a_cluster_is_not_asked_before_it_is_time(
    #[case] before: Value,
    #[case] due: Option<i64>,
    #[case] expected: &str,
) {
    assert_eq!(told(Case { before: Some(before), due, ..Case::default() }), expected);
}

#[rstest]
#[case::something_new(false, "other")]
#[case::asked_for(true, "")]
fn news_and_requests_do_not_wait(#[case] requested: bool, #[case] attempted: &str) {
    for (state, reason) in
        [("Ready", "AddonReady"), ("Failed", "RetriesExhausted"), ("Failed", "ObjectRefused")]
    {
        let mut before = before(state, reason);
        if !attempted.is_empty() {
            before["attempted"] = json!(attempted);
        }
        let case = Case { before: Some(before), due: Some(NOW + 1), requested, ..Case::default() };
        assert_eq!(told(case), "Deliver");
    }
}

#[test]
fn it_is_given_up_only_where_the_user_says_so() {
    let addon = |limit: Option<u32>| {
        let retry = json!({ "limit": limit });
        json!({ "name": "karpenter", "retry": retry, "resources": [{ "kind": "ConfigMap", "name": "k" }] })
    };
    let attempt = |limit, failures: u32| {
        let mut before = before("Failed", "ObjectRefused");
        before["failures"] = json!(failures);
        let progress = Progress { delivered: Some(Err(trouble())), ..Progress::default() };
        told(Case { addon: addon(limit), before: Some(before), progress, ..Case::default() })
    };
    assert_eq!(attempt(None, 100_000), "Failed/ObjectRefused: Deployment `a/b` was refused");
    assert_eq!(attempt(Some(3), 2), "Failed/ObjectRefused: Deployment `a/b` was refused");
    assert_eq!(
        attempt(Some(3), 3),
        "Failed/RetriesExhausted: given up after 4 attempts until something changes or `capt reconcile` is called: \
         Deployment `a/b` was refused"
    );
}
