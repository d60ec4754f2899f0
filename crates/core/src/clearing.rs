//! What is taken down in a cluster before Terraform destroys it: how long that is waited for, and what is told.

use std::time::Duration;

use capt_api::CAPTControlPlane;
use capt_api::before_destroy::{BeforeDestroy, OnTimeout};
use capt_api::names::Reason;
use k8s_openapi::jiff::Timestamp;

use crate::apply::Blocked;
use crate::condition::cut;
use crate::duration;

/// How many objects of a kind are named.
const NAMED: usize = 3;
/// How much is told of what is left.
const LONGEST: usize = 900;
/// How soon it is looked at again, at least and at most.
const PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(15));

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How long it may take; nothing is taken down if that is no time at all.
    pub timeout: Duration,
    /// What happens then.
    pub on_timeout: OnTimeout,
    /// Whether Services of the type `LoadBalancer` go too.
    pub load_balancers: bool,
    /// Whether volumes go too.
    pub volumes: bool,
}

impl Policy {
    /// What a control plane asks for.
    pub fn of(control_plane: &CAPTControlPlane) -> Self {
        let asked = control_plane.spec.before_destroy.clone().unwrap_or_default();
        let BeforeDestroy { timeout, on_timeout, load_balancers, volumes } = asked;
        // What is no time was refused by the API server, but for none at all.
        let timeout = duration::parse(&timeout).unwrap_or(Duration::ZERO);
        Self { timeout, on_timeout, load_balancers, volumes }
    }

    fn deadline(&self, since: Timestamp) -> Timestamp {
        since.checked_add(self.timeout).unwrap_or(Timestamp::MAX)
    }
}

/// What is known of the inside of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inside {
    /// Nobody has looked yet.
    Unknown,
    /// Nothing is there that would be left behind, or there never was a cluster.
    Clear,
    /// Something is there, of the first kind that has to go.
    Left(Vec<Left>),
    /// The cluster cannot be asked.
    Unreachable(String),
}

/// Objects that are still there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Their kind.
    pub kind: &'static str,
    /// Their names, with the namespace where they have one.
    pub names: Vec<String>,
    /// What there is to know about it.
    pub remark: Option<String>,
}

impl std::fmt::Display for Left {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kind, names, remark } = self;
        let named: Vec<_> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
        write!(
            formatter,
            "{} {kind}{} ({}",
            names.len(),
            if names.len() == 1 { "" } else { "s" },
            named.join(", ")
        )?;
        if names.len() > NAMED {
            formatter.write_str(", …")?;
        }
        formatter.write_str(")")?;
        remark.as_ref().map_or(Ok(()), |remark| write!(formatter, ": {remark}"))
    }
}

/// What follows from the inside of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Terraform may destroy it.
    Destroy {
        /// What it leaves behind, if the time is over.
        left: Option<String>,
    },
    /// It is waited for.
    Wait {
        /// Why.
        blocked: Blocked,
        /// When there is more to tell.
        until: Option<Timestamp>,
    },
}

/// Whether a cluster may be destroyed that has been on its way down `since` then.
pub fn judge(policy: &Policy, inside: &Inside, since: Timestamp, now: Timestamp) -> Verdict {
    let left = match inside {
        _ if policy.timeout.is_zero() => return Verdict::Destroy { left: None },
        Inside::Clear => return Verdict::Destroy { left: None },
        Inside::Unknown => "the cluster has not answered yet".to_owned(),
        Inside::Left(left) => {
            let all: Vec<_> = left.iter().map(ToString::to_string).collect();
            cut(&format!("still there: {}", all.join("; ")), LONGEST)
        }
        Inside::Unreachable(why) => cut(&format!("the cluster cannot be asked: {why}"), LONGEST),
    };
    let deadline = policy.deadline(since);
    if now < deadline {
        let then = match policy.on_timeout {
            OnTimeout::Destroy => "destroys it all the same then",
            OnTimeout::Wait => "goes on waiting then",
        };
        let message = format!(
            "before Terraform destroys the cluster, machines and add-ons in it are taken down (until {deadline:.0}, CAPT {then}); {left}"
        );
        return Verdict::Wait {
            blocked: Blocked::new(Reason::ClearingCluster, message),
            until: Some(deadline),
        };
    }
    match policy.on_timeout {
        OnTimeout::Destroy => Verdict::Destroy { left: Some(left) },
        OnTimeout::Wait => {
            let message = format!(
                "the time for taking down what is in the cluster is over (spec.beforeDestroy.timeout), and nothing is destroyed until it is gone: help it go, or set spec.beforeDestroy.onTimeout to Destroy; {left}"
            );
            Verdict::Wait { blocked: Blocked::new(Reason::ClusterNotCleared, message), until: None }
        }
    }
}

/// How soon to look again at a cluster that has been on its way down for so long.
pub fn pause(since: Timestamp, now: Timestamp) -> Duration {
    let (least, most) = PAUSE;
    let waited = Duration::try_from(now.duration_since(since)).unwrap_or_default();
    (waited / 10).clamp(least, most)
}

#[cfg(test)]
mod tests;
