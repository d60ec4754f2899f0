//! A leadership that ends while something is going on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use capt_controller::options::{LeaderElection, Options};
use capt_testkit::eventually;
use http::{Method, Request};
use k8s_openapi::api::coordination::v1::Lease;
use kube::client::Body;
use kube::{Api, Client};
use serde_json::json;
use tokio::sync::watch;

use crate::managers::{free_address, get};
use crate::stage::{Manager, Stage, cluster, manager_client, module};

/// Short enough that a manager notices soon what has become of its Lease.
const LEASE: Duration = Duration::from_secs(6);

/// Holds the writes of Workspaces on their way to the server.
#[derive(Clone, Default)]
struct Way(Arc<Held>);

#[derive(Default)]
struct Held {
    open: watch::Sender<bool>,
    came: AtomicUsize,
    abandoned: AtomicUsize,
}

/// A request that waits. Nobody waits for its answer any more when it is dropped.
struct Waiting<'way>(&'way Held);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.abandoned.fetch_add(1, Ordering::SeqCst);
    }
}

impl Way {
    fn client(&self, through: Client) -> Client {
        let way = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (way, client) = (way.clone(), through.clone());
            async move {
                if request.method() == Method::PATCH && request.uri().path().contains("/workspaces/") {
                    way.pass().await;
                }
                client.send(request).await
            }
        });
        Client::new(service, "default")
    }

    async fn pass(&self) {
        if *self.0.open.borrow() {
            return;
        }
        self.0.came.fetch_add(1, Ordering::SeqCst);
        let waiting = Waiting(&self.0);
        self.0.open.subscribe().wait_for(|open| *open).await.unwrap();
        std::mem::forget(waiting);
    }

    fn came(&self) -> usize {
        self.0.came.load(Ordering::SeqCst)
    }

    fn abandoned(&self) -> usize {
        self.0.abandoned.load(Ordering::SeqCst)
    }
}

async fn hold_lease(stage: &Stage, holder: Option<&str>) {
    let spec = json!({ "holderIdentity": holder, "leaseDurationSeconds": 600 });
    stage.change::<Lease>("capt", json!({ "spec": spec })).await;
}

#[tokio::test]
async fn what_a_leader_began_is_dropped_with_its_leadership_and_done_in_the_next() {
    let stage = Stage::without_manager().await;
    let (way, address) = (Way::default(), free_address());
    let leader_election = LeaderElection {
        namespace: stage.namespace.clone(),
        name: "capt".to_owned(),
        identity: "first".to_owned(),
        lease_duration: LEASE,
    };
    let options = Options {
        namespace: Some(stage.namespace.clone()),
        leader_election: Some(leader_election),
        diagnostics_address: Some(address),
        ..Options::default()
    };
    let manager = Manager::start_with(way.client(manager_client(cluster().await).await), options);
    stage.put_template("t", &module(&[])).await;
    let name = stage.unique("x");
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" } })).await;
    eventually("a write that hangs", async || way.came() > 0).await;

    hold_lease(&stage, Some("second")).await;
    eventually("the hanging write to be dropped", async || {
        let (came, abandoned) = (way.came(), way.abandoned());
        if came == abandoned { Ok(()) } else { Err(format!("{abandoned} of {came}")) }
    })
    .await;
    eventually("the manager to stand by", async || {
        get(address, "/readyz").await.is_ok_and(|answer| answer.contains("standing by"))
    })
    .await;
    way.0.open.send_replace(true);
    let leases: Api<Lease> = stage.api();
    let holder = leases.get("capt").await.unwrap().spec.unwrap().holder_identity;
    assert_eq!(holder.as_deref(), Some("second"), "a Lease of somebody else was taken");

    hold_lease(&stage, None).await;
    stage.condition(&name, "Applied", "True", "UpToDate").await;
    manager.stop().await;
}
