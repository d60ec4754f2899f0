//! Whether somebody runs the controllers.

use k8s_openapi::jiff::Timestamp;

use super::finding::Finding;

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
            Ok(leases) => leases.iter().map(|lease| self.lease(lease)).collect(),
        }
    }

    fn lease(&self, lease: &LeaseFacts) -> Finding {
        let LeaseFacts { namespace, holder, renewed, seconds } = lease;
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
                Finding::good(AREA, format!("{holder} runs the controllers (Lease in namespace {namespace})"))
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
