use super::*;

#[test]
fn only_declared_variables_go_to_the_module() {
    let scene = Scene::inline("variable \"region\" {}\na = \"${suffix}\"\n")
        .variable("region", "eu")
        .variable("suffix", "x")
        .variable("typo", "y");
    assert_eq!(scene.for_provider()["vars"], json!([{ "key": "region", "value": "eu" }]));
    assert_eq!(scene.render().unwrap().ignored, ["typo"]);
}

#[test]
fn a_declared_variable_may_be_a_placeholder_too() {
    let scene = Scene::inline("variable \"region\" {}\na = \"${region}\"\n").variable("region", "eu");
    assert_eq!(scene.for_provider()["vars"], json!([{ "key": "region", "value": "eu" }]));
}

#[test]
fn a_module_that_cannot_be_read_gets_all_but_placeholders() {
    let scene = Scene::remote().variable("ref", "v1").variable("region", "eu");
    let for_provider = scene.for_provider();
    assert_eq!(for_provider["module"], json!("git::https://example.com/v1"));
    assert_eq!(for_provider["vars"], json!([{ "key": "region", "value": "eu" }]));
    assert_eq!(scene.render().unwrap().ignored, [""; 0]);
}

#[rstest]
#[case::remote(Scene::remote().variable("ref", "v1"))]
#[case::inline(Scene::inline("a = 1\n"))]
fn a_placeholder_of_the_connection_secret_is_one_too(#[case] mut scene: Scene) {
    scene.template.spec.write_connection_secret_to_ref =
        Some(SecretTarget { name: "${stage}-out".to_owned(), namespace: None });
    let rendered = scene.variable("stage", "blue").render().unwrap();
    assert_eq!(rendered.spec["writeConnectionSecretToRef"]["name"], json!("blue-out"));
    assert_eq!(rendered.spec["forProvider"].get("vars"), None);
    assert_eq!(rendered.ignored, [""; 0]);
}

#[rstest]
#[case::text("region", json!("eu"), json!({ "vars": [{ "key": "region", "value": "eu" }] }))]
#[case::number("region", json!(3), json!({ "vars": [{ "key": "region", "value": "3" }] }))]
#[case::flag("region", json!(true), json!({ "vars": [{ "key": "region", "value": "true" }] }))]
#[case::list("subnets", json!(["a", "b"]), json!({ "varmap": { "subnets": ["a", "b"] } }))]
#[case::object("subnets", json!({ "a": { "b": 1 } }), json!({ "varmap": { "subnets": { "a": { "b": 1 } } } }))]
#[case::list_where_text_is_declared("encoded", json!(["a", 1]), json!({ "vars": [{ "key": "encoded", "value": "[\"a\",1]" }] }))]
fn outputs_keep_their_type(#[case] name: &'static str, #[case] output: Value, #[case] expected: Value) {
    let mut for_provider = Scene::inline(DECLARED).found(name, Found::Output(output)).for_provider();
    for_provider.as_object_mut().unwrap().retain(|key, _| key.starts_with("var"));
    assert_eq!(for_provider, expected);
}

