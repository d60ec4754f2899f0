use capt_api::workspace_template_apply::VariableSource;
use rstest::rstest;

use super::*;
use crate::apply::variables::{Found, Sourced, collect};

mod connection_secret;
mod odd;
mod references;
mod variables;

const MARKER: &str = "MARKER-in-the-clear";
const DECLARED: &str = r#"
variable "region" { type = string }
variable "subnets" { type = list(string) }
variable "encoded" { type = string }
variable "password" { type = string }
"#;

/// A template and an apply that are about to meet.
struct Scene {
    apply: WorkspaceTemplateApply,
    template: WorkspaceTemplate,
    cluster: Option<&'static str>,
    found: Vec<(&'static str, Found)>,
}

impl Scene {
    /// An apply of `team-a` uses a template of `platform` with this spec.
    fn of(spec: Value) -> Self {
        let mut template: WorkspaceTemplate = serde_json::from_value(json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplate",
            "metadata": { "name": "eks", "namespace": "platform" },
            "spec": { "template": { "spec": null } },
        }))
        .unwrap();
        template.spec.template.spec = spec;
        let apply = serde_json::from_value(json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
            "metadata": { "name": "demo-apply", "namespace": "team-a" },
            "spec": { "templateRef": { "name": "eks", "namespace": "platform" } },
        }))
        .unwrap();
        Self { apply, template, cluster: Some("cluster-1"), found: Vec::new() }
    }

    fn inline(module: &str) -> Self {
        Self::of(json!({ "forProvider": { "source": "Inline", "module": module } }))
    }

    fn remote() -> Self {
        Self::of(
            json!({ "forProvider": { "source": "Remote", "module": "git::https://example.com/${ref}" } }),
        )
    }

    /// Puts a field into `forProvider` of the template.
    fn field(mut self, name: &str, value: Value) -> Self {
        self.template.spec.template.spec["forProvider"][name] = value;
        self
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.apply.spec.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    fn found(mut self, name: &'static str, found: Found) -> Self {
        self.found.push((name, found));
        self
    }

    fn secret(self, name: &'static str, value: &str) -> Self {
        self.found(name, Found::Secret(value.as_bytes().to_vec()))
    }

    fn render(&self) -> Result<Rendered, Blocked> {
        let source =
            |name: &str| -> VariableSource { serde_json::from_value(json!({ "variable": name })).unwrap() };
        let sources: Vec<_> = self.found.iter().map(|(name, _)| source(name)).collect();
        let found = sources.iter().zip(&self.found);
        let found = found.map(|(source, (_, found))| Sourced { source, found: found.clone() }).collect();
        let variables = collect(&self.apply, found)?;
        let built_ins = BuiltIns { workspace: "demo", cluster: self.cluster, namespace: "team-a" };
        let inputs =
            Inputs { apply: &self.apply, template: &self.template, variables: &variables, built_ins };
        let prepared = prepare(inputs)?;
        let file = prepared.secret_file(&variables)?.map(|_| "demo-variables-1");
        let shown = format!("{inputs:?} {prepared:?}");
        assert!(!shown.contains(MARKER), "a secret shows: {shown}");
        prepared.finish(inputs, file)
    }

    fn for_provider(&self) -> Value {
        self.render().unwrap().spec["forProvider"].take()
    }

    fn blocked(&self) -> Blocked {
        self.render().unwrap_err()
    }
}

