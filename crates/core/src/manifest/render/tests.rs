use capt_api::resource_set::ResourceKind;
use rstest::rstest;
use serde_json::json;

use super::*;

fn place(document: usize) -> Place {
    Place {
        kind: ResourceKind::ConfigMap,
        name: "karpenter".to_owned(),
        key: "karpenter.yaml".to_owned(),
        document,
        item: None,
    }
}

fn manifest(document: usize, spec: &Value) -> Manifest {
    let object = json!({ "apiVersion": "v1", "kind": "X", "metadata": { "name": "a" }, "spec": spec });
    Manifest { place: place(document), object }
}

fn known(variables: &[(&str, &str)]) -> BTreeMap<String, String> {
    variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// A text once it is rendered for the cluster `demo`.
fn rendered(text: &str) -> Value {
    let rendered = render(&[manifest(1, &json!(text))], &known(&[("CLUSTER_NAME", "demo"), ("A1_", "$")]));
    rendered.unwrap()[0].object["spec"].clone()
}

#[rstest]
#[case::unknown("${NOBODY}")]
#[case::unknown_beside_a_known_one("${CLUSTER_NAME}-${NOBODY}")]
fn a_name_that_nobody_knows_is_told(#[case] text: &str) {
    let problem =
        render(&[manifest(2, &json!(text))], &known(&[("CLUSTER_NAME", "demo"), ("B", "")])).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "ConfigMap `karpenter`, key `karpenter.yaml`, document 2: `${NOBODY}` is not known for this cluster. \
         Known are B, CLUSTER_NAME. \
         Give the module an output of that name, or write `$${NAME}` for what is to stay as it is"
    );
}

#[test]
fn every_unknown_name_is_told_with_its_places_and_what_was_likely_meant() {
    let manifests = [
        manifest(1, &json!(["${KARPENTER_QUEUE}", "${CLUSTER_NAMEE}", "${CLUSTER_NAMEE}"])),
        manifest(2, &json!({ "a": "${CLUSTER_NAMEE}" })),
        manifest(3, &json!({ "a": "${CLUSTER_NAMEE}" })),
    ];
    let problem = render(&manifests, &known(&[("CLUSTER_NAME", "demo"), ("INTERRUPTION_QUEUE_NAME", "q")]))
        .unwrap_err();
    assert_eq!(problem.missing[0].places, [place(1), place(2), place(3)]);
    assert_eq!(
        problem.to_string(),
        "ConfigMap `karpenter`, key `karpenter.yaml`, document 1, and 2 more: \
         `${CLUSTER_NAMEE}` is not known for this cluster; perhaps `${CLUSTER_NAME}` is meant. \
         ConfigMap `karpenter`, key `karpenter.yaml`, document 1: `${KARPENTER_QUEUE}` is not known for this cluster. \
         Known are CLUSTER_NAME, INTERRUPTION_QUEUE_NAME. \
         Give the module an output of that name, or write `$${NAME}` for what is to stay as it is"
    );
}

#[rstest]
#[case::a_slash("MARKER/b")]
#[case::a_line_break("MARKER\nb")]
#[case::a_query("MARKER?force=true")]
fn a_name_that_a_value_makes_unusable_is_told_without_the_value(#[case] value: &str) {
    let mut manifest = manifest(1, &json!(null));
    manifest.object["metadata"]["name"] = json!("${CLUSTER_NAME}");
    let problem = render(&[manifest], &known(&[("CLUSTER_NAME", value)])).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "ConfigMap `karpenter`, key `karpenter.yaml`, document 1: has a `metadata.name` that cannot be a name; \
         use letters, digits, hyphens and dots, 253 at most"
    );
}

#[test]
fn a_name_that_a_value_leaves_empty_is_told() {
    let mut manifest = manifest(1, &json!(null));
    manifest.object["metadata"]["name"] = json!("${CLUSTER_NAME}");
    let problem = render(&[manifest], &known(&[("CLUSTER_NAME", "")])).unwrap_err().to_string();
    assert!(problem.contains("has no `metadata.name`"), "{problem}");
}

#[test]
fn two_labels_that_become_one_are_told() {
    let mut manifest = manifest(1, &json!("${NOBODY}"));
    manifest.object["metadata"]["labels"] = json!({ "${A}": "1", "${B}": "2" });
    let problem = render(&[manifest], &known(&[("A", "x"), ("B", "x")])).unwrap_err().to_string();
    assert!(
        problem.ends_with(
            "what is to stay as it is. ConfigMap `karpenter`, key `karpenter.yaml`, document 1: \
             has a label or annotation twice once its placeholders are replaced; remove one of them"
        ),
        "{problem}"
    );
}

#[rstest]
#[case::alone("${CLUSTER_NAME}", "demo")]
#[case::inside("a-${CLUSTER_NAME}/${CLUSTER_NAME}é", "a-demo/demoé")]
#[case::digits_and_underscores("${A1_}", "$")]
#[case::a_value_is_not_searched("${A1_}{CLUSTER_NAME}", "${CLUSTER_NAME}")]
#[case::escaped("$${CLUSTER_NAME}", "${CLUSTER_NAME}")]
#[case::escaped_and_unknown("$${NOBODY}", "${NOBODY}")]
#[case::escaped_twice("$$${CLUSTER_NAME}", "$${CLUSTER_NAME}")]
#[case::kubernetes_own("$(RUNTIME_NAMESPACE)", "$(RUNTIME_NAMESPACE)")]
#[case::lower_case("${cluster_name}", "${cluster_name}")]
#[case::lower_case_escaped("$${lower}", "$${lower}")]
#[case::with_a_default("${CLUSTER_NAME-default}", "${CLUSTER_NAME-default}")]
#[case::digit_first("${1A}", "${1A}")]
#[case::underscore_first("${_A}", "${_A}")]
#[case::empty("${}", "${}")]
#[case::without_an_end("${CLUSTER_NAME", "${CLUSTER_NAME")]
#[case::without_braces("$CLUSTER_NAME", "$CLUSTER_NAME")]
#[case::inside_of_another("${A${CLUSTER_NAME}}", "${Ademo}")]
#[case::dollars("$ $$ $$$", "$ $$ $$$")]
fn only_placeholders_are_replaced(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(rendered(text), expected);
}