#[test]
fn values_of_the_template_with_the_same_name_are_replaced_and_others_stay_in_order() {
    let scene = Scene::inline(DECLARED)
        .field("vars", json!([{ "key": "z", "value": "1" }, { "key": "subnets", "value": "[]" }, { "key": "b", "value": "2" }]))
        .field("varmap", json!({ "region": { "old": true }, "kept": [1] }))
        .variable("region", "eu")
        .found("subnets", Found::Output(json!(["s"])));
    let for_provider = scene.for_provider();
    insta::assert_yaml_snapshot!((&for_provider["vars"], &for_provider["varmap"]), @r#"
    - - key: z
        value: "1"
      - key: b
        value: "2"
      - key: region
        value: eu
    - kept:
        - 1
      subnets:
        - s
    "#);
}

#[rstest]
#[case::in_the_list("vars", json!([{ "key": "region", "value": "${region}-1" }]), "/vars/0/value")]
#[case::in_the_map("varmap", json!({ "region": "${region}-1" }), "/varmap/region")]
fn what_the_template_composes_is_the_templates_word(
    #[case] field: &str,
    #[case] given: Value,
    #[case] place: &str,
) {
    let scene = Scene::inline(DECLARED).field(field, given).variable("region", "eu");
    assert_eq!(scene.for_provider().pointer(place), Some(&json!("eu-1")));
    assert_eq!(scene.render().unwrap().ignored, [""; 0]);
}

#[test]
fn what_the_template_only_passes_on_keeps_its_type() {
    let given = json!([{ "key": "subnets", "value": "${subnets}" }]);
    let scene = Scene::inline(DECLARED).field("vars", given).found("subnets", Found::Output(json!(["a"])));
    assert_eq!(scene.for_provider()["varmap"], json!({ "subnets": ["a"] }));
    assert_eq!(scene.for_provider().get("vars"), None);
}

#[test]
fn the_last_value_of_a_map_leaves_no_empty_map() {
    let scene = Scene::inline(DECLARED).field("varmap", json!({ "region": [] })).variable("region", "eu");
    assert_eq!(scene.for_provider().get("varmap"), None);
}

/// The template passes it on by name, so the apply's value takes its place, whatever CAPT can read of the module.
#[rstest]
#[case::readable(Scene::inline("a = \"${extra}\"\n"))]
#[case::unreadable(Scene::remote().field("entrypoint", json!("${extra}")))]
fn what_the_template_passes_on_is_replaced(#[case] scene: Scene, #[values(true, false)] in_list: bool) {
    let scene = if in_list {
        scene.field("vars", json!([{ "key": "extra", "value": "default" }]))
    } else {
        scene.field("varmap", json!({ "extra": "default" }))
    };
    let rendered = scene.variable("extra", "mine").render().unwrap();
    assert_eq!(rendered.spec["forProvider"]["vars"], json!([{ "key": "extra", "value": "mine" }]));
    assert_eq!(rendered.spec["forProvider"].get("varmap"), None);
    assert_eq!(rendered.ignored, [""; 0]);
}

#[rstest]
#[case(Scene::inline(DECLARED))]
#[case(Scene::remote())]
fn a_default_of_the_template_does_not_compete_with_a_secret(#[case] scene: Scene) {
    let scene = scene
        .field("vars", json!([{ "key": "password", "value": "default" }, { "key": "region", "value": "eu" }]))
        .field("varmap", json!({ "password": "default" }))
        .secret("password", MARKER);
    let for_provider = scene.for_provider();
    assert_eq!(for_provider["vars"], json!([{ "key": "region", "value": "eu" }]));
    assert_eq!(for_provider.get("varmap"), None);
    assert_eq!(for_provider["varFiles"].as_array().unwrap().len(), 1);
}

#[test]
fn the_file_with_secrets_comes_after_those_of_the_template() {
    let own = json!({ "source": "ConfigMapKey", "configMapKeyRef": { "namespace": "team-a", "name": "m", "key": "k" } });
    let scene = Scene::inline(DECLARED).field("varFiles", json!([own])).secret("password", MARKER);
    let files = scene.for_provider()["varFiles"].take();
    assert_eq!(files[0], own);
    assert_eq!(files[1]["secretKeyRef"]["name"], json!("demo-variables-1"));
}

#[rstest]
#[case::quotes("a\"b'c`d")]
#[case::lines("one\ntwo\r\nthree\n")]
#[case::unicode("Zürich 東京 🚀 e\u{301}")]
#[case::placeholders("${region} $${region} ${WORKSPACE_NAME} %{if true}")]
#[case::backslashes(r"C:\new\table \u0000")]
#[case::control("\u{1}\t\u{7f}")]
#[case::empty("")]
#[case::looks_like_a_number("007")]
#[case::looks_like_json(r#"{"a": 1.0}"#)]
fn values_reach_the_module_byte_for_byte(#[case] value: &str) {
    let scene = Scene::inline(DECLARED).variable("region", value);
    assert_eq!(scene.for_provider()["vars"], json!([{ "key": "region", "value": value }]));
}
