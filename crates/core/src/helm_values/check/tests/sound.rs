//! Releases of which nothing is said.

use rstest::rstest;

use super::*;

#[rstest]
#[case::nothing(json!({}))]
#[case::inline_only(json!({ "values": { "a": 1 } }))]
#[case::karpenter(json!({
    "values": { "replicas": 1, "settings": { "featureGates": { "spotToSpotConsolidation": true } } },
    "valuesFrom": [
        at("settings.clusterName"),
        { "kind": "Secret", "name": "demo", "valuesKey": "queue_name", "targetPath": "settings.interruptionQueue",
          "literal": true, "optional": true },
        at(r"serviceAccount.annotations.eks\.amazonaws\.com/role-arn"),
    ],
}))]
#[case::without_literal(json!({
    "valuesFrom": [{ "kind": "Secret", "name": "demo", "valuesKey": "cluster_name", "targetPath": "settings.clusterName" }],
}))]
#[case::a_text_of_a_manifest(json!({
    "valuesFrom": [{ "kind": "ConfigMap", "name": "settings", "valuesKey": "text", "targetPath": "a" }],
}))]
#[case::what_may_replace_what_is_always_there(json!({
    "valuesFrom": [
        at("a"),
        { "kind": "Secret", "name": "other", "valuesKey": "a", "targetPath": "a", "literal": true, "optional": true },
    ],
}))]
#[case::what_may_replace_what_is_inline(json!({
    "values": { "a": { "b": "x" } },
    "valuesFrom": [
        { "kind": "Secret", "name": "other", "valuesKey": "a", "targetPath": "a.b", "literal": true, "optional": true },
    ],
}))]
#[case::one_annotation(json!({ "valuesFrom": [at("podAnnotations.checksum")] }))]
#[case::a_path_of_a_url(json!({ "valuesFrom": [at("probes.paths./healthz")] }))]
#[case::items_of_a_list(json!({ "valuesFrom": [at("env[0].value"), at("env[1].value")] }))]
#[case::an_item_of_an_inline_list(json!({
    "values": { "env": [{ "name": "CLUSTER_NAME" }] },
    "valuesFrom": [at("env[0].value")],
}))]
#[case::beside_inline_values(json!({ "values": { "a": { "b": 1 } }, "valuesFrom": [at("a.c"), at("a.d")] }))]
fn a_sound_release_has_no_findings(#[case] spec: Value) {
    assert_eq!(found(&spec, Outputs::Values(&outputs())), Vec::<String>::new());
}

#[rstest]
#[case::another_kind("helm.toolkit.fluxcd.io/v2", "Other")]
#[case::another_group("helm.cattle.io/v1", "HelmRelease")]
fn other_objects_have_no_findings(#[case] api_version: &str, #[case] kind: &str) {
    let mut object = release(&json!({ "values": 1, "valuesFrom": 1 }));
    object["apiVersion"] = json!(api_version);
    object["kind"] = json!(kind);
    assert_eq!(check(&object, &Surroundings::default()), []);
}

/// Its name differs from cluster to cluster.
#[test]
fn a_secret_may_be_the_one_whose_name_is_not_known() {
    let values = stack();
    let surroundings = Surroundings { values: &values, ..Surroundings::default() };
    let spec =
        json!({ "valuesFrom": [{ "kind": "Secret", "name": "x", "valuesKey": "a", "targetPath": "a" }] });
    assert_eq!(check(&release(&spec), &surroundings), []);
}

#[test]
fn not_all_of_very_many_references_are_looked_at() {
    let entries: Vec<Value> = (0..100_000).map(|_| at("a.")).collect();
    let findings = check(&release(&json!({ "valuesFrom": entries })), &Surroundings::default());
    assert_eq!(
        findings[0].to_string(),
        "spec.valuesFrom has more than 200 items, and the rest is not checked; put values together into files of values"
    );
    assert!(findings.len() < 1_000);
}

#[test]
fn debug_output_shows_no_outputs() {
    let outputs = outputs();
    let surroundings = Surroundings { outputs: Outputs::Values(&outputs), ..Surroundings::default() };
    assert!(!format!("{surroundings:?}").contains("123456789012"));
}
