//! What the manager can be told.

mod notifications;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use capt_core::workspace::runner::{ProcessOfRunner, Runner};
use capt_eks::{AmbientIdentity, Minter};
use capt_terraform::Engine;
use capt_terraform::machine::Whereabouts;
use k8s_openapi::jiff::Timestamp;

pub use notifications::{InvalidWebhookUrl, Notifications, WebhookUrl};

/// What the manager can be told.
#[derive(Clone, Debug)]
pub struct Options {
    /// Look at objects of this namespace only; of all namespaces if none is given.
    pub namespace: Option<String>,
    /// Look only at objects whose `cluster.x-k8s.io/watch-filter` label has this value.
    pub watch_filter: Option<String>,
    /// How many objects of one kind are reconciled at the same time.
    pub concurrency: u16,
    /// How the manager makes sure that it is the only one; `None` where it is alone anyway.
    pub leader_election: Option<LeaderElection>,
    /// Where probes and metrics are served; `None` for nowhere.
    pub diagnostics_address: Option<SocketAddr>,
    /// Let references lead to Secrets and `ConfigMap`s of any namespace, without a grant.
    pub allow_cross_namespace_references: bool,
    /// How Workspaces are run; `None` leaves them to Crossplane.
    pub terraform: Option<TerraformOptions>,
    /// Who makes tokens for clusters.
    pub tokens: Tokens,
    /// What time it is.
    pub clock: Clock,
    /// Who looks after Clusters.
    pub cluster_api: ClusterApiMode,
    /// Where failed and recovered add-ons are told; `None` for nowhere but in their status, Events and metrics.
    pub notifications: Option<Notifications>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            namespace: None,
            watch_filter: None,
            concurrency: 10,
            leader_election: None,
            diagnostics_address: None,
            allow_cross_namespace_references: false,
            terraform: None,
            tokens: Tokens::default(),
            clock: Clock::default(),
            cluster_api: ClusterApiMode::default(),
            notifications: None,
        }
    }
}

/// Who looks after Clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClusterApiMode {
    /// CAPT, unless the CRD shows that it is Cluster API's.
    #[default]
    Auto,
    /// CAPT.
    Embedded,
    /// Cluster API.
    External,
}

/// How the manager makes sure that it is the only one.
#[derive(Clone, Debug)]
pub struct LeaderElection {
    /// The namespace of the Lease.
    pub namespace: String,
    /// The name of the Lease.
    pub name: String,
    /// What this manager calls itself in the Lease.
    pub identity: String,
    /// How long a Lease is valid when it is not renewed.
    pub lease_duration: Duration,
}

/// How Workspaces are run.
#[derive(Clone)]
pub struct TerraformOptions {
    /// What runs them.
    pub engine: Arc<dyn Engine>,
    /// Which Workspaces are run.
    pub mode: EngineMode,
    /// Where artifacts of Flux are kept.
    pub artifacts: PathBuf,
    /// How Terraform reaches the API server that keeps its states.
    pub server: Server,
    /// CAPT's own namespace: for what belongs to no other.
    pub home_namespace: String,
    /// What this machine calls itself in locks: the pod's name in a cluster.
    pub host: String,
    /// What this manager is, so that others can tell when it is dead.
    pub runner: Runner,
    /// How many runs that change nothing go on at the same time.
    pub most_plans: u16,
    /// How many runs that change something go on at the same time.
    pub most_applies: u16,
    /// How often a Workspace is compared with reality, if it says nothing itself.
    pub drift_interval: Duration,
    /// How long running applies may take to end when the manager is told to stop.
    pub grace: Duration,
    /// What time it is.
    pub clock: Clock,
}

impl TerraformOptions {
    /// The usual limits and intervals.
    pub fn new(
        engine: Arc<dyn Engine>,
        artifacts: PathBuf,
        server: Server,
        home_namespace: String,
        host: String,
    ) -> Self {
        Self {
            engine,
            mode: EngineMode::Auto,
            artifacts,
            server,
            home_namespace,
            host,
            runner: Runner { pod: None, process: this_process() },
            most_plans: 4,
            most_applies: 8,
            drift_interval: Duration::from_secs(6 * 3600),
            grace: Duration::from_secs(15 * 60),
            clock: Clock::default(),
        }
    }
}

/// This process, in words by which others can tell that it is dead.
pub fn this_process() -> Option<ProcessOfRunner> {
    let here = Whereabouts::here()?;
    let sees_all = here.sees_all();
    let Whereabouts { machine, boot, pid_namespace, process, process_start, started_at } = here;
    Some(ProcessOfRunner { machine, boot, pid_namespace, process, process_start, started_at, sees_all })
}

impl fmt::Debug for TerraformOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TerraformOptions").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// Which Workspaces are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineMode {
    /// All of them, unless the CRD shows that Crossplane runs them.
    Auto,
    /// All of them.
    Always,
}

/// How Terraform reaches the API server.
#[derive(Clone, Debug, Default)]
pub struct Server {
    /// Its address.
    pub address: String,
    /// The certificates that it is trusted by, as PEM; none means those of the system.
    pub certificate_authority: Option<String>,
    /// The name that its certificate has, if that is not in the address.
    pub server_name: Option<String>,
}

/// Who makes tokens for clusters.
#[derive(Clone)]
pub struct Tokens(Arc<dyn Minter>);

impl Tokens {
    /// Tokens by this one.
    pub fn new(minter: Arc<dyn Minter>) -> Self {
        Self(minter)
    }

    /// Who makes them.
    pub fn minter(&self) -> &dyn Minter {
        self.0.as_ref()
    }
}

impl Default for Tokens {
    fn default() -> Self {
        Self::new(Arc::new(AmbientIdentity::new()))
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Tokens")
    }
}

/// Tells the time. Tests and benchmarks have a clock of their own.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// A clock that shows what the function says.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Clock")
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(Timestamp::now)
    }
}
