//! A cluster in which all is well, and ways to spoil it.

use capt_api::names::{annotation, label};
use capt_api::{
    AddonStackBinding, CAPTCluster, CAPTControlPlane, Cluster, Workspace, WorkspaceTemplateApply,
};
use k8s_openapi::jiff::Timestamp;
use kube::core::DynamicObject;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::overview::{
    Applied, Facts, Foreign, Overview, OwnPart, Part, SecretFacts, SecretSeen, SecretUse, Seen, overview,
};

/// When everything is looked at.
pub(super) fn now() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

pub(super) fn seen(facts: &Facts) -> Overview {
    overview(facts, now())
}

fn read<K: DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).unwrap()
}

/// A condition; its status is told by the first letter of `True`, `False` or `Unknown`.
pub(super) fn condition(type_: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({
        "type": type_, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": "2026-01-02T03:00:05Z",
    })
}

pub(super) fn metadata(name: &str) -> Value {
    json!({
        "name": name, "namespace": "default", "uid": format!("uid-of-{name}"), "generation": 1,
        "creationTimestamp": "2026-01-02T01:04:05Z",
        "labels": { label::CLUSTER_NAME: "demo" },
    })
}

pub(super) fn cluster(spec: &Value, conditions: &[Value]) -> Cluster {
    let mut whole = json!({
        "infrastructureRef": { "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "CAPTCluster", "name": "demo" },
        "controlPlaneRef": { "apiGroup": "controlplane.cluster.x-k8s.io", "kind": "CAPTControlPlane", "name": "demo" },
    });
    whole.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    read(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": metadata("demo"),
        "spec": whole, "status": { "conditions": conditions },
    }))
}

pub(super) fn network(conditions: &[Value]) -> CAPTCluster {
    read(json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "CAPTCluster", "metadata": metadata("demo"),
        "spec": { "region": "eu-central-1", "vpcTemplateRef": { "name": "network" }, "workspaceTemplateApplyName": "demo-vpc" },
        "status": { "conditions": conditions },
    }))
}

pub(super) fn control_plane(conditions: &[Value]) -> CAPTControlPlane {
    read(json!({
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane", "metadata": metadata("demo"),
        "spec": {
            "version": "1.34", "workspaceTemplateRef": { "name": "control-plane" },
            "controlPlaneEndpoint": { "host": "demo.example.org", "port": 6443 },
        },
        "status": { "version": "v1.34.2", "conditions": conditions },
    }))
}

pub(super) fn apply(name: &str, conditions: &[Value]) -> WorkspaceTemplateApply {
    read(json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply", "metadata": metadata(name),
        "spec": { "templateRef": { "name": "any" } }, "status": { "conditions": conditions },
    }))
}

/// The Workspace of an apply, with what an engine says beside its conditions.
pub(super) fn workspace(apply: &str, conditions: &[Value], engine: &Value) -> Workspace {
    let mut metadata = metadata(apply);
    metadata["annotations"] = json!({ annotation::APPLY: format!("default/{apply}") });
    let mut status = json!({ "conditions": conditions });
    if !engine.is_null() {
        status["engine"] = engine.clone();
    }
    read(json!({
        "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace", "metadata": metadata,
        "spec": { "forProvider": { "source": "Inline", "module": "" } }, "status": status,
    }))
}

pub(super) fn applied(apply: WorkspaceTemplateApply, workspace: Option<Workspace>) -> Applied {
    let name = apply.metadata.name.clone().unwrap();
    let workspace = workspace.map(|workspace| {
        let name = name.strip_suffix("-apply").unwrap_or(&name).to_owned();
        (name, Seen::There(workspace))
    });
    Applied { name, apply: Seen::There(apply), workspace }
}

pub(super) fn secret(use_: SecretUse, name: &str, ours: bool) -> SecretFacts {
    let mut metadata = metadata(name);
    if ours {
        metadata["labels"][label::MANAGED_BY] = json!("capt");
        metadata["ownerReferences"] = json!([{
            "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane", "name": "demo",
            "uid": "uid-of-demo", "controller": true,
        }]);
    }
    let secret = SecretSeen::of_metadata(read(metadata));
    SecretFacts { use_, name: name.to_owned(), secret: Seen::There(secret) }
}

