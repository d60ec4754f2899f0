//! The driver of `AddonStackBinding`: one stack in one cluster, one add-on after the other.

mod acts;
mod bring;
mod content;
mod gates;
mod listen;
mod look;
mod observe;
mod reach;
mod removal;
mod report;
mod walk;

use std::sync::Arc;
use std::time::{Duration, Instant};

use capt_api::AddonStackBinding;
use capt_api::addon_stack::StepStatus;
use capt_api::names::finalizer;
use capt_core::addon::status::Whole;
use capt_core::note::Note;
use k8s_openapi::jiff::Timestamp;
use kube::runtime::controller::Action;
use kube::{Api, ResourceExt};

pub(super) use self::listen::Listener;
use self::observe::Scene;
use super::memory::Memory;
use crate::context::Context;
use crate::error::Error;
use crate::metrics::{Kind, Outcome};
use crate::store::key_of;
use crate::write;

/// What came of a reconcile.
struct Told {
    /// Each add-on.
    steps: Vec<StepStatus>,
    /// The stack as a whole.
    whole: Whole,
    /// The cluster that this speaks of, if it is known.
    cluster: Option<String>,
    /// What is worth an Event beside that.
    notes: Vec<Note>,
    /// When there is something to do again.
    next: Option<Timestamp>,
}

/// Brings one stack in one cluster in line.
pub(crate) async fn reconcile(binding: AddonStackBinding, context: Arc<Context>) -> Result<Action, Error> {
    let started = Instant::now();
    let binding = context.stack_bindings.newest(binding);
    let key = key_of(&binding.metadata);
    let mut memory = context.addons.take(&key);
    let result = bring_in_line(&binding, &mut memory, &context).await;
    context.addons.put(key.clone(), memory);
    let outcome = match &result {
        Ok(Some((Whole::Goes, _))) => Outcome::Settled,
        Ok(_) => Outcome::Waiting,
        Err(_) => Outcome::Failed,
    };
    context.metrics.reconciled(Kind::AddonStackBinding, outcome, started.elapsed());
    match result {
        Ok(told) => {
            context.attempts.succeeded(Kind::AddonStackBinding, key);
            let next = told.and_then(|(_, next)| next);
            Ok(next.map_or_else(Action::await_change, |next| requeue(next, context.now())))
        }
        Err(error) => {
            context.metrics.failed(Kind::AddonStackBinding, error.reason());
            Err(error)
        }
    }
}

fn requeue(next: Timestamp, now: Timestamp) -> Action {
    let pause = Duration::try_from(next.duration_since(now)).unwrap_or_default();
    Action::requeue(pause.max(Duration::from_millis(10)))
}

async fn bring_in_line(
    binding: &AddonStackBinding,
    memory: &mut Memory,
    context: &Arc<Context>,
) -> Result<Option<(Whole, Option<Timestamp>)>, Error> {
    let before = || binding.status.as_ref().map(|status| status.addons.clone()).unwrap_or_default();
    let told = match observe::observe(binding, context) {
        Scene::Leave => return Ok(None),
        Scene::LetGo => {
            let bindings: Api<AddonStackBinding> =
                Api::namespaced(context.client.clone(), &binding.namespace().unwrap_or_default());
            write::release(&bindings, binding, &[finalizer::ADDONS]).await?;
            return Ok(None);
        }
        Scene::Orphan => {
            if removal::is_orphan(binding, context).await? {
                removal::delete_itself(binding, context).await?;
            }
            return Ok(None);
        }
        Scene::Paused(message) => Ok(Told {
            steps: before(),
            whole: Whole::Paused(message),
            cluster: None,
            notes: Vec::new(),
            next: None,
        }),
        Scene::Invalid { reason, message } => Ok(Told {
            steps: before(),
            whole: Whole::Invalid { reason, message },
            cluster: None,
            notes: Vec::new(),
            next: None,
        }),
        Scene::Remove { cluster } => match removal::take_away(binding, &cluster, memory, context).await {
            Ok(None) => return Ok(None),
            Ok(Some(told)) => Ok(told),
            Err(error) => Err(error),
        },
        Scene::Go { stack, cluster } => walk::walk(binding, &stack, &cluster, memory, context).await,
    };
    let told = told?;
    let next = told.next;
    let whole = told.whole.clone();
    report::report(binding, told, context).await?;
    Ok(Some((whole, next)))
}
