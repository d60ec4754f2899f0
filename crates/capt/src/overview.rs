//! Reads what makes up a cluster, and notices when any of it changes.
//!
//! [`gather`] gives the facts that `capt_core::overview::overview` makes a tree of; [`changes()`] says when to gather again;
//! [`paint()`] gives its lines their colours. Nothing here decides what the facts mean.

mod changes;
mod every;
mod foreign;
mod missing;
mod paint;
mod reader;
mod secrets;

use anyhow::Context;
use capt_api::capi::ContractReference;
use capt_api::names::{group, label};
use capt_api::{AddonStackBinding, CAPTCluster, CAPTControlPlane, Cluster};
use capt_core::control_plane::names;
use capt_core::overview::{Applied, Facts, Foreign, OwnPart, Part, Seen};
use capt_core::owned_apply::{Belongs, Owner, belongs};
use capt_core::tie::{self, label_value};
use kube::Client;
use kube::api::{Api, ListParams};

pub(crate) use changes::changes;
pub(crate) use every::gather_every;
pub(crate) use missing::no_such_cluster;
pub(crate) use paint::paint;
use reader::Reader;

/// Everything of one cluster; nothing if there is no Cluster of this name.
///
/// What may not be read, or cannot, is among the facts. Only the Cluster itself has to be readable.
pub(crate) async fn gather(client: &Client, namespace: &str, name: &str) -> anyhow::Result<Option<Facts>> {
    let clusters: Api<Cluster> = Api::namespaced(client.clone(), namespace);
    let found = clusters.get_opt(name).await;
    let Some(cluster) =
        found.with_context(|| format!("reading Cluster `{name}` of namespace {namespace}"))?
    else {
        return Ok(None);
    };
    let reader = Reader::live(client);
    let mut facts = assemble(&reader, cluster).await?;
    let reference = facts.cluster.spec.infrastructure_ref.as_ref();
    facts.infrastructure = looked_up(client, namespace, reference, facts.infrastructure).await?;
    let reference = facts.cluster.spec.control_plane_ref.as_ref();
    facts.control_plane = looked_up(client, namespace, reference, facts.control_plane).await?;
    let (secrets, workers, bindings) = futures::future::try_join3(
        secrets::read(client, &facts),
        foreign::workers(client, namespace, name),
        bindings(client, namespace, name),
    )
    .await?;
    facts.secrets = secrets;
    for listed in
        [workers.map(|workers| facts.workers = workers), bindings.map(|bindings| facts.bindings = bindings)]
    {
        facts.doubts.extend(listed.err());
    }
    Ok(Some(facts))
}

/// The Cluster's parts of CAPT's kinds, as far as the reader reads them.
async fn assemble(reader: &Reader<'_>, cluster: Cluster) -> anyhow::Result<Facts> {
    let namespace = cluster.metadata.namespace.clone().unwrap_or_default();
    let (infrastructure, control_plane) = futures::future::try_join(
        infrastructure(reader, &namespace, cluster.spec.infrastructure_ref.as_ref()),
        control_plane(reader, &namespace, cluster.spec.control_plane_ref.as_ref()),
    )
    .await?;
    Ok(Facts {
        cluster,
        infrastructure,
        control_plane,
        secrets: Vec::new(),
        workers: Vec::new(),
        bindings: Vec::new(),
        doubts: Vec::new(),
    })
}

async fn infrastructure(
    reader: &Reader<'_>,
    namespace: &str,
    reference: Option<&ContractReference>,
) -> anyhow::Result<Part<CAPTCluster>> {
    let own = match sorted(reference, group::INFRASTRUCTURE, "CAPTCluster") {
        Ok(own) => own,
        Err(part) => return Ok(part),
    };
    let object: Seen<CAPTCluster> = reader.namespaced(namespace, &own.name).await?;
    let applied = match object.there() {
        Some(network) if network.spec.vpc_template_ref.is_some() => {
            let named = network.spec.workspace_template_apply_name.as_deref();
            applied(reader, namespace, &Owner::of(network), named, None).await?
        }
        Some(_) | None => None,
    };
    Ok(Part::Own(Box::new(OwnPart { name: own.name.clone(), object, applied })))
}

