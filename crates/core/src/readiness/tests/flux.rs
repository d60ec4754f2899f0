use State::{Current, Failed, InProgress};
use rstest::rstest;

use super::*;

fn ready(status: &str, reason: &str, observed: i64) -> Value {
    let mut ready = condition("Ready", status, reason, "said by Flux");
    ready["observedGeneration"] = observed.into();
    ready
}

#[rstest]
#[case::no_status(json!({}), InProgress, "Flux has not looked at it yet")]
#[case::status_of_the_crd(json!({"observedGeneration": -1}), InProgress, "has not seen its latest change")]
#[case::looked_at_and_no_word(json!({"observedGeneration": 2}), InProgress, "Flux has not looked at it yet")]
#[case::old_status(
    json!({"observedGeneration": 1, "conditions": [ready("True", "InstallSucceeded", 1)]}),
    InProgress,
    "has not seen its latest change"
)]
#[case::old_condition(
    json!({"observedGeneration": 2, "conditions": [ready("True", "InstallSucceeded", 1)]}),
    InProgress,
    "has not seen its latest change"
)]
#[case::not_ready(
    json!({"observedGeneration": 2, "conditions": [ready("False", "InstallFailed", 2)]}),
    InProgress,
    "Ready is False (InstallFailed): said by Flux"
)]
#[case::working(
    json!({"observedGeneration": 2, "conditions": [
        ready("True", "InstallSucceeded", 2),
        condition("Reconciling", "True", "ProgressingWithRetry", "again"),
    ]}),
    InProgress,
    "it is being brought about (ProgressingWithRetry): again"
)]
#[case::given_up(
    json!({"observedGeneration": 2, "conditions": [
        ready("False", "InstallFailed", 2),
        condition("Stalled", "True", "RetriesExceeded", "4 times"),
    ]}),
    Failed,
    "it is stuck (RetriesExceeded): 4 times"
)]
#[case::ready(
    json!({"observedGeneration": 2, "conditions": [
        ready("True", "InstallSucceeded", 2),
        condition("Stalled", "False", "", ""),
    ]}),
    Current,
    ""
)]
fn what_flux_works_on_is_ready_when_flux_says_so_of_this_generation(
    #[values(
        ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
        ("source.toolkit.fluxcd.io/v1", "OCIRepository"),
        ("kustomize.toolkit.fluxcd.io/v1", "Kustomization")
    )]
    kind: (&str, &str),
    #[case] status: Value,
    #[case] state: State,
    #[case] message: &str,
) {
    assert_health(&object(kind.0, kind.1, &json!({}), &status), state, message);
}

#[rstest]
#[case::oci_without_a_status("oci", json!({}), Current, "")]
#[case::oci_with_the_status_of_the_crd("oci", json!({"observedGeneration": -1}), Current, "")]
#[case::oci_of_an_earlier_flux(
    "oci",
    json!({"observedGeneration": 2, "conditions": [ready("False", "AuthenticationFailed", 2)]}),
    InProgress,
    "Ready is False (AuthenticationFailed)"
)]
#[case::oci_of_an_earlier_flux_and_ready(
    "oci",
    json!({"observedGeneration": 2, "conditions": [ready("True", "Succeeded", 2)]}),
    Current,
    ""
)]
#[case::http_not_looked_at("default", json!({"observedGeneration": -1}), InProgress, "latest change")]
#[case::http_not_fetched(
    "default",
    json!({"observedGeneration": 2, "conditions": [ready("False", "Failed", 2)]}),
    InProgress,
    "Ready is False (Failed)"
)]
#[case::http_fetched(
    "default",
    json!({"observedGeneration": 2, "conditions": [ready("True", "Succeeded", 2)]}),
    Current,
    ""
)]
fn a_helm_repository_counts_by_its_status_where_it_has_one(
    #[case] type_: &str,
    #[case] status: Value,
    #[case] state: State,
    #[case] message: &str,
) {
    let repository =
        object("source.toolkit.fluxcd.io/v1", "HelmRepository", &json!({"type": type_}), &status);
    assert_health(&repository, state, message);
}
