//! `config/manager`: the manager as a Deployment, for whoever installs without Helm.

use std::path::Path;

use capt_api::names::{MANAGED_BY_CAPT, label};
use serde_json::{Value, json};

use super::rbac::{MANAGER, NAMESPACE};
use super::{Files, document};
use crate::repository::CONFIG;

/// How long running applies may take to end.
const SHUTDOWN_GRACE_MINUTES: u32 = 15;

/// How much longer the pod may take, so that the manager is never killed while it waits.
const MARGIN_SECONDS: u32 = 60;

/// The user of the image.
const USER: u32 = 65532;

pub(super) fn add(files: &mut Files) -> anyhow::Result<()> {
    let directory = Path::new(CONFIG).join("manager");
    files.insert(directory.join("namespace.yaml"), document(&namespace())?);
    files.insert(directory.join("deployment.yaml"), document(&deployment())?);
    Ok(())
}

fn namespace() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "labels": {
                (label::MANAGED_BY): MANAGED_BY_CAPT,
                "pod-security.kubernetes.io/enforce": "restricted",
            },
            "name": NAMESPACE,
        },
    })
}

fn deployment() -> Value {
    let selector = json!({ "app.kubernetes.io/name": MANAGER });
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "labels": { (label::MANAGED_BY): MANAGED_BY_CAPT },
            "name": MANAGER,
            "namespace": NAMESPACE,
        },
        "spec": {
            "replicas": 2,
            "selector": { "matchLabels": selector },
            "strategy": {
                "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 },
                "type": "RollingUpdate",
            },
            "template": {
                "metadata": {
                    "annotations": {
                        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
                        "karpenter.sh/do-not-disrupt": "true",
                        "kubectl.kubernetes.io/default-container": "manager",
                    },
                    "labels": selector,
                },
                "spec": pod(),
            },
        },
    })
}

fn pod() -> Value {
    json!({
        "containers": [container()],
        "securityContext": {
            "fsGroup": USER,
            "runAsGroup": USER,
            "runAsNonRoot": true,
            "runAsUser": USER,
            "seccompProfile": { "type": "RuntimeDefault" },
        },
        "serviceAccountName": MANAGER,
        "terminationGracePeriodSeconds": SHUTDOWN_GRACE_MINUTES * 60 + MARGIN_SECONDS,
        "volumes": [
            { "emptyDir": {}, "name": "temporary" },
            { "emptyDir": {}, "name": "work" },
        ],
    })
}

/// clusterctl asks for this name of the container.
fn container() -> Value {
    json!({
        "args": [
            "manager",
            "--leader-elect=true",
            "--diagnostics-address=0.0.0.0:9440",
            "--log-format=json",
            format!("--shutdown-grace={SHUTDOWN_GRACE_MINUTES}m"),
            "--terraform-directory=/var/lib/capt",
        ],
        "env": [
            { "name": "HOME", "value": "/tmp" },
            { "name": "POD_NAMESPACE", "valueFrom": { "fieldRef": { "fieldPath": "metadata.namespace" } } },
        ],
        "image": format!("capt:v{}", env!("CARGO_PKG_VERSION")),
        "livenessProbe": probe("/healthz"),
        "name": "manager",
        "ports": [{ "containerPort": 9440, "name": "diagnostics", "protocol": "TCP" }],
        "readinessProbe": probe("/readyz"),
        "resources": {
            "limits": { "memory": "2Gi" },
            "requests": { "cpu": "100m", "memory": "256Mi" },
        },
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": { "drop": ["ALL"] },
            "readOnlyRootFilesystem": true,
        },
        "volumeMounts": [
            { "mountPath": "/tmp", "name": "temporary" },
            { "mountPath": "/var/lib/capt", "name": "work" },
        ],
    })
}

fn probe(path: &str) -> Value {
    json!({ "httpGet": { "path": path, "port": "diagnostics" }, "periodSeconds": 10 })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::apps::v1::Deployment;

    use super::*;

    #[test]
    fn the_pod_is_given_longer_than_the_manager_takes() {
        let deployment: Deployment = serde_json::from_value(deployment()).unwrap();
        let pod = deployment.spec.unwrap().template.spec.unwrap();

        assert!(pod.termination_grace_period_seconds.unwrap() > i64::from(SHUTDOWN_GRACE_MINUTES) * 60);
    }
}
