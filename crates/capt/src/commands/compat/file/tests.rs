use rstest::rstest;

use super::*;

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: { name: flux-system }\n";

fn kinds(text: &str) -> Vec<String> {
    of_text("all.yaml", text.as_bytes()).unwrap().iter().map(|one| one.key().kind).collect()
}

#[rstest]
#[case::no_yaml("a: [", "all.yaml, document 1, line 1: cannot be read as YAML")]
#[case::no_object("- a\n", "all.yaml, document 1")]
#[case::no_name("apiVersion: v1\nkind: Namespace\n", "all.yaml, document 1, line 1: has no `metadata")]
#[case::in_the_second_document(&format!("{NAMESPACE}---\nkind: 3\n"), "all.yaml, document 2")]
#[case::too_large(&format!("# {}", "x".repeat(1_048_576)), "all.yaml: holds more than 1 MiB")]
fn what_cannot_be_read_is_told_with_its_place(#[case] text: &str, #[case] expected: &str) {
    let told = of_text("all.yaml", text.as_bytes()).unwrap_err().to_string();

    assert!(told.contains(expected), "{told}");
}

#[test]
fn manifests_in_config_maps_are_read_as_well() {
    let inner = NAMESPACE.replace('\n', "\n    ");
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: flux }}\ndata:\n  flux.yaml: |\n    {inner}\n"
    );

    assert_eq!(kinds(&text), ["ConfigMap", "Namespace"]);
}

#[rstest]
#[case::manifests("addons.cluster.x-k8s.io/resource-set", &["Secret", "Namespace", "Namespace"])]
#[case::something_else("Opaque", &["Secret"])]
fn secrets_are_read_where_they_hold_manifests(#[case] type_: &str, #[case] expected: &[&str]) {
    let secret = serde_json::json!({
        "apiVersion": "v1", "kind": "Secret", "type": type_, "metadata": { "name": "flux" },
        "data": { "a": STANDARD.encode(NAMESPACE), "broken": "***" },
        "stringData": { "b": NAMESPACE },
    });

    assert_eq!(kinds(&secret.to_string()), expected);
}

#[test]
fn a_config_map_with_something_else_is_no_problem() {
    let text =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: x }\ndata: { motto: 'a: [', number: '3' }\n";

    assert_eq!(kinds(text), ["ConfigMap"]);
}
