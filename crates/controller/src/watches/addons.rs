//! Watches of add-ons and of what brings them.

use std::sync::Arc;

use capt_api::{AddonStack, AddonStackBinding, ClusterResourceSet, ClusterResourceSetBinding};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::runtime::reflector::store::Writer;
use tokio::task::JoinSet;

use super::{Changes, Queues, announce_to, bring_up, source};
use crate::context::Context;
use crate::feed::{Touch, follow};
use crate::index::{Dependency, Dependent};
use crate::metrics::Kind;
use crate::store::{Guarded, key_of};

pub(super) fn follow_stacks(
    context: &Arc<Context>,
    writer: Writer<Guarded<AddonStack>>,
    queues: &Queues,
    tasks: &mut JoinSet<()>,
) {
    let (context, queues) = (Arc::clone(context), queues.clone());
    tasks.spawn(async move {
        let mut changes = Changes::default();
        let touched = |metadata: &_, touch| {
            context.stacks.caught_up(metadata);
            let key = key_of(metadata);
            if changes.is_news(metadata, touch) {
                match touch {
                    Touch::There => announce_to(&queues.stacks, &key),
                    Touch::Gone => {
                        context.index.forget(&Dependent::Stack(key.clone()));
                        context.attempts.succeeded(Kind::AddonStack, key.clone());
                    }
                }
                bring_up(&context, &queues, &Dependency::Stack(key));
            }
        };
        follow(source(&context, Kind::AddonStack), context.stacks.clone(), writer, |_| (), touched).await;
    });
}

pub(super) fn follow_stack_bindings(
    context: &Arc<Context>,
    writer: Writer<Guarded<AddonStackBinding>>,
    queues: &Queues,
    tasks: &mut JoinSet<()>,
) {
    let (context, queues) = (Arc::clone(context), queues.clone());
    tasks.spawn(async move {
        let mut changes = Changes::default();
        let touched = |metadata: &_, touch| {
            context.stack_bindings.caught_up(metadata);
            let key = key_of(metadata);
            if changes.is_news(metadata, touch) {
                match touch {
                    Touch::There => announce_to(&queues.stack_bindings, &key),
                    Touch::Gone => {
                        context.index.forget(&Dependent::StackBinding(key.clone()));
                        context.attempts.succeeded(Kind::AddonStackBinding, key.clone());
                        context.addons.forget(&key);
                        context.metrics.steps(&key, &[]);
                    }
                }
            }
            bring_up(&context, &queues, &Dependency::StackBindings(key.namespace));
        };
        let source = source(&context, Kind::AddonStackBinding);
        follow(source, context.stack_bindings.clone(), writer, |_| (), touched).await;
    });
}

pub(super) fn follow_resource_sets(
    context: &Arc<Context>,
    writer: Writer<Guarded<ClusterResourceSet>>,
    queues: &Queues,
    tasks: &mut JoinSet<()>,
) {
    let (context, queues) = (Arc::clone(context), queues.clone());
    tasks.spawn(async move {
        let mut changes = Changes::default();
        let touched = |metadata: &ObjectMeta, touch| {
            context.resource_sets.caught_up(metadata);
            let key = key_of(metadata);
            if changes.is_news(metadata, touch) {
                match touch {
                    Touch::There => announce_to(&queues.resource_sets, &key),
                    Touch::Gone => {
                        context.index.forget(&Dependent::ResourceSet(key.clone()));
                        context.attempts.succeeded(Kind::ClusterResourceSet, key.clone());
                        context.resource_set_memories.forget(metadata.uid.as_deref().unwrap_or_default());
                    }
                }
            }
            bring_up(&context, &queues, &Dependency::ResourceSets(key.namespace));
        };
        let source = source(&context, Kind::ClusterResourceSet);
        follow(source, context.resource_sets.clone(), writer, |_| (), touched).await;
    });
}

pub(super) fn follow_resource_set_bindings(
    context: &Arc<Context>,
    writer: Writer<Guarded<ClusterResourceSetBinding>>,
    queues: &Queues,
    tasks: &mut JoinSet<()>,
) {
    let (context, queues) = (Arc::clone(context), queues.clone());
    tasks.spawn(async move {
        let touched = |metadata: &_, _| {
            context.resource_set_bindings.caught_up(metadata);
            bring_up(&context, &queues, &Dependency::ResourceSetBinding(key_of(metadata)));
        };
        let source = source(&context, Kind::ClusterResourceSetBinding);
        follow(source, context.resource_set_bindings.clone(), writer, |_| (), touched).await;
    });
}