#[test]
fn a_workspace_is_rendered() {
    let scene = Scene::inline("variable \"region\" {}\nname = \"${WORKSPACE_NAME}\"\n")
        .field("vars", json!([{ "key": "cidr", "value": "10.0.0.0/16" }]))
        .variable("region", "eu-west-1")
        .variable("typo", "x")
        .secret("password", MARKER);
    insta::assert_yaml_snapshot!(scene.for_provider(), @r#"
    module: "variable \"region\" {}\nname = \"demo\"\n"
    source: Inline
    vars:
      - key: cidr
        value: 10.0.0.0/16
      - key: region
        value: eu-west-1
    "#);
    assert_eq!(scene.render().unwrap().ignored, ["password", "typo"]);
}

#[test]
fn what_comes_from_secrets_is_nowhere_but_in_the_file() {
    let scene = Scene::inline(DECLARED).variable("password", "overridden").secret("password", MARKER);
    let rendered = scene.render().unwrap();
    let shown = format!("{rendered:?} {}", rendered.spec);
    assert!(!shown.contains("MARKER") && !shown.contains("overridden"), "{shown}");
    insta::assert_yaml_snapshot!(rendered.spec["forProvider"]["varFiles"], @"
    - format: JSON
      secretKeyRef:
        key: secret.auto.tfvars.json
        name: demo-variables-1
        namespace: team-a
      source: SecretKey
    ");
}

#[rstest]
#[case::in_the_module(Scene::inline("a = \"${password}\"\n"))]
#[case::in_another_field(Scene::inline(DECLARED).field("env", json!([{ "name": "A", "value": "${password}" }])))]
#[case::in_the_connection_secret({
    let mut scene = Scene::inline(DECLARED);
    scene.template.spec.write_connection_secret_to_ref =
        Some(SecretTarget { name: "${password}".to_owned(), namespace: None });
    scene
})]
fn a_secret_is_not_written_in_place_of_a_placeholder(#[case] scene: Scene) {
    let blocked = scene.secret("password", MARKER).blocked();
    assert_eq!(blocked.reason, Reason::VariableInvalid);
    assert!(blocked.message.contains("${password}"), "{}", blocked.message);
    assert!(!blocked.message.contains("MARKER"), "{}", blocked.message);
}

#[test]
fn an_escaped_placeholder_of_a_secret_is_text() {
    let scene = Scene::inline("a = \"$${password}\"\n").secret("password", MARKER);
    assert_eq!(scene.for_provider()["module"], json!("a = \"$${password}\"\n"));
}

