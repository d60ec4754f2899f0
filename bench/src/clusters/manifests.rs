//! The objects of clusters, as their users would write them, and what Terraform makes of them.

use serde_json::{Value, json};

/// The namespace of everything.
pub(crate) const NAMESPACE: &str = "default";
/// The templates that all clusters share.
pub(super) const CONTROL_PLANE_TEMPLATE: &str = "control-plane";
pub(super) const NETWORK_TEMPLATE: &str = "network";
/// Nobody listens there, so that the question whether a cluster answers is soon done.
pub(super) const ENDPOINT: &str = "https://127.0.0.1:9";

/// Where the network of a cluster comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    /// It is there.
    Existing,
    /// It is made by a template.
    Template,
}

pub(super) fn template(name: &str, variables: &[&str]) -> Value {
    let module =
        variables.iter().map(|name| format!("variable \"{name}\" {{}}\n")).collect::<Vec<_>>().concat();
    json!({
        "metadata": { "name": name },
        "spec": { "template": { "spec": { "forProvider": { "source": "Inline", "module": module } } } },
    })
}

pub(super) fn cluster(name: &str) -> Value {
    let reference = |group: &str, kind: &str| json!({ "apiGroup": group, "kind": kind, "name": name });
    json!({ "metadata": { "name": name }, "spec": {
        "infrastructureRef": reference("infrastructure.cluster.x-k8s.io", "CAPTCluster"),
        "controlPlaneRef": reference("controlplane.cluster.x-k8s.io", "CAPTControlPlane"),
    } })
}

pub(super) fn network(name: &str, network: Network) -> Value {
    let mut spec = json!({ "region": "eu-west-1" });
    match network {
        Network::Existing => spec["existingVpcId"] = json!("vpc-0123456789abcdef0"),
        Network::Template => spec["vpcTemplateRef"] = json!({ "name": NETWORK_TEMPLATE }),
    }
    json!({ "metadata": { "name": name }, "spec": spec })
}

pub(super) fn control_plane(name: &str) -> Value {
    let spec = json!({ "version": "1.34", "workspaceTemplateRef": { "name": CONTROL_PLANE_TEMPLATE } });
    json!({ "metadata": { "name": name }, "spec": spec })
}

/// What the module of a control plane gives, but for the kubeconfig.
pub(super) fn outputs(authority: &str, workspace: &str) -> Value {
    json!({
        "cluster_certificate_authority_data": authority,
        "cluster_endpoint": ENDPOINT,
        "cluster_name": workspace,
    })
}

/// What the module of a network gives.
pub(super) fn network_outputs() -> Value {
    json!({ "vpc_id": "vpc-0123456789abcdef0", "private_subnets": ["subnet-a", "subnet-b"] })
}

/// The content of a connection Secret.
pub(super) fn connection(authority: &str, workspace: &str, token: &str) -> Value {
    let mut data = outputs(authority, workspace);
    data["kubeconfig"] = json!(kubeconfig(ENDPOINT, authority, token));
    data
}

pub(crate) fn secret(name: &str, data: &Value) -> Value {
    json!({ "metadata": { "name": name }, "type": "connection.crossplane.io/v1alpha1", "stringData": data })
}

pub(crate) fn kubeconfig(server: &str, authority: &str, token: &str) -> String {
    format!(
        "apiVersion: v1
kind: Config
current-context: cluster
clusters:
- name: cluster
  cluster:
    server: {server}
    certificate-authority-data: {authority}
contexts:
- name: cluster
  context:
    cluster: cluster
    user: admin
users:
- name: admin
  user:
    token: {token}
"
    )
}
