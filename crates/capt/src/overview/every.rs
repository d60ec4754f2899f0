//! Many clusters by few requests. Secrets, workers and objects of other providers are not looked at.

use std::collections::BTreeMap;

use anyhow::Context;
use capt_api::{AddonStackBinding, Cluster};
use capt_core::overview::Facts;
use kube::Client;
use kube::api::{Api, ListParams};

use super::assemble;
use super::reader::{Reader, listed, scoped};

/// Every cluster of a namespace, or of all of them, by namespace and name.
pub(crate) async fn gather_every(client: &Client, namespace: Option<&str>) -> anyhow::Result<Vec<Facts>> {
    let clusters: Api<Cluster> = scoped(client, namespace);
    let clusters = clusters.list(&ListParams::default()).await.context(
        "listing Clusters; if the kind is missing, `capt crds --include cluster-api | kubectl apply --server-side -f -` installs it",
    )?;
    if clusters.items.is_empty() {
        return Ok(Vec::new());
    }
    let reader = Reader::listing(client, namespace).await?;
    let bindings: Api<AddonStackBinding> = scoped(client, namespace);
    let bindings = bindings.list(&ListParams::default()).await.map(|list| list.items);
    let (bindings, doubt) =
        match listed(bindings, "AddonStackBindings").context("listing AddonStackBindings")? {
            Ok(bindings) => (bindings, None),
            Err(doubt) => (Vec::new(), Some(doubt)),
        };
    let mut by_cluster: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for binding in bindings {
        let key = (binding.metadata.namespace.clone(), Some(binding.spec.cluster_name.clone()));
        by_cluster.entry(key).or_default().push(binding);
    }
    let mut all = Vec::new();
    for cluster in clusters {
        let key = (cluster.metadata.namespace.clone(), cluster.metadata.name.clone());
        let facts = assemble(&reader, cluster).await?;
        let bindings = by_cluster.remove(&key).unwrap_or_default();
        all.push((key, Facts { bindings, doubts: doubt.iter().cloned().collect(), ..facts }));
    }
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(all.into_iter().map(|(_, facts)| facts).collect())
}
