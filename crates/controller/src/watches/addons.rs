//! Watches of add-ons and of what brings them.

use std::sync::Arc;

use capt_api::{AddonStack, AddonStackBinding, ClusterResourceSet, ClusterResourceSetBinding};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::runtime::reflector::store::Writer;

use super::{Own, Queues, bring_up, follow_own, source};
use crate::context::Context;
use crate::feed::{Touch, follow};
use crate::index::{Dependency, Dependent};
use crate::metrics::Kind;
use crate::store::{Guarded, key_of};

pub(super) async fn follow_stacks(
    context: Arc<Context>,
    writer: Writer<Guarded<AddonStack>>,
    queues: Queues,
) {
    let own = Own {
        source: source(&context, Kind::AddonStack),
        known: context.stacks.clone(),
        writer,
        queue: queues.stacks.clone(),
        dependent: Dependent::Stack,
    };
    let touched = |context: &Context, metadata: &ObjectMeta, _, news| {
        if news {
            bring_up(context, &queues, &Dependency::Stack(key_of(metadata)));
        }
    };
    follow_own(context, own, touched).await;
}

pub(super) async fn follow_stack_bindings(
    context: Arc<Context>,
    writer: Writer<Guarded<AddonStackBinding>>,
    queues: Queues,
) {
    let own = Own {
        source: source(&context, Kind::AddonStackBinding),
        known: context.stack_bindings.clone(),
        writer,
        queue: queues.stack_bindings.clone(),
        dependent: Dependent::StackBinding,
    };
    let touched = |context: &Context, metadata: &ObjectMeta, touch, _| {
        let key = key_of(metadata);
        if touch == Touch::Gone {
            context.addons.forget(&key);
            context.metrics.steps(&key, &[]);
        }
        bring_up(context, &queues, &Dependency::StackBindings(key.namespace));
    };
    follow_own(context, own, touched).await;
}

pub(super) async fn follow_resource_sets(
    context: Arc<Context>,
    writer: Writer<Guarded<ClusterResourceSet>>,
    queues: Queues,
) {
    let own = Own {
        source: source(&context, Kind::ClusterResourceSet),
        known: context.resource_sets.clone(),
        writer,
        queue: queues.resource_sets.clone(),
        dependent: Dependent::ResourceSet,
    };
    let touched = |context: &Context, metadata: &ObjectMeta, touch, _| {
        if touch == Touch::Gone {
            context.resource_set_memories.forget(metadata.uid.as_deref().unwrap_or_default());
        }
        bring_up(context, &queues, &Dependency::ResourceSets(key_of(metadata).namespace));
    };
    follow_own(context, own, touched).await;
}

pub(super) async fn follow_resource_set_bindings(
    context: Arc<Context>,
    writer: Writer<Guarded<ClusterResourceSetBinding>>,
    queues: Queues,
) {
    let touched = |metadata: &_, _| {
        bring_up(&context, &queues, &Dependency::ResourceSetBinding(key_of(metadata)));
    };
    let source = source(&context, Kind::ClusterResourceSetBinding);
    follow(source, context.resource_set_bindings.clone(), writer, |_| (), touched).await;
}
