//! Notices when something of a cluster changes.

use std::fmt::Debug;

use capt_api::names::label;
use capt_api::{
    AddonStackBinding, CAPTCluster, CAPTControlPlane, Cluster, Workspace, WorkspaceTemplateApply,
};
use capt_core::tie::label_value;
use futures::stream::{BoxStream, Stream, StreamExt as _, select_all};
use k8s_openapi::api::core::v1::Secret;
use kube::api::Api;
use kube::core::PartialObjectMeta;
use kube::runtime::watcher::Config;
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Client, Resource};
use serde::de::DeserializeOwned;

/// How many changes are told as one, if nobody looks meanwhile.
const AT_ONCE: usize = 1024;

/// Yields whenever something of the cluster may have changed, several changes at once as one. It never ends, and goes on by itself
/// when the server was away.
///
/// Only metadata is watched. Objects of other providers are not: what changes in them changes the Cluster, as Cluster API has it.
pub(crate) fn changes(
    client: &Client,
    namespace: &str,
    name: &str,
) -> impl Stream<Item = ()> + Send + Unpin + use<> {
    let of_cluster = format!("{}={}", label::CLUSTER_NAME, label_value(name));
    let labelled = || Config::default().labels(&of_cluster);
    let workspaces = format!("{of_cluster},{}={namespace}", label::APPLY_NAMESPACE);
    let itself = Config::default().fields(&format!("metadata.name={name}"));
    let all = [
        watch::<Cluster>(Api::namespaced(client.clone(), namespace), itself),
        watch::<CAPTCluster>(Api::namespaced(client.clone(), namespace), labelled()),
        watch::<CAPTControlPlane>(Api::namespaced(client.clone(), namespace), labelled()),
        watch::<WorkspaceTemplateApply>(Api::namespaced(client.clone(), namespace), labelled()),
        watch::<Workspace>(Api::all(client.clone()), Config::default().labels(&workspaces)),
        watch::<AddonStackBinding>(Api::namespaced(client.clone(), namespace), labelled()),
        watch::<Secret>(Api::namespaced(client.clone(), namespace), labelled()),
    ];
    select_all(all).ready_chunks(AT_ONCE).map(drop)
}

fn watch<K>(api: Api<PartialObjectMeta<K>>, config: Config) -> BoxStream<'static, ()>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let events = watcher(api, config).default_backoff();
    let changed = async |event: watcher::Result<watcher::Event<PartialObjectMeta<K>>>| match event {
        Ok(watcher::Event::Init) => None,
        Ok(_) => Some(()),
        Err(error) => {
            tracing::debug!(error = &error as &dyn std::error::Error, kind = %K::kind(&()), "watching was interrupted; trying again");
            None
        }
    };
    events.filter_map(changed).boxed()
}
