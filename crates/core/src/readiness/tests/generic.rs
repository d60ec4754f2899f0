use State::{Current, Failed, InProgress, Terminating};
use rstest::rstest;

use super::*;

#[rstest]
#[case::no_status(json!(null), Current, "")]
#[case::no_conditions(json!({"conditions": []}), Current, "")]
#[case::other_conditions(json!({"conditions": [condition("Synced", "False", "", "")]}), Current, "")]
#[case::old_status(json!({"observedGeneration": 1}), InProgress, "latest change")]
#[case::status_of_the_future(json!({"observedGeneration": 3}), InProgress, "latest change")]
#[case::ready(json!({"conditions": [condition("Ready", "True", "", "")]}), Current, "it is ready")]
#[case::not_ready(
    json!({"conditions": [condition("Ready", "False", "Waiting", "for a node")]}),
    InProgress,
    "Ready is False (Waiting): for a node"
)]
#[case::unknown(json!({"conditions": [condition("Ready", "Unknown", "", "")]}), InProgress, "Ready is Unknown")]
#[case::no_sense(json!({"conditions": [condition("Ready", "Perhaps", "", "")]}), Current, "")]
#[case::ready_goes_before_available(
    json!({"conditions": [condition("Available", "False", "", ""), condition("Ready", "True", "", "")]}),
    Current,
    ""
)]
#[case::available(json!({"conditions": [condition("Available", "True", "", "")]}), Current, "")]
#[case::not_available(
    json!({"conditions": [condition("Available", "False", "Starting", "")]}),
    InProgress,
    "Available is False (Starting)"
)]
#[case::working(
    json!({"conditions": [condition("Ready", "True", "", ""), condition("Reconciling", "True", "", "step 2")]}),
    InProgress,
    "it is being brought about: step 2"
)]
#[case::working_goes_before_stuck(
    json!({"conditions": [condition("Stalled", "True", "", ""), condition("Reconciling", "True", "", "")]}),
    InProgress,
    "it is being brought about"
)]
#[case::not_working(
    json!({"conditions": [condition("Reconciling", "False", "", ""), condition("Stalled", "False", "", "")]}),
    Current,
    ""
)]
#[case::stuck(
    json!({"conditions": [condition("Ready", "True", "", ""), condition("Stalled", "True", "Bad", "no key")]}),
    Failed,
    "it is stuck (Bad): no key"
)]
fn a_kind_that_nobody_knows_is_ready_unless_it_says_otherwise(
    #[case] status: Value,
    #[case] state: State,
    #[case] message: &str,
) {
    assert_health(&object("example.com/v1", "Widget", &json!({}), &status), state, message);
}

#[rstest]
#[case::ready(condition("Ready", "True", "", ""))]
#[case::not_ready(condition("Ready", "False", "", "of old"))]
#[case::available(condition("Available", "True", "", ""))]
#[case::stuck(condition("Stalled", "True", "", "of old"))]
fn a_condition_of_an_earlier_generation_says_nothing_of_this_one(#[case] mut condition: Value) {
    condition["observedGeneration"] = 1.into();
    let widget = object("example.com/v1", "Widget", &json!({}), &json!({"conditions": [condition]}));
    assert_health(&widget, InProgress, "has not seen its latest change");
}

#[rstest]
#[case::deployment("apps/v1", "Deployment")]
#[case::job("batch/v1", "Job")]
#[case::oci_repository_of_charts("source.toolkit.fluxcd.io/v1", "HelmRepository")]
#[case::anything("example.com/v1", "Widget")]
fn what_is_being_deleted_is_not_ready_whatever_it_says(#[case] api_version: &str, #[case] kind: &str) {
    let status =
        json!({"conditions": [condition("Ready", "True", "", ""), condition("Complete", "True", "", "")]});
    let mut going = object(api_version, kind, &json!({"type": "oci", "replicas": 0}), &status);
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    assert_health(&going, Terminating, "it is being deleted");
}

#[test]
fn other_peoples_messages_are_cut() {
    let long = "é".repeat(10_000);
    let status = json!({"conditions": [condition("Ready", "False", &long, &long)]});
    let message = health(&object("example.com/v1", "Widget", &json!({}), &status)).message;
    assert!(message.len() <= 300 && message.ends_with('…'), "{message}");
}
