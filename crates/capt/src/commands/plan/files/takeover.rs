//! What the Workspaces that are there are beside what their templates and variables give, as the manager will see it when it
//! takes them over.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_core::apply::difference::differences;
use capt_core::cause::sentence;
use capt_core::forecast::{World, forecast};
use capt_core::from_go::Comparison;
use capt_core::tie::{self, ApplyKey, Belongs};
use kube::api::{ApiResource, DynamicObject, ListParams};
use kube::{Api, Client, ResourceExt};
use serde_json::Value;

use super::manifests::Manifests;
use super::{Looking, live, rendered};

/// What was read, and what the Workspaces are beside it.
pub(in crate::commands) struct Takeover {
    pub(in crate::commands) world: World,
    pub(in crate::commands) workspaces: BTreeMap<ApplyKey, Comparison>,
}

/// Compares every apply's Workspace with what CAPT would make of it. Networks and control planes have their word on their applies
/// first, as they do when the manager starts.
pub(in crate::commands) async fn takeover_of(client: &Client, namespace: &str) -> anyhow::Result<Takeover> {
    let (world, workspaces) = live::read(client, namespace).await?;
    let mut later = world.clone();
    let keys: BTreeSet<ApplyKey> = world.applies.keys().cloned().collect();
    forecast(&World::default(), &mut later, &keys);
    let specs = specs(client).await?;
    let everywhere = applies(client).await?;
    let manifests = Manifests::default();
    let looking = Looking { client, manifests: &manifests, world: &later, workspaces: &workspaces };
    let mut compared = BTreeMap::new();
    for (key, apply) in &later.applies {
        compared.insert(key.clone(), looking.compared(apply, &specs, &everywhere).await);
    }
    Ok(Takeover { world, workspaces: compared })
}

/// The specs of all Workspaces, with what this version of CAPT does not know.
async fn specs(client: &Client) -> anyhow::Result<BTreeMap<String, Value>> {
    let workspaces: Api<DynamicObject> = Api::all_with(client.clone(), &ApiResource::erase::<Workspace>(&()));
    match workspaces.list(&ListParams::default()).await {
        Ok(listed) => {
            let spec = |mut object: DynamicObject| (object.name_any(), object.data["spec"].take());
            Ok(listed.items.into_iter().map(spec).collect())
        }
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(BTreeMap::new()),
        Err(error) => Err(error).context("listing Workspaces"),
    }
}

/// The applies of all namespaces; none where they may not be listed.
async fn applies(client: &Client) -> anyhow::Result<Vec<WorkspaceTemplateApply>> {
    match Api::<WorkspaceTemplateApply>::all(client.clone()).list(&ListParams::default()).await {
        Ok(listed) => Ok(listed.items),
        Err(kube::Error::Api(status)) if status.code == 403 || status.code == 404 => Ok(Vec::new()),
        Err(error) => Err(error).context("listing WorkspaceTemplateApplies"),
    }
}

impl Looking<'_> {
    async fn compared(
        &self,
        apply: &WorkspaceTemplateApply,
        specs: &BTreeMap<String, Value>,
        everywhere: &[WorkspaceTemplateApply],
    ) -> Comparison {
        let name = tie::workspace_name(apply);
        let (Some(live), Some(found)) = (self.workspaces.get(&name), specs.get(&name)) else {
            return Comparison::Missing;
        };
        match tie::belongs(&live.metadata, &ApplyKey::of(apply)) {
            Belongs::ToUs => {}
            Belongs::ToNobody if tie::may_adopt(apply, &name) => {}
            Belongs::ToNobody => {
                // Names of Workspaces are the same in all namespaces.
                let reports =
                    |other: &&WorkspaceTemplateApply| tie::reported_workspace_name(other) == Some(&name);
                let other = everywhere.iter().find(reports).map(ApplyKey::of);
                return other.map_or(Comparison::NotOurs, Comparison::Reported);
            }
            Belongs::ToApply(_) => return Comparison::NotOurs,
        }
        match rendered(self, apply, &name, Some(live), &BTreeSet::new()).await {
            Ok(made) => {
                let paths = differences(found, &made.whole);
                if paths.is_empty() { Comparison::Same } else { Comparison::Differs(paths) }
            }
            Err(error) => Comparison::Unknown(sentence(error.as_ref())),
        }
    }
}
