//! Managers of two namespaces have two Leases: one of them acts all the same.

use std::net::SocketAddr;
use std::time::Duration;

use capt_api::names::{MANAGER_LEASE, annotation};
use capt_controller::options::{LeaderElection, Options};
use capt_testkit::{TestCluster, eventually};
use k8s_openapi::api::coordination::v1::Lease;
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};

use super::crds::current;
use crate::managers::{free_address, get};
use crate::stage::{Manager, Stage, module, permit};

/// Longer than a test takes: whoever waits for a Lease to run out waits in vain.
const LEASE: Duration = Duration::from_secs(600);

struct Scene {
    cluster: TestCluster,
}

struct Release {
    namespace: String,
    address: SocketAddr,
    manager: Manager,
}

impl Scene {
    async fn set() -> Self {
        let cluster = TestCluster::start().await;
        permit(&cluster).await;
        cluster.apply_crds(&current()).await;
        Self { cluster }
    }

    /// A manager as an installation in a namespace of its own starts it.
    async fn release(&self, name: &str, change: impl FnOnce(&mut Options)) -> Release {
        let namespace = self.cluster.namespace(name).await;
        let address = free_address();
        let leader_election = LeaderElection {
            namespace: namespace.clone(),
            name: MANAGER_LEASE.to_owned(),
            identity: name.to_owned(),
            lease_duration: LEASE,
        };
        let mut options = Options {
            leader_election: Some(leader_election),
            diagnostics_address: Some(address),
            ..Options::default()
        };
        change(&mut options);
        Release { namespace, address, manager: Manager::start(&self.cluster, options).await }
    }

    /// The Lease of a manager from before managers said anything of themselves.
    async fn put_unmarked(&self, namespace: &str, holder: Option<&str>) {
        let leases: Api<Lease> = Api::namespaced(self.cluster.client(), namespace);
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": { "name": MANAGER_LEASE },
            "spec": { "holderIdentity": holder, "leaseDurationSeconds": 600 },
        });
        let parameters = PatchParams::apply("somebody").force();
        leases.patch(MANAGER_LEASE, &parameters, &Patch::Apply(lease)).await.unwrap();
    }
}

impl Release {
    async fn says(&self, path: &str, text: &str) {
        eventually(&format!("{path} of {} to say {text}", self.namespace), async || {
            match get(self.address, path).await {
                Ok(answer) if answer.contains(text) => Ok(()),
                other => Err(format!("{other:?}")),
            }
        })
        .await;
    }

    async fn leads(&self) {
        self.says("/metrics", "capt_leader 1\n").await;
    }

    async fn stands_by(&self) {
        self.says("/metrics", "capt_rivals 1\n").await;
        self.says("/readyz", "standing by").await;
        self.says("/metrics", "capt_leader 0\n").await;
    }
}

#[tokio::test]
async fn of_two_installations_one_acts_and_the_other_takes_over_when_it_stops() {
    let scene = Scene::set().await;
    let first = scene.release("first", |_| {}).await;
    first.leads().await;
    let second = scene.release("second", |_| {}).await;
    second.stands_by().await;
    first.says("/metrics", "capt_leader 1\n").await;
    let leases: Api<Lease> = Api::namespaced(scene.cluster.client(), &first.namespace);
    let lease = leases.get(MANAGER_LEASE).await.unwrap();
    let said: Value = serde_json::from_str(&lease.annotations()[annotation::MANAGER]).unwrap();
    assert_eq!(said["identity"], "first");
    assert_eq!(said["version"], capt_api::crd::CAPT_VERSION);

    // Its Lease would last ten minutes; released, the work passes on at once.
    first.manager.stop().await;
    second.leads().await;
    let namespace = scene.cluster.namespace("work").await;
    let stage = Stage::on(&scene.cluster, &namespace);
    stage.put_template("t", &module(&[])).await;
    stage.put_apply("x", json!({ "templateRef": { "name": "t" } })).await;
    stage.condition("x", "Applied", "True", "UpToDate").await;
    second.manager.stop().await;
}

#[tokio::test]
async fn installations_that_look_at_different_objects_act_side_by_side() {
    let scene = Scene::set().await;
    let one = scene.release("one", |options| options.namespace = Some("team-a".to_owned())).await;
    let other = scene.release("other", |options| options.namespace = Some("team-b".to_owned())).await;
    one.leads().await;
    other.leads().await;
    let all = scene.release("all", |_| {}).await;
    all.says("/metrics", "capt_rivals 2\n").await;
}

/// Managers that start at the same time see each other's Lease in the order in which they were written.
#[tokio::test]
async fn of_installations_that_start_together_exactly_one_acts() {
    let scene = Scene::set().await;
    let (one, two, three) = tokio::join!(
        scene.release("one", |_| {}),
        scene.release("two", |_| {}),
        scene.release("three", |_| {})
    );
    let mut rest = vec![one, two, three];
    while !rest.is_empty() {
        let leader = eventually("one to lead and the others to stand by", async || {
            let mut leads = Vec::new();
            for release in &rest {
                let metrics = get(release.address, "/metrics").await.map_err(|error| error.to_string())?;
                let standing = get(release.address, "/readyz").await.map_err(|error| error.to_string())?;
                leads.push((metrics.contains("capt_leader 1\n"), standing.contains("standing by")));
            }
            assert!(leads.iter().filter(|(leads, _)| *leads).count() <= 1, "more than one acts: {leads:?}");
            let settled = leads.iter().all(|(leads, stands_by)| leads != stands_by);
            leads.iter().position(|(leads, _)| *leads).filter(|_| settled).ok_or(format!("{leads:?}"))
        })
        .await;
        rest.remove(leader).manager.stop().await;
    }
}

#[tokio::test]
async fn a_manager_gives_way_to_one_that_does_not_know_of_it() {
    let scene = Scene::set().await;
    let release = scene.release("new", |_| {}).await;
    release.leads().await;
    let namespace = scene.cluster.namespace("old").await;
    scene.put_unmarked(&namespace, Some("from-before")).await;
    release.stands_by().await;
    scene.put_unmarked(&namespace, None).await;
    release.leads().await;
}

#[tokio::test]
async fn a_manager_without_a_lease_gives_way_to_one_that_has_one() {
    let scene = Scene::set().await;
    let by_hand = scene.release("by-hand", |options| options.leader_election = None).await;
    by_hand.leads().await;
    let installed = scene.release("installed", |_| {}).await;
    installed.leads().await;
    by_hand.stands_by().await;
    installed.manager.stop().await;
    by_hand.leads().await;
}
