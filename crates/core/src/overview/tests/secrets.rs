//! What is told of Secrets.

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use rstest::rstest;

use super::scenes::all_ready;
use super::world::{now, seen};
use crate::overview::{Facts, Mark, Node, SecretSeen, Seen};

fn kubeconfig_node(facts: &Facts) -> Node {
    let control_plane = &seen(facts).tree.children[1];
    let node = control_plane.children.iter().find(|child| child.name == "demo-kubeconfig");
    node.unwrap().clone()
}

fn with(change: impl FnOnce(&mut SecretSeen)) -> Facts {
    let mut facts = all_ready();
    if let Seen::There(secret) = &mut facts.secrets[1].secret {
        change(secret);
    }
    facts
}

#[test]
fn a_token_that_is_renewed_says_when() {
    let facts = with(|secret| {
        secret.expires_at = Some("2026-01-02T03:16:05Z".parse().unwrap());
        secret.renews_at = Some("2026-01-02T03:12:05Z".parse().unwrap());
    });
    let node = kubeconfig_node(&facts);
    assert_eq!(node.state, Mark::Ready);
    assert_eq!(
        node.message,
        "the token in it ends at 2026-01-02T03:16:05Z (in 12m), and is renewed at 2026-01-02T03:12:05Z"
    );
}

#[rstest]
#[case::ended(|secret: &mut SecretSeen| secret.expires_at = Some(now()), "CredentialsExpired")]
#[case::broken(|secret: &mut SecretSeen| secret.problem = Some("the kubeconfig is empty".to_owned()), "KubeconfigInvalid")]
#[case::of_somebody_else(|secret: &mut SecretSeen| secret.metadata = ObjectMeta::default(), "SecretNotOwned")]
fn a_secret_that_is_of_no_use_is_told(#[case] change: fn(&mut SecretSeen), #[case] reason: &str) {
    let node = kubeconfig_node(&with(change));
    assert_eq!((node.state, node.reason.as_str()), (Mark::Failing, reason));
}

#[test]
fn a_secret_that_should_be_there_and_is_not_is_told() {
    let mut facts = all_ready();
    facts.secrets[1].secret = Seen::Missing;
    let node = kubeconfig_node(&facts);
    assert_eq!((node.state, node.reason.as_str()), (Mark::Failing, "ObjectDoesNotExist"));
}

#[rstest]
#[case::no_content(None)]
#[case::empty(Some(""))]
#[case::not_yaml(Some("{{{ hunter2"))]
#[case::starts_programs(Some(
    "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\nclusters: [{name: a, cluster: {server: 'https://a'}}]\nusers: [{name: a, user: {exec: {command: rm, args: [hunter2]}}}]\n"
))]
fn what_is_wrong_with_a_kubeconfig_is_told_without_what_is_in_it(#[case] content: Option<&str>) {
    let data = content.map(|content| [("value".to_owned(), ByteString(content.as_bytes().to_vec()))].into());
    let told = SecretSeen::of_kubeconfig(&Secret { data, ..Secret::default() });
    let problem = told.problem.unwrap();
    assert!(!problem.is_empty() && !problem.contains("hunter2"), "{problem}");
}
