//! How soon a changed template reaches its Workspace.
//!
//! Many applies are settled, each with a template of its own. One template at a time is changed, and the time is taken
//! until a watch shows the change in the Workspace. Beside it, in the same run, one server-side apply of a Workspace and
//! the time until the same watch shows that: what nobody can undercut.

use std::time::{Duration, Instant};

use anyhow::Context;
use capt_api::crd::{Foreign, foreign, own};
use capt_api::{Workspace, WorkspaceTemplate, WorkspaceTemplateApply};
use capt_controller::manager;
use capt_controller::options::Options as ManagerOptions;
use capt_local::Helper;
use capt_testkit::TestCluster;
use futures::{StreamExt, TryStreamExt};
use kube::api::{ListParams, Patch, PatchParams};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use crate::figures::Figures;

/// How long anything may take before the benchmark gives up.
const DEADLINE: Duration = Duration::from_secs(120);

#[derive(clap::Args)]
pub(crate) struct Options {
    /// How many applies are settled
    #[arg(long, default_value_t = 100)]
    applies: usize,
    /// How many templates are changed, one after the other
    #[arg(long, default_value_t = 200)]
    changes: usize,
}

pub(crate) async fn measure(options: Options) -> anyhow::Result<Value> {
    let Options { applies, changes } = options;
    let helper = Helper::current_exe().context("finding the path of this program")?;
    let cluster = TestCluster::start_with(|| helper).await;
    cluster.apply_crds(&[own(), foreign(Foreign::Terraform), foreign(Foreign::ClusterApi)].concat()).await;
    let client = cluster.client();
    let shutdown = CancellationToken::new();
    let manager = tokio::spawn(manager::run(cluster.client(), ManagerOptions::default(), shutdown.clone()));

    let settled = Instant::now();
    for number in 0..applies {
        put::<WorkspaceTemplate>(&client, &template(number, "first")).await?;
        put::<WorkspaceTemplateApply>(&client, &apply(number)).await?;
    }
    settle(&client, applies).await?;
    let settled = settled.elapsed();

    let mut seen = watch(client.clone());
    let (mut raw, mut through) = (Figures::default(), Figures::default());
    for change in 0..changes {
        let (number, text) = (change % applies, format!("change {change}"));
        let started = Instant::now();
        put::<WorkspaceTemplate>(&client, &template(number, &text)).await?;
        await_module(&mut seen, &name(number), &text).await?;
        through.add(started.elapsed());

        let text = format!("raw {change}");
        let started = Instant::now();
        put_workspace(&client, &text).await?;
        await_module(&mut seen, "raw", &text).await?;
        raw.add(started.elapsed());
    }
    shutdown.cancel();
    manager.await??;

    let ratio = |percent| through.percentile(percent).as_secs_f64() / raw.percentile(percent).as_secs_f64();
    let p99 = through.percentile(99).as_secs_f64() / raw.percentile(50).as_secs_f64();
    Ok(json!({
        "benchmark": "template changed until the Workspace shows it",
        "applies": applies,
        "settled_in_s": settled.as_secs_f64(),
        "changed": through.to_json(),
        "raw_apply": raw.to_json(),
        "ratio_p50": ratio(50),
        "ratio_p99": ratio(99),
        "ratio_p99_to_raw_p50": p99,
    }))
}

fn name(number: usize) -> String {
    format!("bench-{number}")
}

fn template(number: usize, text: &str) -> Value {
    let module = format!("variable \"name\" {{}}\nlocals {{ text = \"{text}\" }}\n");
    json!({
        "metadata": { "name": name(number) },
        "spec": { "template": { "spec": { "forProvider": { "source": "Inline", "module": module } } } },
    })
}

fn apply(number: usize) -> Value {
    let spec =
        json!({ "templateRef": { "name": name(number) }, "variables": { "name": "${WORKSPACE_NAME}" } });
    json!({ "metadata": { "name": format!("{}-apply", name(number)) }, "spec": spec })
}

async fn put<K>(client: &Client, body: &Value) -> anyhow::Result<()>
where
    K: kube::Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned,
{
    let api: Api<K> = Api::namespaced(client.clone(), "default");
    patch(&api, body).await
}

async fn put_workspace(client: &Client, text: &str) -> anyhow::Result<()> {
    let module = format!("locals {{ text = \"{text}\" }}\n");
    let body = json!({ "metadata": { "name": "raw" }, "spec": { "forProvider": { "source": "Inline", "module": module } } });
    patch(&Api::<Workspace>::all(client.clone()), &body).await
}

async fn patch<K>(api: &Api<K>, body: &Value) -> anyhow::Result<()>
where
    K: kube::Resource<DynamicType = ()> + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let mut body = body.clone();
    body["apiVersion"] = json!(K::api_version(&()));
    body["kind"] = json!(K::kind(&()));
    let name = body["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let parameters = PatchParams::apply("capt-bench").force();
    api.patch(&name, &parameters, &Patch::Apply(&body)).await.with_context(|| format!("applying {name}"))?;
    Ok(())
}

/// Waits until every apply has its Workspace and says so.
async fn settle(client: &Client, applies: usize) -> anyhow::Result<()> {
    let api: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), "default");
    let settled = async {
        let mut changes = std::pin::pin!(
            watcher(api.clone(), watcher::Config::default()).default_backoff().touched_objects()
        );
        loop {
            let all = api.list(&ListParams::default()).await?;
            let done =
                all.items.iter().filter(|apply| apply.status.as_ref().is_some_and(|status| status.applied));
            if done.count() >= applies {
                return anyhow::Ok(());
            }
            changes.try_next().await?;
        }
    };
    tokio::time::timeout(DEADLINE, settled).await.context("the applies did not settle in time")?
}

/// Every change of a Workspace, as name and module.
fn watch(client: Client) -> UnboundedReceiver<(String, String)> {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        let workspaces: Api<Workspace> = Api::all(client);
        let mut changes = std::pin::pin!(
            watcher(workspaces, watcher::Config::default()).default_backoff().applied_objects()
        );
        while let Some(Ok(workspace)) = changes.next().await {
            if sender.send((workspace.name_any(), workspace.spec.for_provider.module)).is_err() {
                return;
            }
        }
    });
    receiver
}

async fn await_module(
    seen: &mut UnboundedReceiver<(String, String)>,
    name: &str,
    text: &str,
) -> anyhow::Result<()> {
    let quoted = format!("\"{text}\"");
    let shown = async {
        while let Some((workspace, module)) = seen.recv().await {
            if workspace == name && module.contains(&quoted) {
                return true;
            }
        }
        false
    };
    let shown =
        tokio::time::timeout(DEADLINE, shown).await.with_context(|| format!("{name} did not show {text}"))?;
    anyhow::ensure!(shown, "the watch of Workspaces ended");
    Ok(())
}
