//! The Clusters of a home, and whether they can be used.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use capt_api::Cluster;
use capt_api::names::condition;
use kube::ResourceExt;
use kube::api::{Api, ListParams};
use serde::Serialize;

use crate::connection;

/// A home that answers at all answers soon.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// A Cluster.
#[derive(Debug, Serialize)]
pub(super) struct ClusterReport {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) ready: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) message: String,
}

/// Asks the home.
pub(super) async fn list(kubeconfig: &Path) -> anyhow::Result<Vec<ClusterReport>> {
    let client = connection::find(Some(kubeconfig)).await?.client;
    let clusters: Api<Cluster> = Api::all(client);
    let parameters = ListParams::default();
    let listed = tokio::time::timeout(ANSWER_WITHIN, clusters.list(&parameters)).await;
    let listed = listed.with_context(|| format!("no answer within {} s", ANSWER_WITHIN.as_secs()))?;
    Ok(listed.context("listing Clusters")?.iter().map(report).collect())
}

fn report(cluster: &Cluster) -> ClusterReport {
    let conditions = cluster.status.as_ref().map_or(&[][..], |status| &status.conditions);
    let find = |name: &str| conditions.iter().find(|condition| condition.type_ == name);
    // Without add-ons nothing is said of them.
    let wanting = [find(condition::AVAILABLE), find(condition::ADDONS_READY)]
        .into_iter()
        .flatten()
        .find(|condition| condition.status != "True");
    ClusterReport {
        namespace: cluster.namespace().unwrap_or_default(),
        name: cluster.name_any(),
        ready: wanting.is_none() && find(condition::AVAILABLE).is_some(),
        message: wanting
            .and_then(|condition| condition.message.lines().next())
            .unwrap_or_default()
            .to_owned(),
    }
}
