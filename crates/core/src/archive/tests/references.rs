use capt_api::names::{CLUSTER_SECRET_TYPE, CONNECTION_SECRET_TYPE, annotation, label};
use rstest::rstest;
use serde_json::{Value, json};

use super::super::*;

fn of(kind: &str, spec: &Value) -> Vec<String> {
    let object = json!({ "kind": kind, "metadata": { "name": "x", "namespace": "a" }, "spec": spec });
    references(&object).iter().map(ToString::to_string).collect()
}

#[rstest]
#[case::an_apply("WorkspaceTemplateApply", json!({
    "templateRef": { "name": "t", "namespace": "shared" },
    "variablesFrom": [{ "secretKeyRef": { "name": "s", "key": "k" } }, { "configMapKeyRef": { "name": "c", "key": "k" } }],
    "waitForSecrets": [{ "name": "w" }],
}), &["ConfigMap `a/c`", "Secret `a/s`", "Secret `a/w`", "WorkspaceTemplate `shared/t`"])]
#[case::a_template("WorkspaceTemplate", json!({
    "template": { "spec": { "providerConfigRef": { "name": "aws" }, "forProvider": { "env": [{ "secretKeyRef": { "namespace": "b", "name": "e", "key": "k" } }] } } },
    "writeConnectionSecretToRef": { "name": "${WORKSPACE_NAME}-connection" },
}), &["ProviderConfig `aws`", "Secret `b/e`"])]
#[case::a_stack("AddonStack", json!({ "addons": [{ "resources": [{ "kind": "ConfigMap", "name": "c" }, { "kind": "Secret", "name": "s" }] }] }),
    &["ConfigMap `a/c`", "Secret `a/s`"])]
#[case::a_workspace_without_a_config("Workspace", json!({}), &["ProviderConfig `default`"])]
#[case::names_that_lead_elsewhere("AddonStack", json!({ "secretRef": { "name": "../x" }, "configMapRef": { "name": "c", "namespace": "../b" } }), &[])]
fn what_objects_refer_to(#[case] kind: &str, #[case] spec: Value, #[case] expected: &[&str]) {
    assert_eq!(of(kind, &spec), expected);
}

#[rstest]
#[case::a_state(json!({ label::TERRAFORM_STATE: "true" }), "Opaque", true)]
#[case::a_record(json!({ label::ROLE: "record" }), "Opaque", true)]
#[case::a_token_of_a_run(json!({ label::ROLE: "access" }), "Opaque", false)]
#[case::outputs(json!({}), CONNECTION_SECRET_TYPE, true)]
#[case::handed_out_by_capt(json!({ label::MANAGED_BY: "capt" }), CLUSTER_SECRET_TYPE, false)]
#[case::handed_out_by_another(json!({}), CLUSTER_SECRET_TYPE, true)]
#[case::anything(json!({}), "Opaque", false)]
fn secrets_are_kept_by_what_they_are(#[case] labels: Value, #[case] type_: &str, #[case] expected: bool) {
    assert_eq!(is_kept_secret(&json!({ "metadata": { "labels": labels }, "type": type_ })), expected);
}

#[rstest]
#[case::nobodys(json!({}), Workspace::Nobodys)]
#[case::derived(json!({ annotation::APPLY: "a/x-apply" }), Workspace::Derived)]
#[case::frozen(json!({ annotation::APPLY: "a/x-apply", annotation::FROZEN: "", annotation::CROSSPLANE_PAUSED: "true" }), Workspace::Derived)]
#[case::paused_by_its_user(json!({ annotation::APPLY: "a/x-apply", annotation::CROSSPLANE_PAUSED: "true" }), Workspace::Marked)]
#[case::with_its_own_name(json!({ annotation::APPLY: "a/x-apply", annotation::EXTERNAL_NAME: "x" }), Workspace::Derived)]
#[case::with_another_name(json!({ annotation::APPLY: "a/x-apply", annotation::EXTERNAL_NAME: "y" }), Workspace::Marked)]
fn a_workspace_is_kept_where_nobody_makes_it_again(#[case] annotations: Value, #[case] expected: Workspace) {
    assert_eq!(workspace(&json!({ "metadata": { "name": "x", "annotations": annotations } })), expected);
}
