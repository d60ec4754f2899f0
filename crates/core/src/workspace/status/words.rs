//! Sentences about a Workspace.

use capt_api::engine_status::{RunOperation, RunPhase, RunStatus};
use capt_api::names::annotation;

use super::Report;
use crate::workspace::decide::Concern;

/// What a run does, and how far it is.
pub fn run(run: &RunStatus) -> String {
    let doing = match run.operation {
        RunOperation::Plan => "planning",
        RunOperation::Preview => "planning for somebody who wants to see it",
        RunOperation::Apply => "applying",
        RunOperation::PlanDestroy => "planning the destruction",
        RunOperation::Destroy => "destroying",
        RunOperation::Outputs => "reading the outputs",
        RunOperation::Unlock => "releasing the lock",
    };
    match run.phase {
        RunPhase::Queued => format!("{doing}: waiting for its turn"),
        RunPhase::WaitingForEarlierRun => {
            format!("{doing}: waiting for a process that an earlier manager left behind")
        }
        RunPhase::Stopping => format!("{doing}: asked to stop, finishing what was begun"),
        RunPhase::Running => format!("{doing}{}", progress(run)),
    }
}

fn progress(run: &RunStatus) -> String {
    let (Some(done), Some(total)) = (run.done, run.total) else { return String::new() };
    let current = run.current.first().map(|activity| {
        format!(", working on {} ({} since {})", activity.address, activity.action, activity.since.0)
    });
    format!(": {done} of {total} done{}", current.unwrap_or_default())
}

/// Why a plan waits, and how to approve it.
pub(super) fn approval(report: Report<'_>, hash: &str, why: &[Concern]) -> String {
    let reasons: Vec<String> = why
        .iter()
        .map(|concern| match concern {
            Concern::TakenOver if report.deleting() => {
                "somebody else made what it would destroy (to keep that, set spec.deletionPolicy to Orphan)"
                    .to_owned()
            }
            Concern::TakenOver => "somebody else made what it would change".to_owned(),
            Concern::Protected(addresses) => {
                format!("it destroys or replaces {}", shortened(addresses))
            }
            Concern::Restored => {
                "its state comes from a copy (`capt state restore`, `capt restore`), which does not know what was made since"
                    .to_owned()
            }
            Concern::Moved => {
                "it was moved here from another cluster, where something may have been made or changed that its state does not know of"
                    .to_owned()
            }
            Concern::MadeBefore => {
                "something was made for this Workspace before, and this would make everything anew: its state may not be where the ProviderConfig says"
                    .to_owned()
            }
            Concern::NotImported(addresses) if report.deleting() => {
                format!("it leaves behind {}, which an interrupted run made and CAPT cannot import", shortened(addresses))
            }
            Concern::NotImported(addresses) => format!(
                "an interrupted run made {}, which CAPT cannot import, and this plan would make it a second time",
                shortened(addresses)
            ),
            Concern::ChangedUnderneath => {
                "what goes into the module has changed, and spec.updatePolicy of its apply asks for approval"
                    .to_owned()
            }
        })
        .collect();
    let summary = report.plan.map(|plan| format!(" ({})", plan.summary)).unwrap_or_default();
    let (approve, name) = (short(hash), report.name());
    let then = if report.deleting() { "destroy by it" } else { "apply it" };
    format!(
        "the plan {approve}{summary} waits for approval: {}. {}To {then}: capt approve workspace {name} (or kubectl annotate --overwrite workspace {name} {}={approve})",
        reasons.join("; "),
        where_to_read(report),
        annotation::APPROVE_PLAN,
    )
}

/// What differs, and where to read it.
pub(super) fn drift(report: Report<'_>, summary: &str) -> String {
    format!("the infrastructure differs from what was applied: {summary}. {}", where_to_read(report))
        .trim_end()
        .to_owned()
}

fn where_to_read(report: Report<'_>) -> String {
    let named = report.plan.and_then(|plan| plan.config_map.as_deref()).and_then(|name| name.split_once('/'));
    named
        .map(|(namespace, name)| {
            format!("To read it: kubectl get configmap -n {namespace} {name} -o jsonpath='{{.data.plan}}'. ")
        })
        .unwrap_or_default()
}

/// Which finalizers are in the way.
pub(super) fn others(others: &[String]) -> String {
    format!("waiting until others let go of this Workspace before it is destroyed: {}", others.join(", "))
}

/// As much of a plan's hash as names it.
pub(super) fn short(hash: &str) -> &str {
    hash.get(..16).unwrap_or(hash)
}

fn shortened(addresses: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = addresses.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match addresses.len().checked_sub(SHOWN) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}