/// A step of a stack.
pub(super) fn step(name: &str, state: &str, reason: &str, message: &str) -> Value {
    json!({ "name": name, "state": state, "since": "2026-01-02T03:01:05Z", "reason": reason, "message": message })
}

pub(super) fn binding(ready: &Value, steps: &[Value]) -> AddonStackBinding {
    read(json!({
        "apiVersion": "addons.cluster.x-k8s.io/v1alpha1", "kind": "AddonStackBinding", "metadata": metadata("base.demo"),
        "spec": { "clusterName": "demo", "stackName": "base" },
        "status": { "conditions": [ready], "addons": steps },
    }))
}

pub(super) fn foreign(kind: &str, name: &str, body: &Value) -> Foreign {
    let mut object = json!({ "apiVersion": "example.org/v1", "kind": kind, "metadata": metadata(name) });
    object.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    let object: DynamicObject = read(object);
    Foreign { kind: kind.to_owned(), name: name.to_owned(), object: Seen::There(object) }
}

pub(super) fn own<Own>(name: &str, object: Seen<Own>, applied: impl Into<Option<Applied>>) -> Part<Own> {
    Part::Own(Box::new(OwnPart { name: name.to_owned(), object, applied: applied.into() }))
}

pub(super) fn ready_workspace(apply: &str) -> Workspace {
    let conditions =
        [condition("Ready", "True", "Available", ""), condition("Synced", "True", "ReconcileSuccess", "")];
    workspace(apply, &conditions, &json!({}))
}

pub(super) fn ready_apply(name: &str) -> Applied {
    let conditions =
        [condition("Ready", "True", "WorkspaceReady", ""), condition("Applied", "True", "UpToDate", "")];
    applied(apply(name, &conditions), Some(ready_workspace(name)))
}

/// A cluster in which all is well.
pub(super) fn ready() -> Facts {
    let control_plane_conditions = [
        condition("Ready", "True", "ControlPlaneReady", ""),
        condition("SecretsReady", "True", "SecretsWritten", ""),
        condition("Reachable", "True", "Reachable", "the API server answers (v1.34.2)"),
    ];
    let network_conditions = [condition("Ready", "True", "NetworkReady", "VPC `vpc-1` is ready")];
    let mut kubeconfig = secret(SecretUse::Kubeconfig, "demo-kubeconfig", true);
    if let Seen::There(secret) = &mut kubeconfig.secret {
        secret.expires_at = Some("2027-01-02T03:04:05Z".parse().unwrap());
    }
    Facts {
        cluster: cluster(&json!({}), &[condition("Available", "True", "Available", "")]),
        infrastructure: own("demo", Seen::There(network(&network_conditions)), ready_apply("demo-vpc")),
        control_plane: own(
            "demo",
            Seen::There(control_plane(&control_plane_conditions)),
            ready_apply("demo-eks-controlplane-apply"),
        ),
        secrets: vec![
            secret(SecretUse::Connection, "demo-eks-connection", false),
            kubeconfig,
            SecretFacts {
                use_: SecretUse::UserKubeconfig,
                name: "demo-user-kubeconfig".to_owned(),
                secret: Seen::Missing,
            },
            secret(SecretUse::CertificateAuthority, "demo-ca", true),
        ],
        workers: Vec::new(),
        bindings: vec![binding(
            &condition("Ready", "True", "AddonsReady", ""),
            &[step("flux", "Ready", "AddonReady", ""), step("karpenter", "Ready", "AddonReady", "")],
        )],
        doubts: Vec::new(),
    }
}

/// The same before anything of the control plane is there.
pub(super) fn before_secrets(facts: &mut Facts) {
    for secret in &mut facts.secrets {
        secret.secret = Seen::Missing;
    }
}

/// Says of the Cluster that it cannot be used.
pub(super) fn unavailable(facts: &mut Facts, message: &str) {
    facts.cluster = cluster(&json!({}), &[condition("Available", "False", "NotAvailable", message)]);
}

/// Marks an object as being deleted.
pub(super) fn delete(
    metadata: &mut k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    finalizer: &str,
) {
    metadata.deletion_timestamp =
        Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time("2026-01-02T03:02:05Z".parse().unwrap()));
    metadata.finalizers = Some(vec![finalizer.to_owned()]);
}
