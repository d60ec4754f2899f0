//! Prometheus metrics. Every label is an enum, so that the number of series is bounded.

mod addons;
mod gate;
mod notifications;
pub mod reference;
mod secrets;
mod workspaces;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use capt_api::addon_stack::StepStatus;
use capt_api::engine_status::RunOperation;
use capt_api::names::Reason;
use capt_core::addon::decide::Progress;
use capt_core::control_plane::status::Probe;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use addons::AddonMetrics;
use gate::GateMetrics;
pub(crate) use notifications::Notification;
use notifications::NotificationMetrics;
use secrets::SecretMetrics;
pub(crate) use secrets::{CredentialTimes, Origin};
use workspaces::WorkspaceMetrics;
pub(crate) use workspaces::WorkspaceState;

use crate::index::Name;

/// A kind that CAPT watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    WorkspaceTemplate,
    WorkspaceTemplateApply,
    Workspace,
    Cluster,
    CAPTCluster,
    CAPTControlPlane,
    AddonStack,
    AddonStackBinding,
    ClusterResourceSet,
    ClusterResourceSetBinding,
    Secret,
    ConfigMap,
    Namespace,
    ProviderConfig,
    GitRepository,
    OCIRepository,
    Bucket,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, formatter)
    }
}

impl EncodeLabelValue for Kind {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        EncodeLabelValue::encode(&self.to_string(), encoder)
    }
}

