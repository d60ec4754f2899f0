//! Clusters moved from the home of a laptop into a management cluster with the real Cluster API, and back.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use capt_api::names::label;
use capt_api::{CAPTCluster, Cluster};
use capt_testkit::home::Home;
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use kube::api::{Api, ListParams, Patch, PatchParams};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::super::contract::Core;
use super::super::pages::{self, Reader};
use super::eyes::until;
use super::installation::NAMESPACE;
use super::life::start_home;
use super::manager::Manager;
use super::road::Road;
use super::{Site, Tools, ok};
use crate::soak::moves::{Fleet, Identity};

/// The namespace of the guide.
const MOVED: &str = "team-a";
const ON_LAPTOP: &str = "default";
/// Cluster API tries to connect every 30 seconds, and Terraform takes its time, too.
const PATIENCE: Duration = Duration::from_secs(150);
/// When somebody loses patience with a clusterctl that cannot reach its target.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(15);
const STOPPED_WITHIN: Duration = Duration::from_secs(60);

/// From where to where.
struct Way<'a> {
    from: (&'a Client, &'a Path),
    to: (&'a Client, &'a Path),
}

impl Way<'_> {
    fn question(&self) -> Vec<String> {
        let path = |path: &Path| path.display().to_string();
        let (from, to) = (path(self.from.1), path(self.to.1));
        ["move", "--namespace", MOVED, "--kubeconfig", &from, "--to-kubeconfig", &to]
            .map(ToOwned::to_owned)
            .to_vec()
    }
}

/// There and back, and everything that is refused on the way.
pub(super) async fn go_and_come_back(tools: &Tools) -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let mut home = start_home(&tools.capt, directory.path()).await?;
    let laptop = home.client().await?;
    let site = Site::new(tools).await?;
    let management = &site.server.client;
    let fleet = Fleet::new(&site.server.control_plane, management.clone());
    fleet.create(&laptop, MOVED).await?;
    settles(&fleet, &laptop, MOVED).await?;
    let before = fleet.identity(&laptop, MOVED).await?;

    let (at_home, there) =
        (home.announcement().kubeconfig.clone(), site.server.control_plane.kubeconfig_path().to_owned());
    let away = Way { from: (&laptop, &at_home), to: (management, &there) };
    let back = Way { from: (management, &there), to: (&laptop, &at_home) };
    refused(&site, &away, &["clusters.cluster.x-k8s.io"]).await?;
    is_unharmed(&fleet, &laptop, MOVED, &before).await?;
    ok("move: where the target has no kinds nothing changes");

    let reader = Reader::new(&tools.capt, &[("clusterctl", &tools.clusterctl)])?;
    installs(&reader, &site).await?;
    // Garbage collection knows the kinds that are there when it starts.
    site.server.control_plane.refresh_controllers()?;
    let core = Core::start(&tools.cluster_api.program, &site.server.control_plane, &[])?;
    let manager = Manager::start(&tools.capt, &site.server, NAMESPACE).await?;
    pause(&laptop, json!(true)).await?;
    refused(&site, &away, &["are paused"]).await?;
    pause(&laptop, Value::Null).await?;
    is_unharmed(&fleet, &laptop, MOVED, &before).await?;
    ok("move: a paused cluster is refused and nothing changes");

    half_way(&site, &away, directory.path()).await?;
    is_unharmed(&fleet, &laptop, MOVED, &before).await?;
    ok("move: where the target is lost half-way, the source goes on once its pause is taken off");

    let checkout = reader.checkout();
    fs::copy(away.from.1, checkout.join("from.kubeconfig"))?;
    fs::copy(away.to.1, checkout.join("to.kubeconfig"))?;
    reader.run(pages::MOVE, &[]).await?;
    has_moved(&away, &fleet, MOVED, &before).await.with_context(|| {
        format!("the manager said:\n{}\nCluster API said:\n{}", manager.tail(), core.tail())
    })?;
    ok("move: from `capt up` into a management cluster with the real core, and nothing is made again");

    home = again(home, tools, directory.path()).await?;
    is_unharmed(&fleet, management, MOVED, &before).await?;
    is_empty(&fleet, &home.client().await?, MOVED).await?;
    ok("move: a home that is started again after it does nothing");

    let question = back.question();
    let question: Vec<&str> = question.iter().map(String::as_str).collect();
    site.clusterctl.run(&question).await?;
    has_moved(&back, &fleet, MOVED, &before).await?;
    ok("move: and back");
    leaves_the_laptop(&reader, &away, &fleet).await?;
    manager.stop()?;
    home.signal(Signal::TERM)?;
    home.wait(PATIENCE).context("stopping capt up")?;
    Ok(directory.close()?)
}

async fn refused(site: &Site, way: &Way<'_>, texts: &[&str]) -> anyhow::Result<()> {
    let question = way.question();
    let question: Vec<&str> = question.iter().map(String::as_str).collect();
    site.clusterctl.refuses(&question).await?.names(texts)
}

