//! Whether CAPT runs Workspaces that say nothing: only where nobody else does.

use std::sync::Arc;

use capt_api::crd::{Foreign, foreign};
use capt_api::crossplane::WorkspaceStatus;
use capt_core::workspace::handover::Serves;
use futures::StreamExt;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use tracing::{info, warn};

use super::Terraform;
use crate::install::owner;
use crate::options::EngineMode;

/// Who runs Workspaces that say nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Serving {
    /// Nobody knows yet.
    Unknown,
    /// Somebody is known to.
    Known {
        /// Who runs those that say nothing.
        serves: Serves,
        /// Which fields the kind has that not every version of it has.
        fields: Fields,
    },
}

/// Fields of a status that not every version of the kind has. The API server refuses a whole status for one that it does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    /// What CAPT adds.
    engine: bool,
    /// Which request was handled last.
    request: bool,
    /// The address of a remote module.
    remote_source: bool,
}

impl Fields {
    fn of(crd: &CustomResourceDefinition) -> Self {
        let served = crd.spec.versions.iter().find(|version| version.name == "v1beta1");
        let schema = served.and_then(|version| version.schema.as_ref()?.open_api_v3_schema.as_ref());
        let has = |path: &[&str]| {
            path.iter().fold(schema, |schema, field| schema?.properties.as_ref()?.get(*field)).is_some()
        };
        Self {
            engine: has(&["status", "engine"]),
            request: has(&["status", "lastHandledReconcileAt"]),
            remote_source: has(&["status", "atProvider", "remoteSource"]),
        }
    }

    /// Takes away what the kind does not have.
    pub(super) fn trim(self, status: &mut WorkspaceStatus) {
        let Self { engine, request, remote_source } = self;
        if !engine {
            status.engine = None;
        }
        if !request {
            status.last_handled_reconcile_at = None;
        }
        if let Some(seen) = status.at_provider.as_mut().filter(|_| !remote_source) {
            seen.remote_source = None;
        }
    }
}

impl Serving {
    /// Who runs the Workspaces that say nothing, if that is known.
    pub(super) fn serves(&self) -> Option<Serves> {
        match self {
            Self::Unknown => None,
            Self::Known { serves, fields: _ } => Some(*serves),
        }
    }

    /// Which fields the kind has.
    pub(super) fn fields(&self) -> Fields {
        match self {
            Self::Unknown => Fields::default(),
            Self::Known { serves: _, fields } => *fields,
        }
    }
}

/// Watches whose the Workspaces' CRD is, and calls `changed` when that changes.
pub(crate) async fn follow_owner(client: Client, terraform: Arc<Terraform>, changed: impl Fn() + Send) {
    let Some(name) = foreign(Foreign::Terraform)
        .iter()
        .map(ResourceExt::name_any)
        .find(|name| name.starts_with("workspaces."))
    else {
        return;
    };
    let crds: Api<CustomResourceDefinition> = Api::all(client);
    let config = watcher::Config::default().fields(&format!("metadata.name={name}"));
    let mut events = std::pin::pin!(watcher(crds, config).default_backoff());
    while let Some(event) = events.next().await {
        let crd = match event {
            Ok(watcher::Event::Apply(crd) | watcher::Event::InitApply(crd)) => crd,
            Ok(watcher::Event::Delete(_) | watcher::Event::Init | watcher::Event::InitDone) => continue,
            Err(error) => {
                warn!(
                    error = &error as &dyn std::error::Error,
                    "watching the owner of Workspaces was interrupted"
                );
                continue;
            }
        };
        let next = serving(&crd, terraform.options.mode);
        if terraform.serving.send_if_modified(|known| std::mem::replace(known, next.clone()) != next) {
            info!(serving = ?next, owner = ?owner(&crd), "who runs Workspaces is known");
            changed();
        }
    }
}

fn serving(crd: &CustomResourceDefinition, mode: EngineMode) -> Serving {
    let serves = match (mode, owner(crd)) {
        (EngineMode::Always | EngineMode::Auto, None) => Serves::Capt,
        (EngineMode::Always, Some(_)) => Serves::CaptInstead,
        (EngineMode::Auto, Some(_)) => Serves::Crossplane,
    };
    Serving::Known { serves, fields: Fields::of(crd) }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

    use super::*;

    fn crd() -> CustomResourceDefinition {
        foreign(Foreign::Terraform).into_iter().find(|crd| crd.spec.names.kind == "Workspace").unwrap()
    }

    #[test]
    fn workspaces_are_left_to_crossplane_where_it_owns_them() {
        let fields = Fields { engine: true, request: true, remote_source: true };
        let by = |serves| Serving::Known { serves, fields };
        assert_eq!(serving(&crd(), EngineMode::Auto), by(Serves::Capt));
        assert_eq!(serving(&crd(), EngineMode::Always), by(Serves::Capt));
        let mut theirs = crd();
        theirs.metadata.owner_references = Some(vec![OwnerReference {
            api_version: "pkg.crossplane.io/v1".to_owned(),
            kind: "ProviderRevision".to_owned(),
            name: "provider-terraform-1".to_owned(),
            ..OwnerReference::default()
        }]);
        assert_eq!(serving(&theirs, EngineMode::Auto), by(Serves::Crossplane));
        assert_eq!(serving(&theirs, EngineMode::Always), by(Serves::CaptInstead));
    }

    #[test]
    fn fields_that_the_kind_does_not_have_are_left_out() {
        let mut bare = crd();
        let schema = bare.spec.versions[0].schema.as_mut().unwrap().open_api_v3_schema.as_mut().unwrap();
        let status =
            schema.properties.as_mut().unwrap().get_mut("status").unwrap().properties.as_mut().unwrap();
        status.remove("engine");
        status.remove("lastHandledReconcileAt");
        status.get_mut("atProvider").unwrap().properties.as_mut().unwrap().remove("remoteSource");
        assert_eq!(Fields::of(&bare), Fields::default());

        let full: WorkspaceStatus = serde_json::from_value(serde_json::json!({
            "atProvider": { "remoteSource": "x", "outputs": { "a": 1 } },
            "engine": {}, "lastHandledReconcileAt": "now", "observedGeneration": 1,
        }))
        .unwrap();
        let mut kept = full.clone();
        Fields::of(&crd()).trim(&mut kept);
        assert_eq!(kept, full);
        Fields::of(&bare).trim(&mut kept);
        let expected =
            serde_json::json!({ "atProvider": { "outputs": { "a": 1 } }, "observedGeneration": 1 });
        assert_eq!(serde_json::to_value(kept).unwrap(), expected);
    }
}
