//! A namespace with the objects of clusters, and the way there.

use std::fs;
use std::path::PathBuf;

use assert_cmd::Command;
use capt_api::crd::{Foreign, foreign, own};
use capt_api::names::{annotation, label};
use capt_testkit::TestCluster;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::capt;

const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io/v1beta1";
const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io/v1beta1";

/// A namespace of its own.
pub(super) struct Stage {
    pub(super) namespace: String,
    pub(super) directory: TempDir,
    cluster: &'static TestCluster,
}

impl Stage {
    pub(super) async fn set() -> Self {
        let cluster = TestCluster::shared().await;
        let mut definitions = own();
        definitions.extend(foreign(Foreign::ClusterApi));
        definitions.extend(foreign(Foreign::Terraform));
        cluster.apply_crds(&definitions).await;
        let namespace = cluster.namespace("overview").await;
        let directory = tempfile::tempdir().unwrap();
        let stage = Self { namespace, directory, cluster };
        fs::write(stage.kubeconfig(), cluster.control_plane().kubeconfig()).unwrap();
        stage
    }

    pub(super) fn kubeconfig(&self) -> PathBuf {
        self.directory.path().join("management")
    }

    /// A file beside the kubeconfig.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// `capt` in this namespace, with a home of its own.
    pub(super) fn capt(&self, arguments: &[&str]) -> Command {
        let mut command = capt();
        command.args(arguments).env("HOME", self.directory.path());
        command.args(["--namespace", &self.namespace, "--kubeconfig"]).arg(self.kubeconfig());
        command
    }

    /// The kubeconfig of somebody who may do what these rules say, in this namespace.
    pub(super) async fn visitor(&self, name: &str, rules: Value) -> PathBuf {
        let user = format!("{name}-{}", self.namespace);
        let rbac = "rbac.authorization.k8s.io";
        self.put(json!({
            "apiVersion": format!("{rbac}/v1"), "kind": "Role", "metadata": { "name": name }, "rules": rules,
        }))
        .await;
        self.put(json!({
            "apiVersion": format!("{rbac}/v1"), "kind": "RoleBinding", "metadata": { "name": name },
            "roleRef": { "apiGroup": rbac, "kind": "Role", "name": name },
            "subjects": [{ "apiGroup": rbac, "kind": "User", "name": user }],
        }))
        .await;
        let file = self.file(name);
        fs::write(&file, self.cluster.control_plane().kubeconfig_for(&user, &[]).unwrap()).unwrap();
        file
    }

    fn api(&self, object: &Value) -> Api<DynamicObject> {
        let text = |field: &str| object[field].as_str().unwrap().to_owned();
        let (group, version) = match text("apiVersion").split_once('/') {
            Some((group, version)) => (group.to_owned(), version.to_owned()),
            None => (String::new(), text("apiVersion")),
        };
        let resource = ApiResource::from_gvk(&GroupVersionKind { group, version, kind: text("kind") });
        if object["kind"] == "Workspace" {
            return Api::all_with(self.cluster.client(), &resource);
        }
        Api::namespaced_with(self.cluster.client(), &self.namespace, &resource)
    }

    /// Makes an object, with its status.
    pub(super) async fn put(&self, object: Value) -> DynamicObject {
        let api = self.api(&object);
        let made = serde_json::from_value(object.clone()).unwrap();
        let made = api.create(&PostParams::default(), &made).await.unwrap();
        if object.get("status").is_some() {
            self.tell(&object, &object["status"]).await;
        }
        made
    }

    /// Gives an object another status.
    pub(super) async fn tell(&self, object: &Value, status: &Value) {
        let name = object["metadata"]["name"].as_str().unwrap();
        let patch = Patch::Merge(json!({ "status": status }));
        self.api(object).patch_status(name, &PatchParams::default(), &patch).await.unwrap();
    }

