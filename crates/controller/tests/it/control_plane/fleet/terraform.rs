//! Plays Terraform for every Workspace of a namespace.

use std::fmt::Debug;

use capt_api::Workspace;
use futures::StreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::{WatchStreamExt, watcher};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::super::scene::{Scene, field};
use crate::stage::ready;

/// Nobody listens there: the question whether the cluster answers is soon done.
const ENDPOINT: &str = "https://127.0.0.1:9";
const SUFFIX: &str = "-eks-controlplane";
/// How many Workspaces are run at the same time.
const AT_ONCE: usize = 10;

/// Whoever runs Terraform.
pub(super) struct Terraform {
    client: Client,
    namespace: String,
    authority: String,
}

impl Terraform {
    pub(super) fn new(scene: &Scene) -> Self {
        let (client, namespace) = (scene.workload.client(), scene.stage.namespace.clone());
        Self { client, namespace, authority: authority(scene) }
    }

    /// The kubeconfig of a cluster: its token is the cluster's name.
    pub(super) fn kubeconfig(scene: &Scene, cluster: &str) -> String {
        kubeconfig(&authority(scene), cluster)
    }

    /// Runs each Workspace as soon as it is there.
    pub(super) async fn run(self) {
        let workspaces: Api<Workspace> = Api::all(self.client.clone());
        watcher(workspaces, watcher::Config::default())
            .default_backoff()
            .applied_objects()
            .filter_map(async |change| self.is_new(change.ok()?))
            .for_each_concurrent(AT_ONCE, |cluster| self.provision(cluster))
            .await;
    }

    /// The cluster that a Workspace is for, if nobody has run it.
    fn is_new(&self, workspace: Workspace) -> Option<String> {
        let is_done = workspace.status.is_some_and(|status| !status.conditions.is_empty());
        let name = workspace.metadata.name?;
        let is_ours = name.starts_with(&format!("{}-", self.namespace));
        name.strip_suffix(SUFFIX).filter(|_| is_ours && !is_done).map(str::to_owned)
    }

    /// The connection Secret comes first, as with every engine.
    async fn provision(&self, cluster: String) {
        let outputs = json!({
            "cluster_certificate_authority_data": self.authority,
            "cluster_endpoint": ENDPOINT,
            "cluster_name": cluster,
        });
        let mut data = outputs.clone();
        data["kubeconfig"] = json!(kubeconfig(&self.authority, &cluster));
        let secret = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": { "name": format!("{cluster}-eks-connection") },
            "type": "connection.crossplane.io/v1alpha1",
            "stringData": data,
        });
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &self.namespace);
        apply(&secrets, &secret).await;
        let mut status = ready();
        status["atProvider"] = json!({ "outputs": outputs });
        let workspace = json!({
            "apiVersion": "tf.upbound.io/v1beta1",
            "kind": "Workspace",
            "metadata": { "name": format!("{cluster}{SUFFIX}") },
            "status": status,
        });
        let workspaces: Api<Workspace> = Api::all(self.client.clone());
        let name = workspace["metadata"]["name"].as_str().unwrap();
        workspaces.patch_status(name, &parameters(), &Patch::Apply(&workspace)).await.unwrap();
    }
}

async fn apply<K>(api: &Api<K>, object: &Value)
where
    K: Clone + Debug + DeserializeOwned,
{
    let name = object["metadata"]["name"].as_str().unwrap();
    api.patch(name, &parameters(), &Patch::Apply(object)).await.unwrap();
}

fn parameters() -> PatchParams {
    PatchParams::apply("terraform-runner").force()
}

fn authority(scene: &Scene) -> String {
    field(&scene.workload.control_plane().kubeconfig(), "certificate-authority-data")
}

fn kubeconfig(authority: &str, cluster: &str) -> String {
    format!(
        "apiVersion: v1
kind: Config
current-context: {cluster}
clusters:
- name: {cluster}
  cluster:
    server: {ENDPOINT}
    certificate-authority-data: {authority}
contexts:
- name: {cluster}
  context:
    cluster: {cluster}
    user: {cluster}
users:
- name: {cluster}
  user:
    token: {cluster}
"
    )
}