#[test]
fn broken_hcl_names_template_field_and_line() {
    let blocked = Scene::inline("a = 1\nb = 'x'\n").blocked();
    insta::assert_yaml_snapshot!((blocked.reason.as_str(), blocked.message), @r#"
    - ModuleInvalid
    - "WorkspaceTemplate `platform/eks` spec.template.spec.forProvider.module: line 2, column 5: invalid expression; expected `\"`, `[`, `{`, `-`, `!`, `(`, `_`, `<`, letter or digit; if Terraform accepts it, annotate the template with capt.cluster.x-k8s.io/skip-module-check=true"
    "#);
}

#[test]
fn a_placeholder_without_a_value_breaks_the_module_where_an_expression_is_due() {
    let scene = Scene::inline("a = 1\ncount = ${COUNT}\n");
    assert!(scene.blocked().message.contains("line 2, column 9"), "{}", scene.blocked().message);
    assert_eq!(scene.variable("COUNT", "3").for_provider()["module"], json!("a = 1\ncount = 3\n"));
}

#[test]
fn values_do_not_move_the_line_that_is_told() {
    let scene = Scene::inline("a = \"${x}\"\nb = 'x'\n").variable("x", "one\ntwo\nthree");
    assert!(scene.blocked().message.contains("line 2, column 5"), "{}", scene.blocked().message);
}

#[rstest]
#[case::told_to("true", true)]
#[case::told_something_else("yes", false)]
fn the_check_of_a_module_is_skipped_on_request(#[case] value: &str, #[case] skipped: bool) {
    let mut scene = Scene::inline("b = 'x'\n").variable("region", "eu");
    let entry = (annotation::SKIP_MODULE_CHECK.to_owned(), value.to_owned());
    scene.template.metadata.annotations = Some([entry].into());
    assert_eq!(scene.render().is_ok(), skipped);
    if skipped {
        assert_eq!(scene.for_provider()["vars"], json!([{ "key": "region", "value": "eu" }]));
    }
}

#[test]
fn a_json_module_is_read_too() {
    let scene = Scene::inline(r#"{ "variable": { "region": {} } }"#)
        .field("inlineFormat", json!("JSON"))
        .variable("region", "eu")
        .variable("typo", "x");
    assert_eq!(scene.for_provider()["vars"], json!([{ "key": "region", "value": "eu" }]));
    assert_eq!(scene.render().unwrap().ignored, ["typo"]);
}

#[test]
fn the_name_of_a_cluster_needs_a_cluster() {
    let scene = Scene { cluster: None, ..Scene::inline("a = \"${CLUSTER_NAME}\"\n") };
    assert_eq!(scene.blocked().reason, Reason::VariableMissing);
    let given = scene.variable("CLUSTER_NAME", "mine");
    assert_eq!(given.for_provider()["module"], json!("a = \"mine\"\n"));
}

#[rstest]
#[case::declared(Scene::inline(DECLARED), "region", "`region`")]
#[case::used_in_the_module(Scene::inline("a = \"${region}\"\n"), "region", "the module")]
#[case::unreadable_module(Scene::remote(), "region", "`region`")]
fn a_value_of_a_megabyte_is_refused_by_name(#[case] scene: Scene, #[case] name: &str, #[case] largest: &str) {
    let blocked = scene.variable(name, &MARKER.repeat(60_000)).blocked_by_size();
    assert_eq!(blocked.reason, Reason::WorkspaceTooLarge);
    assert!(blocked.message.contains(largest), "{}", blocked.message);
    assert!(!blocked.message.contains("MARKER"), "{}", blocked.message);
    assert!(blocked.message.len() < 400, "{}", blocked.message);
}

impl Scene {
    /// As [`Scene::blocked`], for values that may show but not in the message.
    fn blocked_by_size(&self) -> Blocked {
        let variables = collect(&self.apply, Vec::new()).unwrap();
        let built_ins = BuiltIns { workspace: "demo", cluster: self.cluster, namespace: "team-a" };
        let inputs =
            Inputs { apply: &self.apply, template: &self.template, variables: &variables, built_ins };
        prepare(inputs).unwrap().finish(inputs, None).unwrap_err()
    }
}

#[test]
fn the_digest_does_not_depend_on_the_order_of_keys() {
    let one = Scene::of(
        serde_json::from_str(r#"{"forProvider":{"source":"Remote","module":"m"},"deletionPolicy":"Delete"}"#)
            .unwrap(),
    );
    let other = Scene::of(
        serde_json::from_str(r#"{"deletionPolicy":"Delete","forProvider":{"module":"m","source":"Remote"}}"#)
            .unwrap(),
    );
    let one = one.variable("a", "1").variable("b", "2").render().unwrap();
    assert_eq!(one.digest, other.variable("b", "2").variable("a", "1").render().unwrap().digest);
    assert!(one.digest.starts_with("sha256:"), "{}", one.digest);
}

#[test]
fn every_change_changes_the_digest() {
    let base = || Scene::inline(DECLARED).variable("region", "eu");
    let mut secret_target = base();
    secret_target.apply.spec.write_connection_secret_to_ref =
        Some(SecretTarget { name: "out".to_owned(), namespace: None });
    let scenes = [
        base(),
        base().variable("region", "us"),
        base().variable("encoded", ""),
        Scene::inline(&format!("{DECLARED}\n")).variable("region", "eu"),
        base().field("entrypoint", json!("a")),
        base().field("vars", json!([{ "key": "cidr", "value": "a" }])),
        base().found("subnets", Found::Output(json!(["a"]))),
        base().found("subnets", Found::Output(json!(["b"]))),
        base().secret("password", MARKER),
        secret_target,
    ];
    let digests: BTreeSet<_> = scenes.iter().map(|scene| scene.render().unwrap().digest).collect();
    assert_eq!(digests.len(), scenes.len());
}