    pub(super) async fn delete(&self, object: &Value) {
        let name = object["metadata"]["name"].as_str().unwrap();
        self.api(object).delete(name, &DeleteParams::default()).await.unwrap();
    }

    /// The Workspace of the control plane, which no other namespace has.
    pub(super) fn workspace_name(&self, cluster: &str) -> String {
        format!("{cluster}-{}", self.namespace)
    }

    /// A cluster whose control plane Terraform cannot make.
    pub(super) async fn failing(&self, name: &str) -> Value {
        let cluster = cluster(name, "False", "NotAvailable");
        self.put(cluster.clone()).await;
        self.put(json!({
            "apiVersion": INFRASTRUCTURE, "kind": "CAPTCluster", "metadata": named(name),
            "spec": { "region": "eu-central-1", "existingVpcId": "vpc-1" },
            "status": { "conditions": [condition("Ready", "True", "NetworkReady", "VPC `vpc-1` was there already")] },
        }))
        .await;
        let control_plane = self.put(json!({
            "apiVersion": CONTROL_PLANE, "kind": "CAPTControlPlane", "metadata": named(name),
            "spec": { "version": "1.34", "workspaceTemplateRef": { "name": "any" } },
            "status": { "conditions": [condition("Ready", "False", "ControlPlaneNotReady", "it is made")] },
        }));
        let control_plane = control_plane.await;
        let apply = format!("{name}-eks-controlplane-apply");
        let workspace = self.workspace_name(name);
        let mut metadata = named(&apply);
        metadata["annotations"] = json!({ annotation::WORKSPACE_NAME: workspace });
        metadata["ownerReferences"] = json!([{
            "apiVersion": CONTROL_PLANE, "kind": "CAPTControlPlane", "name": name,
            "uid": control_plane.metadata.uid, "controller": true,
        }]);
        self.put(json!({
            "apiVersion": INFRASTRUCTURE, "kind": "WorkspaceTemplateApply", "metadata": metadata,
            "spec": { "templateRef": { "name": "any" } },
            "status": { "conditions": [condition("Ready", "False", "WorkspaceNotReady", "it is not ready")] },
        }))
        .await;
        let says = "terraform apply failed: AccessDenied";
        let metadata = json!({
            "name": workspace,
            "labels": { label::CLUSTER_NAME: name, label::APPLY_NAMESPACE: self.namespace },
            "annotations": { annotation::APPLY: format!("{}/{apply}", self.namespace) },
        });
        self.put(json!({
            "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace", "metadata": metadata,
            "spec": { "forProvider": { "source": "Inline", "module": "# nothing" } },
            "status": { "conditions": [
                condition("Ready", "False", "Creating", says), condition("Synced", "False", "ReconcileError", says),
            ] },
        }))
        .await;
        cluster
    }

    /// A Secret of a cluster.
    pub(super) async fn secret(&self, name: &str, key: &str, value: &str) {
        self.put(json!({
            "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "metadata": { "name": name },
            "stringData": { key: value },
        }))
        .await;
    }
}

pub(super) fn named(name: &str) -> Value {
    json!({ "name": name, "labels": { label::CLUSTER_NAME: name } })
}

pub(super) fn condition(type_: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({
        "type": type_, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    })
}

/// A Cluster that refers to a network and a control plane of its own name.
pub(super) fn cluster(name: &str, status: &str, reason: &str) -> Value {
    json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": { "name": name },
        "spec": {
            "infrastructureRef": { "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "CAPTCluster", "name": name },
            "controlPlaneRef": { "apiGroup": "controlplane.cluster.x-k8s.io", "kind": "CAPTControlPlane", "name": name },
        },
        "status": { "conditions": [condition("Available", status, reason, "")] },
    })
}

/// What a run that succeeded printed as JSON.
pub(super) fn json_of(command: &mut Command) -> Value {
    let printed = crate::printed(command.args(["--output", "json"]));
    serde_json::from_str(&printed).unwrap()
}
