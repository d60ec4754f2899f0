use super::*;

fn reference(namespace: &str, name: &str) -> Value {
    json!({ "namespace": namespace, "name": name, "key": "k" })
}

/// What needs a grant: the field after the template's name, and what it leads to.
fn foreign(scene: &Scene) -> Vec<(String, String)> {
    let references = scene.render().unwrap().references;
    let told = |Reference { field, target }: Reference| {
        let field = field.strip_prefix("WorkspaceTemplate `platform/eks` spec.template.spec.").unwrap();
        (field.to_owned(), target.to_string())
    };
    references.into_iter().map(told).collect()
}

#[rstest]
#[case::environment_from_a_secret("env", "secretKeyRef", "Secret")]
#[case::environment_from_a_map("env", "configMapKeyRef", "ConfigMap")]
#[case::file_from_a_secret("varFiles", "secretKeyRef", "Secret")]
#[case::file_from_a_map("varFiles", "configMapKeyRef", "ConfigMap")]
fn references_to_a_third_namespace_need_a_grant(
    #[case] list: &str,
    #[case] selector: &str,
    #[case] kind: &str,
) {
    let entries = json!([
        { "name": "PLAIN", "value": "x" },
        { selector: reference("team-a", "own") },
        { selector: reference("platform", "of-the-template") },
        { selector: reference("team-b", "foreign") },
    ]);
    let scene = Scene::inline("a = 1\n").field(list, entries);
    let expected = (format!("forProvider.{list}[3].{selector}"), format!("{kind} `team-b/foreign`"));
    assert_eq!(foreign(&scene), [expected]);
}

/// The template's author meant one object; whoever chooses a part of the reference could choose any.
#[rstest]
#[case::namespace("${x}", "s", "platform", "platform/s")]
#[case::name("platform", "${x}", "root", "platform/root")]
#[case::key_only("platform", "s", "unused", "")]
fn references_that_the_apply_has_a_part_in_need_a_grant(
    #[case] namespace: &str,
    #[case] name: &str,
    #[case] value: &str,
    #[case] expected: &str,
) {
    let entries = json!([{ "name": "A", "secretKeyRef": reference(namespace, name) }]);
    let scene = Scene::inline("a = 1\n").field("env", entries).variable("x", value);
    let targets: Vec<_> = foreign(&scene).into_iter().map(|(_, target)| target).collect();
    let expected: Vec<_> = Some(expected)
        .filter(|text| !text.is_empty())
        .map(|text| format!("Secret `{text}`"))
        .into_iter()
        .collect();
    assert_eq!(targets, expected);
}

#[test]
fn a_chosen_key_of_the_template_s_secret_needs_a_grant() {
    let entries =
        json!([{ "name": "A", "secretKeyRef": { "namespace": "platform", "name": "s", "key": "${x}" } }]);
    let scene = Scene::inline("a = 1\n").field("env", entries).variable("x", "admin");
    assert_eq!(foreign(&scene)[0].1, "Secret `platform/s`");
}

#[test]
fn the_file_with_secrets_is_the_apply_s_own() {
    assert_eq!(foreign(&Scene::inline(DECLARED).secret("password", MARKER)), []);
}

/// Names end up in addresses that are asked with CAPT's own rights.
#[rstest]
#[case::placeholder_left("team-a", "${nobody}")]
#[case::another_path("team-a", "../../kube-system/secrets/admin")]
#[case::a_query("team-a", "mine?x=")]
#[case::no_name("team-a", "")]
#[case::no_namespace("", "mine")]
#[case::path_as_namespace("team-a/secrets", "mine")]
fn what_cannot_be_a_name_is_refused(#[case] namespace: &str, #[case] name: &str) {
    let entries = json!([{ "name": "A", "secretKeyRef": reference(namespace, "${x}") }]);
    let blocked = Scene::inline("a = 1\n").field("env", entries).variable("x", name).blocked();
    assert_eq!(blocked.reason, Reason::TemplateInvalid);
    let field = "WorkspaceTemplate `platform/eks` spec.template.spec.forProvider.env[0].secretKeyRef";
    assert!(blocked.message.starts_with(field), "{}", blocked.message);
}

fn flux(module: &str) -> Scene {
    Scene::of(json!({ "forProvider": { "source": "Flux", "module": module } })).variable("x", "platform")
}

/// What Flux fetched with somebody else's credentials is theirs.
#[rstest]
#[case::own("GitRepository::team-a/modules", &[])]
#[case::of_the_template("GitRepository::platform/modules", &[])]
#[case::foreign("OCIRepository::team-b/modules", &["OCIRepository `team-b/modules`"])]
#[case::chosen_by_the_apply("Bucket::${x}/modules", &["Bucket `platform/modules`"])]
fn a_module_of_flux_is_a_reference_like_others(#[case] module: &str, #[case] expected: &[&str]) {
    let references = foreign(&flux(module));
    let targets: Vec<_> = references.iter().map(|(_, target)| target.as_str()).collect();
    assert_eq!(targets, expected);
    assert!(references.iter().all(|(field, _)| field == "forProvider.module"));
}

#[rstest]
#[case::no_source("git::https://example.org/modules.git")]
#[case::another_path("GitRepository::team-b/x/../../secrets/y")]
#[case::path_as_name("GitRepository::team-a/..")]
#[case::placeholder_left("GitRepository::${nobody}/modules")]
fn a_module_that_names_no_source_of_flux_is_refused(#[case] module: &str) {
    let blocked = flux(module).blocked();
    assert_eq!(blocked.reason, Reason::TemplateInvalid);
    let field = "WorkspaceTemplate `platform/eks` spec.template.spec.forProvider.module";
    assert!(blocked.message.starts_with(field), "{}", blocked.message);
}