#[rstest]
#[case::number("123")]
#[case::truth_value("true")]
#[case::nothing("")]
#[case::null("null")]
#[case::mapping("{a: b}")]
#[case::yaml("x\nkind: Secret\n---\na: b")]
#[case::placeholder("${CLUSTER_NAME}")]
fn a_value_stays_one_text_whatever_it_looks_like(#[case] value: &str) {
    let manifest = manifest(1, &json!({ "a": "${CLUSTER_NAME}", "b": 1 }));
    let rendered = render(&[manifest], &known(&[("CLUSTER_NAME", value)])).unwrap();
    assert_eq!(rendered[0].object["spec"], json!({ "a": value, "b": 1 }));
}

#[test]
fn keys_are_rendered_in_labels_and_annotations_only() {
    let object = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "${N}",
            "labels": { "${N}": "${N}" },
            "annotations": { "example.com/${N}": "1" },
            "${N}": "1",
        },
        "spec": {
            "labels": { "${N}": 1 },
            "template": { "metadata": { "labels": { "${N}": null } }, "spec": [{ "${N}": ["${N}", true] }] },
        },
    });
    let rendered = render(&[Manifest { place: place(1), object }], &known(&[("N", "x")])).unwrap();
    assert_eq!(
        rendered[0].object,
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {
                "name": "x",
                "labels": { "x": "x" },
                "annotations": { "example.com/x": "1" },
                "${N}": "1",
            },
            "spec": {
                "labels": { "${N}": 1 },
                "template": { "metadata": { "labels": { "x": null } }, "spec": [{ "${N}": ["x", true] }] },
            },
        })
    );
    assert_eq!(rendered[0].place, place(1));
}

#[test]
fn what_is_known_of_a_cluster_can_be_asked_for() {
    let outputs = known(&[
        ("cluster_endpoint", "https://output.example.com"),
        ("cluster_name", "from-terraform"),
        ("karpenter_iam_role_arn", "arn:aws:iam::123456789012:role/karpenter"),
        ("karpenter_queue_name", "queue"),
        ("kubeconfig", "never"),
        ("Kubeconfig", "never"),
        ("with-hyphen", "left out"),
        ("1st", "left out"),
        ("Mixed", "upper"),
        ("mixed", "lower"),
    ]);
    let inputs = Inputs {
        cluster_name: "demo",
        namespace: "team",
        workspace_name: Some("demo-controlplane"),
        endpoint: Some("https://cluster.example.com:443"),
        outputs: &outputs,
    };
    assert_eq!(
        variables(&inputs),
        known(&[
            ("CLUSTER_ENDPOINT", "https://output.example.com"),
            ("CLUSTER_NAME", "demo"),
            ("INTERRUPTION_QUEUE_NAME", "queue"),
            ("KARPENTER_IAM_ROLE_ARN", "arn:aws:iam::123456789012:role/karpenter"),
            ("KARPENTER_QUEUE_NAME", "queue"),
            ("MIXED", "lower"),
            ("NAMESPACE", "team"),
            ("WORKSPACE_NAME", "demo-controlplane"),
        ])
    );
    assert!(!format!("{inputs:?}").contains("never"));
}

#[rstest]
#[case::no_output(&[], Some("https://cluster.example.com"), Some("https://cluster.example.com"))]
#[case::empty_output(&[("cluster_endpoint", "")], Some("https://cluster.example.com"), Some("https://cluster.example.com"))]
#[case::neither(&[], None, None)]
fn the_endpoint_is_the_clusters_own_where_the_module_gives_none(
    #[case] outputs: &[(&str, &str)],
    #[case] endpoint: Option<&str>,
    #[case] expected: Option<&str>,
) {
    let outputs = known(outputs);
    let inputs =
        Inputs { cluster_name: "demo", namespace: "team", workspace_name: None, endpoint, outputs: &outputs };
    let variables = variables(&inputs);
    assert_eq!(variables.get("CLUSTER_ENDPOINT").map(String::as_str), expected);
    assert!(!variables.contains_key("WORKSPACE_NAME"));
}

#[test]
fn an_output_of_the_older_name_wins() {
    let outputs = known(&[("karpenter_queue_name", "new"), ("interruption_queue_name", "own")]);
    let inputs = Inputs {
        cluster_name: "demo",
        namespace: "team",
        workspace_name: None,
        endpoint: None,
        outputs: &outputs,
    };
    assert_eq!(variables(&inputs)["INTERRUPTION_QUEUE_NAME"], "own");
}

#[rstest]
#[case::one_letter_more("CLUSTER_NAMES", Some("CLUSTER_NAME"))]
#[case::letters_swapped("CLUSTER_NMAE", Some("CLUSTER_NAME"))]
#[case::another_word("CLUSTER", None)]
#[case::nothing_alike("REGION", None)]
#[case::short("NS", None)]
fn a_likely_typo_gets_a_suggestion(#[case] name: &str, #[case] expected: Option<&str>) {
    assert_eq!(nearest(name, ["CLUSTER_ENDPOINT", "CLUSTER_NAME", "NAMESPACE"]), expected);
}
