//! Networks, control planes, Clusters, applies and Secrets.

use capt_api::endpoint::Endpoint;
use capt_api::names::{CLUSTER_SECRET_TYPE, annotation, condition, finalizer};
use capt_api::{CAPTCluster, CAPTControlPlane, Cluster, WorkspaceTemplateApply};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt as _;

use super::{By, Comparison, Deed, Entry, Found, Plan};
use crate::control_plane::{names, secrets};
use crate::endpoint;
use crate::owned_apply::Owner;
use crate::standing::cluster_name;
use crate::tie::{self, ApplyKey};

/// The template of the Workspaces that made tokens for the earlier implementation, and the end of their applies' names.
const KUBECONFIG: (&str, &str) = ("eks-kubeconfig-template", "-kubeconfig-apply");
/// The ends of the names of applies that the earlier implementation made for a role of EC2.
const SPOT_ROLE: [&str; 2] = ["-spot-role-check", "-spot-role-create"];

pub(super) fn look(found: &Found, plan: &mut Plan) {
    for network in &found.networks {
        look_at_network(network, plan);
    }
    for control_plane in &found.control_planes {
        look_at_control_plane(control_plane, found, plan);
    }
    for cluster in &found.clusters {
        look_at_cluster(cluster, plan);
    }
    for apply in &found.applies {
        look_at_apply(apply, found, plan);
    }
}

fn entry(kind: &str, metadata: &ObjectMeta, by: By, what: impl Into<String>) -> Entry {
    Entry {
        kind: kind.to_owned(),
        namespace: metadata.namespace.clone(),
        name: metadata.name.clone().unwrap_or_default(),
        by,
        what: what.into(),
    }
}

/// Whether the earlier implementation holds an object and CAPT does not yet.
fn is_left(metadata: &ObjectMeta, theirs: &[&str], ours: &str) -> bool {
    let holds = |wanted: &str| metadata.finalizers.iter().flatten().any(|entry| entry == wanted);
    theirs.iter().any(|theirs| holds(theirs)) && !holds(ours)
}

const TAKEN_OVER: &str = "taken over: CAPT's finalizer beside the earlier one, which goes with it at the end";

fn look_at_network(network: &CAPTCluster, plan: &mut Plan) {
    const KIND: &str = "CAPTCluster";
    let metadata = &network.metadata;
    if is_left(metadata, &[finalizer::LEGACY, finalizer::LEGACY_NETWORK], finalizer::NETWORK) {
        plan.entries.push(entry(KIND, metadata, By::Manager, TAKEN_OVER));
    }
    let Some(status) = &network.status else { return };
    if let Some(reason) = &status.failure_reason {
        plan.entries.push(entry(KIND, metadata, By::Manager, cleared(reason)));
    }
    let left = status.conditions.iter().filter(|entry| condition::LEGACY.contains(&entry.type_.as_str()));
    for left in left {
        let what = format!("condition {} is taken away", left.type_);
        plan.entries.push(entry(KIND, metadata, By::Manager, what));
    }
}

fn cleared(reason: &str) -> String {
    format!("status.failureReason `{reason}` is cleared: no failure is final")
}

fn look_at_control_plane(control_plane: &CAPTControlPlane, found: &Found, plan: &mut Plan) {
    const KIND: &str = "CAPTControlPlane";
    let metadata = &control_plane.metadata;
    let theirs = [finalizer::LEGACY, finalizer::LEGACY_CONTROL_PLANE];
    let left = is_left(metadata, &theirs, finalizer::CONTROL_PLANE);
    if left {
        plan.entries.push(entry(KIND, metadata, By::Manager, TAKEN_OVER));
    }
    let status = control_plane.status.as_ref();
    if let Some(reason) = status.and_then(|status| status.failure_reason.as_ref()) {
        plan.entries.push(entry(KIND, metadata, By::Manager, cleared(reason)));
    }
    if let Some((before, after)) = control_plane.spec.control_plane_endpoint.as_ref().and_then(mended) {
        plan.entries.push(entry(KIND, metadata, By::Manager, becomes(&before, &after)));
    }
    if left {
        look_at_secrets(control_plane, found, plan);
    }
}

/// The Secrets of names that CAPT needs.
fn look_at_secrets(control_plane: &CAPTControlPlane, found: &Found, plan: &mut Plan) {
    let owner = Owner::of(control_plane);
    let namespace = control_plane.namespace().unwrap_or_default();
    let Some(cluster) = cluster_name(&control_plane.metadata) else { return };
    let needed = [
        names::kubeconfig(cluster),
        names::certificate_authority(cluster),
        names::control_plane_kubeconfig(control_plane),
        names::user_kubeconfig(cluster),
    ];
    for (metadata, type_) in &found.secrets {
        let name = metadata.name.clone().unwrap_or_default();
        if metadata.namespace.as_deref() != Some(&namespace) || !needed.contains(&name) {
            continue;
        }
        let (by, what) = if !secrets::is_ours(metadata, &owner) {
            (
                By::You,
                "left alone, since it is neither this control plane's nor CAPT's: rename or delete it, and CAPT makes its own",
            )
        } else if type_.as_deref() == Some(CLUSTER_SECRET_TYPE) {
            (By::Manager, "goes on as CAPT's: it follows the connection Secret, and its token is renewed")
        } else {
            (By::Manager, "made anew with the same name: the type of a Secret cannot be changed")
        };
        plan.entries.push(entry("Secret", metadata, by, what));
    }
}

