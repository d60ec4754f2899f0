//! Whether this machine is a pod that others can look up.

use capt_core::name::{is_namespace_name, is_object_name};
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

/// Whether there is a pod of this name.
///
/// It is asked for and not guessed: a pod on the node's network has the node's name, and whoever looks for a pod of that name
/// finds none and takes a run that goes on for dead.
pub(super) async fn exists(client: &Client, namespace: &str, name: &str) -> bool {
    if !is_namespace_name(namespace) || !is_object_name(name) {
        return false;
    }
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    match pods.get_metadata_opt(name).await {
        Ok(found) => found.is_some(),
        Err(error) => {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(
                error,
                "whether we run in a pod is not known: locks of pods that are gone will not be released"
            );
            false
        }
    }
}
