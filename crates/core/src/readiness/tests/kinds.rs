use State::{Current, Failed, InProgress, Terminating};
use rstest::rstest;

use super::*;

#[rstest]
#[case::claim_not_seen("v1", "PersistentVolumeClaim", json!({}), InProgress, "no volume yet")]
#[case::claim_pending("v1", "PersistentVolumeClaim", json!({"phase": "Pending"}), InProgress, "phase is Pending")]
#[case::claim_bound("v1", "PersistentVolumeClaim", json!({"phase": "Bound"}), Current, "")]
#[case::namespace_not_seen("v1", "Namespace", json!({}), InProgress, "not active yet")]
#[case::namespace_active("v1", "Namespace", json!({"phase": "Active"}), Current, "")]
#[case::namespace_going("v1", "Namespace", json!({"phase": "Terminating"}), Terminating, "being deleted")]
#[case::budget_not_seen("policy/v1", "PodDisruptionBudget", json!({}), Current, "")]
#[case::budget_old("policy/v1", "PodDisruptionBudget", json!({"observedGeneration": 1}), InProgress, "latest change")]
#[case::crd_not_seen("apiextensions.k8s.io/v1", "CustomResourceDefinition", json!({}), InProgress, "not established it yet")]
#[case::crd_installing(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    json!({"conditions": [
        condition("NamesAccepted", "True", "NoConflicts", ""),
        condition("Established", "False", "Installing", ""),
    ]}),
    InProgress,
    "not established it yet"
)]
#[case::crd_refused(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    json!({"conditions": [
        condition("Established", "False", "NotAccepted", "not all names are accepted"),
        condition("NamesAccepted", "False", "ListKindConflict", "\"WidgetList\" is in use"),
    ]}),
    Failed,
    "its names are taken (ListKindConflict): \"WidgetList\" is in use"
)]
#[case::crd_not_accepted(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    json!({"conditions": [condition("Established", "False", "NotAccepted", "not all names are accepted")]}),
    Failed,
    "it is not established (NotAccepted)"
)]
#[case::crd_established(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    json!({"conditions": [condition("Established", "True", "InitialNamesAccepted", "")]}),
    Current,
    ""
)]
#[case::api_not_seen("apiregistration.k8s.io/v1", "APIService", json!({}), InProgress, "not tried to reach it")]
#[case::api_unreachable(
    "apiregistration.k8s.io/v1",
    "APIService",
    json!({"conditions": [condition("Available", "False", "MissingEndpoints", "no addresses")]}),
    InProgress,
    "Available is False (MissingEndpoints): no addresses"
)]
#[case::api_there(
    "apiregistration.k8s.io/v1",
    "APIService",
    json!({"conditions": [condition("Available", "True", "Passed", "")]}),
    Current,
    ""
)]
#[case::config_map("v1", "ConfigMap", json!({}), Current, "")]
#[case::cron_job("batch/v1", "CronJob", json!({}), Current, "")]
fn each_kind_has_its_rules(
    #[case] api_version: &str,
    #[case] kind: &str,
    #[case] status: Value,
    #[case] state: State,
    #[case] message: &str,
) {
    assert_health(&object(api_version, kind, &json!({}), &status), state, message);
}

#[rstest]
#[case::inside(json!({}), json!({}), Current, "")]
#[case::no_address(json!({"type": "LoadBalancer"}), json!({}), InProgress, "no cluster IP yet")]
#[case::no_balancer(
    json!({"type": "LoadBalancer", "clusterIP": "10.0.0.1"}),
    json!({"loadBalancer": {}}),
    InProgress,
    "no address yet"
)]
#[case::empty_address(
    json!({"type": "LoadBalancer", "clusterIP": "10.0.0.1"}),
    json!({"loadBalancer": {"ingress": [{}]}}),
    InProgress,
    "no address yet"
)]
#[case::host(
    json!({"type": "LoadBalancer", "clusterIP": "10.0.0.1"}),
    json!({"loadBalancer": {"ingress": [{"hostname": "lb.example"}]}}),
    Current,
    ""
)]
#[case::address(
    json!({"type": "LoadBalancer", "clusterIP": "10.0.0.1"}),
    json!({"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}),
    Current,
    ""
)]
fn a_service_with_a_load_balancer_is_ready_when_it_can_be_reached(
    #[case] spec: Value,
    #[case] status: Value,
    #[case] state: State,
    #[case] message: &str,
) {
    assert_health(&object("v1", "Service", &spec, &status), state, message);
}

#[test]
fn a_kind_is_known_by_its_group_and_not_by_its_version() {
    let mine = object("example.com/v1", "Deployment", &json!({"replicas": 2}), &json!({}));
    assert_health(&mine, Current, "");
    let old = object("apps/v1beta1", "Deployment", &json!({"replicas": 2}), &json!({}));
    assert_health(&old, InProgress, "0 of 2 replicas exist");
}
