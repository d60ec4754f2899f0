//! What one cluster asks of the API server: each request is listed, so that a new one is noticed.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::RangeInclusive;

use capt_api::Cluster;
use capt_controller::manager;
use capt_controller::options::Options;
use capt_testkit::{eventually, watch_until};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::noting::{Asked, Noted, counts};
use super::scene::Scene;
use crate::stage::{manager_client, ready};

/// From two new objects to a cluster that is Available, with the embedded Cluster controller and the answer of the cluster
/// itself. A range is there where writes of several controllers meet: what comes together is told together.
const REQUESTS: [(RangeInclusive<usize>, &str, &str); 12] = [
    // Made part of the Cluster and taken hold of; the endpoint.
    (2..=2, "apply", "captcontrolplanes"),
    // On its way; ready; perhaps what the cluster answers, if that takes a moment.
    (2..=3, "apply", "captcontrolplanes/status"),
    // The endpoint.
    (1..=1, "apply", "clusters"),
    // Whether it is paused right now, before the Workspace is made.
    (1..=1, "get", "clusters"),
    // Taken hold of.
    (1..=1, "patch", "clusters"),
    (2..=6, "apply", "clusters/status"),
    (3..=8, "create", "events"),
    // Two kubeconfigs and the certificate authority.
    (3..=3, "apply", "secrets"),
    // What the module gave.
    (1..=1, "get", "secrets"),
    (1..=1, "apply", "workspaces"),
    // Made, and taken hold of.
    (2..=2, "apply", "workspacetemplateapplies"),
    (2..=3, "apply", "workspacetemplateapplies/status"),
];

/// How many there are at most, without Events and without what Cluster API does where it runs.
const MOST: usize = 15;

/// How often in a row nothing may have changed until it is quiet.
const LOOKS: usize = 15;

/// A cluster whose manager is listened to.
struct Heard {
    scene: Scene,
    noted: Noted,
    metrics: SocketAddr,
    shutdown: CancellationToken,
    task: JoinHandle<Result<(), manager::Error>>,
}

impl Heard {
    /// A manager without anything to do.
    async fn set() -> Self {
        let scene = Scene::without_manager().await;
        let noted = Noted::default();
        let client = noted.listen(manager_client(scene.workload).await);
        let metrics = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
        let options = Options {
            namespace: Some(scene.stage.namespace.clone()),
            diagnostics_address: Some(metrics),
            ..Options::default()
        };
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(manager::run(client, options, shutdown.clone()));
        let heard = Self { scene, noted, metrics, shutdown, task };
        // The template's status is all there is to write.
        eventually("the manager to look around", async || {
            let asked = heard.noted.all();
            asked.iter().any(|asked| asked.resource == "workspacetemplates/status")
                && asked.iter().all(|asked| asked.verb != "list")
        })
        .await;
        heard.quiet().await;
        heard.noted.clear();
        heard
    }

    /// Brings a cluster up.
    async fn bring_up(&self) {
        self.scene.put(json!({})).await;
        self.scene.condition("SecretsReady", "False", "WaitingForConnectionSecret").await;
        self.quiet().await;
        self.scene.provision().await;
        self.scene.condition("Reachable", "True", "Reachable").await;
        let clusters = self.scene.stage.api::<Cluster>();
        watch_until("the Cluster to be available", &clusters, &self.scene.name, |cluster| {
            let conditions = cluster.status.iter().flat_map(|status| &status.conditions);
            conditions.filter(|told| told.type_ == "Available").any(|told| told.status == "True")
        })
        .await;
        self.quiet().await;
    }

    /// Waits until nothing is reconciled and nothing is asked for any more.
    async fn quiet(&self) {
        let (mut last, mut same) = (None, 0);
        eventually("the manager to be quiet", async || {
            let now = Some((self.reconciles("").await, self.noted.all().len()));
            same = if now == last { same + 1 } else { 0 };
            last = now;
            same >= LOOKS
        })
        .await;
    }

    /// How often objects of a kind were reconciled.
    async fn reconciles(&self, kind: &str) -> u64 {
        let mut stream = TcpStream::connect(self.metrics).await.unwrap();
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let series = answer.lines().filter(|line| {
            line.strip_prefix("capt_reconciles_total{").is_some_and(|labels| labels.contains(kind))
        });
        series.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.task.await.unwrap().unwrap();
    }
}

/// What was asked for, beside what may be.
fn differences(asked: &[Asked]) -> Option<String> {
    let mut counts = counts(asked);
    let mut text = String::new();
    let mut differs = false;
    for (range, verb, resource) in REQUESTS {
        let count = counts.remove(&(resource.to_owned(), verb)).unwrap_or_default();
        differs |= !range.contains(&count);
        let mark = if range.contains(&count) { ' ' } else { '!' };
        writeln!(text, "{mark} {count:2}  of {range:?}  {verb} {resource}").unwrap();
    }
    for ((resource, verb), count) in counts {
        differs = true;
        writeln!(text, "! {count:2}  of none  {verb} {resource}").unwrap();
    }
    differs.then_some(text)
}

#[tokio::test]
async fn a_cluster_costs_the_requests_that_are_listed_and_no_others() {
    let heard = Heard::set().await;
    heard.bring_up().await;
    let asked = heard.noted.all();
    if let Some(text) = differences(&asked) {
        panic!("other requests than listed (marked with !):\n{text}");
    }
    // Where Cluster API runs, it looks after the Cluster, and taking hold of the control plane is the same single write.
    let is_own = |asked: &&Asked| {
        asked.resource != "events" && (asked.verb == "get" || !asked.resource.starts_with("clusters"))
    };
    let own = asked.iter().filter(is_own).count();
    assert!(own <= MOST, "{own} requests, {MOST} at most:\n{asked:#?}");
    heard.stop().await;
}

#[tokio::test]
async fn a_cluster_that_is_settled_asks_for_nothing_whatever_is_looked_at() {
    let heard = Heard::set().await;
    heard.bring_up().await;
    heard.noted.clear();
    let before = [
        heard.reconciles("kind=\"WorkspaceTemplateApply\"").await,
        heard.reconciles("kind=\"CAPTControlPlane\"").await,
    ];
    // The Workspace says the same again, at another time.
    let workspace = heard.scene.workspace().await;
    let mut status = ready();
    for condition in status["conditions"].as_array_mut().unwrap() {
        condition["lastTransitionTime"] = json!("2026-02-02T00:00:00Z");
    }
    status["atProvider"] = json!(workspace.status.unwrap().at_provider);
    heard.scene.stage.report(&heard.scene.workspace_name(), status).await;
    eventually("both to be looked at", async || {
        heard.reconciles("kind=\"WorkspaceTemplateApply\"").await > before[0]
            && heard.reconciles("kind=\"CAPTControlPlane\"").await > before[1]
    })
    .await;
    heard.quiet().await;
    assert_eq!(heard.noted.all(), []);
    heard.stop().await;
}
