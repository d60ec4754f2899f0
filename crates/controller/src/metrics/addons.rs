//! Metrics of add-ons.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use capt_api::addon_stack::{StepState, StepStatus};
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::index::Name;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct StateLabel(StepState);

impl EncodeLabelValue for StateLabel {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        EncodeLabelValue::encode(&self.0.as_str(), encoder)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabels {
    state: StateLabel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
enum Delivery {
    Succeeded,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResultLabels {
    result: Delivery,
}

/// Metrics of add-ons.
#[derive(Clone)]
pub(super) struct AddonMetrics {
    steps: Family<StateLabels, Gauge>,
    deliveries: Family<ResultLabels, Counter>,
    retries: Counter,
    requests: Counter,
    ready_after: Histogram,
    /// What is counted in `steps`, by binding.
    counted: Arc<Mutex<HashMap<Name, Vec<StepState>>>>,
}

impl AddonMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            steps: Family::default(),
            deliveries: Family::default(),
            retries: Counter::default(),
            requests: Counter::default(),
            ready_after: Histogram::new([1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0]),
            counted: Arc::default(),
        };
        registry.register(
            "addon_steps",
            "Add-ons in clusters, by state. Failed and Blocked ones call for somebody.",
            metrics.steps.clone(),
        );
        registry.register(
            "addon_deliveries",
            "Attempts to bring an add-on to a cluster, by result. Failed ones are tried again.",
            metrics.deliveries.clone(),
        );
        registry.register(
            "addon_retries",
            "Attempts to bring an add-on to a cluster that followed a failed one.",
            metrics.retries.clone(),
        );
        registry.register(
            "addon_cluster_requests",
            "Requests to clusters about their add-ons. There are none while all is ready, but for one look in each drift interval.",
            metrics.requests.clone(),
        );
        registry.register(
            "addon_ready_seconds",
            "How long add-ons took from their start in a cluster until they were ready there.",
            metrics.ready_after.clone(),
        );
        for state in StepState::ALL {
            metrics.gauge(state).set(0);
        }
        for result in [Delivery::Succeeded, Delivery::Failed] {
            let _ = metrics.deliveries.get_or_create(&ResultLabels { result });
        }
        metrics
    }

    fn gauge(&self, state: StepState) -> Gauge {
        self.steps.get_or_create_owned(&StateLabels { state: StateLabel(state) })
    }

    /// An add-on was brought, or could not be.
    pub(super) fn delivered(&self, succeeded: bool, again: bool) {
        let result = if succeeded { Delivery::Succeeded } else { Delivery::Failed };
        self.deliveries.get_or_create(&ResultLabels { result }).inc();
        if again {
            self.retries.inc();
        }
    }

    /// A cluster was asked so many times.
    pub(super) fn asked(&self, requests: u32) {
        self.requests.inc_by(u64::from(requests));
    }

    /// An add-on got ready.
    pub(super) fn ready(&self, after: Duration) {
        self.ready_after.observe(after.as_secs_f64());
    }

    /// Somebody else looks after them now.
    pub(super) fn forget(&self) {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner).clear();
        for state in StepState::ALL {
            self.gauge(state).set(0);
        }
    }

    /// Where the add-ons of a binding are now.
    pub(super) fn steps(&self, binding: &Name, steps: &[StepStatus]) {
        let next: Vec<StepState> = steps.iter().map(|step| step.state).collect();
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let before = if next.is_empty() {
            counted.remove(binding)
        } else {
            counted.insert(binding.clone(), next.clone())
        };
        for state in before.unwrap_or_default() {
            self.gauge(state).dec();
        }
        for state in next {
            self.gauge(state).inc();
        }
    }
}
