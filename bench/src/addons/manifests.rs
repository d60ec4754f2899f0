//! A stack of three steps. Clusters share an API server, so that whatever the stack brings is named after its cluster.

use serde_json::{Value, json};

/// The stack.
pub(super) const STACK: &str = "base";
/// How many steps it has.
pub(super) const STEPS: usize = 3;
/// The label of the clusters that get it.
const SELECTOR: &str = "addons";
/// The `ConfigMaps` with the manifests of the first and of the last step.
const FIRST: &str = "first-manifests";
const LAST: &str = "last-manifests";

/// What stands in for the manifests of an operator, without what would need nodes.
const FIRST_MANIFESTS: &str = "
apiVersion: v1
kind: Namespace
metadata: { name: '${CLUSTER_NAME}' }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: controller, namespace: '${CLUSTER_NAME}' }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: reader, namespace: '${CLUSTER_NAME}' }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: controller, namespace: '${CLUSTER_NAME}' }
data: { cluster: '${CLUSTER_NAME}' }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: reader, namespace: '${CLUSTER_NAME}' }
data: { endpoint: '${CLUSTER_ENDPOINT}' }
";

const LAST_MANIFESTS: &str = "
apiVersion: v1
kind: ConfigMap
metadata: { name: settings, namespace: '${CLUSTER_NAME}' }
data: { queue: '${KARPENTER_QUEUE_NAME}', role: '${KARPENTER_IAM_ROLE_ARN}' }
";

/// The `ConfigMaps` with manifests.
pub(super) fn config_maps() -> [Value; 2] {
    [(FIRST, FIRST_MANIFESTS), (LAST, LAST_MANIFESTS)]
        .map(|(name, text)| json!({ "metadata": { "name": name }, "data": { "manifests.yaml": text } }))
}

/// The stack. Within a day nobody looks at what is ready.
pub(super) fn stack() -> Value {
    let rendered = |name: &str| json!([{ "kind": "ConfigMap", "name": name, "render": true }]);
    let keys = ["cluster_name", "cluster_endpoint", "karpenter_queue_name"]
        .map(|output| json!({ "output": output }));
    json!({
        "metadata": { "name": STACK },
        "spec": {
            "clusterSelector": { "matchLabels": { SELECTOR: STACK } },
            "driftInterval": "24h",
            "addons": [
                { "name": "first", "gateLabel": "first.example.com/enabled", "resources": rendered(FIRST) },
                { "name": "values", "dependsOn": ["first"], "values": [{ "namespace": "default", "keys": keys }] },
                { "name": "last", "dependsOn": ["values"], "resources": rendered(LAST) },
            ],
        },
    })
}

/// The name of what tells of the stack in a cluster.
pub(super) fn binding(cluster: &str) -> String {
    format!("{STACK}.{cluster}")
}

pub(super) fn cluster(name: &str) -> Value {
    json!({ "metadata": { "name": name, "labels": { SELECTOR: STACK } }, "spec": {} })
}

/// What is said of a cluster that has come up.
pub(super) fn initialized(name: &str) -> Value {
    json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": { "name": name },
        "status": { "initialization": { "infrastructureProvisioned": true, "controlPlaneInitialized": true } },
    })
}

pub(super) fn kubeconfig(cluster: &str, content: &str) -> Value {
    json!({
        "metadata": {
            "name": format!("{cluster}-kubeconfig"),
            "labels": { "cluster.x-k8s.io/cluster-name": cluster },
        },
        "type": "cluster.x-k8s.io/secret", "stringData": { "value": content },
    })
}

/// What the module of a cluster gives.
pub(super) fn outputs(cluster: &str) -> Value {
    json!({
        "cluster_name": cluster,
        "cluster_endpoint": format!("https://{cluster}.example.com"),
        "karpenter_iam_role_arn": format!("arn:aws:iam::123456789012:role/{cluster}"),
        "karpenter_queue_name": format!("{cluster}-queue"),
    })
}
