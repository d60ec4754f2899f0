//! What keeps the manager from acting.

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// What keeps the manager from acting.
#[derive(Clone, Debug, Default)]
pub(super) struct GateMetrics {
    unfit_kinds: Gauge,
    rivals: Gauge,
}

impl GateMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register(
            "unfit_kinds",
            "Kinds whose CRD lacks what this manager needs. While there is one, the manager does nothing: see `capt doctor`.",
            metrics.unfit_kinds.clone(),
        );
        registry.register(
            "rivals",
            "Managers of other namespaces that look at the same objects, and that this one gives way to.",
            metrics.rivals.clone(),
        );
        metrics
    }

    pub(super) fn unfit_kinds(&self, count: usize) {
        self.unfit_kinds.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    pub(super) fn rivals(&self, count: usize) {
        self.rivals.set(i64::try_from(count).unwrap_or(i64::MAX));
    }
}
