use super::*;

fn target(name: &str, namespace: Option<&str>) -> SecretTarget {
    SecretTarget { name: name.to_owned(), namespace: namespace.map(ToOwned::to_owned) }
}

fn scene(apply: Option<SecretTarget>, template: Option<SecretTarget>, spec: Option<Value>) -> Scene {
    let mut scene = Scene::inline("a = 1\n");
    scene.apply.spec.write_connection_secret_to_ref = apply;
    scene.template.spec.write_connection_secret_to_ref = template;
    if let Some(spec) = spec {
        scene.template.spec.template.spec["writeConnectionSecretToRef"] = spec;
    }
    scene
}

fn written(scene: &Scene) -> Value {
    scene.render().unwrap().spec["writeConnectionSecretToRef"].take()
}

#[rstest]
#[case::apply(Some(target("a", None)), Some(target("t", None)), Some(json!({ "name": "s" })), "a")]
#[case::template(None, Some(target("t", None)), Some(json!({ "name": "s" })), "t")]
#[case::spec(None, None, Some(json!({ "name": "s" })), "s")]
fn the_apply_has_the_first_word_and_the_template_the_next(
    #[case] apply: Option<SecretTarget>,
    #[case] template: Option<SecretTarget>,
    #[case] spec: Option<Value>,
    #[case] expected: &str,
) {
    let expected = json!({ "name": expected, "namespace": "team-a" });
    assert_eq!(written(&scene(apply, template, spec)), expected);
}

#[test]
fn without_a_word_there_is_no_secret() {
    let rendered = scene(None, None, None).render().unwrap();
    assert_eq!(rendered.spec.get("writeConnectionSecretToRef"), None);
}

#[rstest]
#[case::of_the_template(scene(None, Some(target("${WORKSPACE_NAME}-out", Some("${NAMESPACE}"))), None))]
#[case::of_its_spec(scene(None, None, Some(json!({ "name": "${WORKSPACE_NAME}-out", "namespace": "${NAMESPACE}" }))))]
#[case::empty_namespace(scene(None, Some(target("demo-out", Some(""))), None))]
fn placeholders_are_replaced(#[case] scene: Scene) {
    let rendered = scene.render().unwrap();
    let expected = json!({ "name": "demo-out", "namespace": "team-a" });
    assert_eq!(rendered.spec["writeConnectionSecretToRef"], expected);
    assert_eq!(rendered.references, []);
}

#[rstest]
#[case::of_the_template(scene(Some(target("mine", None)), Some(target("${CLUSTER_NAME}", None)), None))]
#[case::of_its_spec(scene(Some(target("mine", None)), None, Some(json!({ "name": "${CLUSTER_NAME}" }))))]
#[case::of_the_spec_below_the_template(scene(None, Some(target("mine", None)), Some(json!({ "name": "${CLUSTER_NAME}" }))))]
fn a_name_that_is_overruled_needs_no_values(#[case] scene: Scene) {
    assert_eq!(written(&Scene { cluster: None, ..scene })["name"], json!("mine"));
}

#[rstest]
#[case::placeholder_left(
    scene(None, Some(target("${nobody}-out", None)), None),
    "WorkspaceTemplate `platform/eks` spec.writeConnectionSecretToRef"
)]
#[case::upper_case(scene(None, Some(target("${x}", None)), None).variable("x", "Prod"), "`team-a/Prod`")]
#[case::slash(scene(None, Some(target("${x}", None)), None).variable("x", "a/b"), "`team-a/a/b`")]
#[case::empty(scene(None, Some(target("${x}", None)), None).variable("x", ""), "`team-a/`")]
#[case::too_long(scene(None, Some(target("${x}", None)), None).variable("x", &"a".repeat(254)), "spec.writeConnectionSecretToRef")]
#[case::two_dots(scene(None, Some(target("${x}", None)), None).variable("x", "a..b"), "`team-a/a..b`")]
#[case::hyphen_before_a_dot(scene(None, Some(target("${x}", None)), None).variable("x", "a-.b"), "`team-a/a-.b`")]
#[case::namespace_with_a_dot(scene(None, Some(target("a", Some("team.a"))), None), "`team.a/a`")]
#[case::namespace_too_long(scene(None, Some(target("a", Some("${x}"))), None).variable("x", &"a".repeat(64)), "spec.writeConnectionSecretToRef")]
#[case::no_name(scene(None, None, Some(json!({ "namespace": "team-a" }))), "spec.template.spec.writeConnectionSecretToRef")]
#[case::name_is_no_text(scene(None, None, Some(json!({ "name": 1 }))), "spec.template.spec.writeConnectionSecretToRef")]
fn what_cannot_be_the_name_of_a_secret_is_refused(#[case] scene: Scene, #[case] told: &str) {
    let blocked = scene.blocked();
    assert_eq!(blocked.reason, Reason::TemplateInvalid);
    assert!(blocked.message.contains(told), "{}", blocked.message);
}

#[rstest]
#[case::dots("a.b-c.d1")]
#[case::longest("a")]
fn what_can_be_the_name_of_a_secret_is_taken(#[case] part: &str) {
    let name = part.repeat(if part == "a" { 253 } else { 1 });
    assert_eq!(written(&scene(Some(target(&name, None)), None, None))["name"], json!(name));
}

/// What a reference needs a grant for, as `namespace/name`.
fn granted(scene: &Scene) -> Vec<String> {
    let references = scene.render().unwrap().references;
    references
        .iter()
        .map(|Reference { target, .. }| format!("{}/{}", target.namespace, target.name))
        .collect()
}

#[rstest]
#[case::own_namespace(scene(Some(target("out", Some("team-a"))), None, None), &[])]
#[case::apply_names_another(scene(Some(target("out", Some("team-b"))), None, None), &["team-b/out"])]
#[case::apply_names_the_template_s(scene(Some(target("out", Some("platform"))), None, None), &["platform/out"])]
#[case::template_names_its_own(scene(None, Some(target("out", Some("platform"))), None), &[])]
#[case::template_names_another(scene(None, Some(target("out", Some("team-b"))), None), &["team-b/out"])]
#[case::placeholder_names_the_template_s(
    scene(None, Some(target("out", Some("${where}"))), None).variable("where", "platform"), &["platform/out"]
)]
#[case::placeholder_in_the_name(
    scene(None, Some(target("${what}", Some("platform"))), None).variable("what", "root"), &["platform/root"]
)]
#[case::spec_names_its_own(scene(None, None, Some(json!({ "name": "out", "namespace": "platform" }))), &[])]
#[case::spec_names_another(scene(None, None, Some(json!({ "name": "out", "namespace": "team-b" }))), &["team-b/out"])]
#[case::spec_with_a_placeholder(
    scene(None, None, Some(json!({ "name": "${what}", "namespace": "platform" }))).variable("what", "root"), &["platform/root"]
)]
#[case::overruled(scene(Some(target("out", None)), None, Some(json!({ "name": "out", "namespace": "team-b" }))), &[])]
fn another_namespace_needs_a_grant(#[case] scene: Scene, #[case] expected: &[&str]) {
    assert_eq!(granted(&scene), expected);
}
