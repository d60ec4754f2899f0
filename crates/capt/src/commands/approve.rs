//! `capt approve`: what waits may go on.

mod pending;
mod wait;

use anyhow::{Context as _, bail, ensure};
use capt_api::names::annotation;
use capt_api::{Workspace, WorkspaceTemplateApply};
use kube::{Api, Client, ResourceExt};
use serde::Serialize;
use serde_json::json;

use self::pending::Pending;
use super::target;
use super::write::Writer;
use crate::cli::ApproveArguments;
use crate::commands::confirm;
use crate::printer::Printer;

const WRITER: Writer = Writer("capt-approve");

/// What was approved.
#[derive(Serialize)]
struct Approved {
    /// Nothing where nothing waits.
    approved: Vec<Pending>,
}

pub(crate) async fn run(arguments: ApproveArguments, printer: Printer) -> anyhow::Result<()> {
    let ApproveArguments { target, plan, yes, wait, timeout } = arguments;
    let (client, subjects) = target::find(target).await?;
    let mut pending = Vec::new();
    for subject in &subjects {
        pending.extend(Pending::of(&client, subject).await?);
    }
    if pending.is_empty() {
        ensure!(plan.is_none(), "nothing waits for approval, not this plan either");
        return printer.value(&Approved { approved: Vec::new() }, "nothing waits for approval");
    }
    if let Some(hash) = &plan {
        pending = chosen(pending, hash)?;
    } else if !yes {
        confirm::may_ask(
            yes,
            "look with `capt plan` at what waits, and approve it with --plan HASH, or with --yes",
        )?;
        let shown: Vec<String> = pending.iter().map(Pending::sentences).collect();
        let question = if pending.len() == 1 { "Approve this?" } else { "Approve all of this?" };
        if !confirm::ask(&shown.join("\n\n"), question, printer).await? {
            bail!("nothing was approved");
        }
    }
    for what in &pending {
        approve(&client, what).await?;
    }
    let lines: Vec<String> = pending.iter().map(|what| format!("approved {}", what.name())).collect();
    if !wait {
        return printer.value(&Approved { approved: pending }, &lines.join("\n"));
    }
    printer.message(&format!("{}; waiting until it is applied", lines.join("\n")));
    for what in &pending {
        let over = tokio::time::timeout(timeout, wait::until_applied(&client, what)).await;
        over.with_context(|| {
            format!(
                "{} was not applied within {} s: see `capt logs workspace {} -f`",
                what.name(),
                timeout.as_secs(),
                what.workspace()
            )
        })??;
    }
    let lines: Vec<String> = pending.iter().map(|what| format!("{} is applied", what.name())).collect();
    printer.value(&Approved { approved: pending }, &lines.join("\n"))
}

/// Of what waits, what the hash names.
fn chosen(pending: Vec<Pending>, hash: &str) -> anyhow::Result<Vec<Pending>> {
    let others: Vec<String> = pending.iter().map(Pending::name).collect();
    let chosen: Vec<Pending> = pending.into_iter().filter(|what| what.is(hash)).collect();
    ensure!(
        !chosen.is_empty(),
        "nothing was approved: {hash} does not wait for approval, but {}: look with `capt plan`",
        others.join(", ")
    );
    Ok(chosen)
}

/// Approves exactly what was shown, if it still waits.
async fn approve(client: &Client, what: &Pending) -> anyhow::Result<()> {
    let doing = format!("approving {}", what.name());
    let written = match what {
        Pending::Plan { workspace, hash, .. } => {
            let workspaces: Api<Workspace> = Api::all(client.clone());
            let change = |found: &Workspace| {
                let approved = found.annotations().get(annotation::APPROVE_PLAN);
                unless_approved(approved, annotation::APPROVE_PLAN, hash, || {
                    still(pending::plan_hash(found).as_deref(), hash, what)
                })
            };
            WRITER.change(&workspaces, workspace, &doing, change).await?.is_some()
        }
        Pending::Change { namespace, apply, digest, .. } => {
            let applies: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), namespace);
            let change = |found: &WorkspaceTemplateApply| {
                let approved = found.annotations().get(annotation::APPROVE);
                unless_approved(approved, annotation::APPROVE, digest, || {
                    still(pending::digest(found), digest, what)
                })
            };
            WRITER.change(&applies, apply, &doing, change).await?.is_some()
        }
    };
    ensure!(written, "{doing}: it is gone");
    Ok(())
}

fn still(waits: Option<&str>, shown: &str, what: &Pending) -> anyhow::Result<()> {
    ensure!(
        waits == Some(shown),
        "nothing was approved: {} does not wait any more, something else may: look again",
        what.name()
    );
    Ok(())
}

/// What is approved already, by whomever, may be applied by now: then it does not wait, and nothing is to be done.
fn unless_approved(
    found: Option<&String>,
    key: &str,
    value: &str,
    waits: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<Option<serde_json::Value>> {
    if found.is_some_and(|found| found == value) {
        return Ok(None);
    }
    waits()?;
    Ok(Some(json!({ "metadata": { "annotations": { key: value } } })))
}
