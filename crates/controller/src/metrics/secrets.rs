//! Metrics of credentials: what came of looking after them, how long that takes, and how old they are.

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

/// Metrics of credentials.
#[derive(Clone)]
pub(super) struct SecretMetrics {
    reconciles: Family<ReasonLabels, Counter>,
    durations: Histogram,
    tokens: Family<MintingLabels, Counter>,
    probes: Family<AnswerLabels, Counter>,
    time_to_ready: Histogram,
    oldest: Gauge,
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
        metrics
    }

    pub(super) fn kept(&self, reason: Reason, duration: Duration) {
        self.reconciles.get_or_create(&ReasonLabels { reason: ReasonLabel(reason) }).inc();
        self.durations.observe(duration.as_secs_f64());
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

    pub(super) fn oldest(&self, since: Option<Timestamp>) {
        self.oldest.set(since.map_or(0, Timestamp::as_second));
    }
}
