//! What is watched: where, and which objects of a kind.

use std::fmt::Debug;

use capt_api::names::label;
use k8s_openapi::NamespaceResourceScope;
use kube::runtime::watcher;
use kube::{Api, Resource};

use crate::context::Context;
use crate::feed::Source;
use crate::metrics::Kind;

/// A watch of the namespaces that the manager looks at.
pub(super) fn source<K>(context: &Context, kind: Kind) -> Source<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug,
{
    let client = context.client.clone();
    let api = match &context.options.namespace {
        Some(namespace) => Api::namespaced(client, namespace),
        None => Api::all(client),
    };
    from_api(context, api, kind)
}

/// A watch that keeps to the label that the manager was told.
pub(super) fn filtered<K>(context: &Context, kind: Kind) -> Source<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug,
{
    let mut source = source::<K>(context, kind);
    if let Some(value) = &context.options.watch_filter {
        source.config = source.config.labels(&format!("{}={value}", label::WATCH_FILTER));
    }
    source
}

/// A watch of the whole cluster.
pub(super) fn cluster_source<K: Resource<DynamicType = ()> + Clone + Debug>(
    context: &Context,
    kind: Kind,
) -> Source<K> {
    from_api(context, Api::all(context.client.clone()), kind)
}

fn from_api<K>(context: &Context, api: Api<K>, kind: Kind) -> Source<K> {
    Source {
        client: context.client.clone(),
        api,
        config: watcher::Config::default(),
        kind,
        metrics: context.metrics.clone(),
    }
}
