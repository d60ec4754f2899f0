//! Whatever the module gives: reason, message and state are told, the last good kubeconfig stays, and repair heals by itself.

use capt_api::capt_control_plane::SecretState;
use kube::api::DeleteParams;

use super::scene::{Scene, condition};

/// What is done to a good set of outputs, and what is said about it.
struct Case {
    name: &'static str,
    spoil: fn(&mut Vec<(String, String)>),
    state: SecretState,
    reason: &'static str,
    says: &'static str,
}

fn set(outputs: &mut [(String, String)], field: &str, value: &str) {
    let entry = outputs.iter_mut().find(|(name, _)| name == field).unwrap();
    value.clone_into(&mut entry.1);
}

fn edit(outputs: &mut [(String, String)], from: &str, to: &str) {
    let kubeconfig = &mut outputs[0].1;
    assert!(kubeconfig.contains(from), "the kubeconfig has no {from}");
    *kubeconfig = kubeconfig.replace(from, to);
}

/// Puts another user into the kubeconfig.
fn user(outputs: &mut [(String, String)], user: &str) {
    let server = outputs[2].1.clone();
    let authority = outputs[1].1.clone();
    outputs[0].1 = format!(
        "{{apiVersion: v1, kind: Config, current-context: x, contexts: [{{name: x, context: {{cluster: c, user: u}}}}], \
         clusters: [{{name: c, cluster: {{server: '{server}', certificate-authority-data: {authority}}}}}], \
         users: [{{name: u, user: {user}}}]}}"
    );
}

fn remove(outputs: &mut Vec<(String, String)>, field: &str) {
    outputs.retain(|(name, _)| name != field);
}

const FAILED: SecretState = SecretState::Failed;
const AUTHORITY: &str = "cluster_certificate_authority_data";

fn cases() -> Vec<Case> {
    let case = |name, spoil, reason, says| Case { name, spoil, state: FAILED, reason, says };
    vec![
        Case {
            name: "an empty Secret",
            spoil: Vec::clear,
            state: SecretState::WaitingForSecret,
            reason: "WaitingForConnectionSecret",
            says: "is there but still empty",
        },
        case("no kubeconfig", |all| remove(all, "kubeconfig"), "RequiredFieldMissing", "lacks `kubeconfig`"),
        case(
            "an empty kubeconfig",
            |all| set(all, "kubeconfig", ""),
            "RequiredFieldMissing",
            "lacks `kubeconfig`",
        ),
        case(
            "no CA",
            |all| remove(all, AUTHORITY),
            "RequiredFieldMissing",
            "lacks `cluster_certificate_authority_data`",
        ),
        case(
            "an empty CA",
            |all| set(all, AUTHORITY, ""),
            "RequiredFieldMissing",
            "lacks `cluster_certificate_authority_data`",
        ),
        case(
            "other fields only",
            |all| *all = vec![("x".to_owned(), "y".to_owned())],
            "RequiredFieldMissing",
            "lacks `kubeconfig` and",
        ),
        case(
            "a CA that is not base64",
            |all| set(all, AUTHORITY, "%%%"),
            "KubeconfigInvalid",
            "neither PEM nor base64",
        ),
        case(
            "a CA that is not PEM",
            |all| set(all, AUTHORITY, "aGVsbG8="),
            "KubeconfigInvalid",
            "not of PEM",
        ),
        case("not YAML", |all| set(all, "kubeconfig", "a: [b"), "KubeconfigInvalid", "cannot be used"),
        case(
            "YAML of another kind",
            |all| set(all, "kubeconfig", "apiVersion: v1\nkind: Secret\n"),
            "KubeconfigInvalid",
            "cannot be used",
        ),
        case(
            "no current context",
            |all| edit(all, "current-context", "other-context"),
            "KubeconfigInvalid",
            "current-context",
        ),
        case("http", |all| edit(all, "https://", "http://"), "KubeconfigInvalid", "server"),
        case(
            "a CA in the kubeconfig that is not PEM",
            |all| {
                let ca = all[1].1.clone();
                edit(all, &ca, "aGVsbG8=");
            },
            "KubeconfigInvalid",
            "certificate-authority-data",
        ),
        case("no user", |all| user(all, "{}"), "KubeconfigInvalid", "users[u]"),
        case(
            "an unknown program",
            |all| {
                user(all, "{exec: {apiVersion: client.authentication.k8s.io/v1, command: /opt/other-login}}");
            },
            "KubeconfigInvalid",
            "other-login",
        ),
        case("a token file", |all| user(all, "{tokenFile: /etc/hostname}"), "KubeconfigInvalid", "tokenFile"),
        case(
            "a certificate path",
            |all| user(all, "{client-certificate: /etc/hostname, client-key: /etc/hostname}"),
            "KubeconfigInvalid",
            "client-certificate",
        ),
        case(
            "an expired token",
            |all| user(all, "{token: eyJhbGciOiJub25lIn0.eyJleHAiOjE3MDAwMDAwMDB9.c2ln}"),
            "CredentialsExpired",
            "expired at 2023-11-14T22:13:20Z",
        ),
    ]
}

