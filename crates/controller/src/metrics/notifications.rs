//! Metrics of what the webhook is told.

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// What came of telling the webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
pub(crate) enum Notification {
    /// The receiver has taken it.
    Sent,
    /// It could not be told, and is tried again.
    Retried,
    /// It is never told.
    Dropped,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResultLabels {
    result: Notification,
}

/// Metrics of what the webhook is told.
#[derive(Clone)]
pub(super) struct NotificationMetrics {
    notifications: Family<ResultLabels, Counter>,
}

impl NotificationMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self { notifications: Family::default() };
        registry.register(
            "addon_notifications",
            "Attempts to tell the webhook of a failed or recovered add-on, by result. Dropped ones are never told.",
            metrics.notifications.clone(),
        );
        for result in [Notification::Sent, Notification::Retried, Notification::Dropped] {
            let _ = metrics.notifications.get_or_create(&ResultLabels { result });
        }
        metrics
    }

    pub(super) fn count(&self, result: Notification) {
        self.notifications.get_or_create(&ResultLabels { result }).inc();
    }
}
