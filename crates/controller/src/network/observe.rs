//! Sees everything that the decision about a network rests on. All of it is in the stores.

use capt_api::names::{Reason, group};
use capt_api::{CAPTCluster, CAPTControlPlane, Cluster, WorkspaceTemplateApply};
use capt_core::apply::Blocked;
use capt_core::condition::cut;
use capt_core::network::observed::{ControlPlane, Observed, WorkspaceFacts, is_own};
use capt_core::network::wanted::{apply_name, existing_vpc, template, wanted};
use capt_core::owned_apply::Wanted;
use capt_core::standing::{Standing, cluster_name, standing};
use capt_core::tie;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;

use crate::context::Context;
use crate::error::Error;
use crate::index::{Dependency, Dependent, Name, Notes};
use crate::metrics::Kind;
use crate::store::key_of;

/// Sees what there is, and notes it so that a change brings the network up again.
pub(super) fn observe(network: &CAPTCluster, context: &Context) -> Result<Observed, Error> {
    let key = key_of(&network.metadata);
    let notes = context.index.note(Dependent::Network(key.clone()));
    if let Some(cluster) = cluster_name(&network.metadata) {
        notes.on(Dependency::Cluster(Name::new(&key.namespace, cluster)));
    }
    let cluster = context.cluster_of(&network.metadata);
    match standing(&network.metadata, cluster.as_deref()) {
        Standing::ExternallyManaged => Ok(Observed::ExternallyManaged),
        Standing::Paused(pause) => Ok(Observed::Paused(pause)),
        Standing::Moved => Ok(Observed::Moved),
        Standing::Deleting => deleting(network, cluster.as_deref(), context, &notes),
        Standing::Active => Ok(active(network, context, &notes)),
    }
}

fn active(network: &CAPTCluster, context: &Context, notes: &Notes<'_, Dependent>) -> Observed {
    if let Some(vpc) = existing_vpc(network) {
        return Observed::Existing { vpc: vpc.to_owned() };
    }
    let found = wish(network, context).and_then(|wanted| {
        let apply = noted_apply(network, &wanted.name, context, notes)?;
        Ok(Observed::Templated { wanted, apply })
    });
    found.unwrap_or_else(Observed::Blocked)
}

/// What the apply should be, as soon as it is known which Cluster it is for.
fn wish(network: &CAPTCluster, context: &Context) -> Result<Wanted, Blocked> {
    let template = template(network)?;
    let waiting = || {
        Blocked::new(
            Reason::WaitingForCluster,
            "this CAPTCluster belongs to no Cluster yet: Cluster API makes a Cluster its owner when the Cluster's spec.infrastructureRef names it",
        )
    };
    let cluster = cluster_name(&network.metadata).ok_or_else(waiting)?;
    let name = name(network, context)?.ok_or_else(waiting)?;
    Ok(wanted(network, cluster, name, template))
}

fn name(network: &CAPTCluster, context: &Context) -> Result<Option<String>, Blocked> {
    let namespace = network.metadata.namespace.as_deref();
    apply_name(network, |name| context.applies.get(namespace, name).map(|apply| apply.metadata.clone()))
}

/// The apply of this name, if there is one; it and its Workspace bring the network up.
fn noted_apply(
    network: &CAPTCluster,
    name: &str,
    context: &Context,
    notes: &Notes<'_, Dependent>,
) -> Result<Option<Box<WorkspaceTemplateApply>>, Blocked> {
    let namespace = network.metadata.namespace.as_deref();
    notes.on(Dependency::ApplyStatus(Name::new(namespace.unwrap_or_default(), name)));
    if let Some(invalid) = context.applies.unreadable(namespace, name) {
        let why = cut(&invalid.error, 300);
        let message = format!("WorkspaceTemplateApply `{name}` is there but cannot be read: {why}");
        return Err(Blocked::new(Reason::Unreadable, message));
    }
    let Some(apply) = context.applies.get(namespace, name) else { return Ok(None) };
    notes.on(Dependency::Workspace(tie::workspace_name(&apply)));
    Ok(Some(Box::new((*apply).clone())))
}

/// The network's apply and its Workspace as they are now, if they are there and its own.
pub(super) fn own(
    network: &CAPTCluster,
    context: &Context,
) -> (Option<WorkspaceTemplateApply>, Option<WorkspaceFacts>) {
    let namespace = network.metadata.namespace.as_deref();
    let apply = name(network, context).ok().flatten().and_then(|name| context.applies.get(namespace, &name));
    let Some(apply) = apply.filter(|apply| is_own(network, apply)) else { return (None, None) };
    let workspace = context.workspaces.get(None, &tie::workspace_name(&apply));
    let facts = workspace.and_then(|workspace| WorkspaceFacts::of(&workspace, &apply));
    (Some((*apply).clone()), facts)
}

/// While a control plane starts, a kind may not be served yet: what is not seen then is not gone.
fn deleting(
    network: &CAPTCluster,
    cluster: Option<&Cluster>,
    context: &Context,
    notes: &Notes<'_, Dependent>,
) -> Result<Observed, Error> {
    if existing_vpc(network).is_some() {
        return Ok(Observed::Deleting { apply: None, control_planes: Vec::new() });
    }
    let key = key_of(&network.metadata);
    if !context.control_planes.is_certain() {
        let what = format!("the control plane in the network `{}`", key.name);
        return Err(Error::NotListed { kind: Kind::CAPTControlPlane, what });
    }
    let control_planes = control_planes(network, cluster, context, notes);
    let Ok(Some(name)) = name(network, context) else {
        return Ok(Observed::Deleting { apply: None, control_planes });
    };
    let apply = match noted_apply(network, &name, context, notes) {
        Ok(apply) => apply,
        Err(blocked) => return Ok(Observed::Blocked(blocked)),
    };
    if apply.is_none() && !context.applies.is_certain() {
        let what = format!("WorkspaceTemplateApply `{}/{name}`", key.namespace);
        return Err(Error::NotListed { kind: Kind::WorkspaceTemplateApply, what });
    }
    let apply = apply.filter(|apply| is_own(network, apply));
    Ok(Observed::Deleting { apply, control_planes })
}

/// Control planes of the network's Cluster, readable or not. Each is noted before it is looked at for good, so that its going
/// is not missed.
fn control_planes(
    network: &CAPTCluster,
    cluster: Option<&Cluster>,
    context: &Context,
    notes: &Notes<'_, Dependent>,
) -> Vec<ControlPlane> {
    let namespace = network.metadata.namespace.as_deref();
    let ours = cluster_name(&network.metadata);
    let referred = cluster.and_then(|cluster| cluster.spec.control_plane_ref.as_ref()).filter(|reference| {
        reference.kind == CAPTControlPlane::kind(&()) && reference.api_group == group::CONTROL_PLANE
    });
    let belongs = |metadata: &ObjectMeta| {
        metadata.namespace.as_deref() == namespace
            && (ours.is_some() && cluster_name(metadata) == ours
                || referred.is_some_and(|reference| metadata.name.as_ref() == Some(&reference.name)))
    };
    let known = || {
        let all = context.control_planes.store().state();
        all.into_iter().map(|object| object.meta().clone()).filter(belongs)
    };
    for metadata in known() {
        notes.on(Dependency::ControlPlane(key_of(&metadata)));
    }
    let facts = known().map(|metadata| ControlPlane {
        going: metadata.deletion_timestamp.is_some(),
        name: metadata.name.unwrap_or_default(),
    });
    let mut found: Vec<_> = facts.collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}