#[tokio::test]
async fn what_a_module_gives_wrong_is_told_and_the_last_good_kubeconfig_stays() {
    let scene = Scene::set().await;
    scene.provision().await;
    scene.condition("SecretsReady", "True", "SecretsWritten").await;
    let name = format!("{}-kubeconfig", scene.name);
    let good = scene.secret(&name, "value").await.unwrap();
    for Case { name: case, spoil, state, reason, says } in cases() {
        let mut outputs = scene.outputs();
        spoil(&mut outputs);
        scene.connect(&outputs).await;
        let found = scene
            .until(case, |found| {
                condition(found, "SecretsReady")
                    .is_some_and(|told| told.reason == reason && told.message.contains(says))
            })
            .await;
        let status = found.status.unwrap();
        assert_eq!(status.secret_state, Some(state), "{case}");
        assert!(!status.secrets_ready && !status.ready && status.initialized, "{case}");
        assert_eq!(
            scene.secret(&name, "value").await.as_ref(),
            Some(&good),
            "{case}: the last good one stays"
        );
        scene.connect(&scene.outputs()).await;
        scene.condition("SecretsReady", "True", "SecretsWritten").await;
    }
}

#[tokio::test]
async fn what_is_odd_but_legal_is_told_and_holds_up_nothing() {
    let scene = Scene::set().await;
    scene.workspace().await;
    let mut outputs = scene.outputs();
    set(&mut outputs, "cluster_endpoint", "https://private.example.com:8443/path/");
    scene.connect(&outputs).await;
    scene.report_ready(&outputs).await;
    let found =
        scene.until("to be ready", |found| found.status.as_ref().is_some_and(|status| status.ready)).await;
    let message = &condition(&found, "SecretsReady").unwrap().message;
    assert!(message.contains("the kubeconfig leads to") && message.contains("has a path"), "{message}");
    let endpoint = found.spec.control_plane_endpoint.unwrap();
    assert_eq!((endpoint.host.as_str(), endpoint.port), ("private.example.com", 8443));
}

#[tokio::test]
async fn without_an_endpoint_nothing_is_handed_out_until_there_is_one() {
    let scene = Scene::set().await;
    scene.workspace().await;
    let mut outputs = scene.outputs();
    remove(&mut outputs, "cluster_endpoint");
    scene.connect(&outputs).await;
    scene.report_ready(&outputs).await;
    let found = scene.condition("SecretsReady", "False", "EndpointUnavailable").await;
    assert_eq!(found.status.unwrap().secret_state, Some(FAILED));
    assert_eq!(scene.secret(&format!("{}-kubeconfig", scene.name), "value").await, None);
    // The connection Secret's own field is enough.
    let mut outputs = scene.outputs();
    let endpoint = outputs[2].clone();
    remove(&mut outputs, "cluster_endpoint");
    scene.report_ready(&outputs).await;
    outputs.push(endpoint);
    scene.connect(&outputs).await;
    scene.until("to be ready", |found| found.status.as_ref().is_some_and(|status| status.ready)).await;
}

#[tokio::test]
async fn credentials_that_the_cluster_rejects_are_told() {
    let scene = Scene::set().await;
    scene.workspace().await;
    let mut outputs = scene.outputs();
    user(&mut outputs, "{token: nobody-knows-this}");
    scene.connect(&outputs).await;
    scene.report_ready(&outputs).await;
    let found = scene.condition("SecretsReady", "False", "CredentialsRejected").await;
    assert_eq!(found.status.as_ref().unwrap().secret_state, Some(FAILED));
    assert!(!condition(&found, "SecretsReady").unwrap().message.contains("nobody-knows-this"));
    scene.connect(&scene.outputs()).await;
    scene.condition("SecretsReady", "True", "SecretsWritten").await;
}

#[tokio::test]
async fn a_secret_of_somebody_else_under_our_name_is_left_alone() {
    let scene = Scene::set().await;
    let name = format!("{}-kubeconfig", scene.name);
    scene.stage.put_secret(&name, &[("value", "theirs")]).await;
    scene.provision().await;
    let found = scene.condition("SecretsReady", "False", "SecretNotOwned").await;
    assert!(condition(&found, "SecretsReady").unwrap().message.contains(&name));
    assert_eq!(scene.secret(&name, "value").await.as_deref(), Some("theirs"));
    assert!(!found.status.unwrap().initialized);
    scene.secrets().delete(&name, &DeleteParams::default()).await.unwrap();
    scene.until("to be ready", |found| found.status.as_ref().is_some_and(|status| status.ready)).await;
    assert_eq!(scene.secret(&name, "value").await, Some(scene.outputs()[0].1.clone()));
}

#[tokio::test]
async fn a_connection_secret_that_is_deleted_later_is_told_and_comes_back() {
    let scene = Scene::set().await;
    scene.provision().await;
    scene.condition("SecretsReady", "True", "SecretsWritten").await;
    let name = format!("{}-kubeconfig", scene.name);
    scene.secrets().delete(&scene.connection_name(), &DeleteParams::default()).await.unwrap();
    let found = scene.condition("SecretsReady", "False", "WaitingForConnectionSecret").await;
    assert_eq!(found.status.unwrap().secret_state, Some(SecretState::WaitingForSecret));
    assert!(scene.secret(&name, "value").await.is_some());
    scene.connect(&scene.outputs()).await;
    scene.condition("SecretsReady", "True", "SecretsWritten").await;
}

#[tokio::test]
async fn a_connection_secret_in_another_namespace_is_not_taken() {
    let scene = Scene::set().await;
    scene.workspace().await;
    let elsewhere = crate::stage::Stage::without_manager().await;
    let outputs = scene.outputs();
    let data: Vec<_> = outputs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    elsewhere.put_secret(&scene.connection_name(), &data).await;
    scene.report_ready(&outputs).await;
    let found = scene.condition("SecretsReady", "False", "WaitingForConnectionSecret").await;
    let expected = format!("Secret `{}/{}`", scene.stage.namespace, scene.connection_name());
    assert!(condition(&found, "SecretsReady").unwrap().message.contains(&expected));
}
