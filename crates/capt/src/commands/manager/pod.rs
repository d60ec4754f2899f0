//! The pod that this machine is, as others can look it up.

use capt_core::name::{is_namespace_name, is_object_name};
use capt_core::workspace::runner::PodOfRunner;
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

/// The pod of this name, if there is one.
///
/// It is asked for and not guessed: a pod on the node's network has the node's name, and whoever looks for a pod of that name
/// finds none and takes a run that goes on for dead.
pub(super) async fn find(client: &Client, namespace: &str, name: &str) -> Option<PodOfRunner> {
    if !is_namespace_name(namespace) || !is_object_name(name) {
        return None;
    }
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    match pods.get_metadata_opt(name).await {
        Ok(found) => Some(PodOfRunner {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            uid: found?.metadata.uid?,
        }),
        Err(error) => {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(
                error,
                "CAPT cannot read its own pod: other replicas will not be able to release its locks when it dies"
            );
            None
        }
    }
}
