//! A cluster and its add-ons come and go, by the real engine, while managers take turns.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_api::crd::{Foreign, foreign};
use capt_controller::install::{Kinds, install};
use kube::Client;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::super::server::Server;
use super::admission::api;
use super::helm::{Chart, Helm};
use super::managers::{Manager, sort_themselves_out};
use crate::repository::examples;

const OBJECTS: &str = include_str!("cluster.yaml");
const PAUSE: Duration = Duration::from_millis(300);
const WITHIN: Duration = Duration::from_secs(120);

/// Runs the built `capt` under the account of the installed chart; answers with what a manager served at the height of it.
pub(super) async fn runs_under_the_chart(
    capt: &Path,
    helm: &Helm,
    server: &Server,
    workload: &Server,
) -> anyhow::Result<String> {
    install(&server.client, Kinds::Foreign, &foreign(Foreign::ClusterApi)).await?;
    let kubeconfig = server.control_plane.kubeconfig_path();
    helm.install(Chart::Manager, &Chart::Manager.values(), kubeconfig)?;
    // Garbage collection knows the kinds that are there when it starts.
    server.control_plane.refresh_controllers()?;
    let before = refusals(&server.client).await?;
    let (first, second) = tokio::try_join!(Manager::start(capt, server), Manager::start(capt, server))?;
    let mut managers = sort_themselves_out(vec![first, second]).await?;
    println!("ok: of two managers with the arguments of the chart one is active, and both are ready");
    let objects = objects(workload)?;
    for object in &objects {
        put(&server.client, object).await?;
    }
    let watched = Watched { client: &server.client, managers: &managers };
    watched
        .until(&cluster(), "a cluster with its add-ons", |cluster| {
            lacking(cluster, &["InfrastructureReady", "ControlPlaneInitialized", "Available", "AddonsReady"])
        })
        .await?;
    for apply in ["demo-network", "demo-cluster"] {
        watched
            .until(&workspace(apply), "a Workspace of the examples", |found| {
                lacking(found, &["Ready", "Synced"])
            })
            .await?;
    }
    let greeting = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "greeting", "namespace": "packaged" } });
    api(&workload.client, &greeting)?.get("greeting").await.context("the add-on in the cluster")?;
    println!("ok: a cluster, its add-ons and the local examples are made under the chart's account");
    let scrape = managers[0].serves("/metrics")?;
    let mut said = hand_over(&mut managers).await?;
    println!("ok: the other manager takes over when the active one ends");
    take_down(&server.client, &managers, &objects).await?;
    println!("ok: and everything goes under the other one");
    for manager in managers {
        said.push_str(&manager.end()?);
    }
    let forbidden: Vec<&str> = said.lines().filter(|line| line.contains("orbidden")).collect();
    ensure!(forbidden.is_empty(), "managers were refused:\n{}", forbidden.join("\n"));
    let refused: Vec<String> =
        refusals(&server.client).await?.into_iter().filter(|line| !before.contains(line)).collect();
    ensure!(refused.is_empty(), "the API server refused:\n{}", refused.join("\n"));
    println!("ok: nothing was ever refused to the chart's account, nor to the runs of Terraform");
    Ok(scrape)
}

/// The active manager ends, and the other one becomes active.
async fn hand_over(managers: &mut Vec<Manager>) -> anyhow::Result<String> {
    let said = managers.remove(0).end()?;
    let rest = std::mem::take(managers);
    *managers = sort_themselves_out(rest).await?;
    Ok(said)
}

async fn take_down(client: &Client, managers: &[Manager], objects: &[Value]) -> anyhow::Result<()> {
    let watched = Watched { client, managers };
    let of_kind =
        |kind: &str| objects.iter().filter(|object| object["kind"] == *kind).cloned().collect::<Vec<_>>();
    let mut going = of_kind("Cluster");
    going.extend(of_kind("WorkspaceTemplateApply"));
    for object in &going {
        let name = name(object);
        api(client, object)?.delete(name, &DeleteParams::default()).await?;
    }
    going.extend(["CAPTCluster", "CAPTControlPlane"].into_iter().flat_map(of_kind));
    let workspaces = ["demo-network", "demo-cluster", "packaged-vpc", "packaged-eks-controlplane"];
    going.extend(workspaces.map(workspace));
    for object in &going {
        watched.until_gone(object).await?;
    }
    Ok(())
}

