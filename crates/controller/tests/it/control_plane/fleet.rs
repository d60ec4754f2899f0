//! Many clusters at once, while managers come and go.

mod terraform;

use std::collections::BTreeSet;
use std::time::Duration;

use capt_api::CAPTControlPlane;
use capt_controller::manager;
use capt_controller::options::Options;
use capt_testkit::DEADLINE;
use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::Secret;
use kube::api::ListParams;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, ResourceExt};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::noting::{Life, Noted};
use super::scene::Scene;
use crate::stage::{Stage, manager_client};
use terraform::Terraform;

const CLUSTERS: usize = 100;
/// How many are put there at the same time.
const AT_ONCE: usize = 10;
/// How many managers end early. A start takes some fifty requests, and all clusters together some thousands.
const MANAGERS: usize = 12;
const REQUESTS: std::ops::Range<usize> = 55..450;
/// How long all of it may take; far more than it should.
const PATIENCE: Duration = Duration::from_secs(3 * DEADLINE.as_secs());

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_clusters_get_their_secrets_although_managers_are_killed() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let scene = Scene::without_manager().await;
    let names: Vec<_> = (0..CLUSTERS).map(|number| scene.stage.unique(&format!("f{number}"))).collect();
    let terraform = Terraform::new(&scene);
    let _terraform = AbortOnDropHandle::new(tokio::spawn(terraform.run()));
    let mut ready = follow_ready(scene.control_planes());
    let all = async |ready: &mut watch::Receiver<BTreeSet<String>>| {
        ready.wait_for(|ready| ready.len() >= CLUSTERS).await.map(drop).unwrap();
    };

    let come_and_go = async {
        let mut killed = 0;
        for _ in 0..MANAGERS {
            let life = Life { requests: random.usize(REQUESTS), cut_off: random.bool() };
            let (manager, shutdown, over) = start(&scene, life).await;
            tokio::select! {
                () = over.cancelled() => {}
                () = all(&mut ready) => {}
            }
            if life.cut_off {
                killed += 1;
                manager.abort();
            } else {
                shutdown.cancel();
                manager.await.unwrap().unwrap();
            }
        }
        let (manager, shutdown, _) = start(&scene, Life { requests: usize::MAX, cut_off: false }).await;
        all(&mut ready).await;
        shutdown.cancel();
        manager.await.unwrap().unwrap();
        killed
    };
    let both = async { tokio::join!(put(&scene.stage, &names), come_and_go).1 };
    let killed = tokio::time::timeout(PATIENCE, both).await.unwrap_or_else(|_| {
        panic!("seed {seed}: {} of {CLUSTERS} are ready after {PATIENCE:?}", ready.borrow().len())
    });
    println!("{killed} of {MANAGERS} managers were killed");
    assert_secrets(&scene, &names, seed).await;
}

/// Puts all clusters there.
async fn put(stage: &Stage, names: &[String]) {
    let put = async |name: &String| {
        let reference =
            json!({ "apiGroup": "controlplane.cluster.x-k8s.io", "kind": "CAPTControlPlane", "name": name });
        let spec = json!({ "controlPlaneRef": reference });
        stage.put::<capt_api::Cluster>(json!({ "metadata": { "name": name }, "spec": spec })).await;
        let spec = json!({ "version": "1.34", "workspaceTemplateRef": { "name": "control-plane" } });
        stage.put::<CAPTControlPlane>(json!({ "metadata": { "name": name }, "spec": spec })).await;
    };
    stream::iter(names).map(put).buffer_unordered(AT_ONCE).collect::<()>().await;
}

/// A manager that lives for so many requests.
async fn start(
    scene: &Scene,
    life: Life,
) -> (AbortOnDropHandle<Result<(), manager::Error>>, CancellationToken, CancellationToken) {
    let (client, over) = Noted::default().listen_for(manager_client(scene.workload).await, life);
    let options = Options { namespace: Some(scene.stage.namespace.clone()), ..Options::default() };
    let shutdown = CancellationToken::new();
    let task = tokio::spawn(manager::run(client, options, shutdown.clone()));
    (AbortOnDropHandle::new(task), shutdown, over)
}

/// Which control planes are ready, as a watch shows it.
fn follow_ready(control_planes: Api<CAPTControlPlane>) -> watch::Receiver<BTreeSet<String>> {
    let (sender, receiver) = watch::channel(BTreeSet::new());
    tokio::spawn(async move {
        let mut changes =
            watcher(control_planes, watcher::Config::default()).default_backoff().applied_objects().boxed();
        while let Some(change) = changes.next().await {
            let Ok(found) = change else { continue };
            let is_ready = found.status.as_ref().is_some_and(|status| status.ready);
            sender.send_if_modified(|ready| {
                let name = found.name_any();
                if is_ready { ready.insert(name) } else { ready.remove(&name) }
            });
        }
    });
    receiver
}

/// Every cluster has its Secrets, with its own content.
async fn assert_secrets(scene: &Scene, names: &[String], seed: u64) {
    let secrets: Vec<Secret> = scene.secrets().list(&ListParams::default()).await.unwrap().items;
    let content = |name: &str, key: &str| {
        let secret = secrets.iter().find(|secret| secret.name_any() == name)?;
        let owners: Vec<_> = secret.owner_references().iter().map(|owner| owner.name.clone()).collect();
        let text = String::from_utf8(secret.data.as_ref()?.get(key)?.0.clone()).unwrap();
        Some((owners, text))
    };
    for name in names {
        let expected = Some((vec![name.clone()], Terraform::kubeconfig(scene, name)));
        for secret in [format!("{name}-kubeconfig"), format!("{name}-control-plane-kubeconfig")] {
            assert_eq!(content(&secret, "value"), expected, "seed {seed}: {secret}");
        }
        let authority = content(&format!("{name}-ca"), "tls.crt");
        let is_there = authority.as_ref().is_some_and(|(owners, text)| {
            owners == std::slice::from_ref(name) && text.starts_with("-----BEGIN CERTIFICATE-----")
        });
        assert!(is_there, "seed {seed}: {name}-ca is {authority:?}");
    }
}
