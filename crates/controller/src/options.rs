//! What the manager can be told.

use std::net::SocketAddr;
use std::time::Duration;

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
        }
    }
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
