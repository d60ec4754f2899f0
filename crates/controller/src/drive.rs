//! Runs a driver: takes objects from a queue, some at a time, each one alone, and tries failed ones again.

use std::convert::Infallible;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use capt_api::names::Reason;
use capt_core::apply::status::Note;
use capt_core::condition::cut;
use futures::channel::mpsc::UnboundedReceiver;
use futures::{FutureExt, StreamExt};
use kube::runtime::applier;
use kube::runtime::controller::{self, Action, Config};
use kube::runtime::reflector::ObjectRef;
use kube::{Resource, ResourceExt};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::{Instrument, debug, info_span, warn};

use crate::context::Context;
use crate::error::Error;
use crate::events;
use crate::metrics::Kind;
use crate::store::{Guarded, Reader, key_of};
use crate::term::LeadershipTerm;

/// How many objects of a kind are looked at together, and how soon.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// So many at the same time.
    pub(crate) concurrency: u16,
    /// After nothing more was heard of an object for so long: what comes together is looked at together.
    pub(crate) after: Duration,
}

/// Reconciles what comes through the queue until `shutdown`; what runs then is allowed to end. It is dropped when this is, and when
/// the leadership ends.
pub(crate) async fn drive<K, R, F>(
    (kind, pace): (Kind, Pace),
    known: &Reader<K>,
    queue: UnboundedReceiver<ObjectRef<Guarded<K>>>,
    reconcile: R,
    context: Arc<Context>,
    shutdown: CancellationToken,
) where
    K: Resource<DynamicType = ()> + Clone + Debug + Send + Sync + 'static,
    R: Fn(K, Arc<Context>) -> F + Copy + Send + Sync + 'static,
    F: Future<Output = Result<Action, Error>> + Send + 'static,
{
    let queue = queue.map(Ok::<_, Infallible>).take_until(shutdown.cancelled_owned());
    let reconciler = move |object: Arc<Guarded<K>>, context: Arc<Context>| {
        let span = info_span!(
            "reconcile",
            %kind,
            namespace = object.meta().namespace.as_deref(),
            name = object.meta().name.as_deref(),
        );
        let term = context.term.clone();
        let work = async move {
            match &object.0 {
                Ok(object) => reconcile(object.clone(), context).await,
                Err(invalid) => {
                    tell_unreadable(object.as_ref(), &invalid.error, &context).await;
                    Ok(Action::await_change())
                }
            }
        };
        async move { alone(&term, work).await }.instrument(span).boxed()
    };
    let error_policy = move |object: Arc<Guarded<K>>, error: &Error, context: Arc<Context>| {
        context.attempts.failed(kind, key_of(object.meta()), error)
    };
    let config = Config::default().concurrency(pace.concurrency).debounce(pace.after);
    applier(reconciler, error_policy, context, known.store().clone(), queue, config)
        .for_each(|result| async move {
            match result {
                Ok(_) => {}
                Err(controller::Error::ReconcilerFailed(error, object)) => {
                    warn!(%kind, %object, error = error.sentence(), "reconciling failed; trying again");
                }
                Err(controller::Error::ObjectNotFound(object)) => {
                    debug!(%kind, %object, "gone before it was looked at");
                }
                Err(error) => {
                    warn!(%kind, error = &error as &dyn std::error::Error, "reconciling was interrupted");
                }
            }
        })
        .await;
}

/// Runs a reconcile in a task of its own, so that a panic in it ends nothing else. The task ends with the leadership, and when
/// nobody waits for it any more.
async fn alone(
    term: &LeadershipTerm,
    reconcile: impl Future<Output = Result<Action, Error>> + Send + 'static,
) -> Result<Action, Error> {
    match AbortOnDropHandle::new(term.spawn(reconcile)).await {
        Ok(Some(result)) => result,
        // Whoever leads next looks at the object.
        Ok(None) => Ok(Action::await_change()),
        Err(join) => Err(Error::Panicked { message: panic_message(join) }),
    }
}

fn panic_message(error: tokio::task::JoinError) -> String {
    match error.try_into_panic() {
        Ok(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("without a message").to_owned()
        }
        Err(error) => error.to_string(),
    }
}

/// An object that the API server took but that cannot be read stays as it is, and its owner is told.
async fn tell_unreadable<K>(object: &Guarded<K>, problem: &str, context: &Context)
where
    K: Resource<DynamicType = ()>,
{
    let message = format!("`{}` cannot be read and is left alone: {}", object.name_any(), cut(problem, 300));
    warn!(note = message, "an object cannot be read");
    events::publish(context, object, &[Note { warning: true, reason: Reason::Unreadable, message }]).await;
}