/// How a reconcile ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
pub(crate) enum Outcome {
    /// Nothing is left to do.
    Settled,
    /// It waits for something.
    Waiting,
    /// It failed and is tried again.
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabels {
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReconcileLabels {
    kind: Kind,
    outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ReasonLabel(Reason);

impl EncodeLabelValue for ReasonLabel {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        EncodeLabelValue::encode(&self.0.as_str(), encoder)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FailureLabels {
    kind: Kind,
    reason: ReasonLabel,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct OperationLabel(RunOperation);

impl EncodeLabelValue for OperationLabel {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        EncodeLabelValue::encode(&format!("{:?}", self.0), encoder)
    }
}

/// How a run of Terraform ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
enum RunResult {
    Succeeded,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RunLabels {
    operation: OperationLabel,
    result: RunResult,
}

/// All metrics of the manager.
#[derive(Clone)]
pub(crate) struct Metrics {
    registry: Arc<Registry>,
    reconciles: Family<ReconcileLabels, Counter>,
    durations: Family<KindLabels, Histogram>,
    failures: Family<FailureLabels, Counter>,
    watch_failures: Family<KindLabels, Counter>,
    objects: Family<KindLabels, Gauge>,
    leader: Gauge,
    runs: Family<RunLabels, Counter>,
    run_durations: Family<RunLabels, Histogram>,
    workspaces: WorkspaceMetrics,
    secrets: SecretMetrics,
    addons: AddonMetrics,
    notifications: NotificationMetrics,
    gate: GateMetrics,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("capt");
        let reconciles = Family::default();
        let durations = Family::new_with_constructor(seconds as fn() -> Histogram);
        let failures = Family::default();
        let watch_failures = Family::default();
        let objects = Family::default();
        let leader = Gauge::default();
        let runs: Family<RunLabels, Counter> = Family::default();
        let run_durations = Family::new_with_constructor(long_seconds as fn() -> Histogram);
        registry.register(
            "reconciles",
            "Reconciles that ended, by outcome. Failed ones are tried again.",
            reconciles.clone(),
        );
        registry.register("reconcile_duration_seconds", "How long reconciles took.", durations.clone());
        registry.register(
            "reconcile_failures",
            "Reconciles that failed, by reason. A steady rise means that an object does not heal by itself.",
            failures.clone(),
        );
        registry.register(
            "watch_failures",
            "Watches that were interrupted. A steady rise means that the API server cannot be reached or refuses.",
            watch_failures.clone(),
        );
        registry.register("watched_objects", "Objects that the manager keeps in memory.", objects.clone());
        registry.register("leader", "1 if this manager is the one that acts.", leader.clone());
        registry.register(
            "terraform_runs",
            "Runs of Terraform that ended, by operation and result.",
            runs.clone(),
        );
        registry.register(
            "terraform_run_duration_seconds",
            "How long runs of Terraform took, without the time that they waited for their turn.",
            run_durations.clone(),
        );
        for operation in RunOperation::ALL {
            for result in [RunResult::Succeeded, RunResult::Failed] {
                // A series that is new has not risen, whatever it says: the first failure must be one more than none.
                let _ = runs.get_or_create(&RunLabels { operation: OperationLabel(operation), result });
            }
        }
        let workspaces = WorkspaceMetrics::register(&mut registry);
        let secrets = SecretMetrics::register(&mut registry);
        let addons = AddonMetrics::register(&mut registry);
        let notifications = NotificationMetrics::register(&mut registry);
        let gate = GateMetrics::register(&mut registry);
        Self {
            registry: Arc::new(registry),
            reconciles,
            durations,
            failures,
            watch_failures,
            objects,
            leader,
            runs,
            run_durations,
            workspaces,
            secrets,
            addons,
            notifications,
            gate,
        }
    }

    pub(crate) fn reconciled(&self, kind: Kind, outcome: Outcome, duration: Duration) {
        self.reconciles.get_or_create(&ReconcileLabels { kind, outcome }).inc();
        self.durations.get_or_create(&KindLabels { kind }).observe(duration.as_secs_f64());
    }

    pub(crate) fn failed(&self, kind: Kind, reason: Reason) {
        self.failures.get_or_create(&FailureLabels { kind, reason: ReasonLabel(reason) }).inc();
    }

    pub(crate) fn watch_failed(&self, kind: Kind) {
        self.watch_failures.get_or_create(&KindLabels { kind }).inc();
    }

    pub(crate) fn objects(&self, kind: Kind, count: usize) {
        self.objects.get_or_create(&KindLabels { kind }).set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    pub(crate) fn terraform_ran(&self, operation: RunOperation, succeeded: bool, duration: Duration) {
        let result = if succeeded { RunResult::Succeeded } else { RunResult::Failed };
        let labels = RunLabels { operation: OperationLabel(operation), result };
        self.runs.get_or_create(&labels).inc();
        self.run_durations.get_or_create(&labels).observe(duration.as_secs_f64());
    }

    /// What was told of an add-on in a cluster.
    pub(crate) fn step_told(&self, before: Option<&StepStatus>, told: &StepStatus, progress: &Progress) {
        let again = before.is_some_and(|before| before.failures > 0);
        match &progress.delivered {
            Some(done) => self.addons.delivered(done.is_ok(), again),
            None if matches!(progress.values, Some(Err(_))) => self.addons.delivered(false, again),
            None => {}
        }
        let was_ready = before.is_some_and(|before| before.ready_once.is_some());
        if let (Some(ready), Some(started), false) = (&told.ready_once, &told.started, was_ready) {
            self.addons.ready(Duration::try_from(ready.0.duration_since(started.0)).unwrap_or_default());
        }
    }

    /// A cluster was asked so many times about its add-ons.
    pub(crate) fn cluster_asked(&self, requests: u32) {
        self.addons.asked(requests);
    }

    /// Where the add-ons of a binding are now; nowhere where it is gone.
    pub(crate) fn steps(&self, binding: &Name, steps: &[StepStatus]) {
        self.addons.steps(binding, steps);
    }

    /// The webhook was told of an add-on, or could not be.
    pub(crate) fn notified(&self, result: Notification) {
        self.notifications.count(result);
    }

    /// Whether this manager acts. What only the one that acts knows is not told by another.
    pub(crate) fn leads(&self, leads: bool) {
        self.leader.set(i64::from(leads));
        if !leads {
            self.workspaces.forget();
            self.secrets.forget();
            self.addons.forget();
        }
    }

    /// Where a Workspace is now; nowhere where it is gone.
    pub(crate) fn workspace_is(&self, workspace: &str, state: Option<WorkspaceState>) {
        self.workspaces.is(workspace, state);
    }

    /// So many kinds lack what the manager needs.
    pub(crate) fn unfit_kinds(&self, count: usize) {
        self.gate.unfit_kinds(count);
    }

    /// The manager gives way to so many others.
    pub(crate) fn rivals(&self, count: usize) {
        self.gate.rivals(count);
    }

    /// Credentials of a control plane were looked after.
    pub(crate) fn secrets_kept(&self, control_plane: &Name, reason: Reason, duration: Duration) {
        self.secrets.kept(control_plane, reason, duration);
    }

    /// A control plane is gone.
    pub(crate) fn control_plane_gone(&self, control_plane: &Name) {
        self.secrets.gone(control_plane);
    }

    /// A token was made, or could not be.
    pub(crate) fn token_minted(&self, succeeded: bool) {
        self.secrets.minted(succeeded);
    }

    /// A cluster was asked.
    pub(crate) fn probed(&self, answer: &Probe) {
        self.secrets.probed(answer);
    }

    /// A control plane could be reached for the first time.
    pub(crate) fn control_plane_initialized(&self, created: Option<&Time>, now: &Time) {
        self.secrets.initialized(created, now);
    }

    /// How old credentials are, and when they end.
    pub(crate) fn credential_times(&self, times: CredentialTimes) {
        self.secrets.times(times);
    }

    /// Everything in Prometheus' text format.
    pub(crate) fn encode(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// From an eighth of a second to an hour.
fn long_seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.125, 2.0, 16))
}

/// From a millisecond to half a minute.
fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.0, 15))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_tell_what_happened_without_naming_objects() {
        let metrics = Metrics::new();
        metrics.reconciled(Kind::WorkspaceTemplateApply, Outcome::Failed, Duration::from_millis(3));
        metrics.failed(Kind::WorkspaceTemplateApply, Reason::WorkspaceRefused);
        metrics.leads(true);
        metrics.workspace_is("a", Some(WorkspaceState::Working));
        metrics.workspace_is("a", Some(WorkspaceState::Locked));
        metrics.workspace_is("b", Some(WorkspaceState::Locked));
        metrics.workspace_is("b", None);
        let one = Name::new("default", "one");
        metrics.secrets_kept(&one, Reason::SecretsWritten, Duration::ZERO);
        metrics.secrets_kept(&one, Reason::CredentialsExpired, Duration::ZERO);
        let text = metrics.encode().unwrap();
        for line in [
            r#"capt_reconciles_total{kind="WorkspaceTemplateApply",outcome="Failed"} 1"#,
            r#"capt_reconcile_failures_total{kind="WorkspaceTemplateApply",reason="WorkspaceRefused"} 1"#,
            "capt_leader 1",
            r#"capt_workspaces{state="Working"} 0"#,
            r#"capt_workspaces{state="Locked"} 1"#,
            r#"capt_control_planes{reason="SecretsWritten"} 0"#,
            r#"capt_control_planes{reason="CredentialsExpired"} 1"#,
        ] {
            assert!(text.contains(line), "{line} is missing in:\n{text}");
        }
    }

    #[test]
    fn what_only_the_active_manager_knows_is_not_told_by_another() {
        let metrics = Metrics::new();
        metrics.workspace_is("a", Some(WorkspaceState::Locked));
        metrics.secrets_kept(&Name::new("default", "one"), Reason::CredentialsExpired, Duration::ZERO);
        let end = Some("2026-01-02T03:04:05Z".parse().unwrap());
        metrics.credential_times(CredentialTimes { given_end: end, ..CredentialTimes::default() });
        assert!(metrics.encode().unwrap().contains(r#"end_timestamp_seconds{origin="Module"} 1767323045"#));

        metrics.leads(false);

        let text = metrics.encode().unwrap();
        for line in [
            r#"capt_workspaces{state="Locked"} 0"#,
            r#"capt_control_planes{reason="CredentialsExpired"} 0"#,
            r#"capt_credentials_end_timestamp_seconds{origin="Module"} 0"#,
        ] {
            assert!(text.contains(line), "{line} is missing in:\n{text}");
        }
    }

    #[test]
    fn failures_are_counted_from_none() {
        let text = Metrics::new().encode().unwrap();

        for line in [
            r#"capt_terraform_runs_total{operation="Unlock",result="Failed"} 0"#,
            r#"capt_tokens_total{result="Failed"} 0"#,
            r#"capt_addon_notifications_total{result="Dropped"} 0"#,
        ] {
            assert!(text.contains(line), "{line} is missing in:\n{text}");
        }
    }
}
