//! A namespace with a cluster whose state, record and outputs are there, and files that are or are not backups.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::iter;
use std::path::{Path, PathBuf};

use age::secrecy::SecretString;
use assert_cmd::Command;
use capt_api::crd::{Foreign, foreign, own};
use capt_api::names::{CLUSTER_SECRET_TYPE, CONNECTION_SECRET_TYPE, annotation, finalizer, label};
use capt_testkit::{TestCluster, eventually};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use kube::Client;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::capt;

pub(super) const PASSPHRASE: &str = "correct horse battery staple";

/// Kinds of the stage: API version, kind, plural.
const KINDS: [(&str, &str, &str); 7] = [
    ("v1", "Secret", "secrets"),
    ("v1", "ConfigMap", "configmaps"),
    ("infrastructure.cluster.x-k8s.io/v1beta1", "WorkspaceTemplate", "workspacetemplates"),
    ("infrastructure.cluster.x-k8s.io/v1beta1", "WorkspaceTemplateApply", "workspacetemplateapplies"),
    ("controlplane.cluster.x-k8s.io/v1beta1", "CAPTControlPlane", "captcontrolplanes"),
    ("addons.cluster.x-k8s.io/v1alpha1", "AddonStack", "addonstacks"),
    ("cluster.x-k8s.io/v1beta2", "Cluster", "clusters"),
];

pub(super) struct Stage {
    pub(super) namespace: String,
    pub(super) client: Client,
    pub(super) directory: TempDir,
}

impl Stage {
    /// An empty namespace.
    pub(super) async fn bare() -> Self {
        let cluster = TestCluster::shared().await;
        cluster
            .apply_crds(&[own(), foreign(Foreign::Terraform), foreign(Foreign::ClusterApi)].concat())
            .await;
        let namespace = cluster.namespace("archive").await;
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("kubeconfig"), cluster.control_plane().kubeconfig()).unwrap();
        Self { namespace, client: cluster.client(), directory }
    }

    /// A cluster with all that belongs to it.
    pub(super) async fn set() -> Self {
        let stage = Self::bare().await;
        stage.put().await;
        stage
    }

    async fn put(&self) {
        let cluster = self
            .create("Cluster", json!({ "name": "prod", "labels": { "env": "prod" } }), json!({ "spec": {} }))
            .await;
        let plane = json!({ "spec": { "version": "1.34", "workspaceTemplateRef": { "name": "eks" } } });
        let metadata = json!({ "name": "prod", "ownerReferences": [owner(&cluster, false)] });
        let plane = self.create("CAPTControlPlane", metadata, plane).await;
        let module = json!({ "spec": { "template": { "spec": { "forProvider": { "source": "Inline", "module": "# nothing" } } } } });
        self.create("WorkspaceTemplate", json!({ "name": "eks" }), module).await;
        let spec = json!({ "spec": {
            "templateRef": { "name": "eks" },
            "variablesFrom": [
                { "variable": "a", "secretKeyRef": { "name": "password", "key": "k" } },
                { "variable": "b", "configMapKeyRef": { "name": "settings", "key": "k" } },
            ],
        }});
        let state = format!("{}/tfstate-x-capt", self.namespace);
        let metadata = json!({
            "name": "x-apply", "labels": { label::CLUSTER_NAME: "prod" }, "finalizers": [finalizer::WORKSPACE],
            "annotations": { annotation::WORKSPACE_NAME: "x", annotation::STATE: state },
            "ownerReferences": [owner(&plane, true)],
        });
        let apply = self.create("WorkspaceTemplateApply", metadata, spec).await;
        let spec = json!({ "spec": {
            "clusterSelector": { "matchLabels": { "env": "prod" } },
            "addons": [{ "name": "flux", "resources": [{ "kind": "ConfigMap", "name": "manifests" }] }],
        }});
        let metadata = json!({ "name": "base", "annotations": { annotation::PAUSED: "by-its-user" } });
        self.create("AddonStack", metadata, spec).await;
        for name in ["settings", "manifests"] {
            self.create("ConfigMap", json!({ "name": name }), json!({ "data": { "k": "v" } })).await;
        }
        self.put_secrets(&apply, &plane).await;
    }

    async fn put_secrets(&self, apply: &Value, plane: &Value) {
        let content = |key: &str| json!({ "stringData": { key: "hunter2" } });
        let kept = |role: &str| json!({ label::ROLE: role, label::MANAGED_BY: "capt" });
        let labels = json!({ label::TERRAFORM_STATE: "true", label::ROLE: "state" });
        let tied = |name: &str, labels: Value, finalizers: Value| {
            json!({
                "name": name, "labels": labels, "finalizers": finalizers, "ownerReferences": [owner(apply, false)],
                "annotations": { annotation::WORKSPACE: "x" },
            })
        };
        let held = json!([finalizer::STATE]);
        self.create("Secret", tied("tfstate-x-capt", labels, held.clone()), content("tfstate")).await;
        let record = json!({ "stringData": { "memory": "{\"published\":\"p\"}", "inputs": "hunter2" } });
        self.create("Secret", tied("capt-record-x", kept("record"), held), record).await;
        self.create("Secret", tied("capt-snapshot-x-1", kept("snapshot"), json!([])), content("tfstate"))
            .await;
        self.create("Secret", tied("capt-access-x", kept("access"), json!([])), content("token")).await;
        let mut outputs = content("kubeconfig");
        outputs["type"] = json!(CONNECTION_SECRET_TYPE);
        self.create("Secret", tied("prod-eks-connection", kept("connection"), json!([])), outputs).await;
        let mut kubeconfig = content("value");
        kubeconfig["type"] = json!(CLUSTER_SECRET_TYPE);
        let labels = json!({ label::MANAGED_BY: "capt", label::CLUSTER_NAME: "prod" });
        let metadata =
            json!({ "name": "prod-kubeconfig", "labels": labels, "ownerReferences": [owner(plane, true)] });
        self.create("Secret", metadata, kubeconfig).await;
        self.create("Secret", json!({ "name": "password" }), content("k")).await;
        self.create("Secret", json!({ "name": "of-somebody-else" }), content("k")).await;
    }

    pub(super) fn api(&self, kind: &str) -> Api<DynamicObject> {
        let (api_version, kind, plural) = *KINDS.iter().find(|(_, name, _)| *name == kind).unwrap();
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
        };
        Api::namespaced_with(self.client.clone(), &self.namespace, &resource)
    }

    pub(super) async fn create(&self, kind: &str, metadata: Value, content: Value) -> Value {
        let mut object = content;
        object["metadata"] = metadata;
        object["apiVersion"] = json!(KINDS.iter().find(|(_, name, _)| *name == kind).unwrap().0);
        object["kind"] = json!(kind);
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        let made = self.api(kind).create(&PostParams::default(), &object).await.unwrap();
        serde_json::to_value(made).unwrap()
    }

    /// Everything in the namespace, by kind and name.
    pub(super) async fn objects(&self) -> Vec<(String, Value)> {
        let mut found = Vec::new();
        for (_, kind, _) in KINDS {
            for object in self.api(kind).list(&ListParams::default()).await.unwrap() {
                let object = serde_json::to_value(object).unwrap();
                found.push((format!("{kind} {}", object["metadata"]["name"].as_str().unwrap()), object));
            }
        }
        found.retain(|(name, _)| name != "ConfigMap kube-root-ca.crt");
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found
    }

    /// Takes everything away, as if the cluster were another.
    pub(super) async fn wipe(&self) {
        for (name, _) in self.objects().await {
            let (kind, name) = name.split_once(' ').unwrap();
            let free = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
            // Garbage collection may be faster.
            let _ = self.api(kind).patch(name, &PatchParams::default(), &free).await;
            let _ = self.api(kind).delete(name, &DeleteParams::default()).await;
        }
        eventually("all is gone", async || self.objects().await.is_empty()).await;
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(super) fn kubeconfig(&self) -> PathBuf {
        self.file("kubeconfig")
    }

    pub(super) fn backup(&self, file: &Path) -> Command {
        let mut command = command(&self.kubeconfig());
        command.args(["backup", "--namespace", &self.namespace]).arg(file);
        command
    }

    pub(super) fn restore(&self, file: &Path) -> Command {
        let mut command = command(&self.kubeconfig());
        command.arg("restore").arg(file);
        command
    }
}

