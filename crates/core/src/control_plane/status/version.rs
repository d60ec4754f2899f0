//! Which version of Kubernetes runs.

use capt_api::capt_control_plane::{CAPTControlPlaneStatus, RunningVersion};
use capt_api::names::condition as type_;

use super::{Probe, Report};
use crate::condition::Truth;
use crate::kubernetes_version;

/// Outputs that tell a version, the surest first.
const OUTPUTS: [&str; 3] = ["cluster_version", "kubernetes_version", "cluster_platform_version"];

/// Puts the running version in: what the cluster itself says, else an output, else what was applied. It stays when nobody
/// tells any more.
pub(super) fn put(status: &mut CAPTControlPlaneStatus, report: Report<'_>) {
    let Some(running) = running(report) else { return };
    let Some(version) = kubernetes_version::reported(&report.control_plane.spec.version, &running) else {
        return;
    };
    status.versions = vec![RunningVersion { version: version.clone() }];
    status.version = Some(version);
}

fn running(report: Report<'_>) -> Option<String> {
    if let Some(Probe::Answered { version }) = report.probe
        && !version.is_empty()
    {
        return Some(version.clone());
    }
    let output = |name: &&str| report.workspace?.text(name).map(ToOwned::to_owned);
    OUTPUTS.iter().find_map(output).or_else(|| applied(report))
}

/// The version that the Workspace was made with, once that is settled.
fn applied(report: Report<'_>) -> Option<String> {
    let apply = report.apply?;
    let found = apply.status.as_ref()?;
    let settled = found.observed_generation == apply.metadata.generation
        && found
            .conditions
            .iter()
            .any(|entry| entry.type_ == type_::APPLIED && entry.status == Truth::True.as_str());
    let ready = report.workspace.is_some_and(super::WorkspaceSeen::is_ready);
    (settled && ready).then(|| apply.spec.variables.get("kubernetes_version").cloned()).flatten()
}
