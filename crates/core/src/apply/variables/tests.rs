use rstest::rstest;
use serde_json::json;

use super::*;
use crate::module::{Format, read};

const MARKER: &str = "MARKER-in-the-clear";
const BUILT_INS: BuiltIns<'_> =
    BuiltIns { workspace: "demo", cluster: Some("cluster-1"), namespace: "team-a" };

fn apply(variables: &Value) -> WorkspaceTemplateApply {
    serde_json::from_value(json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
        "metadata": { "name": "demo-apply", "namespace": "team-a" },
        "spec": { "templateRef": { "name": "eks" }, "variables": variables },
    }))
    .unwrap()
}

fn source(variable: &str, optional: bool) -> VariableSource {
    serde_json::from_value(json!({
        "variable": variable,
        "secretKeyRef": { "name": "credentials", "key": "token" },
        "optional": optional,
    }))
    .unwrap()
}

fn collected(variables: &Value, found: Found) -> Result<Variables, Blocked> {
    collect(&apply(variables), vec![Sourced { source: &source("password", false), found }])
}

fn secret(name: &str, value: &str) -> Variables {
    let source = source(name, false);
    let found = Found::Secret(value.as_bytes().to_vec());
    collect(&apply(&json!({})), vec![Sourced { source: &source, found }]).unwrap()
}

fn module(text: &str) -> Module {
    read(text, Format::Hcl).unwrap()
}

fn file(variables: &Variables, module: Option<&Module>) -> Value {
    serde_json::from_str(variables.secret_file(module).unwrap().unwrap().expose()).unwrap()
}

#[test]
fn what_is_taken_from_elsewhere_wins() {
    let own = json!({ "password": "own", "region": "eu-west-1" });
    let open = |found| collected(&own, found).unwrap().open;
    assert_eq!(open(Found::Text("map".to_owned()))["password"], json!("map"));
    assert_eq!(open(Found::Output(json!(["a"])))["password"], json!(["a"]));
    let hidden = collected(&own, Found::Secret(b"hidden".to_vec())).unwrap();
    assert_eq!(hidden.open.keys().collect::<Vec<_>>(), ["region"]);
    assert_eq!(hidden.secret["password"].expose(), "hidden");
}

#[test]
fn a_missing_value_stops_the_apply_unless_it_is_optional() {
    let missing = Blocked::new(Reason::VariableMissing, "Secret `team-a/credentials` has no key `token`");
    let found = Found::Nothing(missing.clone());
    assert_eq!(collected(&json!({}), found.clone()), Err(missing));

    let source = source("password", true);
    let own = apply(&json!({ "password": "fallback" }));
    let variables = collect(&own, vec![Sourced { source: &source, found: found.clone() }]).unwrap();
    assert_eq!(variables.open["password"], json!("fallback"));
    let bare = collect(&apply(&json!({})), vec![Sourced { source: &source, found }]).unwrap();
    assert_eq!(bare, Variables::default());
}