/// A `capt` that goes to this cluster and knows the passphrase.
pub(super) fn command(kubeconfig: &Path) -> Command {
    let mut command = capt();
    command
        .env("CAPT_BACKUP_PASSPHRASE", PASSPHRASE)
        .args(["--output", "json"])
        .env("KUBECONFIG", kubeconfig);
    command
}

fn owner(object: &Value, controller: bool) -> Value {
    json!({
        "apiVersion": object["apiVersion"], "kind": object["kind"], "name": object["metadata"]["name"],
        "uid": object["metadata"]["uid"], "controller": controller,
    })
}

/// The text of a backup, as any tool for age shows it.
pub(super) fn unsealed(file: &Path) -> String {
    let decryptor = age::Decryptor::new(File::open(file).unwrap()).unwrap();
    let identity = age::scrypt::Identity::new(SecretString::from(PASSPHRASE));
    let stream = decryptor.decrypt(iter::once(&identity as &dyn age::Identity)).unwrap();
    let mut text = String::new();
    GzDecoder::new(stream).read_to_string(&mut text).unwrap();
    text
}

/// Seals a text as backups are, but cheaply.
pub(super) fn seal(file: &Path, text: &[u8]) {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text).unwrap();
    encrypt(file, &packed.finish().unwrap());
}

/// Encrypts as backups are, but cheaply.
pub(super) fn encrypt(file: &Path, content: &[u8]) {
    let mut recipient = age::scrypt::Recipient::new(SecretString::from(PASSPHRASE));
    recipient.set_work_factor(2);
    let encryptor = age::Encryptor::with_recipients(iter::once(&recipient as &dyn age::Recipient)).unwrap();
    let mut stream = encryptor.wrap_output(File::create(file).unwrap()).unwrap();
    stream.write_all(content).unwrap();
    stream.finish().unwrap();
}
