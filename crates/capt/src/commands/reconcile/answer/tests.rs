use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn asked() -> Asked {
    let binding: AddonStackBinding = serde_json::from_value(json!({
        "apiVersion": "addons.cluster.x-k8s.io/v1alpha1", "kind": "AddonStackBinding",
        "metadata": { "name": "base.prod", "namespace": "team-a" },
        "spec": { "clusterName": "prod", "stackName": "base" },
    }))
    .unwrap();
    let found = BTreeMap::from([("base.prod".to_owned(), binding)]);
    Asked::new("2026-01-02T03:04:05.000000006Z".to_owned(), found, &BTreeMap::<String, String>::new())
}

fn status(addons: &Value, ready: &str, reason: Reason, paused: bool) -> AddonStackBindingStatus {
    let at = "2026-01-02T03:04:05Z";
    let condition = |type_: &str, status: &str, reason: &str, message: &str| json!({ "type": type_, "status": status, "reason": reason, "message": message, "lastTransitionTime": at });
    let paused = if paused { "True" } else { "False" };
    serde_json::from_value(json!({
        "addons": addons,
        "conditions": [
            condition("Ready", ready, reason.as_str(), "why it is not ready"),
            condition("Paused", paused, "Paused", "somebody has paused it"),
        ],
    }))
    .unwrap()
}

fn step(name: &str, state: &str, reason: Reason, message: &str) -> Value {
    let since = "2026-01-02T03:04:05Z";
    json!({ "name": name, "state": state, "reason": reason.as_str(), "message": message, "since": since })
}

fn handled(status: AddonStackBindingStatus) -> Asked {
    let mut asked = asked();
    asked.tell(&BTreeMap::from([("base.prod".to_owned(), Answer::Handled(Box::new(status)))]));
    asked
}

#[rstest]
#[case::ready("Ready", Reason::AddonReady, "True", Reason::AddonsReady, false)]
#[case::on_its_way("WaitingForReady", Reason::AddonNotReady, "False", Reason::AddonNotReady, false)]
#[case::held_by_the_user("Blocked", Reason::GateClosed, "False", Reason::GateClosed, false)]
#[case::failed("Failed", Reason::ObjectRefused, "False", Reason::ObjectRefused, true)]
#[case::blocked("Blocked", Reason::ResourceMissing, "False", Reason::ResourceMissing, true)]
#[case::the_stack_is_broken("Ready", Reason::AddonReady, "False", Reason::SpecInvalid, true)]
fn what_calls_for_somebody_is_a_failure(
    #[case] state: &str,
    #[case] reason: Reason,
    #[case] ready: &str,
    #[case] why: Reason,
    #[case] expected: bool,
) {
    let asked = handled(status(&json!([step("flux", state, reason, "")]), ready, why, false));
    assert_eq!(!asked.failed().is_empty(), expected, "{asked:?}");
}

#[test]
fn people_see_each_add_on_in_a_line() {
    let addons = json!([
        step("flux", "Ready", Reason::AddonReady, ""),
        step("karpenter", "Failed", Reason::ObjectRefused, "the cluster refused it"),
    ]);
    let asked = handled(status(&addons, "False", Reason::ObjectRefused, false));
    assert_eq!(
        asked.sentences(),
        "AddonStack `base` in Cluster `prod`:\n  flux       Ready\n  karpenter  Failed  the cluster refused it"
    );
}

#[test]
fn programs_see_what_came_of_it() {
    let addons = json!([step("flux", "WaitingForReady", Reason::AddonNotReady, "not yet")]);
    let asked = handled(status(&addons, "False", Reason::AddonNotReady, true));
    assert_eq!(
        serde_json::to_value(&asked).unwrap(),
        json!({
            "requestedAt": "2026-01-02T03:04:05.000000006Z",
            "bindings": [{
                "name": "base.prod", "namespace": "team-a", "cluster": "prod", "stack": "base",
                "result": "Handled", "message": "somebody has paused it",
                "addons": [{
                    "name": "flux", "state": "WaitingForReady", "since": "2026-01-02T03:04:05Z",
                    "reason": "AddonNotReady", "message": "not yet",
                }],
            }],
        })
    );
}

#[test]
fn what_has_no_answer_is_told_too() {
    let mut unanswered = asked();
    assert_eq!(unanswered.sentences(), "AddonStack `base` in Cluster `prod` was asked for");
    unanswered.tell(&BTreeMap::new());
    assert_eq!(
        unanswered.sentences(),
        "AddonStack `base` in Cluster `prod` was asked for, without an answer"
    );
    let mut gone = asked();
    gone.tell(&BTreeMap::from([("base.prod".to_owned(), Answer::Gone)]));
    assert_eq!(gone.sentences(), "AddonStack `base` in Cluster `prod` is gone");
    assert!(gone.failed().is_empty());
}
