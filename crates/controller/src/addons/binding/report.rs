//! Tells what came of a reconcile: the binding's status, Events, and the condition on the Cluster.

use capt_api::names::{ADDON_FIELD_MANAGER, annotation, condition as type_};
use capt_api::{AddonStackBinding, Cluster};
use capt_core::addon::status::{self, of_cluster};
use capt_core::condition::{Stamp, condition, find};
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use super::Told;
use crate::context::{Context, now};
use crate::error::Error;
use crate::events;
use crate::notify;
use crate::store::key_of;
use crate::write;

/// Writes the status if it has changed, publishes Events, and tells the Cluster.
pub(super) async fn report(binding: &AddonStackBinding, told: Told, context: &Context) -> Result<(), Error> {
    let Told { steps, whole, cluster, mut notes, next: _ } = told;
    let namespace = binding.namespace().unwrap_or_default();
    let before = binding.status.as_ref();
    let stack = context.stacks.get(Some(&namespace), &binding.spec.stack_name);
    let generation = stack.and_then(|stack| stack.metadata.generation);
    let stamp = Stamp { generation: binding.metadata.generation, now: now() };
    let request = binding.annotations().get(annotation::REQUESTED_AT).map(String::as_str);
    let next = status::status(before, steps, &whole, request, generation, cluster, &stamp);
    context.metrics.steps(&key_of(&binding.metadata), &next.addons);
    notes.extend(status::notes(before, &next));
    events::publish(context, binding, &notes).await;
    if before != Some(&next) {
        let bindings: Api<AddonStackBinding> = Api::namespaced(context.client.clone(), &namespace);
        let doing = format!("writing the status of AddonStackBinding `{}`", binding.name_any());
        let written = write::apply_status(&bindings, binding, &next, &doing).await;
        if let Some(written) = Error::unless_gone(written)? {
            for news in notify::news(before, &next, binding, &stamp.now) {
                context.notifier.tell(news);
            }
            context.stack_bindings.remember(written);
        }
    }
    tell_cluster(&namespace, &binding.spec.cluster_name, context).await
}

/// Writes the condition that tells of all stacks of a Cluster, if it has changed.
pub(super) async fn tell_cluster(namespace: &str, name: &str, context: &Context) -> Result<(), Error> {
    let Some(cluster) = context.clusters.get(Some(namespace), name) else { return Ok(()) };
    if cluster.metadata.deletion_timestamp.is_some() {
        return Ok(());
    }
    let mut bindings = context.stack_bindings.within(namespace);
    bindings
        .retain(|binding| binding.spec.cluster_name == name && binding.metadata.deletion_timestamp.is_none());
    bindings.sort_by(|one, other| one.spec.stack_name.cmp(&other.spec.stack_name));
    let before = cluster.status.as_ref().and_then(|status| find(&status.conditions, type_::ADDONS_READY));
    let conditions = if bindings.is_empty() {
        match before {
            None => return Ok(()),
            // No stack selects the Cluster any more.
            Some(_) => json!([]),
        }
    } else {
        let told = bindings.iter().map(|one| (one.spec.stack_name.as_str(), one.status.as_ref()));
        let (truth, reason, message) = of_cluster(told);
        let stamp = Stamp { generation: cluster.metadata.generation, now: now() };
        let mut next = condition(type_::ADDONS_READY, truth, reason, &message, &stamp);
        if let Some(before) = before {
            let same = before.status == next.status
                && before.reason == next.reason
                && before.message == next.message;
            if same {
                return Ok(());
            }
            if before.status == next.status {
                next.last_transition_time = before.last_transition_time.clone();
            }
        }
        json!([next])
    };
    let mut patch = write::header::<Cluster>(name);
    patch["metadata"]["uid"] = json!(cluster.uid());
    patch["status"] = json!({ "conditions": conditions });
    let clusters: Api<Cluster> = Api::namespaced(context.client.clone(), namespace);
    let parameters = PatchParams::apply(ADDON_FIELD_MANAGER).force();
    let doing = format!("telling Cluster `{name}` of its add-ons");
    let written = clusters.patch_status(name, &parameters, &Patch::Apply(patch)).await;
    if let Some(written) = Error::unless_gone(written.map_err(Error::api(doing)))? {
        context.clusters.remember(written);
    }
    Ok(())
}
