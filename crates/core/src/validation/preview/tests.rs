use rstest::rstest;
use serde_json::json;

use super::*;

const STACK: &str = r#"
apiVersion: addons.cluster.x-k8s.io/v1alpha1
kind: AddonStack
metadata: { name: base, namespace: default }
spec:
  clusterSelector: { matchLabels: { addons: base } }
  addons:
  - name: karpenter
    delivery: Direct
    resources: [{ kind: ConfigMap, name: karpenter, render: true }]
    values:
    - namespace: karpenter
      keys:
      - { output: karpenter_queue_name, key: queue }
      - { output: account }
      - { output: replicas, default: "2" }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: karpenter, namespace: default }
data:
  release.yaml: |
    apiVersion: helm.toolkit.fluxcd.io/v2
    kind: HelmRelease
    metadata: { name: karpenter, namespace: karpenter }
    spec:
      values: { settings: { clusterName: "${CLUSTER_NAME}" }, webhook: { enabled: false } }
      valuesFrom:
      - { kind: ConfigMap, name: shared }
      - { kind: Secret, name: hidden }
      - { kind: Secret, name: "${CLUSTER_NAME}-eks-connection", valuesKey: queue, targetPath: settings.interruptionQueue }
      - { kind: Secret, name: "${CLUSTER_NAME}-eks-connection", valuesKey: account, targetPath: 'annotations.example\.com/account' }
      - { kind: Secret, name: "${CLUSTER_NAME}-eks-connection", valuesKey: replicas, targetPath: replicas, literal: true }
  shared.yaml: |
    apiVersion: v1
    kind: ConfigMap
    metadata: { name: shared, namespace: karpenter }
    data: { values.yaml: "{ logLevel: info, webhook: { enabled: true } }" }
  hidden.yaml: |
    apiVersion: v1
    kind: Secret
    metadata: { name: hidden, namespace: karpenter }
    stringData: { values.yaml: "proxy: { password: hunter2 }" }
"#;

fn of(text: &str, outputs: Option<&Outputs>) -> Vec<Preview> {
    previews(&[File { name: "stack.yaml", text }], Target { name: "prod", outputs }).unwrap()
}

#[test]
fn outputs_that_are_not_known_have_their_names_stand_for_them() {
    let found = of(STACK, None);
    let expected = Preview {
        namespace: "karpenter".to_owned(),
        name: "karpenter".to_owned(),
        by: "AddonStack `default/base`".to_owned(),
        values: Some(json!({
            "annotations": { "example.com/account": "<account>" },
            "logLevel": "info",
            "proxy": { "password": "(sensitive)" },
            "replicas": "2",
            "settings": { "clusterName": "prod", "interruptionQueue": "<karpenter_queue_name>" },
            "webhook": { "enabled": false },
        })),
        problem: None,
    };
    assert_eq!(found, [expected]);
}

#[test]
fn values_arrive_as_the_texts_that_the_module_gave() {
    let outputs = read_outputs(
        r#"{ "karpenter_queue_name": { "sensitive": false, "type": "string", "value": "a,b" },
             "account": { "sensitive": true, "type": "string", "value": "012345678901" } }"#,
    );
    let values = of(STACK, Some(&outputs.unwrap()))[0].values.clone().unwrap();
    assert_eq!(values["settings"]["interruptionQueue"], json!("a,b"));
    assert_eq!(values["annotations"]["example.com/account"], json!("012345678901"));
}

#[rstest]
#[case::an_output_that_is_not_there("account: x", "karpenter_queue_name")]
#[case::one_that_ends_in_a_line_break("{ account: x, karpenter_queue_name: \"a\\n\" }", "queue")]
fn a_release_that_gets_no_values_is_told(#[case] outputs: &str, #[case] part: &str) {
    let found = of(STACK, Some(&read_outputs(outputs).unwrap()));
    let problem = found[0].problem.as_deref().unwrap();
    assert!(problem.starts_with("Secret `prod-eks-connection`: ") && problem.contains(part), "{problem}");
    assert_eq!(found[0].values, None);
}

#[rstest]
#[case::a_list("[1]")]
#[case::a_text("x")]
#[case::nothing("")]
#[case::broken("{ secret")]
#[case::an_alias("a: &a x\nb: *a")]
fn what_is_no_outputs_is_refused_without_quoting_it(#[case] text: &str) {
    let told = read_outputs(text).unwrap_err().to_string();
    assert!(
        told.contains("write what `terraform output -json` prints") && !told.contains("secret"),
        "{told}"
    );
}

#[test]
fn files_that_cannot_be_read_are_told_with_their_place() {
    let text = format!("{STACK}---\na: [");
    let found = previews(&[File { name: "stack.yaml", text: &text }], Target { name: "prod", outputs: None });
    let findings = found.unwrap_err();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].file, "stack.yaml");
}

#[test]
fn a_reference_that_leads_nowhere_is_told_as_flux_would_fail() {
    let found = of(&STACK.replace("name: shared }", "name: other }"), None);
    let problem = found[0].problem.as_deref().unwrap();
    assert!(problem.contains("ConfigMap `other` has no key `values.yaml`"), "{problem}");
}
