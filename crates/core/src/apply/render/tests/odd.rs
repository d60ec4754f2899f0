//! What no API server lets through, and what must not bring anything down all the same.

use super::*;

/// An apply with a value for everything that could be put somewhere.
fn full(spec: Value) -> Scene {
    let mut scene = Scene::of(spec).variable("region", "eu").found("subnets", Found::Output(json!(["a"])));
    scene.apply.spec.write_connection_secret_to_ref =
        Some(SecretTarget { name: "out".to_owned(), namespace: None });
    scene.secret("password", MARKER)
}

#[rstest]
#[case::text(json!("forProvider"))]
#[case::list(json!([{ "forProvider": {} }]))]
#[case::number(json!(1))]
#[case::nothing(json!(null))]
fn a_spec_that_is_no_object_is_refused(#[case] spec: Value) {
    let blocked = full(spec).blocked();
    assert_eq!(blocked.reason, Reason::TemplateInvalid);
    assert!(
        blocked.message.contains("WorkspaceTemplate `platform/eks` spec.template.spec"),
        "{}",
        blocked.message
    );
}

#[rstest]
#[case::empty(json!({}))]
#[case::for_provider_is_text(json!({ "forProvider": "x" }))]
#[case::for_provider_is_a_list(json!({ "forProvider": [] }))]
#[case::lists_are_texts(json!({ "forProvider": { "vars": "x", "varmap": "x", "varFiles": "x", "env": "x" } }))]
#[case::lists_are_objects(json!({ "forProvider": { "vars": {}, "varmap": [], "varFiles": {}, "env": {} } }))]
#[case::entries_are_bare(json!({ "forProvider": { "vars": [1, null, {}], "varFiles": [1, {}], "env": [null, {}] } }))]
#[case::references_are_bare(json!({ "forProvider": { "env": [{ "secretKeyRef": "x" }, { "secretKeyRef": { "namespace": "b" } }] } }))]
#[case::module_is_a_list(json!({ "forProvider": { "source": "Inline", "module": ["${region}"] } }))]
#[case::source_is_an_object(json!({ "forProvider": { "source": {}, "module": "x" } }))]
#[case::connection_secret_is_text(json!({ "writeConnectionSecretToRef": "x" }))]
fn odd_fields_are_no_reason_to_fall_over(#[case] spec: Value) {
    let rendered = full(spec).render().unwrap();
    assert_eq!(rendered.spec["forProvider"]["varmap"], json!({ "subnets": ["a"] }));
    assert!(!rendered.spec.to_string().contains("MARKER"));
}

#[test]
fn deep_trees_are_walked_to_the_end() {
    let deep = (0..120).fold(json!("${region}"), |tree, _| json!([tree]));
    let rendered = full(json!({ "forProvider": { "varmap": { "deep": deep } } })).render().unwrap();
    assert!(rendered.spec.to_string().contains("[\"eu\"]"));
}

#[test]
fn a_module_without_end_does_not_count_as_broken() {
    let module = format!("a = {}", "[".repeat(100_000));
    let scene = full(json!({ "forProvider": { "source": "Inline", "module": module } }));
    assert_eq!(scene.for_provider()["vars"], json!([{ "key": "region", "value": "eu" }]));
}