struct Watched<'test> {
    client: &'test Client,
    managers: &'test [Manager],
}

impl Watched<'_> {
    async fn until(
        &self,
        object: &Value,
        what: &str,
        missing: impl Fn(&Value) -> Vec<String>,
    ) -> anyhow::Result<()> {
        self.wait(object, |found| found.map_or_else(|| vec![format!("{what} is not there")], &missing)).await
    }

    async fn until_gone(&self, object: &Value) -> anyhow::Result<()> {
        self.wait(object, |found| {
            found.into_iter().map(|found| format!("still there: {}", found["status"]["conditions"])).collect()
        })
        .await
    }

    async fn wait(
        &self,
        object: &Value,
        missing: impl Fn(Option<&Value>) -> Vec<String>,
    ) -> anyhow::Result<()> {
        let deadline = Instant::now() + WITHIN;
        let objects = api(self.client, object)?;
        loop {
            let found = objects.get_opt(name(object)).await?.map(serde_json::to_value).transpose()?;
            let lack = missing(found.as_ref());
            if lack.is_empty() {
                return Ok(());
            }
            if Instant::now() > deadline {
                let said: Vec<String> = self.managers.iter().map(Manager::said).collect();
                let status = found.map(|found| found["status"].to_string()).unwrap_or_default();
                anyhow::bail!(
                    "{} {}: {} (after {WITHIN:?})\n{status}\n{}",
                    object["kind"],
                    name(object),
                    lack.join(", "),
                    said.join("\n")
                );
            }
            sleep(PAUSE).await;
        }
    }
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

fn cluster() -> Value {
    json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
        "metadata": { "name": "packaged", "namespace": "default" },
    })
}

fn workspace(name: &str) -> Value {
    json!({ "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace", "metadata": { "name": name } })
}

fn lacking(object: &Value, conditions: &[&str]) -> Vec<String> {
    let told = |type_: &str| {
        let told = object["status"]["conditions"].as_array().into_iter().flatten();
        told.filter(|told| told["type"] == type_).any(|told| told["status"] == "True")
    };
    conditions.iter().filter(|type_| !told(type_)).map(|type_| format!("{type_} is not true")).collect()
}

/// The local examples, and a cluster that stands for another API server.
fn objects(workload: &Server) -> anyhow::Result<Vec<Value>> {
    let control_plane = &workload.control_plane;
    let text = OBJECTS
        .replace("@ENDPOINT@", control_plane.url())
        .replace("@AUTHORITY@", &STANDARD.encode(control_plane.certificate_authority()))
        .replace("@KUBECONFIG@", &STANDARD.encode(control_plane.kubeconfig()))
        .replace("@VERSION@", &control_plane.kubernetes_version()?);
    let mut objects: Vec<Value> = serde_saphyr::from_multiple(&text).context("reading cluster.yaml")?;
    let local = examples()?.into_iter().filter(|(file, _)| file.starts_with("examples/local"));
    objects.extend(local.map(|(_, object)| object));
    Ok(objects)
}

async fn put(client: &Client, object: &Value) -> anyhow::Result<()> {
    let parameters = PatchParams::apply("somebody").force();
    let put = api(client, object)?.patch(name(object), &parameters, &Patch::Apply(object)).await;
    put.map(drop).with_context(|| format!("applying {} {}", object["kind"], name(object)))
}

/// What the API server counted of requests that it refused.
async fn refusals(client: &Client) -> anyhow::Result<Vec<String>> {
    let metrics = client.request_text(http::Request::get("/metrics").body(Vec::new())?).await?;
    let refused = metrics
        .lines()
        .filter(|line| line.starts_with("apiserver_request_total{") && line.contains("code=\"403\""));
    Ok(refused.map(str::to_owned).collect())
}
