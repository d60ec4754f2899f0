//! Carries out what was decided about a stack. Every write can be repeated.

use capt_api::names::{MANAGED_BY_CAPT, finalizer, label};
use capt_api::resource_set::ClusterResourceSetSpec;
use capt_api::{AddonStack, AddonStackBinding, Cluster, ClusterResourceSet};
use capt_core::addon::members::Plan;
use capt_core::addon::names;
use capt_core::name::is_object_name;
use capt_core::owned_apply::Owner;
use futures::{StreamExt, TryStreamExt, stream};
use kube::{Api, Resource, ResourceExt};
use serde_json::json;
use tracing::info;

use crate::context::Context;
use crate::error::Error;
use crate::write::{self, ONLY_IF_ABSENT};

/// How many bindings are made at the same time.
const AT_ONCE: usize = 16;

fn beside<K>(stack: &AddonStack, context: &Context) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
{
    Api::namespaced(context.client.clone(), &stack.namespace().unwrap_or_default())
}

/// Makes and takes away.
pub(super) async fn carry_out(
    stack: &AddonStack,
    plan: &Plan,
    clusters: &[&Cluster],
    sets: &[&ClusterResourceSet],
    context: &Context,
) -> Result<(), Error> {
    let Plan { bind, unbind, sets: wanted, surplus } = plan;
    if !bind.is_empty() || !wanted.is_empty() {
        claim(stack, context).await?;
    }
    for (name, spec) in wanted {
        let present = sets.iter().find(|set| set.name_any() == *name);
        write_set(stack, name, spec, present.copied(), context).await?;
    }
    for set in sets.iter().filter(|set| surplus.contains(&set.name_any())) {
        delete(&beside::<ClusterResourceSet>(stack, context), *set).await?;
    }
    let mut making = Vec::new();
    for cluster in clusters {
        if bind.contains(&cluster.name_any()) {
            making.push(create_binding(stack, cluster, context));
        }
    }
    stream::iter(making).buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
    let bindings = beside::<AddonStackBinding>(stack, context);
    for name in unbind {
        let found = context.stack_bindings.get(stack.namespace().as_deref(), name);
        if let Some(binding) = found {
            delete(&bindings, &*binding).await?;
        }
    }
    Ok(())
}

/// Takes hold of the stack, so that it is not gone before what it brought is.
async fn claim(stack: &AddonStack, context: &Context) -> Result<(), Error> {
    if stack.finalizers().iter().any(|entry| entry == finalizer::ADDONS) {
        return Ok(());
    }
    let name = stack.name_any();
    let mut patch = write::header::<AddonStack>(&name);
    patch["metadata"]["uid"] = json!(stack.uid());
    patch["metadata"]["finalizers"] = json!([finalizer::ADDONS]);
    let doing = format!("taking hold of AddonStack `{name}`");
    let claimed = write::apply(&beside(stack, context), &name, &patch, &doing).await?;
    context.stacks.remember(claimed);
    Ok(())
}

async fn create_binding(stack: &AddonStack, cluster: &Cluster, context: &Context) -> Result<(), Error> {
    let (stack_name, cluster_name) = (stack.name_any(), cluster.name_any());
    let name = names::binding(&stack_name, &cluster_name);
    let mut object = write::header::<AddonStackBinding>(&name);
    object["metadata"]["resourceVersion"] = json!(ONLY_IF_ABSENT);
    object["metadata"]["finalizers"] = json!([finalizer::ADDONS]);
    object["metadata"]["labels"] = json!({
        label::MANAGED_BY: MANAGED_BY_CAPT,
        label::STACK: names::stack_label(&stack_name),
        label::CLUSTER_NAME: cluster_name,
    });
    object["metadata"]["ownerReferences"] = json!([{
        "apiVersion": Cluster::api_version(&()), "kind": Cluster::kind(&()), "name": cluster_name, "uid": cluster.uid(),
    }]);
    object["spec"] = json!({ "clusterName": cluster_name, "stackName": stack_name });
    let doing = format!("creating AddonStackBinding `{name}`");
    let created = write::apply(&beside::<AddonStackBinding>(stack, context), &name, &object, &doing).await?;
    info!(cluster = cluster_name, "the stack is brought to a cluster");
    context.stack_bindings.remember(created);
    Ok(())
}

async fn write_set(
    stack: &AddonStack,
    name: &str,
    spec: &ClusterResourceSetSpec,
    present: Option<&ClusterResourceSet>,
    context: &Context,
) -> Result<(), Error> {
    let sets = beside::<ClusterResourceSet>(stack, context);
    match present {
        Some(set) if set.metadata.deletion_timestamp.is_some() || set.spec == *spec => return Ok(()),
        // What it selects cannot be changed; what it brought stays.
        Some(set) if set.spec.cluster_selector != spec.cluster_selector => return delete(&sets, set).await,
        Some(_) | None => {}
    }
    let mut object = write::header::<ClusterResourceSet>(name);
    match present {
        Some(set) => object["metadata"]["uid"] = json!(set.uid()),
        None => object["metadata"]["resourceVersion"] = json!(ONLY_IF_ABSENT),
    }
    object["metadata"]["labels"] = json!({
        label::MANAGED_BY: MANAGED_BY_CAPT,
        label::STACK: names::stack_label(&stack.name_any()),
    });
    object["metadata"]["ownerReferences"] = json!([Owner::of(stack).reference()]);
    object["spec"] = json!(spec);
    let doing = format!("writing ClusterResourceSet `{name}`");
    let written = write::apply(&sets, name, &object, &doing).await?;
    context.resource_sets.remember(written);
    Ok(())
}

/// Deletes every binding of the stack, which takes away what is to be taken away. Answers whether the stack was let go.
pub(super) async fn take_down(
    stack: &AddonStack,
    bindings: &[&AddonStackBinding],
    context: &Context,
) -> Result<bool, Error> {
    let name = stack.name_any();
    let own: Vec<_> = bindings.iter().filter(|binding| binding.spec.stack_name == name).collect();
    for binding in own.iter().filter(|binding| binding.metadata.deletion_timestamp.is_none()) {
        delete(&beside::<AddonStackBinding>(stack, context), **binding).await?;
    }
    if !own.is_empty() {
        return Ok(false);
    }
    release(stack, context).await.map(|()| true)
}

/// Lets go of the stack.
pub(super) async fn release(stack: &AddonStack, context: &Context) -> Result<(), Error> {
    write::release(&beside(stack, context), stack, &[finalizer::ADDONS]).await
}

async fn delete<K>(api: &Api<K>, object: &K) -> Result<(), Error>
where
    K: Resource<DynamicType = ()> + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let name = object.meta().name.clone().unwrap_or_default();
    if object.meta().deletion_timestamp.is_some() || !is_object_name(&name) {
        return Ok(());
    }
    let doing = format!("deleting {} `{name}`", K::kind(&()));
    write::delete(api, &name, object.meta().uid.clone(), &doing).await
}
