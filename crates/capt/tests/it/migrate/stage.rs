//! A template with a release, an apply, its Workspace with a state, and a Cluster.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use capt_api::crd::{Foreign, foreign, own};
use capt_api::names::{annotation, label};
use capt_api::{Cluster, Workspace, WorkspaceTemplate, WorkspaceTemplateApply};
use capt_testkit::TestCluster;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use futures::StreamExt as _;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::watcher;
use kube::{Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::up::CAPT;

/// A module with a release.
pub(crate) const MODULE: &str = r#"# The cluster.
resource "terraform_data" "eks" {
  input = "prod" # its name
}

# Karpenter.
resource "helm_release" "karpenter" {
  chart = "karpenter"
  set {
    name  = "settings.clusterName"
    value = terraform_data.eks.output
  }
}

resource "terraform_data" "queue" {
  input      = "queue"
  depends_on = [helm_release.karpenter]
}
"#;

/// The same without the release.
pub(crate) const EDITED: &str = r#"# The cluster.
resource "terraform_data" "eks" {
  input = "prod" # its name
}

resource "terraform_data" "queue" {
  input      = "queue"
}

output "cluster_name" {
  value = terraform_data.eks.output
}
"#;

/// A state with a release.
pub(crate) fn state() -> Value {
    json!({
        "version": 4, "terraform_version": "1.11.4", "serial": 7, "lineage": "l", "outputs": {},
        "resources": [
            {
                "mode": "managed", "type": "helm_release", "name": "karpenter",
                "provider": "provider[\"registry.terraform.io/hashicorp/helm\"]",
                "instances": [{ "schema_version": 1, "attributes": { "id": "karpenter", "password": "hunter2" } }],
            },
            {
                "mode": "managed", "type": "terraform_data", "name": "eks",
                "provider": "provider[\"terraform.io/builtin/terraform\"]",
                "instances": [{ "schema_version": 0, "attributes": { "id": "1" } }],
            },
        ],
        "check_results": null,
    })
}

pub(crate) struct Stage {
    pub(crate) namespace: String,
    pub(crate) client: Client,
    /// The namespace of the template.
    home: String,
    directory: TempDir,
}

impl Stage {
    /// A use of a template in a namespace of its own.
    pub(crate) async fn set() -> Self {
        let stage = Self::bare().await;
        stage.put_template("eks", MODULE).await;
        stage.put_use(&state()).await;
        stage
    }

    /// A namespace in which nothing is.
    pub(crate) async fn bare() -> Self {
        let cluster = TestCluster::shared().await;
        cluster
            .apply_crds(&[own(), foreign(Foreign::Terraform), foreign(Foreign::ClusterApi)].concat())
            .await;
        let namespace = cluster.namespace("migrate").await;
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("kubeconfig"), cluster.control_plane().kubeconfig()).unwrap();
        Self { home: namespace.clone(), namespace, client: cluster.client(), directory }
    }

    /// Another namespace with a use of the same template.
    pub(crate) async fn put_use_elsewhere(&self) -> Self {
        let mut other = Self::bare().await;
        other.home.clone_from(&self.home);
        other.put_use(&state()).await;
        other
    }

    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub(crate) fn applies(&self) -> Api<WorkspaceTemplateApply> {
        self.api()
    }

    pub(crate) fn apply_name(&self) -> String {
        format!("{}-apply", self.workspace_name())
    }

    /// Workspaces have no namespaces.
    pub(crate) fn workspace_name(&self) -> String {
        format!("{}-prod", self.namespace)
    }

    pub(crate) fn state_name(&self) -> String {
        format!("tfstate-{}-capt", self.workspace_name())
    }

    pub(crate) async fn create<K>(&self, object: Value) -> K
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned
            + serde::Serialize,
    {
        let mut object = object;
        object["apiVersion"] = K::api_version(&()).into();
        object["kind"] = K::kind(&()).into();
        let object: K = serde_json::from_value(object).unwrap();
        self.api::<K>().create(&PostParams::default(), &object).await.unwrap()
    }

    pub(crate) async fn put_template(&self, name: &str, module: &str) {
        let spec = json!({ "forProvider": { "source": "Inline", "module": module } });
        self.create::<WorkspaceTemplate>(
            json!({ "metadata": { "name": name }, "spec": { "template": { "spec": spec } } }),
        )
        .await;
    }

    /// An apply of the template, its Workspace with this state, and a Cluster.
    pub(crate) async fn put_use(&self, state: &Value) {
        self.create::<Cluster>(json!({ "metadata": { "name": "prod" }, "spec": {} })).await;
        self.create::<WorkspaceTemplateApply>(json!({
            "metadata": { "name": self.apply_name(), "labels": { label::CLUSTER_NAME: "prod" } },
            "spec": { "templateRef": { "name": "eks", "namespace": self.home } },
        }))
        .await;
        self.put_workspace(MODULE).await;
        self.put_state(state.to_string().as_bytes()).await;
    }

    async fn put_workspace(&self, module: &str) {
        let workspace: Workspace = serde_json::from_value(json!({
            "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace",
            "metadata": {
                "name": self.workspace_name(),
                "labels": { label::MANAGED_BY: "capt" },
                "annotations": { annotation::APPLY: format!("{}/{}", self.namespace, self.apply_name()) },
            },
            "spec": { "forProvider": { "source": "Inline", "module": module } },
        }))
        .unwrap();
        self.workspaces().create(&PostParams::default(), &workspace).await.unwrap();
    }

    pub(crate) fn workspaces(&self) -> Api<Workspace> {
        Api::all(self.client.clone())
    }

    /// A state as Terraform keeps it.
    pub(crate) async fn put_state(&self, text: &[u8]) {
        let labels = json!({
            "tfstate": "true", "tfstateSecretSuffix": "capt", "tfstateWorkspace": self.workspace_name(),
            "app.kubernetes.io/managed-by": "terraform",
        });
        let metadata =
            json!({ "name": self.state_name(), "labels": labels, "annotations": { "encoding": "gzip" } });
        let data = BTreeMap::from([("tfstate", k8s_openapi::ByteString(gzip(text)))]);
        self.create::<Secret>(json!({ "metadata": metadata, "data": data })).await;
    }

    pub(crate) async fn state(&self) -> Value {
        let secret = self.api::<Secret>().get(&self.state_name()).await.unwrap();
        serde_json::from_slice(&gunzip(&secret.data.unwrap()["tfstate"].0)).unwrap()
    }

    pub(crate) async fn apply(&self) -> WorkspaceTemplateApply {
        self.applies().get(&self.apply_name()).await.unwrap()
    }

    pub(crate) async fn workspace(&self) -> Workspace {
        self.workspaces().get(&self.workspace_name()).await.unwrap()
    }

    /// The module of the template.
    pub(crate) async fn module(&self) -> String {
        let templates: Api<WorkspaceTemplate> = Api::namespaced(self.client.clone(), &self.home);
        let template = templates.get("eks").await.unwrap();
        template.spec.template.spec["forProvider"]["module"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn change_apply(&self, patch: Value) {
        let parameters = PatchParams::default();
        self.applies().patch(&self.apply_name(), &parameters, &Patch::Merge(patch)).await.unwrap();
    }

    pub(crate) async fn change_apply_status(&self, patch: Value) {
        let parameters = PatchParams::default();
        self.applies().patch_status(&self.apply_name(), &parameters, &Patch::Merge(patch)).await.unwrap();
    }

    pub(crate) async fn annotate_apply(&self, key: &str, value: Value) {
        self.change_apply(json!({ "metadata": { "annotations": { key: value } } })).await;
    }

    pub(crate) async fn annotate_workspace(&self, key: &str, value: Value) {
        let patch = Patch::Merge(json!({ "metadata": { "annotations": { key: value } } }));
        self.workspaces().patch(&self.workspace_name(), &PatchParams::default(), &patch).await.unwrap();
    }

    /// Tells of a run as the engine does.
    pub(crate) async fn put_run(&self, run: Value) {
        let patch = Patch::Merge(json!({ "status": { "engine": { "run": run } } }));
        self.workspaces()
            .patch_status(&self.workspace_name(), &PatchParams::default(), &patch)
            .await
            .unwrap();
    }

    /// Does what the manager does with an apply that is not paused: carries the template to the Workspace.
    pub(crate) fn play_manager(&self) -> JoinHandle<()> {
        let (applies, workspaces) = (self.applies(), self.workspaces());
        let templates: Api<WorkspaceTemplate> = Api::namespaced(self.client.clone(), &self.home);
        let name = self.workspace_name();
        tokio::spawn(async move {
            let mut changes = std::pin::pin!(watcher(applies, watcher::Config::default()));
            while let Some(change) = changes.next().await {
                let Ok(watcher::Event::Apply(apply) | watcher::Event::InitApply(apply)) = change else {
                    continue;
                };
                if apply.annotations().contains_key(annotation::PAUSED) {
                    continue;
                }
                let template = templates.get("eks").await.unwrap();
                let module = &template.spec.template.spec["forProvider"]["module"];
                let patch = Patch::Merge(json!({ "spec": { "forProvider": { "module": module } } }));
                workspaces.patch(&name, &PatchParams::default(), &patch).await.unwrap();
            }
        })
    }

    /// Any verb, with what it printed as data.
    pub(crate) async fn capt(&self, arguments: &[&str]) -> (Option<i32>, Value, String) {
        ended(verb(&self.kubeconfig(), "json", arguments).spawn().unwrap()).await
    }

    /// Any verb, with what people see.
    pub(crate) async fn seen(&self, arguments: &[&str]) -> String {
        let child = verb(&self.kubeconfig(), "human", arguments).spawn().unwrap();
        let output = tokio::task::spawn_blocking(|| child.wait_with_output()).await.unwrap().unwrap();
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.directory.path().join("kubeconfig")
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        command(&self.kubeconfig(), &self.namespace, "json", arguments).spawn().unwrap()
    }

    pub(crate) async fn migrate(&self, arguments: &[&str]) -> (Option<i32>, Value, String) {
        ended(self.start(arguments)).await
    }

    /// What people see.
    pub(crate) async fn shown(&self, arguments: &[&str]) -> String {
        let child = command(&self.kubeconfig(), &self.namespace, "human", arguments).spawn().unwrap();
        let output = tokio::task::spawn_blocking(|| child.wait_with_output()).await.unwrap().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// The versions of everything that there is.
    pub(crate) async fn versions(&self) -> BTreeMap<String, String> {
        let mut versions = BTreeMap::new();
        let parameters = ListParams::default();
        let mut note = |kind: &str, metadata: kube::api::ObjectMeta| {
            versions.insert(format!("{kind} {}", metadata.name.unwrap()), metadata.resource_version.unwrap());
        };
        self.api::<WorkspaceTemplate>()
            .list(&parameters)
            .await
            .unwrap()
            .into_iter()
            .for_each(|it| note("template", it.metadata));
        self.applies().list(&parameters).await.unwrap().into_iter().for_each(|it| note("apply", it.metadata));
        self.api::<Cluster>()
            .list(&parameters)
            .await
            .unwrap()
            .into_iter()
            .for_each(|it| note("cluster", it.metadata));
        self.api::<Secret>()
            .list(&parameters)
            .await
            .unwrap()
            .into_iter()
            .for_each(|it| note("secret", it.metadata));
        self.api::<Lease>()
            .list(&parameters)
            .await
            .unwrap()
            .into_iter()
            .for_each(|it| note("lease", it.metadata));
        note("workspace", self.workspace().await.metadata);
        versions
    }

    /// The release is in no state and in no module, its Cluster has the label, and nothing is paused or locked.
    pub(crate) async fn assert_migrated(&self) {
        assert_eq!(self.module().await, EDITED);
        self.assert_state_migrated().await;
        let cluster = self.api::<Cluster>().get("prod").await.unwrap();
        assert_eq!(cluster.labels()["karpenter.sh/enabled"], "true");
    }

    pub(crate) async fn assert_state_migrated(&self) {
        let mut wanted = state();
        wanted["serial"] = json!(8);
        wanted["resources"].as_array_mut().unwrap().remove(0);
        assert_eq!(self.state().await, wanted);
        let lease = self.api::<Lease>().get(&format!("lock-{}", self.state_name())).await.unwrap();
        assert_eq!(lease.spec.and_then(|spec| spec.holder_identity), None);
        let copies = ListParams::default().labels(&format!("{}=snapshot", label::ROLE));
        let copies = self.api::<Secret>().list(&copies).await.unwrap().items;
        let copies: Vec<Value> = copies
            .into_iter()
            .map(|copy| serde_json::from_slice(&gunzip(&copy.data.unwrap()["tfstate"].0)).unwrap())
            .collect();
        assert_eq!(copies, [state()]);
        let apply = self.apply().await;
        for key in [annotation::PAUSED, annotation::MIGRATION] {
            assert!(!apply.annotations().contains_key(key), "{:?}", apply.annotations());
        }
        let workspace = self.workspace().await;
        assert!(!workspace.annotations().contains_key(annotation::CROSSPLANE_PAUSED));
        assert_eq!(workspace.spec.for_provider.module, EDITED);
    }
}

/// A verb with these arguments, at no terminal.
pub(crate) fn verb(kubeconfig: &Path, form: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(CAPT);
    command.args(["--output", form]).args(arguments).arg("--kubeconfig").arg(kubeconfig);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// `capt migrate helm-release karpenter`.
pub(crate) fn command(kubeconfig: &Path, namespace: &str, form: &str, arguments: &[&str]) -> Command {
    let release = ["migrate", "helm-release", "karpenter", "--namespace", namespace];
    verb(kubeconfig, form, &[&release[..], arguments].concat())
}

/// The code that a run ended with, what it printed and what it told.
pub(crate) async fn ended(child: Child) -> (Option<i32>, Value, String) {
    let Output { status, stdout, stderr } =
        tokio::task::spawn_blocking(|| child.wait_with_output()).await.unwrap().unwrap();
    let printed = serde_json::from_slice(&stdout).unwrap_or_default();
    (status.code(), printed, String::from_utf8(stderr).unwrap())
}

pub(crate) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn gunzip(packed: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut text).unwrap();
    text
}
