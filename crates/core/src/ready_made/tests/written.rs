use rstest::rstest;

use super::*;
use crate::validation::{self, validate};

fn made(manifests: &str, identity: Identity) -> Stack {
    stack(&request(manifests, "v1.14.1", identity)).unwrap()
}

#[rstest]
#[case::irsa_with_new_flux("irsa-2.9", "v2.9.5", Identity::Irsa)]
#[case::pod_identity_with_new_flux("pod-identity-2.9", "v2.9.5", Identity::PodIdentity)]
#[case::irsa_with_old_flux("irsa-2.6", "v2.6.4", Identity::Irsa)]
#[case::pod_identity_with_flux_between("pod-identity-2.7", "v2.7.5", Identity::PodIdentity)]
fn a_stack_is_written_and_passes(#[case] name: &str, #[case] version: &str, #[case] identity: Identity) {
    let manifests = flux(version, "v2", "v1");
    let stack = made(&manifests, identity);
    let text = stack.stream();

    let findings = validate(&[validation::File { name: "stack.yaml", text: &text }], &[]);
    let errors: Vec<_> =
        findings.iter().filter(|finding| finding.severity == validation::Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let remarks: Vec<String> = stack.remarks.iter().map(|remark| format!("# {remark}")).collect();
    insta::assert_snapshot!(name, format!("{}\n\n{text}", remarks.join("\n")));
}

#[test]
fn nothing_of_the_manifests_is_lost() {
    let odd =
        format!("  \n{}\n# tail\t with  blanks  \n\n\n", flux("v2.9.5", "v2", "v1").replace('\n', "\r\n"));
    let stack = made(&odd, Identity::Irsa);
    let objects: Vec<serde_json::Value> = serde_saphyr::from_multiple(&stack.stream()).unwrap();
    assert_eq!(objects[0]["data"]["flux.yaml"], block::normalized(&odd));
}

#[test]
fn what_is_written_twice_is_the_same() {
    let manifests = flux("v2.9.5", "v2", "v1");
    assert_eq!(made(&manifests, Identity::Irsa), made(&manifests, Identity::Irsa));
}

#[test]
fn large_manifests_have_to_be_applied_on_the_server() {
    let manifests = flux("v2.9.5", "v2", "v1") + &"# padding\n".repeat(30_000);
    let remarks = made(&manifests, Identity::Irsa).remarks;
    assert!(
        remarks.iter().any(|remark| remark.message.contains("kubectl apply --server-side")),
        "{remarks:?}"
    );
}

#[test]
fn manifests_with_tolerations_need_no_remark() {
    let tolerating = "      containers: []\n      tolerations:\n      - key: CriticalAddonsOnly\n        operator: Exists\n";
    let manifests = flux("v2.9.5", "v2", "v1").replace("      containers: []\n", tolerating);
    let remarks = made(&manifests, Identity::Irsa).remarks;
    assert!(!remarks.iter().any(|remark| remark.message.contains("--toleration-keys")), "{remarks:?}");
}

#[test]
fn a_flux_that_is_newer_than_the_table_is_told_and_gets_what_the_newest_knows() {
    let stack = made(&flux("v2.12.0", "v2", "v1"), Identity::Irsa);
    assert!(stack.remarks.iter().any(|remark| remark.warning), "{:?}", stack.remarks);
    assert!(stack.stream().contains("literal: true"));
}

#[test]
fn a_version_that_manifests_do_not_tell_can_be_said() {
    let manifests = flux("v2.9.5", "v2", "v1").replace("app.kubernetes.io/version", "version");
    let mut request = request(&manifests, "1.14.1", Identity::PodIdentity);
    request.flux_version = Some(Version::parse("2.6").unwrap());
    assert!(stack(&request).unwrap().stream().contains("retries: -1"));
}

#[test]
fn names_that_yaml_takes_for_something_else_are_in_quotes() {
    let manifests = flux("v2.9.5", "v2", "v1");
    let mut request = request(&manifests, "1.14.1", Identity::Irsa);
    (request.namespace, request.selector) = ("123", ("on", "yes"));

    let objects: Vec<serde_json::Value> =
        serde_saphyr::from_multiple(&stack(&request).unwrap().stream()).unwrap();

    assert!(objects.iter().all(|object| object["metadata"]["namespace"] == "123"), "{objects:?}");
    assert_eq!(objects[4]["spec"]["clusterSelector"]["matchLabels"]["on"], "yes");
}