/// An endpoint whose host is a URL, as it is and as it should be.
fn mended(endpoint: &Endpoint) -> Option<(Endpoint, Endpoint)> {
    if !endpoint.host.contains("://") {
        return None;
    }
    let after = endpoint::parse(&endpoint.host).ok()?.endpoint();
    Some((endpoint.clone(), after))
}

fn becomes(before: &Endpoint, after: &Endpoint) -> String {
    format!(
        "spec.controlPlaneEndpoint: host `{}`, port {} becomes host `{}`, port {}",
        before.host, before.port, after.host, after.port
    )
}

/// Cluster API takes an endpoint over once, and keeps it as it was.
fn look_at_cluster(cluster: &Cluster, plan: &mut Plan) {
    let Some((before, after)) = cluster.spec.control_plane_endpoint.as_ref().and_then(mended) else { return };
    plan.entries.push(entry("Cluster", &cluster.metadata, By::Command, becomes(&before, &after)));
    plan.deeds.push(Deed::Endpoint {
        namespace: cluster.namespace().unwrap_or_default(),
        name: cluster.name_any(),
        before,
        after,
    });
}

fn look_at_apply(apply: &WorkspaceTemplateApply, found: &Found, plan: &mut Plan) {
    let metadata = &apply.metadata;
    if !is_left(metadata, &[finalizer::LEGACY], finalizer::WORKSPACE) {
        return;
    }
    let mut add = |by, what: String| plan.entries.push(entry("WorkspaceTemplateApply", metadata, by, what));
    let (namespace, name) = (apply.namespace().unwrap_or_default(), apply.name_any());
    if is_for_kubeconfig(apply) {
        add(
            By::You,
            format!(
                "no longer needed: CAPT makes tokens itself; delete it when <cluster>-kubeconfig is CAPT's, with `kubectl delete workspacetemplateapply {name} --namespace {namespace}`"
            ),
        );
        return;
    }
    let workspace = tie::workspace_name(apply);
    match found.workspaces.get(&ApplyKey::of(apply)) {
        Some(Comparison::Same) => {
            add(By::Manager, format!("takes over Workspace `{workspace}` without a change"));
        }
        Some(Comparison::Differs(paths)) => add(
            By::You,
            format!(
                "Workspace `{workspace}` is taken over as it is, and stays so until you approve what template and variables would change, `capt approve apply {name} --namespace {namespace}`, or put them right: {}",
                paths.join(", ")
            ),
        ),
        Some(Comparison::Missing) if tie::reported_workspace_name(apply).is_some() => {
            add(By::Manager, format!("makes Workspace `{workspace}` again, which is gone"));
        }
        Some(Comparison::Missing) => add(By::Manager, format!("makes Workspace `{workspace}`")),
        Some(Comparison::NotOurs) => add(
            By::You,
            format!(
                "Workspace `{workspace}` is there, and nothing says that it is this apply's: if it is, `kubectl annotate workspacetemplateapply {name} --namespace {namespace} {}={workspace}`",
                annotation::ADOPT_WORKSPACE
            ),
        ),
        Some(Comparison::Reported(other)) => add(
            By::You,
            format!(
                "Workspace `{workspace}` is that of WorkspaceTemplateApply `{other}`, whose status names it: do not take it over. Once that apply has it, this one makes Workspace `{}`",
                ApplyKey::of(apply).alternative_workspace_name()
            ),
        ),
        Some(Comparison::Unknown(why)) => {
            add(By::You, format!("what becomes of Workspace `{workspace}` cannot be told: {why}"));
        }
        None => add(By::Manager, format!("takes over Workspace `{workspace}`")),
    }
    if SPOT_ROLE.iter().any(|end| name.ends_with(end)) {
        add(
            By::Nobody,
            "nothing makes it anew once it is deleted: put the role into the template that needs it"
                .to_owned(),
        );
    }
}

/// Whether an apply made the tokens of the earlier implementation.
fn is_for_kubeconfig(apply: &WorkspaceTemplateApply) -> bool {
    let owners = apply.metadata.owner_references.iter().flatten();
    apply.name_any().ends_with(KUBECONFIG.1)
        && apply.spec.template_ref.name == KUBECONFIG.0
        && owners.into_iter().any(|owner| owner.kind == "CAPTControlPlane")
}
