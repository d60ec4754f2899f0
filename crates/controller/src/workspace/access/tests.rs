use std::path::PathBuf;
use std::sync::Arc;

use capt_terraform::scripted::{ScriptedEngine, Turn};
use capt_testkit::{TestCluster, eventually};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Config, ResourceExt as _};
use serde_json::Value;

use super::*;
use crate::options::Server;
use crate::workspace::place::stage::{self, Stage};
use crate::workspace::state;

/// The rest of the driver's rules are needed to make and remove states.
async fn set() -> (Stage, TerraformOptions) {
    let stage = Stage::set([rules(), own_namespace_rules()].concat()).await;
    let cluster = TestCluster::shared().await;
    let home = cluster.namespace("home").await;
    let kubeconfig: Value = serde_saphyr::from_str(&cluster.control_plane().kubeconfig()).unwrap();
    let authority = kubeconfig["clusters"][0]["cluster"]["certificate-authority-data"].as_str().unwrap();
    let authority = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, authority).unwrap();
    let server = Server {
        address: cluster.control_plane().url().to_owned(),
        certificate_authority: Some(String::from_utf8(authority).unwrap()),
        server_name: None,
    };
    let engine = Arc::new(ScriptedEngine::new(|_| Turn::hangs()));
    (stage, TerraformOptions::new(engine, PathBuf::new(), server, home, "here".to_owned()))
}

