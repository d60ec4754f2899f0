//! Looks at everything that a control plane depends on, and notes what it looked at.

use std::collections::BTreeSet;

use capt_api::names::group;
use capt_api::{CAPTControlPlane, Cluster, WorkspaceTemplateApply};
use capt_core::clearing::Inside;
use capt_core::condition::cut;
use capt_core::control_plane::names;
use capt_core::control_plane::observed::{Network, Observed, OurNetwork, Scene, WorkspaceSeen};
use capt_core::control_plane::wanted::{self, Inputs};
use capt_core::name::is_object_name;
use capt_core::owned_apply::{Belongs, Owner, belongs};
use capt_core::standing::{Standing, cluster_name, standing};
use capt_core::tie;
use serde_json::Value;

use super::clearing;
use crate::context::Context;
use crate::error::Error;
use crate::index::{Dependency, Dependent, Name, Notes};
use crate::metrics::Kind;
use crate::store::key_of;
use crate::workspace_template_apply::facts;

/// What was seen.
pub(super) struct Seen {
    pub(super) observed: Observed,
    /// The name of the Cluster.
    pub(super) cluster: Option<String>,
    /// The apply, if it is there and ours.
    pub(super) apply: Option<WorkspaceTemplateApply>,
    /// Its Workspace.
    pub(super) workspace: Option<WorkspaceSeen>,
    /// The region of the network.
    pub(super) network_region: Option<String>,
}

/// Looks.
pub(super) fn observe(
    control_plane: &CAPTControlPlane,
    inside: Inside,
    context: &Context,
) -> Result<Seen, Error> {
    let key = key_of(&control_plane.metadata);
    let notes = context.index.note(Dependent::ControlPlane(key.clone()));
    // Names of Secrets are made of it.
    let cluster = cluster_name(&control_plane.metadata).filter(|name| is_object_name(name));
    let cluster = cluster.map(ToOwned::to_owned);
    if let Some(cluster) = &cluster {
        notes.on(Dependency::Cluster(Name::new(&key.namespace, cluster)));
    }
    note_secrets(control_plane, cluster.as_deref(), &key, &notes);
    let apply_key = Name::new(&key.namespace, names::apply(control_plane));
    notes.on(Dependency::ApplyStatus(apply_key.clone()));
    let found_cluster = context.cluster_of(&control_plane.metadata);
    let apply =
        context.applies.get(Some(&apply_key.namespace), &apply_key.name).map(|apply| (*apply).clone());
    let owner = Owner::of(control_plane);
    let whose = apply.as_ref().map(|apply| belongs(&apply.metadata, &owner));
    let ours = apply.clone().filter(|_| matches!(whose, Some(Belongs::ToUs | Belongs::ToOurPast)));
    if let Some(apply) = &ours {
        notes.on(Dependency::Workspace(tie::workspace_name(apply)));
    }
    let workspace = ours.as_ref().and_then(|apply| workspace(apply, context));
    let network = network(&key, found_cluster.as_deref(), &notes, context);
    let network_region = match &network {
        Network::Ours(network) => Some(network.region.clone()),
        Network::None | Network::Missing { .. } | Network::Foreign { .. } => None,
    };
    if let Some(invalid) = context.applies.unreadable(Some(&apply_key.namespace), &apply_key.name) {
        let what = format!("WorkspaceTemplateApply `{}`", apply_key.name);
        return Err(Error::Unreadable { what, why: cut(&invalid.error, 300) });
    }
    let observed = match standing(&control_plane.metadata, found_cluster.as_deref()) {
        Standing::ExternallyManaged => Observed::ExternallyManaged,
        Standing::Paused(pause) => Observed::Paused(pause),
        Standing::Moved => Observed::Moved,
        // While a control plane starts, a kind may not be served yet: what is not seen then is not gone.
        Standing::Deleting if ours.is_none() && !context.applies.is_certain() => {
            let what = format!("WorkspaceTemplateApply `{}`", apply_key.name);
            return Err(Error::NotListed { kind: Kind::WorkspaceTemplateApply, what });
        }
        Standing::Deleting => Observed::Deleting {
            apply: ours.clone().map(Box::new),
            inside,
            since: clearing::since(control_plane, found_cluster.as_deref()).unwrap_or_else(|| context.now()),
            now: context.now(),
        },
        Standing::Active => match &cluster {
            None => Observed::Alone { now: context.now() },
            Some(cluster) => {
                let declared = declared(control_plane, &notes, context);
                let inputs = Inputs {
                    control_plane,
                    cluster,
                    network: &network,
                    declared: declared.as_ref(),
                    present: ours.as_ref(),
                };
                let wanted = wanted::wanted(inputs);
                Observed::Active(Box::new(Scene {
                    network,
                    apply: apply.zip(whose),
                    wanted,
                    now: context.now(),
                }))
            }
        },
    };
    Ok(Seen { observed, cluster, apply: ours, workspace, network_region })
}

