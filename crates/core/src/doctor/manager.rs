//! Whether somebody runs the controllers.

use capt_api::names::MANAGER_LEASE;
use k8s_openapi::jiff::Timestamp;

use super::finding::Finding;
use crate::lease::Manager;

const AREA: &str = "manager";
const FIX: &str =
    "start one: `capt up` on this machine, `capt manager --kubeconfig FILE`, or see why its pod does not run";

/// Who runs the controllers, as far as can be seen.
#[derive(Clone, Debug)]
pub struct ManagerFacts {
    /// The directory of the home that this cluster is of, and whether it answers.
    pub home: Option<(String, bool)>,
    /// The Leases of managers, or why they cannot be read.
    pub leases: Result<Vec<LeaseFacts>, String>,
    /// Now, by the API server.
    pub now: Timestamp,
}

/// A Lease of a manager.
#[derive(Clone, Debug)]
pub struct LeaseFacts {
    /// Its namespace.
    pub namespace: String,
    /// Who has it.
    pub holder: String,
    /// When it was renewed last.
    pub renewed: Option<Timestamp>,
    /// For how many seconds.
    pub seconds: i64,
    /// What who has it says of itself.
    pub manager: Option<Manager>,
}

impl ManagerFacts {
    /// Judges them.
    pub fn judge(&self) -> Vec<Finding> {
        match &self.home {
            Some((directory, true)) => {
                return vec![Finding::good(AREA, format!("the home in {directory} runs the controllers"))];
            }
            Some((directory, false)) => {
                return vec![Finding::bad(
                    AREA,
                    format!("the home in {directory} does not answer"),
                    format!("start it: capt up --dir {directory}"),
                )];
            }
            None => {}
        }
        match &self.leases {
            Err(reason) => vec![Finding::warning(
                AREA,
                format!("whether a manager runs cannot be seen: {reason}"),
                "ask for the permission to list leases.coordination.k8s.io",
            )],
            Ok(leases) if leases.is_empty() => vec![Finding::warning(
                AREA,
                "no manager has a Lease: either none runs, or one without --leader-elect",
                FIX,
            )],
            Ok(leases) => {
                let live: Vec<&LeaseFacts> = leases.iter().filter(|lease| self.is_live(lease)).collect();
                let findings = leases.iter().map(|lease| self.lease(lease, !live.is_empty()));
                findings.chain(crowd(&live)).collect()
            }
        }
    }

    fn is_live(&self, lease: &LeaseFacts) -> bool {
        let age = lease.renewed.map(|renewed| self.now.as_second() - renewed.as_second());
        !lease.holder.is_empty() && age.is_some_and(|age| age <= lease.seconds)
    }

    fn lease(&self, lease: &LeaseFacts, another_runs: bool) -> Finding {
        let LeaseFacts { namespace, holder, renewed, seconds, manager } = lease;
        if holder.is_empty() && another_runs {
            return Finding::warning(
                AREA,
                format!(
                    "nobody has the Lease in namespace {namespace}: a manager there does not run, or stands by for one that does"
                ),
                format!("if there should be none: kubectl -n {namespace} delete lease {MANAGER_LEASE}"),
            );
        }
        if holder.is_empty() {
            return Finding::bad(
                AREA,
                format!("the manager of namespace {namespace} has let go of its Lease: none runs"),
                FIX,
            );
        }
        let age = renewed.map(|renewed| self.now.as_second() - renewed.as_second());
        match age {
            Some(age) if age <= *seconds => {
                let version = manager.as_ref().map(|manager| format!(", CAPT {}", manager.version));
                let version = version.unwrap_or_default();
                Finding::good(
                    AREA,
                    format!("{holder} runs the controllers (Lease in namespace {namespace}{version})"),
                )
            }
            Some(age) => Finding::bad(
                AREA,
                format!(
                    "{holder} has not renewed its Lease in namespace {namespace} for {age} s: it does not run any more"
                ),
                FIX,
            ),
            None => Finding::bad(
                AREA,
                format!("the Lease of {holder} in namespace {namespace} was never renewed"),
                FIX,
            ),
        }
    }
}

/// Managers that run at the same time and look at the same objects. One that says nothing of itself may look at anything.
fn crowd(live: &[&LeaseFacts]) -> Option<Finding> {
    let meet = |one: &LeaseFacts, other: &LeaseFacts| match (&one.manager, &other.manager) {
        (Some(one), Some(other)) => one.scope.overlaps(&other.scope),
        (None, _) | (_, None) => true,
    };
    let mut pairs =
        live.iter().enumerate().flat_map(|(at, one)| live[..at].iter().map(move |other| (other, one)));
    let (one, other) = pairs.find(|(one, other)| meet(one, other))?;
    Some(Finding::bad(
        AREA,
        format!(
            "{} (namespace {}) and {} (namespace {}) look at the same objects",
            one.holder, one.namespace, other.holder, other.namespace
        ),
        "remove one of them, or give each a --namespace or a --watch-filter of its own",
    ))
}
