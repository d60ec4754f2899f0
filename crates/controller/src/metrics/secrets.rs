//! Metrics of credentials: what came of looking after them, how long that takes, how old they are and when they end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use capt_api::names::Reason;
use capt_core::control_plane::status::Probe;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::{ReasonLabel, long_seconds, seconds};
use crate::index::Name;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabels {
    reason: ReasonLabel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
enum Minting {
    Succeeded,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct MintingLabels {
    result: Minting,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
enum Answer {
    Answered,
    Rejected,
    Unreachable,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AnswerLabels {
    answer: Answer,
}

/// Who made credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
pub(crate) enum Origin {
    /// The module: they end unless it makes new ones.
    Module,
    /// CAPT, which renews them long before they end.
    Capt,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OriginLabels {
    origin: Origin,
}

/// The times of all credentials in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CredentialTimes {
    /// Since when the oldest are as they are.
    pub(crate) oldest: Option<Timestamp>,
    /// When the first of those that modules gave end.
    pub(crate) given_end: Option<Timestamp>,
    /// When the first of those that CAPT made end.
    pub(crate) made_end: Option<Timestamp>,
}

/// Metrics of credentials.
#[derive(Clone)]
pub(super) struct SecretMetrics {
    reconciles: Family<ReasonLabels, Counter>,
    durations: Histogram,
    tokens: Family<MintingLabels, Counter>,
    probes: Family<AnswerLabels, Counter>,
    time_to_ready: Histogram,
    oldest: Gauge,
    ends: Family<OriginLabels, Gauge>,
    control_planes: Family<ReasonLabels, Gauge>,
    /// What is counted in `control_planes`.
    counted: Arc<Mutex<HashMap<Name, Reason>>>,
}

impl SecretMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            reconciles: Family::default(),
            durations: seconds(),
            tokens: Family::default(),
            probes: Family::default(),
            time_to_ready: long_seconds(),
            oldest: Gauge::default(),
            ends: Family::default(),
            control_planes: Family::default(),
            counted: Arc::default(),
        };
        registry.register(
            "secret_reconciles",
            "How often the Secrets of control planes were looked after, by what came of it.",
            metrics.reconciles.clone(),
        );
        registry.register(
            "secret_reconcile_duration_seconds",
            "How long looking after the Secrets of a control plane took.",
            metrics.durations.clone(),
        );
        registry.register("tokens", "Tokens that were made, or could not be.", metrics.tokens.clone());
        registry.register(
            "cluster_probes",
            "Questions to clusters with the credentials that are handed out, by their answer.",
            metrics.probes.clone(),
        );
        registry.register(
            "control_plane_ready_duration_seconds",
            "From the making of a control plane to its kubeconfig.",
            metrics.time_to_ready.clone(),
        );
        registry.register(
            "oldest_credentials_timestamp_seconds",
            "Since when the oldest credentials in use are as they are; 0 where there are none.",
            metrics.oldest.clone(),
        );
        registry.register(
            "credentials_end_timestamp_seconds",
            "When the first credentials in use end, by who made them: those of modules end unless the module makes new ones. 0 where none end.",
            metrics.ends.clone(),
        );
        registry.register(
            "control_planes",
            "Control planes, by what holds of their credentials.",
            metrics.control_planes.clone(),
        );
        metrics.begin();
        metrics
    }

    /// What is counted from the beginning: a series that is new has not risen, whatever it says.
    fn begin(&self) {
        for result in [Minting::Succeeded, Minting::Failed] {
            let _ = self.tokens.get_or_create(&MintingLabels { result });
        }
        for answer in [Answer::Answered, Answer::Rejected, Answer::Unreachable] {
            let _ = self.probes.get_or_create(&AnswerLabels { answer });
        }
        self.times(CredentialTimes::default());
    }

    pub(super) fn kept(&self, control_plane: &Name, reason: Reason, duration: Duration) {
        self.reconciles.get_or_create(&ReasonLabels { reason: ReasonLabel(reason) }).inc();
        self.durations.observe(duration.as_secs_f64());
        let before = self.counted().insert(control_plane.clone(), reason);
        if let Some(before) = before {
            self.gauge(before).dec();
        }
        self.gauge(reason).inc();
    }

    /// A control plane is gone.
    pub(super) fn gone(&self, control_plane: &Name) {
        if let Some(before) = self.counted().remove(control_plane) {
            self.gauge(before).dec();
        }
    }

    /// Somebody else looks after them now.
    pub(super) fn forget(&self) {
        for (_, reason) in self.counted().drain() {
            self.gauge(reason).set(0);
        }
        self.times(CredentialTimes::default());
    }

    fn gauge(&self, reason: Reason) -> Gauge {
        self.control_planes.get_or_create_owned(&ReasonLabels { reason: ReasonLabel(reason) })
    }

    fn counted(&self) -> MutexGuard<'_, HashMap<Name, Reason>> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn minted(&self, succeeded: bool) {
        let result = if succeeded { Minting::Succeeded } else { Minting::Failed };
        self.tokens.get_or_create(&MintingLabels { result }).inc();
    }

    pub(super) fn probed(&self, answer: &Probe) {
        let answer = match answer {
            Probe::Answered { .. } => Answer::Answered,
            Probe::Rejected { .. } => Answer::Rejected,
            Probe::Unreachable { .. } => Answer::Unreachable,
        };
        self.probes.get_or_create(&AnswerLabels { answer }).inc();
    }

    pub(super) fn initialized(&self, created: Option<&Time>, now: &Time) {
        if let Some(created) = created {
            self.time_to_ready.observe(now.0.duration_since(created.0).as_secs_f64());
        }
    }

    pub(super) fn times(&self, times: CredentialTimes) {
        let CredentialTimes { oldest, given_end, made_end } = times;
        let seconds = |time: Option<Timestamp>| time.map_or(0, Timestamp::as_second);
        self.oldest.set(seconds(oldest));
        for (origin, end) in [(Origin::Module, given_end), (Origin::Capt, made_end)] {
            self.ends.get_or_create(&OriginLabels { origin }).set(seconds(end));
        }
    }
}