#[test]
fn a_secret_that_is_no_text_is_refused_without_showing_it() {
    let mut bytes = MARKER.as_bytes().to_vec();
    bytes.push(0xff);
    let blocked = collected(&json!({}), Found::Secret(bytes)).unwrap_err();
    insta::assert_yaml_snapshot!((blocked.reason.as_str(), blocked.message), @r#"
    - VariableInvalid
    - "spec.variablesFrom: variable `password` (key `token` of Secret `credentials`) is not UTF-8 text: Terraform takes only text"
    "#);
}

#[test]
fn values_from_secrets_are_in_no_debug_output() {
    let found = Found::Secret(MARKER.as_bytes().to_vec());
    let source = source("password", false);
    let sourced = Sourced { source: &source, found: found.clone() };
    let variables = secret("password", MARKER);
    let file = variables.secret_file(None).unwrap();
    let shown = format!("{found:?} {sourced:?} {variables:?} {variables:#?} {file:?}");
    assert!(!shown.contains("MARKER"), "{shown}");
    assert!(shown.contains("password"), "{shown}");
    assert!(file.unwrap().expose().contains(MARKER));
}

#[test]
fn values_from_secrets_are_no_placeholders() {
    assert_eq!(secret("password", MARKER).placeholders(BUILT_INS).get("password"), None);
}

#[test]
fn a_secret_used_as_placeholder_is_refused_without_showing_it() {
    let seen = BTreeSet::from(["password".to_owned()]);
    let blocked = secret("password", MARKER).check_placeholders(&seen, BUILT_INS).unwrap_err();
    insta::assert_yaml_snapshot!((blocked.reason.as_str(), blocked.message), @r#"
    - VariableInvalid
    - "the template uses ${password}, but variable `password` comes from a Secret and would be written in clear: use var.password in the module instead"
    "#);
}

#[test]
fn own_values_come_before_those_that_capt_gives() {
    let given = |variables: Value, name: &str| {
        let values = collect(&apply(&variables), Vec::new()).unwrap().placeholders(BUILT_INS);
        values.get(name).map(ToOwned::to_owned)
    };
    assert_eq!(given(json!({}), "WORKSPACE_NAME").as_deref(), Some("demo"));
    assert_eq!(given(json!({}), "CLUSTER_NAME").as_deref(), Some("cluster-1"));
    assert_eq!(given(json!({}), "NAMESPACE").as_deref(), Some("team-a"));
    assert_eq!(given(json!({ "CLUSTER_NAME": "mine" }), "CLUSTER_NAME").as_deref(), Some("mine"));
    assert_eq!(given(json!({}), "region"), None);
}

#[rstest]
#[case::of_a_cluster(Some("c"), json!({}), true)]
#[case::given_by_the_apply(None, json!({ "CLUSTER_NAME": "mine" }), true)]
#[case::nobody_knows(None, json!({}), false)]
fn the_name_of_a_cluster_needs_a_cluster(
    #[case] cluster: Option<&str>,
    #[case] own: Value,
    #[case] known: bool,
) {
    let seen = BTreeSet::from(["CLUSTER_NAME".to_owned()]);
    let variables = collect(&apply(&own), Vec::new()).unwrap();
    let checked = variables.check_placeholders(&seen, BuiltIns { cluster, ..BUILT_INS });
    let reason = checked.map_err(|blocked| {
        assert!(blocked.message.contains("label cluster.x-k8s.io/cluster-name"), "{}", blocked.message);
        blocked.reason
    });
    assert_eq!(reason, if known { Ok(()) } else { Err(Reason::VariableMissing) });
}

#[test]
fn no_secrets_need_no_file() {
    let variables = collect(&apply(&json!({ "region": "eu" })), Vec::new()).unwrap();
    assert_eq!(variables.secret_file(None), Ok(None));
}

#[rstest]
#[case::text("variable \"password\" {\n  type = string\n}\n", r#"["a"]"#, json!(r#"["a"]"#))]
#[case::no_type("variable \"password\" {}\n", "1", json!("1"))]
#[case::number("variable \"password\" {\n  type = number\n}\n", "1", json!("1"))]
#[case::list("variable \"password\" {\n  type = list(string)\n}\n", r#"["a"]"#, json!(["a"]))]
#[case::quotes_and_lines("variable \"password\" {\n  type = string\n}\n", "a\"b\\\n${c}ü", json!("a\"b\\\n${c}ü"))]
fn secrets_reach_terraform_as_the_module_declares_them(
    #[case] declaration: &str,
    #[case] value: &str,
    #[case] expected: Value,
) {
    let file = file(&secret("password", value), Some(&module(declaration)));
    assert_eq!(file, json!({ "password": expected }));
}

#[test]
fn a_module_that_cannot_be_read_gets_every_secret_as_text() {
    assert_eq!(file(&secret("password", "[1]"), None), json!({ "password": "[1]" }));
}

#[test]
fn a_secret_that_the_module_does_not_declare_is_not_handed_to_it() {
    assert_eq!(secret("password", MARKER).secret_file(Some(&module("a = 1\n"))), Ok(None));
}

#[test]
fn a_structured_secret_must_be_json_and_is_not_shown_if_it_is_not() {
    let module = module("variable \"password\" {\n  type = map(string)\n}\n");
    let blocked = secret("password", &format!("{{{MARKER}")).secret_file(Some(&module)).unwrap_err();
    insta::assert_yaml_snapshot!((blocked.reason.as_str(), blocked.message), @r#"
    - VariableInvalid
    - "spec.variablesFrom: variable `password` is declared as a list, map or object, so its value in the Secret must be JSON"
    "#);
}

#[test]
fn secrets_that_no_secret_can_hold_together_are_refused_by_name() {
    let blocked = secret("password", &MARKER.repeat(60_000)).secret_file(None).unwrap_err();
    insta::assert_yaml_snapshot!((blocked.reason.as_str(), blocked.message), @r#"
    - WorkspaceTooLarge
    - "spec.variablesFrom: the values from Secrets have 1140015 bytes together, more than the 1048576 that a Secret can hold; the largest is variable `password` with 1140000 bytes: make it smaller, or let the module read it from elsewhere"
    "#);
}

#[rstest]
#[case(json!("a\n"), "a\n")]
#[case(json!(true), "true")]
#[case(json!(-1), "-1")]
#[case(json!(18_446_744_073_709_551_615_u64), "18446744073709551615")]
#[case(json!(1.5), "1.5")]
#[case(json!(null), "null")]
#[case(json!(["a", { "b": 1 }]), r#"["a",{"b":1}]"#)]
fn texts_stay_as_they_are_and_all_else_is_json(#[case] value: Value, #[case] expected: &str) {
    assert_eq!(text(&value), expected);
}
