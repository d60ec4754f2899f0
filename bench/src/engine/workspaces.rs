//! Workspaces that are made from one template, and looked at.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use anyhow::Context;
use capt_api::{Workspace, WorkspaceTemplate, WorkspaceTemplateApply};
use futures::{StreamExt, TryStreamExt, stream};
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::counting::Counter;
use super::stage::{Manager, NAMESPACE, Stage};
use crate::diagnostics::LONG_QUIET;
use crate::progress::tell;

/// How long no further Workspace may become ready.
const DEADLINE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(250);
/// How many requests go on at the same time.
const AT_ONCE: usize = 8;

const TEMPLATE: &str = "bench";
const MODULE: &str = r#"
variable "name" {}
resource "terraform_data" "one" { input = var.name }
output "name" { value = terraform_data.one.output }
"#;

/// Makes Workspaces and waits until all of them are ready and nobody works on them any more.
pub(super) async fn settle(
    stage: &Stage,
    manager: &Manager,
    counter: &Counter,
    count: NonZeroU32,
) -> anyhow::Result<Value> {
    let started = Instant::now();
    put(stage, count.get()).await?;
    await_ready(stage, count.get()).await?;
    let ready_in = started.elapsed();
    manager.diagnostics.settle(count.get().into(), LONG_QUIET, || counter.is_busy()).await?;
    let counts = counter.take();
    Ok(json!({
        "workspaces": count,
        "all_ready_in_s": ready_in.as_secs_f64(),
        "engine": counts.to_json(),
        "processes_per_workspace": f64::from(counts.processes()) / f64::from(count.get()),
    }))
}

async fn put(stage: &Stage, count: u32) -> anyhow::Result<()> {
    let client = stage.cluster.client();
    let template: WorkspaceTemplate = serde_json::from_value(json!({
        "metadata": { "name": TEMPLATE },
        "spec": { "template": { "spec": { "forProvider": { "source": "Inline", "module": MODULE } } } },
    }))?;
    let templates: Api<WorkspaceTemplate> = Api::namespaced(client.clone(), NAMESPACE);
    templates.create(&PostParams::default(), &template).await.context("making the template")?;
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(client, NAMESPACE);
    let make = async |number| {
        let apply = serde_json::from_value(apply(number))?;
        applies.create(&PostParams::default(), &apply).await.context("making an apply")?;
        anyhow::Ok(())
    };
    stream::iter(0..count).map(make).buffer_unordered(AT_ONCE).try_collect().await
}

fn name(number: u32) -> String {
    format!("bench-{number}")
}

fn apply(number: u32) -> Value {
    let name = name(number);
    let spec = json!({
        "templateRef": { "name": TEMPLATE },
        "variables": { "name": "${WORKSPACE_NAME}" },
        "writeConnectionSecretToRef": { "name": format!("{name}-connection") },
    });
    json!({ "metadata": { "name": format!("{name}-apply") }, "spec": spec })
}

async fn await_ready(stage: &Stage, count: u32) -> anyhow::Result<()> {
    let workspaces: Api<Workspace> = Api::all(stage.cluster.client());
    let (mut most, mut since) = (0, Instant::now());
    loop {
        let all = workspaces.list(&ListParams::default()).await.context("listing Workspaces")?;
        let ready = u32::try_from(all.items.iter().filter(|workspace| is_ready(workspace)).count())?;
        if ready > most {
            if ready / 20 > most / 20 {
                tell(&format!("{ready} of {count} Workspaces are ready"));
            }
            (most, since) = (ready, Instant::now());
        }
        if ready >= count {
            return Ok(());
        }
        let waiting =
            all.items.iter().find(|workspace| !is_ready(workspace)).map(|workspace| &workspace.status);
        anyhow::ensure!(
            since.elapsed() < DEADLINE,
            "{ready} of {count} Workspaces are ready, and for {DEADLINE:?} no other became so; one says {waiting:#?}"
        );
        tokio::time::sleep(PAUSE).await;
    }
}

fn is_ready(workspace: &Workspace) -> bool {
    let conditions = workspace.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
    let holds = |type_: &str| {
        conditions.iter().any(|condition| condition.type_ == type_ && condition.status == "True")
    };
    holds("Ready") && holds("Synced")
}

/// Changes a label of Workspaces, so that each of them is looked at.
pub(super) async fn poke(
    stage: &Stage,
    numbers: impl Iterator<Item = u32>,
    label: &str,
) -> anyhow::Result<()> {
    let workspaces: Api<Workspace> = Api::all(stage.cluster.client());
    let patch = Patch::Merge(json!({ "metadata": { "labels": { "capt-bench/poked": label } } }));
    let touch = async |number| {
        let name = name(number);
        let patched = workspaces.patch_metadata(&name, &PatchParams::default(), &patch).await;
        patched.map(drop).with_context(|| format!("changing a label of Workspace {name}"))
    };
    stream::iter(numbers).map(touch).buffer_unordered(AT_ONCE).try_collect().await
}
