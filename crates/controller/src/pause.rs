//! Whether a Cluster is paused at this very moment.

use capt_api::Cluster;
use capt_core::name::is_object_name;
use kube::{Api, Client};
use tracing::info;

use crate::context::Context;
use crate::error::Error;

/// Whether the Cluster is paused although what was seen does not say so. What is known of it is brought up to date then.
///
/// Each kind has a watch of its own, and after the API server was away some are behind others: a part of a Cluster can be seen
/// before the Cluster, or before its pause. During `clusterctl move`, whatever is made then may be there already, elsewhere.
pub(crate) async fn began_unseen(
    namespace: &str,
    cluster: Option<&str>,
    context: &Context,
) -> Result<bool, Error> {
    let found = cluster_now(namespace, cluster, &context.client).await?;
    let paused = found.filter(|cluster| cluster.spec.paused == Some(true));
    Ok(paused.is_some_and(|cluster| {
        info!(namespace, cluster = cluster.metadata.name, "the Cluster is paused, which was not seen yet");
        context.clusters.remember(cluster);
        true
    }))
}

/// A Cluster as it is at this very moment, if an object belongs to one and it is there.
pub(crate) async fn cluster_now(
    namespace: &str,
    cluster: Option<&str>,
    client: &Client,
) -> Result<Option<Cluster>, Error> {
    let Some(name) = cluster.filter(|name| is_object_name(name)) else { return Ok(None) };
    let clusters: Api<Cluster> = Api::namespaced(client.clone(), namespace);
    clusters.get_opt(name).await.map_err(Error::api(format!("reading Cluster `{namespace}/{name}`")))
}
