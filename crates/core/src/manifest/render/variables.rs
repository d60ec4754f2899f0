//! What placeholders are for a cluster.

use std::collections::BTreeMap;
use std::fmt;

use super::placeholder::is_name;

/// What is known of a cluster.
#[derive(Clone, Copy)]
pub struct Inputs<'inputs> {
    /// The Cluster's name.
    pub cluster_name: &'inputs str,
    /// The Cluster's namespace.
    pub namespace: &'inputs str,
    /// The Workspace of its control plane.
    pub workspace_name: Option<&'inputs str>,
    /// Its API server, as the Cluster has it: a URL.
    pub endpoint: Option<&'inputs str>,
    /// The outputs of its module.
    pub outputs: &'inputs BTreeMap<String, String>,
}

/// Outputs may be secret and show in no debug output.
impl fmt::Debug for Inputs<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Inputs").field("cluster_name", &self.cluster_name).finish_non_exhaustive()
    }
}

/// The one output that no manifest gets.
const KUBECONFIG: &str = "KUBECONFIG";

/// Every placeholder and its value: each output in capital letters, `CLUSTER_NAME`, `NAMESPACE`, `WORKSPACE_NAME` and
/// `CLUSTER_ENDPOINT`.
pub fn variables(inputs: &Inputs<'_>) -> BTreeMap<String, String> {
    let Inputs { cluster_name, namespace, workspace_name, endpoint, outputs } = *inputs;
    let mut variables: BTreeMap<String, String> = outputs
        .iter()
        .map(|(output, value)| (output.to_ascii_uppercase(), value.clone()))
        .filter(|(name, _)| is_name(name) && name != KUBECONFIG)
        .collect();
    // The name that manifests had before modules gave the output.
    if let Some(queue) = variables.get("KARPENTER_QUEUE_NAME").cloned() {
        variables.entry("INTERRUPTION_QUEUE_NAME".to_owned()).or_insert(queue);
    }
    if let Some(endpoint) = endpoint {
        let known = variables.entry("CLUSTER_ENDPOINT".to_owned()).or_default();
        if known.is_empty() {
            endpoint.clone_into(known);
        }
    }
    let own = [
        ("CLUSTER_NAME", Some(cluster_name)),
        ("NAMESPACE", Some(namespace)),
        ("WORKSPACE_NAME", workspace_name),
    ];
    for (name, value) in own {
        if let Some(value) = value {
            variables.insert(name.to_owned(), value.to_owned());
        }
    }
    variables
}
