//! Whether CAPT runs Workspaces at all: only where nobody else does.

use std::sync::Arc;

use capt_api::crd::{Foreign, foreign};
use futures::StreamExt;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use tracing::{info, warn};

use super::Terraform;
use crate::install::owner;
use crate::options::EngineMode;

/// Whether CAPT runs Workspaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Serving {
    /// Nobody knows yet.
    Unknown,
    /// It does.
    Ours {
        /// Whether the kind has the fields that CAPT adds to it.
        extended: bool,
    },
    /// Somebody else does.
    Theirs,
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
    match (mode, owner(crd)) {
        (EngineMode::Always, _) | (EngineMode::Auto, None) => Serving::Ours { extended: is_extended(crd) },
        (EngineMode::Auto, Some(_)) => Serving::Theirs,
    }
}

fn is_extended(crd: &CustomResourceDefinition) -> bool {
    let served = crd.spec.versions.iter().find(|version| version.name == "v1beta1");
    let schema = served.and_then(|version| version.schema.as_ref()?.open_api_v3_schema.as_ref());
    let status = schema.and_then(|schema| schema.properties.as_ref()?.get("status"));
    status.and_then(|status| status.properties.as_ref()).is_some_and(|fields| fields.contains_key("engine"))
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
        assert_eq!(serving(&crd(), EngineMode::Auto), Serving::Ours { extended: true });
        let mut theirs = crd();
        theirs.metadata.owner_references = Some(vec![OwnerReference {
            api_version: "pkg.crossplane.io/v1".to_owned(),
            kind: "ProviderRevision".to_owned(),
            name: "provider-terraform-1".to_owned(),
            ..OwnerReference::default()
        }]);
        assert_eq!(serving(&theirs, EngineMode::Auto), Serving::Theirs);
        assert_eq!(serving(&theirs, EngineMode::Always), Serving::Ours { extended: true });
    }

    #[test]
    fn fields_that_the_kind_does_not_have_are_noticed() {
        let mut bare = crd();
        let schema = bare.spec.versions[0].schema.as_mut().unwrap().open_api_v3_schema.as_mut().unwrap();
        let status = schema.properties.as_mut().unwrap().get_mut("status").unwrap();
        status.properties.as_mut().unwrap().remove("engine");
        assert!(!is_extended(&bare));
    }
}