/// Every Secret that is read or written brings the control plane up when it changes.
fn note_secrets(
    control_plane: &CAPTControlPlane,
    cluster: Option<&str>,
    key: &Name,
    notes: &Notes<'_, Dependent>,
) {
    let note = |name: String| notes.on(Dependency::Secret(Name::new(&key.namespace, name)));
    note(names::connection_secret(control_plane));
    note(names::control_plane_kubeconfig(control_plane));
    if let Some(cluster) = cluster {
        note(names::kubeconfig(cluster));
        note(names::user_kubeconfig(cluster));
        note(names::certificate_authority(cluster));
    }
}

/// The Workspace of an apply, if it is there.
pub(super) fn workspace(apply: &WorkspaceTemplateApply, context: &Context) -> Option<WorkspaceSeen> {
    let name = tie::workspace_name(apply);
    let workspace = context.workspaces.get(None, &name)?;
    if !tie::is_of(&workspace.metadata, apply) {
        return None;
    }
    let at_provider = workspace.status.as_ref().and_then(|status| status.at_provider.as_ref());
    Some(WorkspaceSeen {
        facts: facts(&workspace),
        at_provider: at_provider.and_then(|observed| serde_json::to_value(observed).ok()),
    })
}

/// The network that the Cluster names.
fn network(
    key: &Name,
    cluster: Option<&Cluster>,
    notes: &Notes<'_, Dependent>,
    context: &Context,
) -> Network {
    let Some(cluster) = cluster else { return Network::None };
    let Some(reference) = &cluster.spec.infrastructure_ref else { return Network::None };
    let described = format!("{} `{}`", reference.kind, reference.name);
    if reference.api_group != group::INFRASTRUCTURE || reference.kind != "CAPTCluster" {
        let initialization = cluster.status.as_ref().and_then(|status| status.initialization.as_ref());
        let provisioned = initialization.and_then(|all| all.infrastructure_provisioned).unwrap_or(false);
        return Network::Foreign { name: described, provisioned };
    }
    notes.on(Dependency::Network(Name::new(&key.namespace, &reference.name)));
    let Some(found) = context.networks.get(Some(&key.namespace), &reference.name) else {
        return Network::Missing { name: described };
    };
    let workspace = found.status.as_ref().and_then(|status| status.vpc_workspace_name.as_ref());
    let outputs = workspace.map(|name| outputs(name, notes, context)).unwrap_or_default();
    Network::Ours(OurNetwork::of(&found, outputs))
}

/// The names of a Workspace's outputs.
fn outputs(name: &str, notes: &Notes<'_, Dependent>, context: &Context) -> BTreeSet<String> {
    notes.on(Dependency::Workspace(name.to_owned()));
    let Some(workspace) = context.workspaces.get(None, name) else { return BTreeSet::new() };
    let observed = workspace.status.as_ref().and_then(|status| status.at_provider.as_ref());
    let outputs = observed.and_then(|observed| serde_json::to_value(observed).ok());
    let outputs = outputs.as_ref().and_then(|all| all.get("outputs")).and_then(Value::as_object);
    outputs.into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

/// The variables that the template takes values for; `None` where that cannot be told.
fn declared(
    control_plane: &CAPTControlPlane,
    notes: &Notes<'_, Dependent>,
    context: &Context,
) -> Option<BTreeSet<String>> {
    let reference = &control_plane.spec.workspace_template_ref;
    let own = control_plane.metadata.namespace.as_deref().unwrap_or_default();
    let namespace = reference.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or(own);
    notes.on(Dependency::Template(Name::new(namespace, &reference.name)));
    let template = context.templates.get(Some(namespace), &reference.name)?;
    capt_core::template::asks_for(&template)
}
