//! Tells how far the cluster is, by what its objects say about themselves.

use std::fmt::Debug;
use std::time::Instant;

use anyhow::Context;
use capt_api::names::{Reason, condition};
use capt_api::{CAPTCluster, CAPTControlPlane, Cluster};
use futures::StreamExt;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::{NAME, NAMESPACE};
use crate::printer::Printer;

/// What one object says.
struct Told {
    who: &'static str,
    holds: bool,
    sentence: String,
}

/// Prints each step, until the Cluster is available.
pub(super) async fn until_available(client: &Client, printer: Printer) -> anyhow::Result<()> {
    let started = Instant::now();
    let (sender, mut told) = unbounded_channel();
    let mut watches = JoinSet::new();
    watches.spawn(follow::<CAPTCluster>(client.clone(), "network", sender.clone(), |network| {
        find(network.status.as_ref().map(|status| status.conditions.as_slice()), condition::READY)
    }));
    watches.spawn(follow::<CAPTControlPlane>(client.clone(), "control plane", sender.clone(), |found| {
        find(found.status.as_ref().map(|status| status.conditions.as_slice()), condition::READY)
    }));
    watches.spawn(follow::<Cluster>(client.clone(), "cluster", sender, |cluster| {
        find(cluster.status.as_ref().map(|status| status.conditions.as_slice()), condition::AVAILABLE)
    }));
    while let Some(Told { who, holds, sentence }) = told.recv().await {
        printer.message(&format!("  {:>3} s  {who}: {sentence}", started.elapsed().as_secs()));
        if who == "cluster" && holds {
            return Ok(());
        }
    }
    anyhow::bail!("watching Cluster `{NAME}` ended")
}

/// Waits until the Cluster and everything of it is gone.
pub(super) async fn until_gone(client: &Client) -> anyhow::Result<()> {
    await_gone::<Cluster>(client).await?;
    await_gone::<CAPTControlPlane>(client).await?;
    await_gone::<CAPTCluster>(client).await
}

async fn await_gone<K>(client: &Client) -> anyhow::Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + Send
        + 'static,
{
    let api: Api<K> = Api::namespaced(client.clone(), NAMESPACE);
    let doing = || format!("waiting until {} `{NAME}` is gone", K::kind(&()));
    let Some(found) = api.get_metadata_opt(NAME).await.with_context(doing)? else { return Ok(()) };
    let uid = found.metadata.uid.unwrap_or_default();
    await_condition(api, NAME, conditions::is_deleted(&uid)).await.map(drop).with_context(doing)
}

/// Tells every change of what one object says.
async fn follow<K>(
    client: Client,
    who: &'static str,
    told: UnboundedSender<Told>,
    says: fn(&K) -> Option<Condition>,
) where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + Send
        + 'static,
{
    let api: Api<K> = Api::namespaced(client, NAMESPACE);
    let config = watcher::Config::default().fields(&format!("metadata.name={NAME}"));
    let mut changes = std::pin::pin!(watcher(api, config).default_backoff().applied_objects());
    let mut last = None;
    while let Some(change) = changes.next().await {
        let Some(Condition { status, reason, message, .. }) = change.ok().and_then(|object| says(&object))
        else {
            continue;
        };
        // Objects that were applied a moment ago have not found each other yet.
        if reason == Reason::WaitingForCluster.as_str() {
            continue;
        }
        let holds = status == "True";
        let sentence = match (holds, message.is_empty()) {
            (true, _) => "ready".to_owned(),
            (false, true) => reason,
            (false, false) => message.lines().next().unwrap_or_default().to_owned(),
        };
        if last.as_ref() != Some(&sentence) {
            last = Some(sentence.clone());
            if told.send(Told { who, holds, sentence }).is_err() {
                return;
            }
        }
    }
}

fn find(conditions: Option<&[Condition]>, name: &str) -> Option<Condition> {
    conditions?.iter().find(|entry| entry.type_ == name).cloned()
}
