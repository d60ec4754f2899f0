use k8s_openapi::jiff::Timestamp;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

const MODULE: &str = "spec.template.spec.forProvider.module";

fn template(spec: &Value) -> WorkspaceTemplate {
    serde_json::from_value(json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplate",
        "metadata": { "name": "eks", "namespace": "team-a", "generation": 4 },
        "spec": { "template": { "spec": spec } },
    }))
    .unwrap()
}

fn inline(module: &str) -> WorkspaceTemplate {
    template(&json!({ "forProvider": { "source": "Inline", "module": module } }))
}

fn json_module(module: &str) -> WorkspaceTemplate {
    template(&json!({ "forProvider": { "source": "Inline", "inlineFormat": "JSON", "module": module } }))
}

fn annotated(mut template: WorkspaceTemplate, value: &str) -> WorkspaceTemplate {
    let entry = (annotation::SKIP_MODULE_CHECK.to_owned(), value.to_owned());
    template.metadata.annotations = Some([entry].into());
    template
}

fn at(second: i64) -> Time {
    Time(Timestamp::from_second(second).unwrap())
}

#[rstest]
#[case::unclosed_block(inline("variable \"a\" {\n  type = string\n"), "line 2, column 17: ")]
#[case::broken_below_a_placeholder(
    inline("count = ${COUNT}\nb = \"${NAME}\"\nc = 'x'\n"),
    "line 3, column 5: "
)]
#[case::broken_json(json_module("{\n  \"a\": 1,\n}"), "line 3, column 1: ")]
#[case::broken_json_below_a_placeholder(json_module("{\n  \"a\": ${COUNT},\n}"), "line 3, column 1: ")]
#[case::hcl_said_to_be_json(json_module("variable \"a\" {}"), "line 1, column 1: ")]
#[case::not_skipped(annotated(inline("a = 1 b = 2\n"), "false"), "line 1, column 7: ")]
fn a_broken_module_is_told_with_field_line_and_column(
    #[case] template: WorkspaceTemplate,
    #[case] place: &str,
) {
    let Judgement::Broken(problem) = judge(&template) else { panic!("valid") };
    assert!(problem.starts_with(&format!("{MODULE}: {place}")), "{problem}");
}

#[test]
fn what_is_said_of_a_broken_module_does_not_repeat_it() {
    let Judgement::Broken(problem) = judge(&inline("password = 'MARKER'\n")) else { panic!("valid") };
    assert!(!problem.contains("MARKER"), "{problem}");
}

#[rstest]
#[case::hcl(inline("variable \"a\" {\n  type = string\n}\n"))]
#[case::empty(inline(""))]
#[case::json(json_module("{ \"variable\": { \"a\": {} } }"))]
#[case::placeholder_in_a_string(inline("a = \"${NAME}\"\n"))]
#[case::placeholder_as_expression(inline("count = ${COUNT}\n"))]
#[case::placeholder_as_label(inline("resource \"null_resource\" ${NAME} {\n}\n"))]
#[case::placeholder_as_index(inline("a = b.${INDEX}\n"))]
#[case::placeholder_in_json(json_module("{ \"a\": ${COUNT}, \"b\": \"${NAME}\" }"))]
#[case::remote(template(&json!({ "forProvider": { "source": "Remote", "module": "git::https://example.com/a.git?ref={" } })))]
#[case::flux(template(&json!({ "forProvider": { "source": "Flux", "module": "GitRepository::a/b" } })))]
#[case::skipped(annotated(inline("a = 1 b = 2\n"), "true"))]
#[case::too_deep_for_us_only(inline(&format!("a = {}{}\n", "[".repeat(300), "]".repeat(300))))]
#[case::too_deep_with_a_placeholder(inline(&format!("b = ${{X}}\na = {}{}\n", "[".repeat(300), "]".repeat(300))))]
#[case::no_module(template(&json!({ "forProvider": { "source": "Inline" } })))]
#[case::module_is_no_text(template(&json!({ "forProvider": { "source": "Inline", "module": ["a ="] } })))]
#[case::for_provider_is_no_object(template(&json!({ "forProvider": "a =" })))]
#[case::spec_is_no_object(template(&json!("a =")))]
#[case::spec_is_nothing(template(&Value::Null))]
fn what_terraform_may_accept_is_not_called_broken(#[case] template: WorkspaceTemplate) {
    assert_eq!(judge(&template), Judgement::Valid);
}

#[test]
fn a_broken_module_makes_the_template_unready() {
    insta::assert_yaml_snapshot!(status(&inline("a = 1 b = 2\n"), &Standing::Active, &at(60)), @r#"
    observedGeneration: 4
    conditions:
      - lastTransitionTime: "1970-01-01T00:01:00Z"
        message: ""
        observedGeneration: 4
        reason: NotPaused
        status: "False"
        type: Paused
      - lastTransitionTime: "1970-01-01T00:01:00Z"
        message: "spec.template.spec.forProvider.module: line 1, column 7: expected newline or end of the text"
        observedGeneration: 4
        reason: ModuleInvalid
        status: "False"
        type: Ready
    "#);
}

#[test]
fn a_valid_template_is_ready() {
    insta::assert_yaml_snapshot!(status(&inline("a = 1\n"), &Standing::Active, &at(60)), @r#"
    observedGeneration: 4
    conditions:
      - lastTransitionTime: "1970-01-01T00:01:00Z"
        message: ""
        observedGeneration: 4
        reason: NotPaused
        status: "False"
        type: Paused
      - lastTransitionTime: "1970-01-01T00:01:00Z"
        message: ""
        observedGeneration: 4
        reason: TemplateValid
        status: "True"
        type: Ready
    "#);
}

#[test]
fn a_paused_template_says_so_and_keeps_its_judgement() {
    let mut template = inline("a = 1 b = 2\n");
    template.status = status(&inline("a = 1\n"), &Standing::Active, &at(60));
    let pause = Pause { cluster: false, annotation: true, moving: false };
    insta::assert_yaml_snapshot!(status(&template, &Standing::Paused(pause), &at(90)), @r#"
    observedGeneration: 4
    conditions:
      - lastTransitionTime: "1970-01-01T00:01:30Z"
        message: WorkspaceTemplate has the cluster.x-k8s.io/paused annotation
        observedGeneration: 4
        reason: Paused
        status: "True"
        type: Paused
      - lastTransitionTime: "1970-01-01T00:01:00Z"
        message: ""
        observedGeneration: 4
        reason: TemplateValid
        status: "True"
        type: Ready
    "#);
}

#[test]
fn the_moment_of_a_condition_is_that_of_its_change() {
    let mut template = inline("a = 1 b = 2\n");
    template.status = status(&template, &Standing::Active, &at(60));
    let unchanged = status(&template, &Standing::Active, &at(90));
    assert_eq!(unchanged, template.status);
    let healed = WorkspaceTemplate { status: unchanged, ..inline("a = 1\n") };
    let ready = status(&healed, &Standing::Active, &at(120)).unwrap().conditions.pop().unwrap();
    assert_eq!((ready.status.as_str(), ready.last_transition_time), ("True", at(120)));
}

#[rstest]
#[case(Standing::ExternallyManaged)]
#[case(Standing::Moved)]
#[case(Standing::Deleting)]
fn nothing_is_told_about_a_template_that_is_not_ours_to_tell(#[case] standing: Standing) {
    assert_eq!(status(&inline("a = 1\n"), &standing, &at(60)), None);
}