async fn control_plane(
    reader: &Reader<'_>,
    namespace: &str,
    reference: Option<&ContractReference>,
) -> anyhow::Result<Part<CAPTControlPlane>> {
    let own = match sorted(reference, group::CONTROL_PLANE, "CAPTControlPlane") {
        Ok(own) => own,
        Err(part) => return Ok(part),
    };
    let object: Seen<CAPTControlPlane> = reader.namespaced(namespace, &own.name).await?;
    let applied = match object.there() {
        Some(control_plane) => {
            let named = control_plane.spec.workspace_template_apply_name.as_deref();
            let expected = names::apply(control_plane);
            applied(reader, namespace, &Owner::of(control_plane), named, Some(&expected)).await?
        }
        None => None,
    };
    Ok(Part::Own(Box::new(OwnPart { name: own.name.clone(), object, applied })))
}

/// A reference to CAPT's own kind, or else the part that it is. Kinds of others are looked up only where one cluster is looked at.
fn sorted<'reference, Own>(
    reference: Option<&'reference ContractReference>,
    group: &str,
    kind: &str,
) -> Result<&'reference ContractReference, Part<Own>> {
    let Some(reference) = reference else { return Err(Part::NotNamed) };
    if reference.api_group == group && reference.kind == kind {
        return Ok(reference);
    }
    let ContractReference { kind, name, .. } = reference.clone();
    Err(Part::Foreign(Box::new(Foreign { kind, name, object: Seen::NotAsked })))
}

/// The apply of a part, if it has been named or made, with its Workspace. One of that name that is somebody else's is not its own.
async fn applied(
    reader: &Reader<'_>,
    namespace: &str,
    owner: &Owner,
    named: Option<&str>,
    expected: Option<&str>,
) -> anyhow::Result<Option<Applied>> {
    let named = named.filter(|name| !name.is_empty());
    let Some(name) = named.or(expected) else { return Ok(None) };
    let apply: Seen<capt_api::WorkspaceTemplateApply> = reader.namespaced(namespace, name).await?;
    let workspace = match &apply {
        Seen::There(apply) => {
            if !matches!(belongs(&apply.metadata, owner), Belongs::ToUs | Belongs::ToOurPast) {
                return Ok(None);
            }
            let name = tie::workspace_name(apply);
            let found = reader.cluster_wide(&name).await?;
            let is_made = found != Seen::Missing || tie::reported_workspace_name(apply).is_some();
            is_made.then_some((name, found))
        }
        Seen::Missing if named.is_none() => return Ok(None),
        Seen::Missing | Seen::Unread(_) | Seen::NotAsked => None,
    };
    Ok(Some(Applied { name: name.to_owned(), apply, workspace }))
}

/// A part of another provider with its object.
async fn looked_up<Own>(
    client: &Client,
    namespace: &str,
    reference: Option<&ContractReference>,
    part: Part<Own>,
) -> anyhow::Result<Part<Own>> {
    Ok(match (part, reference) {
        (Part::Foreign(_), Some(reference)) => {
            Part::Foreign(Box::new(foreign::read(client, namespace, reference).await?))
        }
        (part, _) => part,
    })
}

/// The stacks in a cluster, or why they cannot be listed.
async fn bindings(
    client: &Client,
    namespace: &str,
    cluster: &str,
) -> anyhow::Result<Result<Vec<AddonStackBinding>, String>> {
    let api: Api<AddonStackBinding> = Api::namespaced(client.clone(), namespace);
    let meant = ListParams::default().labels(&format!("{}={}", label::CLUSTER_NAME, label_value(cluster)));
    let listed = reader::listed(api.list(&meant).await.map(|list| list.items), "AddonStackBindings")?;
    Ok(listed.map(|mut bindings| {
        bindings.retain(|binding| binding.spec.cluster_name == cluster);
        bindings
    }))
}