async fn connect(kubeconfig: &Hidden) -> Client {
    let text = std::str::from_utf8(kubeconfig.expose()).unwrap();
    let kubeconfig = Kubeconfig::from_yaml(text).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

fn is_refused<T>(answer: Result<T, kube::Error>) -> bool {
    matches!(answer, Err(kube::Error::Api(status)) if status.code == 403)
}

async fn refuses<K>(client: &Client, namespace: &str) -> bool
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + DeserializeOwned + Debug,
{
    let api: Api<K> = Api::namespaced(client.clone(), namespace);
    is_refused(api.list(&ListParams::default()).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn terraform_reaches_the_secrets_and_leases_of_one_namespace_and_nothing_else() {
    let (stage, options) = set().await;
    let kubeconfig = Access::default().kubeconfig(&stage.client, &options, &stage.namespace).await.unwrap();
    let client = connect(&kubeconfig).await;
    let secrets: Api<Secret> = Api::default_namespaced(client.clone());
    eventually("access", async || secrets.list(&ListParams::default()).await).await;

    // What the backends call.
    let secret: Secret = serde_json::from_value(json!({ "metadata": { "name": "s" } })).unwrap();
    let mut secret = secrets.create(&PostParams::default(), &secret).await.unwrap();
    secret.labels_mut().insert("a".to_owned(), "b".to_owned());
    secrets.replace("s", &PostParams::default(), &secret).await.unwrap();
    secrets.delete("s", &DeleteParams::default()).await.unwrap();
    let leases: Api<Lease> = Api::namespaced(client.clone(), &stage.namespace);
    let lease: Lease = serde_json::from_value(json!({ "metadata": { "name": "l" } })).unwrap();
    let mut lease = leases.create(&PostParams::default(), &lease).await.unwrap();
    lease.labels_mut().insert("a".to_owned(), "b".to_owned());
    leases.replace("l", &PostParams::default(), &lease).await.unwrap();
    leases.get("l").await.unwrap();
    leases.delete("l", &DeleteParams::default()).await.unwrap();

    for elsewhere in ["default", "kube-system", options.home_namespace.as_str()] {
        assert!(refuses::<Secret>(&client, elsewhere).await, "Secrets of {elsewhere}");
        assert!(refuses::<Lease>(&client, elsewhere).await, "Leases of {elsewhere}");
    }
    assert!(refuses::<ConfigMap>(&client, &stage.namespace).await);
    assert!(refuses::<Pod>(&client, &stage.namespace).await);
    assert!(refuses::<Role>(&client, &stage.namespace).await);
    let nodes: Api<Node> = Api::all(client.clone());
    assert!(is_refused(nodes.list(&ListParams::default()).await));
    let everywhere: Api<Secret> = Api::all(client);
    assert!(is_refused(everywhere.list(&ListParams::default()).await));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_used_again_until_its_account_is_made_anew() {
    let (stage, options) = set().await;
    let access = Access::default();
    let get = async || access.kubeconfig(&stage.client, &options, &stage.namespace).await.unwrap();
    let first = get().await;
    assert!(get().await == first);

    let accounts: Api<ServiceAccount> = Api::namespaced(stage.administrator.clone(), &options.home_namespace);
    accounts.delete(&account_name(&stage.namespace), &DeleteParams::default()).await.unwrap();
    let second = get().await;
    assert!(second != first);

    access.tokens().get_mut(&stage.namespace).unwrap().renewed_at = Timestamp::UNIX_EPOCH;
    assert!(get().await != second);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_changed_is_put_right() {
    let (stage, options) = set().await;
    let access = Access::default();
    access.kubeconfig(&stage.client, &options, &stage.namespace).await.unwrap();
    let roles: Api<Role> = Api::namespaced(stage.administrator.clone(), &stage.namespace);
    let right = roles.get(NAME).await.unwrap();
    let patch =
        json!({ "rules": [], "metadata": { "finalizers": [], "labels": { label::MANAGED_BY: "me" } } });
    roles.patch(NAME, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();

    access.kubeconfig(&stage.client, &options, &stage.namespace).await.unwrap();

    let found = roles.get(NAME).await.unwrap();
    assert_eq!(
        (&found.rules, found.finalizers(), found.labels()),
        (&right.rules, right.finalizers(), right.labels())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn access_outlives_the_end_of_the_namespace_until_the_last_state_is_gone() {
    let (stage, options) = set().await;
    let access = Access::default();
    access.kubeconfig(&stage.client, &options, &stage.namespace).await.unwrap();
    let place = stage.bare("demo");
    let administrator = &stage.administrator;
    stage.put_state("tfstate-demo-capt", &stage::state(1, 1)).await;
    let found = state::look(administrator, &place).await.unwrap();
    state::hold(administrator, &place, &found).await.unwrap();
    stage.end().await;

    access.give_up(&stage.client, &options, &stage.namespace).await.unwrap();
    let kubeconfig = Access::default().kubeconfig(&stage.client, &options, &stage.namespace).await.unwrap();
    let secrets: Api<Secret> = Api::default_namespaced(connect(&kubeconfig).await);
    eventually("access", async || secrets.get("tfstate-demo-capt").await).await;

    state::discard(administrator, &place).await.unwrap();
    access.give_up(&stage.client, &options, &stage.namespace).await.unwrap();
    access.give_up(&stage.client, &options, &stage.namespace).await.unwrap();
    let roles: Api<Role> = Api::namespaced(administrator.clone(), &stage.namespace);
    let accounts: Api<ServiceAccount> = Api::namespaced(administrator.clone(), &options.home_namespace);
    assert!(roles.get_opt(NAME).await.unwrap().is_none());
    assert!(accounts.get_opt(&account_name(&stage.namespace)).await.unwrap().is_none());
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(administrator.clone());
    eventually("the namespace is gone", async || {
        namespaces.get_opt(&stage.namespace).await.unwrap().is_none()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_access_in_a_namespace_that_is_being_deleted_it_is_said_what_is_missing() {
    let (stage, options) = set().await;
    let place = stage.bare("demo");
    stage.put_state("tfstate-demo-capt", &stage::state(1, 1)).await;
    let found = state::look(&stage.administrator, &place).await.unwrap();
    state::hold(&stage.administrator, &place, &found).await.unwrap();
    stage.end().await;

    let error = Access::default().kubeconfig(&stage.client, &options, &stage.namespace).await.unwrap_err();

    let sentence = error.sentence();
    assert!(sentence.contains(&format!("Role `{}/{NAME}`", stage.namespace)), "{sentence}");
    assert!(sentence.contains("terminated"), "{sentence}");
    state::discard(&stage.administrator, &place).await.unwrap();
}
