//! Kubernetes Events: what was done, and what changed, for people who describe an object.

use capt_core::apply::status::{self, Note, Report};
use capt_core::condition::cut;
use capt_core::digest::short_digest;
use kube::Resource;
use kube::runtime::events::{Event, EventType};
use tracing::{info, warn};

use crate::context::Context;

/// What the API server takes as an Event's note.
const LONGEST_NOTE: usize = 1024;

/// Publishes Events about an object. One that cannot be published is logged: nothing depends on it.
pub(crate) async fn publish<K: Resource<DynamicType = ()>>(context: &Context, object: &K, notes: &[Note]) {
    for note in notes {
        let Note { warning, reason, message } = note;
        info!(%reason, note = message, "told by an Event");
        let event = Event {
            type_: if *warning { EventType::Warning } else { EventType::Normal },
            reason: reason.as_str().to_owned(),
            note: Some(cut(message, LONGEST_NOTE)),
            // Events that differ in this are not folded into the first one, whose text would stay.
            action: format!("Reconcile-{}", short_digest([message.as_str()], 8)),
            secondary: None,
        };
        if let Err(error) = context.recorder.publish(&event, &object.object_ref(&())).await {
            warn!(%reason, error = &error as &dyn std::error::Error, "an Event could not be published");
        }
    }
}

/// Publishes what was done to an object that may be gone by now, so that it has no status any more.
pub(crate) async fn publish_done<K: Resource<DynamicType = ()>>(
    context: &Context,
    object: &K,
    facts: Report<'_>,
) {
    let notes: Vec<_> = status::done(facts).into_iter().collect();
    publish(context, object, &notes).await;
}