/// The target can no longer be reached as soon as the first objects are there. Its manager goes on meanwhile.
async fn half_way(site: &Site, way: &Way<'_>, directory: &Path) -> anyhow::Result<()> {
    let road = Road::build(way.to.1, directory).await?;
    let interrupted = Way { from: way.from, to: (way.to.0, &road.kubeconfig) };
    let question = interrupted.question();
    let question: Vec<&str> = question.iter().map(String::as_str).collect();
    let there: Api<CAPTCluster> = Api::namespaced(way.to.0.clone(), MOVED);
    let cutting = async {
        let deadline = Instant::now() + PATIENCE;
        while there.list_metadata(&ListParams::default()).await?.items.is_empty() {
            ensure!(Instant::now() < deadline, "nothing arrives at the target");
            // All the rest is there a second later.
            sleep(Duration::from_millis(10)).await;
        }
        road.cut();
        anyhow::Ok(())
    };
    let (arrived, cut) = tokio::join!(site.clusterctl.run_until_killed(&question, GIVEN_UP_AFTER), cutting);
    cut?;
    ensure!(!arrived?, "clusterctl moved everything before the road was cut");
    let states = Api::<Secret>::namespaced(way.from.0.clone(), MOVED);
    let states = states.list_metadata(&ListParams::default().labels(label::TERRAFORM_STATE)).await?;
    ensure!(!states.items.is_empty(), "the states at the source are gone");
    pause(way.from.0, Value::Null).await
}

/// Installs CAPT as the guide to the installation says. The real Cluster API is in another repository.
async fn installs(reader: &Reader, site: &Site) -> anyhow::Result<()> {
    reader.use_cluster(site.server.control_plane.kubeconfig_path())?;
    reader.run(pages::MAKE_REPOSITORY, &[]).await?;
    let shown = pages::clusterctl_configuration()?;
    let checkout = reader.checkout().display().to_string();
    let configuration = format!("{}- {}\n", shown.replace("/WHERE", &checkout), site.repository.core());
    reader.put_in_home(".config/cluster-api/clusterctl.yaml", &configuration)?;
    reader.run(pages::INIT, &[]).await.map(drop)
}

/// Whoever follows the guide has the clusters of `capt up` in a management cluster.
async fn leaves_the_laptop(reader: &Reader, away: &Way<'_>, fleet: &Fleet) -> anyhow::Result<()> {
    fleet.create(away.from.0, ON_LAPTOP).await?;
    settles(fleet, away.from.0, ON_LAPTOP).await?;
    let before = fleet.identity(away.from.0, ON_LAPTOP).await?;
    reader.put_in_home(".local/share/capt/kubeconfig", &fs::read_to_string(away.from.1)?)?;
    fs::copy(away.to.1, reader.checkout().join("management.kubeconfig"))?;
    reader.run(pages::MOVE_HOME, &[]).await?;
    has_moved(away, fleet, ON_LAPTOP, &before).await
}

async fn has_moved(way: &Way<'_>, fleet: &Fleet, namespace: &str, before: &Identity) -> anyhow::Result<()> {
    is_unharmed(fleet, way.to.0, namespace, before).await?;
    is_empty(fleet, way.from.0, namespace).await
}

/// Stops a home and starts it again.
async fn again(mut home: Home, tools: &Tools, directory: &Path) -> anyhow::Result<Home> {
    home.signal(Signal::TERM)?;
    home.wait(STOPPED_WITHIN).context("stopping capt up")?;
    start_home(&tools.capt, directory).await
}

async fn pause(client: &Client, paused: Value) -> anyhow::Result<()> {
    let clusters: Api<Cluster> = Api::namespaced(client.clone(), MOVED);
    let all = clusters.list_metadata(&ListParams::default()).await?;
    ensure!(!all.items.is_empty(), "no Cluster to pause");
    let patch = Patch::Merge(json!({ "spec": { "paused": paused } }));
    for cluster in all {
        let name = cluster.metadata.name.unwrap_or_default();
        clusters.patch(&name, &PatchParams::default(), &patch).await?;
    }
    Ok(())
}

async fn settles(fleet: &Fleet, client: &Client, namespace: &str) -> anyhow::Result<()> {
    until(PATIENCE, async || {
        let unsettled = fleet.unsettled(client, namespace).await?;
        Ok(if unsettled.is_empty() { Ok(()) } else { Err(unsettled.join("\n")) })
    })
    .await
}

async fn is_unharmed(
    fleet: &Fleet,
    client: &Client,
    namespace: &str,
    before: &Identity,
) -> anyhow::Result<()> {
    settles(fleet, client, namespace).await?;
    let now = fleet.identity(client, namespace).await?;
    ensure!(before.is_kept_by(&now), "it was {before:?} and is {now:?}");
    Ok(())
}

/// Nothing is left where it was.
async fn is_empty(fleet: &Fleet, client: &Client, namespace: &str) -> anyhow::Result<()> {
    until(PATIENCE, async || {
        let rest = fleet.rest(client, namespace).await?;
        Ok(if rest.is_empty() { Ok(()) } else { Err(format!("left behind: {rest:?}")) })
    })
    .await
}
