//! Whether CAPT looks after Clusters at all: only where Cluster API does not.

use std::sync::Arc;

use capt_api::Cluster;
use futures::StreamExt;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, CustomResourceExt};
use tokio::sync::watch;
use tracing::{info, warn};

use crate::context::Context;
use crate::install::owner;
use crate::options::ClusterApiMode;

/// Who looks after Clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// Nobody knows.
    Unknown,
    /// We do.
    Ours,
    /// Somebody else does.
    Theirs,
}

/// Who looks after Clusters, as far as it is known now.
pub(crate) struct Serving(watch::Sender<Whose>);

impl Serving {
    pub(crate) fn new(mode: ClusterApiMode) -> Self {
        Self(watch::Sender::new(match mode {
            ClusterApiMode::Auto => Whose::Unknown,
            ClusterApiMode::Embedded => Whose::Ours,
            ClusterApiMode::External => Whose::Theirs,
        }))
    }

    /// Whether CAPT may write to Clusters and their parts.
    pub(crate) fn is_ours(&self) -> bool {
        *self.0.borrow() == Whose::Ours
    }

    /// Takes note of a CRD. Answers whether that changes anything.
    fn learn(&self, crd: Option<&CustomResourceDefinition>) -> bool {
        let next = match crd {
            None => Whose::Unknown,
            Some(crd) if owner(crd).is_none() => Whose::Ours,
            Some(_) => Whose::Theirs,
        };
        self.0.send_if_modified(|known| std::mem::replace(known, next) != next)
    }
}

/// Watches whose the Clusters' CRD is, and calls `changed` when that changes.
pub(crate) async fn follow_owner(context: Arc<Context>, changed: impl Fn() + Send) {
    match context.options.cluster_api {
        ClusterApiMode::Auto => {}
        ClusterApiMode::Embedded | ClusterApiMode::External => return,
    }
    let crds: Api<CustomResourceDefinition> = Api::all(context.client.clone());
    let config = watcher::Config::default().fields(&format!("metadata.name={}", Cluster::crd_name()));
    let mut events = std::pin::pin!(watcher(crds, config).default_backoff());
    let mut listed = None;
    while let Some(event) = events.next().await {
        let crd = match event {
            Ok(watcher::Event::Init) => {
                listed = None;
                continue;
            }
            Ok(watcher::Event::InitApply(crd)) => {
                listed = Some(crd);
                continue;
            }
            Ok(watcher::Event::InitDone) => listed.take(),
            Ok(watcher::Event::Apply(crd)) => Some(crd),
            Ok(watcher::Event::Delete(_)) => None,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                warn!(error, "watching the owner of Clusters was interrupted");
                continue;
            }
        };
        if context.cluster_serving.learn(crd.as_ref()) {
            let owner = crd.as_ref().and_then(owner);
            info!(ours = context.cluster_serving.is_ours(), ?owner, "who looks after Clusters is known");
            changed();
        }
    }
}

/// Calls `changed` when it becomes known, or unknown, which networks and control planes there are.
pub(crate) async fn follow_kinds(context: Arc<Context>, changed: impl Fn() + Send) {
    let (mut networks, mut control_planes) = (context.networks.presence(), context.control_planes.presence());
    loop {
        let told = tokio::select! {
            told = networks.changed() => told,
            told = control_planes.changed() => told,
        };
        if told.is_err() {
            return;
        }
        changed();
    }
}

#[cfg(test)]
mod tests {
    use capt_api::crd::{Foreign, foreign};
    use capt_api::names::label;
    use kube::ResourceExt;

    use super::*;

    fn crd() -> CustomResourceDefinition {
        foreign(Foreign::ClusterApi).remove(0)
    }

    #[test]
    fn clusters_are_left_to_cluster_api_as_soon_as_it_shows() {
        let serving = Serving::new(ClusterApiMode::Auto);
        assert!(!serving.is_ours(), "until somebody knows, nobody writes");
        assert!(serving.learn(Some(&crd())));
        assert!(serving.is_ours());
        assert!(!serving.learn(Some(&crd())), "no news");
        let mut theirs = crd();
        theirs.labels_mut().insert(label::PROVIDER.to_owned(), "cluster-api".to_owned());
        assert!(serving.learn(Some(&theirs)));
        assert!(!serving.is_ours());
        assert!(serving.learn(Some(&crd())));
        assert!(serving.learn(None));
        assert!(!serving.is_ours());
    }

    #[test]
    fn who_was_told_what_to_do_needs_no_evidence() {
        assert!(Serving::new(ClusterApiMode::Embedded).is_ours());
        assert!(!Serving::new(ClusterApiMode::External).is_ours());
    }
}
