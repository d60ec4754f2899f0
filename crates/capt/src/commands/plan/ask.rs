//! Asks the manager for a plan.

use std::time::Duration;

use anyhow::{Context as _, bail};
use capt_api::Workspace;
use capt_api::crossplane::ForProvider;
use capt_api::names::{Reason, annotation, condition};
use capt_controller::by_hand::{Seen, StateOf};
use capt_controller::install::owner;
use capt_core::apply::variables::Hidden;
use jiff::Timestamp;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::runtime::wait::await_condition;
use kube::{Api, Client, CustomResourceExt};
use serde_json::json;

use super::{PlanView, Source};
use crate::commands::running::is_running;
use crate::commands::target::Subject;
use crate::commands::write::Writer;
use crate::printer::Printer;

const WRITER: Writer = Writer("capt-plan");

/// Content that a Workspace does not have yet.
pub(super) struct Content {
    pub(super) for_provider: ForProvider,
    /// The file of secret values, where the Secret that holds them is not there yet.
    pub(super) values: Option<Hidden>,
}

/// Asks for a plan of a Workspace as it is, and waits for it.
pub(super) async fn fresh(
    client: &Client,
    subject: &Subject,
    timeout: Duration,
    printer: Printer,
) -> anyhow::Result<PlanView> {
    if let Some(why) = why_not(client, subject).await? {
        bail!("no plan of Workspace `{}` can be made: {why}", subject.name());
    }
    ask(client, subject, None, timeout, printer).await
}

/// Asks for a plan of what a Workspace would be with other content, and waits for it.
pub(super) async fn of_content(
    client: &Client,
    subject: &Subject,
    content: &Content,
    timeout: Duration,
    printer: Printer,
) -> anyhow::Result<PlanView> {
    let asked = ask(client, subject, Some(content), timeout, printer).await;
    if asked.is_err() {
        // Whoever answered has taken it away; where nobody did, nothing is to be left behind.
        subject.kept(client)?.remove_candidate().await?;
    }
    asked
}

/// Why nobody would answer.
pub(super) async fn why_not(client: &Client, subject: &Subject) -> anyhow::Result<Option<String>> {
    match subject.is_left_alone() {
        Some(why) => Ok(Some(why)),
        None => is_run_by_others(client, subject.workspace()?, &subject.kept(client)?).await,
    }
}

async fn ask(
    client: &Client,
    subject: &Subject,
    content: Option<&Content>,
    timeout: Duration,
    printer: Printer,
) -> anyhow::Result<PlanView> {
    let (name, kept) = (subject.name(), subject.kept(client)?);
    if subject.workspace.as_ref().is_some_and(is_running) {
        printer.message(&format!("a run of Workspace `{name}` goes on; its plan is made afterwards"));
    }
    // To the nanosecond, so that no two requests are the same.
    let request = format!("{:.9}", Timestamp::now());
    let candidate = match content {
        Some(Content { for_provider, values }) => {
            Some(kept.put_candidate(&request, for_provider, values.as_ref().map(Hidden::expose)).await?)
        }
        None => None,
    };
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let annotations =
        json!({ annotation::PLAN_REQUESTED_AT: request, annotation::PLAN_CANDIDATE: candidate });
    let patch = json!({ "metadata": { "annotations": annotations } });
    let asked = WRITER
        .change(&workspaces, &name, &format!("asking for a plan of Workspace `{name}`"), |_| {
            Ok(Some(patch.clone()))
        })
        .await?;
    asked.with_context(|| format!("Workspace `{name}` is gone"))?;
    printer.message(&format!("asked for a plan of Workspace `{name}`; waiting for CAPT"));
    let paused = await_condition(workspaces, &name, |found: Option<&Workspace>| found.is_none_or(is_paused));
    let answer = tokio::select! {
        answer = kept.await_preview(&request) => answer?,
        paused = paused => {
            let gone = paused.context("watching the Workspace")?.is_none();
            let what = if gone { "is gone" } else { "was paused meanwhile" };
            bail!("no plan of Workspace `{name}` can be made: it {what}");
        }
        () = tokio::time::sleep(timeout) => bail!(
            "CAPT has not made a plan of Workspace `{name}` within {} s: see whether a manager runs (`capt manager`, `capt up`) and what it logs",
            timeout.as_secs()
        ),
    };
    let source = if content.is_some() { Source::Manifests } else { Source::Fresh };
    match answer.result {
        Ok(shown) => Ok(PlanView::new(subject, source, "", shown)),
        Err(why) => bail!("no plan of Workspace `{name}` could be made: {why}"),
    }
}

fn is_paused(workspace: &Workspace) -> bool {
    let mut conditions = workspace.status.iter().flat_map(|status| &status.conditions);
    conditions
        .any(|entry| entry.type_ == condition::SYNCED && entry.reason == Reason::ReconcilePaused.as_str())
}

/// Whether the kind is somebody else's, and nothing shows that CAPT has ever run this Workspace.
async fn is_run_by_others(
    client: &Client,
    workspace: &Workspace,
    kept: &StateOf,
) -> anyhow::Result<Option<String>> {
    if workspace.status.as_ref().is_some_and(|status| status.engine.is_some()) {
        return Ok(None);
    }
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    // Who may not look at CRDs is not held up by that.
    let Ok(Some(definition)) = definitions.get_opt(Workspace::crd_name()).await else { return Ok(None) };
    let Some(owner) = owner(&definition) else { return Ok(None) };
    let is_new = matches!(kept.read().await?, Seen::Absent) && kept.run_logs().await?.is_empty();
    Ok(is_new.then(|| format!("CAPT does not run it, since its kind is not CAPT's ({owner})")))
}
