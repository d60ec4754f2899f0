//! What is refused before Terraform runs.

use rstest::rstest;
use serde_json::{Value, json};

use super::{good, story, with};

fn reference(kind: &str, key: &str) -> Value {
    json!({ kind: { "namespace": "${NAMESPACE}", "name": "absent", "key": key } })
}

fn env(mut entry: Value) -> Value {
    if entry.get("name").is_none() {
        entry["name"] = json!("TOKEN");
    }
    with("env", json!([entry]))
}

fn file(source: &str, mut entry: Value) -> Value {
    entry["source"] = json!(source);
    with("varFiles", json!([entry]))
}

fn spec(field: &str, value: Value) -> Value {
    let mut spec = good("one");
    spec[field] = value;
    spec
}

#[rstest]
#[case::provider_config(
    spec("providerConfigRef", json!({ "name": "absent" })),
    &["ProviderConfig `absent` does not exist", "create it"]
)]
#[case::env_of_a_secret(
    env(reference("secretKeyRef", "k")),
    &["spec.forProvider.env[0].secretKeyRef", "/absent` does not exist", "create it"]
)]
#[case::env_of_a_config_map(
    env(reference("configMapKeyRef", "k")),
    &["spec.forProvider.env[0].configMapKeyRef", "/absent` does not exist"]
)]
#[case::file_of_a_secret(
    file("SecretKey", reference("secretKeyRef", "k")),
    &["spec.forProvider.varFiles[0].secretKeyRef", "/absent` does not exist"]
)]
#[case::file_of_a_config_map(
    file("ConfigMapKey", reference("configMapKeyRef", "k")),
    &["spec.forProvider.varFiles[0].configMapKeyRef", "/absent` does not exist"]
)]
#[case::env_of_our_own(
    env(json!({ "name": "TF_DATA_DIR", "value": "/elsewhere" })),
    &["the environment variable `TF_DATA_DIR` cannot be set", "CAPT sets it itself"]
)]
#[case::arguments_through_the_environment(
    env(json!({ "name": "TF_CLI_ARGS_plan", "value": "-destroy" })),
    &["the environment variable `TF_CLI_ARGS_plan` cannot be set"]
)]
#[case::argument_of_our_own(with("planArgs", json!(["-refresh=false", "-json"])), &["the argument `-json` cannot be given"])]
#[case::argument_with_two_hyphens(with("applyArgs", json!(["--input=true"])), &["the argument `-input` cannot be given"])]
#[case::entrypoint(with("entrypoint", json!("../other")), &["the entrypoint `../other` leaves the module"])]
#[case::no_such_entrypoint(with("entrypoint", json!("nowhere")), &["the entrypoint `nowhere` is not a directory of the module"])]
#[case::undeclared(with("vars", json!([{ "key": "nobody", "value": "x" }])), &["undeclared variable", "nobody"])]
#[case::unknown_argument(with("planArgs", json!(["-no-such-flag"])), &["no-such-flag"])]
#[case::policies(spec("managementPolicies", json!(["Create", "Delete"])), &["spec.managementPolicies", "add Observe"])]
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_go_in_is_told_by_its_field(#[case] bad: Value, #[case] texts: &[&str]) {
    story(bad, texts).await;
}
