//! Takes away what an add-on brought: when it leaves the stack, when the cluster is no longer selected, or with the stack.

use std::collections::BTreeMap;
use std::sync::Arc;

use capt_api::addon_stack::{Removal, StepState, StepStatus};
use capt_api::names::{Reason, finalizer};
use capt_api::{AddonStack, AddonStackBinding, Cluster};
use capt_core::addon::names;
use capt_core::addon::pace;
use capt_core::addon::status::Whole;
use capt_core::apply::Blocked;
use capt_core::manifest::ObjectKey;
use capt_core::name::is_object_name;
use kube::{Api, ResourceExt};
use tracing::info;

use super::super::memory::Memory;
use super::walk::{Walk, spread};
use super::{Told, bring, gates, report};
use crate::context::{Context, to_the_second};
use crate::deliver::{inventory, remove};
use crate::error::Error;
use crate::index::Name;
use crate::workload::{Unavailable, Workload};
use crate::write;

/// Whether the Cluster or the stack of a binding does not exist. During a move the watch may show a binding before them; they
/// bring it up when they are seen.
pub(super) async fn is_orphan(binding: &AddonStackBinding, context: &Context) -> Result<bool, Error> {
    let namespace = binding.namespace().unwrap_or_default();
    let (cluster, stack) = (&binding.spec.cluster_name, &binding.spec.stack_name);
    if !is_object_name(cluster) || !is_object_name(stack) {
        return Ok(true);
    }
    let doing = format!("looking for what AddonStackBinding `{}` is of", binding.name_any());
    let clusters: Api<Cluster> = Api::namespaced(context.client.clone(), &namespace);
    if clusters.get_metadata_opt(cluster).await.map_err(Error::api(&doing))?.is_none() {
        return Ok(true);
    }
    let stacks: Api<AddonStack> = Api::namespaced(context.client.clone(), &namespace);
    Ok(stacks.get_metadata_opt(stack).await.map_err(Error::api(doing))?.is_none())
}

/// Deletes a binding that nobody asks for any more.
pub(super) async fn delete_itself(binding: &AddonStackBinding, context: &Context) -> Result<(), Error> {
    let name = binding.name_any();
    let doing = format!("deleting AddonStackBinding `{name}`");
    write::delete(&bindings(binding, context), &name, binding.uid(), &doing).await
}

fn bindings(binding: &AddonStackBinding, context: &Context) -> Api<AddonStackBinding> {
    Api::namespaced(context.client.clone(), &binding.namespace().unwrap_or_default())
}

/// Takes away add-ons that are no longer in the stack.
pub(super) async fn surplus(walk: &mut Walk<'_>) -> Result<(), Error> {
    let before = walk.binding.status.as_ref().map(|status| status.addons.clone()).unwrap_or_default();
    let is_wanted = |step: &StepStatus| walk.stack.spec.addons.iter().any(|addon| addon.name == step.name);
    let surplus: Vec<_> = before.into_iter().filter(|step| !is_wanted(step)).collect();
    for step in surplus.iter().rev() {
        let claim = walk.claim(&step.name);
        let told = away(step, &claim, walk.workload.as_deref(), walk.now).await;
        match told {
            None => {
                walk.memory.steps.remove(&step.name);
                info!(addon = step.name, "an add-on that left the stack is done with");
            }
            Some(told) => {
                let pause = pace::look_again(told.failures, spread(walk.binding));
                let memory = walk.memory.steps.entry(step.name.clone()).or_default();
                memory.due = walk.now.checked_add(pause).ok();
                walk.steps.push(told);
            }
        }
    }
    Ok(())
}

/// Takes away the whole stack. Answers nothing once it was let go.
pub(super) async fn take_away(
    binding: &AddonStackBinding,
    cluster: &Cluster,
    memory: &mut Memory,
    context: &Arc<Context>,
) -> Result<Option<Told>, Error> {
    let now = context.now();
    let steps = binding.status.as_ref().map(|status| status.addons.clone()).unwrap_or_default();
    let key = Name::new(binding.namespace().unwrap_or_default(), cluster.name_any());
    let workload = match context.workloads.of(&key, context).await {
        Ok(workload) => Some(workload),
        Err(Unavailable::NoCredentials(_) | Unavailable::Unusable(_)) => None,
        Err(Unavailable::Error(error)) => return Err(error),
    };
    let mut left = Vec::new();
    for step in steps.iter().rev() {
        let claim = names::claim(&key.namespace, &key.name, &binding.spec.stack_name, &step.name);
        // What depends on another goes first, and is gone before that one goes.
        let told = if left.is_empty() {
            away(step, &claim, workload.as_deref(), now).await
        } else {
            Some(step.clone())
        };
        left.extend(told);
    }
    if left.is_empty() {
        gates::write(binding, &BTreeMap::new(), context).await?;
        write::release(&bindings(binding, context), binding, &[finalizer::ADDONS]).await?;
        report::tell_cluster(&key.namespace, &key.name, context).await?;
        return Ok(None);
    }
    left.reverse();
    let next = now.checked_add(pace::look_again(memory.removals, spread(binding))).ok();
    memory.removals = memory.removals.saturating_add(1);
    Ok(Some(Told { steps: left, whole: Whole::Removing, cluster: None, notes: Vec::new(), next }))
}

/// Takes one add-on away; answers what is told of it while it is still there.
async fn away(
    step: &StepStatus,
    claim: &str,
    workload: Option<&Workload>,
    now: k8s_openapi::jiff::Timestamp,
) -> Option<StepStatus> {
    match step.removal {
        Removal::Keep => return None,
        Removal::Delete => {}
    }
    let result = match workload {
        None => Err(Blocked::new(Reason::ClusterUnreachable, "the cluster cannot be reached".to_owned())),
        Some(workload) => clear(step, claim, workload).await,
    };
    let (reason, message, failures) = match result {
        Ok(None) => return None,
        Ok(Some(message)) => (Reason::Removing, message, 0),
        Err(blocked) => (blocked.reason, blocked.message, step.failures.saturating_add(1)),
    };
    let since = if step.state == StepState::Removing { step.since.clone() } else { to_the_second(now) };
    Some(StepStatus {
        state: StepState::Removing,
        since,
        reason: reason.as_str().to_owned(),
        message,
        failures,
        next_attempt: None,
        ..step.clone()
    })
}

/// Deletes what an add-on brought; answers what is still there.
async fn clear(step: &StepStatus, claim: &str, workload: &Workload) -> Result<Option<String>, Blocked> {
    let talk = workload.talk();
    let noted = inventory::read(&talk, claim).await.map_err(bring::blocked)?;
    if let Some(problem) = noted.problem {
        return Err(Blocked::new(Reason::ObjectRefused, problem));
    }
    let mut keys = noted.objects.clone();
    keys.extend(step.values.iter().map(|values| ObjectKey {
        api_version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        namespace: Some(values.namespace.clone()),
        name: values.name.clone(),
    }));
    let removed = remove(&talk, &keys, claim).await;
    let remaining = removed.remaining();
    if let Some(trouble) = removed.trouble() {
        return match trouble.reason {
            Reason::Removing => Ok(Some(trouble.message)),
            _ => Err(bring::blocked(trouble)),
        };
    }
    inventory::write(&talk, claim, &remaining, Some(&noted)).await.map_err(bring::blocked)?;
    Ok(None)
}
