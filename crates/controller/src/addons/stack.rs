//! The driver of `AddonStack`: which clusters it is in, what brings its resources, and how far it has come.

mod act;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use capt_api::names::condition as type_;
use capt_api::{AddonStack, AddonStackBinding, Cluster, ClusterResourceSet};
use capt_core::addon::members::plan;
use capt_core::addon::names;
use capt_core::addon::stack::{self, Member};
use capt_core::condition::{Stamp, find};
use capt_core::note::Note;
use capt_core::standing::{Standing, standing};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::runtime::controller::Action;
use kube::{Api, ResourceExt};

use crate::context::{Context, now};
use crate::error::Error;
use crate::events;
use crate::index::{Dependency, Dependent};
use crate::metrics::{Kind, Outcome};
use crate::store::{Held, key_of};
use crate::write;

/// Brings one stack in line.
pub(crate) async fn reconcile(stack: AddonStack, context: Arc<Context>) -> Result<Action, Error> {
    let started = Instant::now();
    let stack = context.stacks.newest(stack);
    let key = key_of(&stack.metadata);
    let result = bring_in_line(&stack, &context).await;
    let outcome = if result.is_ok() { Outcome::Settled } else { Outcome::Failed };
    context.metrics.reconciled(Kind::AddonStack, outcome, started.elapsed());
    match result {
        Ok(()) => {
            context.attempts.succeeded(Kind::AddonStack, key);
            Ok(Action::await_change())
        }
        Err(error) => {
            context.metrics.failed(Kind::AddonStack, error.reason());
            Err(error)
        }
    }
}

/// What there is in a stack's namespace.
struct Seen {
    clusters: Vec<Held<Cluster>>,
    bindings: Vec<Held<AddonStackBinding>>,
    sets: Vec<Held<ClusterResourceSet>>,
}

fn observe(stack: &AddonStack, context: &Context) -> Result<Seen, Error> {
    let key = key_of(&stack.metadata);
    let notes = context.index.note(Dependent::Stack(key.clone()));
    notes.on(Dependency::Clusters(key.namespace.clone()));
    notes.on(Dependency::StackBindings(key.namespace.clone()));
    notes.on(Dependency::ResourceSets(key.namespace.clone()));
    if !context.clusters.is_certain() || !context.stack_bindings.is_certain() {
        let what = format!("the clusters of AddonStack `{}`", key.name);
        return Err(Error::NotListed { kind: Kind::AddonStackBinding, what });
    }
    let clusters = context.clusters.within(&key.namespace);
    let mut bindings = context.stack_bindings.within(&key.namespace);
    // What we have just made counts before the watch shows it.
    let shown: HashSet<String> = bindings.iter().map(|binding| binding.name_any()).collect();
    for cluster in &clusters {
        let name = names::binding(&key.name, &cluster.name_any());
        if !shown.contains(&name) {
            bindings.extend(context.stack_bindings.get(Some(&key.namespace), &name));
        }
    }
    Ok(Seen { clusters, bindings, sets: context.resource_sets.within(&key.namespace) })
}

async fn bring_in_line(stack: &AddonStack, context: &Context) -> Result<(), Error> {
    let seen = observe(stack, context)?;
    let clusters: Vec<&Cluster> = seen.clusters.iter().map(|held| &**held).collect();
    let bindings: Vec<&AddonStackBinding> = seen.bindings.iter().map(|held| &**held).collect();
    let sets: Vec<&ClusterResourceSet> = seen.sets.iter().map(|held| &**held).collect();
    let done = match standing(&stack.metadata, None) {
        Standing::ExternallyManaged => return Ok(()),
        Standing::Moved => return act::release(stack, context).await,
        Standing::Paused(_) => Ok(()),
        Standing::Deleting => match act::take_down(stack, &bindings, context).await {
            Ok(true) => return Ok(()),
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        },
        Standing::Active => {
            let plan = plan(stack, &clusters, &bindings, &sets);
            act::carry_out(stack, &plan, &clusters, &sets, context).await
        }
    };
    let told = report(stack, &bindings, context).await;
    done.and(told)
}

/// Writes the status if it has changed, and publishes Events.
async fn report(stack: &AddonStack, bindings: &[&AddonStackBinding], context: &Context) -> Result<(), Error> {
    let name = stack.name_any();
    let own = bindings.iter().filter(|binding| binding.spec.stack_name == name);
    let members: Vec<_> = own
        .map(|binding| Member { cluster: &binding.spec.cluster_name, status: binding.status.as_ref() })
        .collect();
    let paused = stack.spec.paused || matches!(standing(&stack.metadata, None), Standing::Paused(_));
    let stamp = Stamp { generation: stack.metadata.generation, now: now() };
    let next = stack::status(stack.status.as_ref(), &stack.spec, &members, paused, &stamp);
    if stack.status.as_ref() == Some(&next) {
        return Ok(());
    }
    let before = stack.status.as_ref().and_then(|status| find(&status.conditions, type_::READY));
    let note = find(&next.conditions, type_::READY).and_then(|after| news(before, after));
    events::publish(context, stack, note.as_slice()).await;
    let stacks: Api<AddonStack> =
        Api::namespaced(context.client.clone(), &stack.namespace().unwrap_or_default());
    let doing = format!("writing the status of AddonStack `{name}`");
    let written = write::apply_status(&stacks, stack, &next, &doing).await;
    if let Some(written) = Error::unless_gone(written)? {
        context.stacks.remember(written);
    }
    Ok(())
}

/// What is wrong with the stack itself is news; what is wrong in a cluster is told at its binding.
fn news(before: Option<&Condition>, after: &Condition) -> Option<Note> {
    use capt_api::names::Reason;
    let reason = Reason::find(&after.reason)?;
    let of_itself = matches!(reason, Reason::SpecInvalid | Reason::DependencyCycle);
    let same = before.is_some_and(|before| before.reason == after.reason && before.message == after.message);
    (of_itself && !same).then(|| Note { warning: true, reason, message: after.message.clone() })
}
