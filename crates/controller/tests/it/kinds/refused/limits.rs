//! Objects that are too big: the answer names the limit.

use rstest::rstest;
use serde_json::{Value, json};

use super::{Table, merge, surprise};
use crate::kinds::server::Server;

const APPLY: &str = include_str!("workspace_template_apply.yaml");
const CLUSTER: &str = include_str!("capt_cluster.yaml");
const CONTROL_PLANE: &str = include_str!("capt_control_plane.yaml");
const PROVIDER_CONFIG: &str = include_str!("provider_config.yaml");
const TEMPLATE: &str = include_str!("workspace_template.yaml");

fn many(count: usize, item: impl Fn(usize) -> Value) -> Value {
    (0..count).map(item).collect()
}

fn entries(count: usize) -> Value {
    (0..count).map(|number| (format!("name{number}"), json!("x"))).collect()
}

fn for_provider(fields: &Value) -> Value {
    json!({ "spec": { "template": { "spec": { "forProvider": fields } } } })
}

#[rstest]
#[case::a_module_over_the_limit(
    TEMPLATE,
    for_provider(&json!({ "module": "#".repeat(1_200_001) })),
    "spec.template.spec.forProvider.module",
    "may not be more than 1200000"
)]
#[case::too_many_vars(
    TEMPLATE,
    for_provider(&json!({ "vars": many(1025, |number| json!({ "key": format!("v{number}"), "value": "x" })) })),
    "spec.template.spec.forProvider.vars",
    "must have at most 1024 items"
)]
#[case::a_long_description(
    TEMPLATE,
    json!({ "spec": { "template": { "metadata": { "description": "x".repeat(4097) } } } }),
    "spec.template.metadata.description",
    "may not be more than 4096"
)]
#[case::too_many_variables(
    APPLY,
    json!({ "spec": { "variables": entries(513) } }),
    "spec.variables",
    "must have at most 512 items"
)]
#[case::a_variable_with_a_very_long_name(
    APPLY,
    json!({ "spec": { "variables": { "x".repeat(129): "x" } } }),
    "spec.variables",
    "(128 at most)"
)]
#[case::a_variable_from_elsewhere_with_a_very_long_name(
    APPLY,
    json!({ "spec": { "variablesFrom": [{ "variable": "x".repeat(129), "secretKeyRef": { "name": "a", "key": "b" } }] } }),
    "spec.variablesFrom[0].variable",
    "may not be more than 128"
)]
#[case::too_many_secrets_to_wait_for(
    APPLY,
    json!({ "spec": { "waitForSecrets": many(65, |number| json!({ "name": format!("s{number}") })) } }),
    "spec.waitForSecrets",
    "must have at most 64 items"
)]
#[case::too_many_workspaces_to_wait_for(
    APPLY,
    json!({ "spec": { "waitForWorkspaces": many(65, |number| json!({ "name": format!("w{number}") })) } }),
    "spec.waitForWorkspaces",
    "must have at most 64 items"
)]
#[case::too_many_protected_resources(
    APPLY,
    json!({ "spec": { "protectedResources": many(65, |number| json!(format!("type_{number}"))) } }),
    "spec.protectedResources",
    "must have at most 64 items"
)]
#[case::a_protected_resource_with_a_very_long_address(
    APPLY,
    json!({ "spec": { "protectedResources": ["x".repeat(513)] } }),
    "spec.protectedResources[0]",
    "may not be more than 512"
)]
#[case::a_template_name_that_no_object_can_have(
    APPLY,
    json!({ "spec": { "templateRef": { "name": "x".repeat(254) } } }),
    "spec.templateRef.name",
    "may not be more than 253"
)]
#[case::too_many_addons(
    CONTROL_PLANE,
    json!({ "spec": { "controlPlaneConfig": { "addons": many(65, |number| json!({ "name": format!("a{number}") })) } } }),
    "spec.controlPlaneConfig.addons",
    "must have at most 64 items"
)]
#[case::too_many_tags(
    CONTROL_PLANE,
    json!({ "spec": { "additionalTags": entries(51) } }),
    "spec.additionalTags",
    "must have at most 50 items"
)]
#[case::a_long_region(
    CLUSTER,
    json!({ "spec": { "region": "x".repeat(65) } }),
    "spec.region",
    "may not be more than 64"
)]
#[case::too_many_credentials(
    PROVIDER_CONFIG,
    json!({ "spec": { "credentials": many(65, |number| json!({ "filename": format!("f{number}"), "source": "None" })) } }),
    "spec.credentials",
    "must have at most 64 items"
)]
#[tokio::test]
async fn what_is_too_much_is_refused_with_the_limit(
    #[case] table: &str,
    #[case] change: Value,
    #[case] field: &str,
    #[case] says: &str,
) {
    let server = Server::with_namespace().await;
    let mut object = serde_saphyr::from_str::<Table>(table).unwrap().good;
    merge(&mut object, &change);
    assert_eq!(surprise("too much", field, says, server.try_create(&object).await), None);
}
