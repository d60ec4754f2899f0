//! Carries out what was decided about a Cluster. One write each, that can be repeated, and none once Clusters are somebody
//! else's.

use std::fmt::Debug;

use capt_api::endpoint::Endpoint;
use capt_api::names::{CLUSTER_FIELD_MANAGER, finalizer, label};
use capt_api::{CAPTCluster, CAPTControlPlane, Cluster};
use capt_core::cluster::decide::{Step, Target};
use capt_core::cluster::observed::Role;
use capt_core::control_plane::names;
use capt_core::standing::{Standing, standing};
use capt_core::tie::label_value;
use k8s_openapi::NamespaceResourceScope;
use kube::api::{Patch, PatchParams};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::json;
use tracing::info;

use crate::context::Context;
use crate::control_plane::hold;
use crate::error::Error;
use crate::store::Reader;
use crate::write;

/// What came of a step.
pub(super) enum Done {
    /// Nothing was to be done but wait or tell.
    Waited,
    /// The Cluster or one of its parts has changed: look again at once.
    Again,
    /// The Cluster was let go and may be gone by now.
    Released,
    /// Clusters are somebody else's by now.
    SteppedBack,
}

/// Carries out a step.
pub(super) async fn act(cluster: &Cluster, step: &Step, context: &Context) -> Result<Done, Error> {
    if !context.cluster_serving.is_ours() {
        return Ok(Done::SteppedBack);
    }
    match step {
        Step::Leave | Step::Pause(_) | Step::Settled | Step::AwaitDeletion(_) | Step::AwaitListing { .. } => {
            Ok(Done::Waited)
        }
        Step::Claim => claim(cluster, context).await.map(|()| Done::Again),
        Step::Mark(target) => match target.role {
            Role::Network => mark(cluster, target, None, &context.networks, context).await,
            Role::ControlPlane => {
                let apply = to_be_held(cluster, target, context);
                mark(cluster, target, apply.as_deref(), &context.control_planes, context).await
            }
        }
        .map(|()| Done::Again),
        Step::SetEndpoint(endpoint) => set_endpoint(cluster, endpoint, context).await.map(|()| Done::Again),
        Step::Delete(target) => match target.role {
            Role::Network => delete::<CAPTCluster>(cluster, target, context).await,
            Role::ControlPlane => delete::<CAPTControlPlane>(cluster, target, context).await,
        }
        .map(|()| Done::Waited),
        Step::LetGo | Step::Finish => release(cluster, context).await,
    }
}

fn beside<K>(cluster: &Cluster, context: &Context) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    Api::namespaced(context.client.clone(), &cluster.namespace().unwrap_or_default())
}

/// Not by server-side apply: a finalizer that somebody took away and that is applied again would take the endpoint with it,
/// which the same field manager has applied.
async fn claim(cluster: &Cluster, context: &Context) -> Result<(), Error> {
    let mut finalizers = cluster.finalizers().to_vec();
    finalizers.push(finalizer::CLUSTER.to_owned());
    let patch =
        json!({ "metadata": { "finalizers": finalizers, "resourceVersion": cluster.resource_version() } });
    let name = cluster.name_any();
    let claimed = beside::<Cluster>(cluster, context)
        .patch(&name, &PatchParams::default(), &Patch::Merge(patch))
        .await
        .map_err(Error::api(format!("taking hold of Cluster `{name}`")))?;
    context.clusters.remember(claimed);
    Ok(())
}

/// The apply of a control plane that its own driver would take hold of next, so that one write does both. What is held stays
/// held: left out here, it would be taken away.
fn to_be_held(cluster: &Cluster, target: &Target, context: &Context) -> Option<String> {
    let control_plane = context.control_planes.get(cluster.metadata.namespace.as_deref(), &target.name)?;
    let apply = names::apply(&control_plane);
    let is_held = control_plane.finalizers().iter().any(|entry| entry == finalizer::CONTROL_PLANE);
    // To write the name of an apply that is there is to say that it is meant, which is for the user to do.
    let is_new = context.applies.is_certain()
        && context.applies.get(cluster.metadata.namespace.as_deref(), &apply).is_none();
    let is_active = standing(&control_plane.metadata, Some(cluster)) == Standing::Active;
    (is_held || (is_new && is_active)).then_some(apply)
}

/// Makes an object the Cluster's own. The version that was seen goes along: of two Clusters that refer to it, one is first.
async fn mark<K>(
    cluster: &Cluster,
    target: &Target,
    apply: Option<&str>,
    known: &Reader<K>,
    context: &Context,
) -> Result<(), Error>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + 'static,
{
    let Target { role, name, uid, resource_version } = target;
    let owner = cluster.name_any();
    let mut patch = write::header::<K>(name);
    if let Some(apply) = apply {
        hold(&mut patch, apply);
    }
    patch["metadata"]["uid"] = json!(uid);
    patch["metadata"]["resourceVersion"] = json!(resource_version);
    patch["metadata"]["labels"] = json!({ label::CLUSTER_NAME: label_value(&owner) });
    // As Cluster API has it: the controller is whoever else wants to be.
    patch["metadata"]["ownerReferences"] = json!([{
        "apiVersion": Cluster::api_version(&()),
        "kind": Cluster::kind(&()),
        "name": owner,
        "uid": cluster.uid(),
        "controller": false,
        "blockOwnerDeletion": true,
    }]);
    let doing = format!("making {} `{name}` part of Cluster `{owner}`", role.kind());
    let marked = beside::<K>(cluster, context)
        .patch(name, &parameters(), &Patch::Apply(patch))
        .await
        .map_err(Error::api(doing))?;
    info!(kind = role.kind(), name, "made it part of the Cluster");
    known.remember(marked);
    Ok(())
}

async fn set_endpoint(cluster: &Cluster, endpoint: &Endpoint, context: &Context) -> Result<(), Error> {
    let name = cluster.name_any();
    let mut patch = write::header::<Cluster>(&name);
    patch["metadata"]["uid"] = json!(cluster.uid());
    patch["spec"] = json!({ "controlPlaneEndpoint": endpoint });
    let written = beside::<Cluster>(cluster, context)
        .patch(&name, &parameters(), &Patch::Apply(patch))
        .await
        .map_err(Error::api(format!("writing the endpoint of Cluster `{name}`")))?;
    info!(host = endpoint.host, port = endpoint.port, "wrote the endpoint");
    context.clusters.remember(written);
    Ok(())
}

async fn delete<K>(cluster: &Cluster, target: &Target, context: &Context) -> Result<(), Error>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
{
    let Target { role, name, uid, .. } = target;
    let doing = format!("deleting {} `{name}`", role.kind());
    write::delete(&beside::<K>(cluster, context), name, uid.clone(), &doing).await
}

async fn release(cluster: &Cluster, context: &Context) -> Result<Done, Error> {
    let ours = [finalizer::CLUSTER];
    write::release(&beside::<Cluster>(cluster, context), cluster, &ours).await?;
    Ok(Done::Released)
}

pub(super) fn parameters() -> PatchParams {
    PatchParams::apply(CLUSTER_FIELD_MANAGER).force()
}
