//! From one version of CAPT to the next, with objects in place.
//!
//! `tests/upgrade/<version>` holds what a manager of that version left behind: its CRDs, and every object as an API server had it,
//! with uid, generation, status and the managers of each field. It is written by `cargo xtask fixture upgrade` when a version is
//! tagged, and put into an API server's store as it is. What came before the first version: in `before-v0.1.0` networks and control
//! planes remember no state, and records do not say which Workspace they are of; in `before-local-state` Terraform itself wrote
//! states and locks, by an account of its own, and clusters are named by a hash of the compiler's.

mod engine;
mod fixture;
mod making;
mod store;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use capt_api::crd::{Foreign, foreign, own};
use capt_controller::install::{Kinds, Outcome, install};
use capt_controller::options::{Clock, Options, TerraformOptions};
use capt_testkit::{TestCluster, eventually};
use kube::ResourceExt;
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use serde_json::json;

use self::engine::Idle;
use self::fixture::{Fixture, api, key};
use self::store::Store;
use crate::managers::{free_address, get};
use crate::stage::{Manager, permit};

/// The objects as they are now.
async fn present(cluster: &TestCluster, fixture: &Fixture) -> BTreeMap<String, DynamicObject> {
    let mut present = BTreeMap::new();
    for object in &fixture.objects {
        let found = api(cluster, object).get(&object.name_any()).await;
        assert!(found.is_ok(), "{}: {found:?}", key(object));
        present.insert(key(object), found.unwrap());
    }
    present
}

/// A server that has the kinds and the objects of an earlier version.
async fn as_it_was(fixture: &Fixture) -> TestCluster {
    let cluster = TestCluster::start().await;
    cluster.apply_crds(&fixture.crds).await;
    making::make_namespace(&cluster).await;
    let store = Store::of(&cluster).await;
    for object in &fixture.objects {
        store.put(object).await;
    }
    eventually("the API server to have what was put into its store", async || {
        let mut missing = Vec::new();
        for object in &fixture.objects {
            if api(&cluster, object).get_opt(&object.name_any()).await.unwrap().is_none() {
                missing.push(key(object));
            }
        }
        if missing.is_empty() { Ok(()) } else { Err(missing.join(", ")) }
    })
    .await;
    // What the API server writes is what it would have written: from now on a write without a change is none.
    for object in &fixture.objects {
        let (patch, parameters) = (Patch::Merge(json!({})), PatchParams::default());
        api(&cluster, object).patch(&object.name_any(), &parameters, &patch).await.unwrap();
    }
    cluster
}

/// Puts this version's kinds over those that are there, as `capt up` and `capt migrate` do.
async fn upgrade_kinds(cluster: &TestCluster) {
    let client = cluster.client();
    let mut outcomes = install(&client, Kinds::Own, &own()).await.unwrap();
    for kinds in [Foreign::Terraform, Foreign::ClusterApi] {
        outcomes.extend(install(&client, Kinds::Foreign, &foreign(kinds)).await.unwrap());
    }
    for (name, outcome) in outcomes {
        assert_eq!(outcome, Outcome::Installed, "{name}");
    }
}

/// Everything of an object but what names its version and who wrote it.
fn content(object: &DynamicObject) -> serde_json::Value {
    let mut content = json!(object);
    let metadata = content["metadata"].as_object_mut().unwrap();
    metadata.remove("resourceVersion");
    metadata.remove("managedFields");
    content
}

/// What an upgrade leaves as it is, whatever a version adds to its notes.
fn lasting(object: &DynamicObject) -> serde_json::Value {
    let mut content = content(object);
    let whole = content.as_object_mut().unwrap();
    whole.remove("status");
    whole["metadata"].as_object_mut().unwrap().remove("annotations");
    if object.name_any().starts_with("capt-record-") {
        whole.remove("data");
    }
    content
}

/// Whether the status of an object tells of add-ons. There is no cluster behind those of a fixture, so that they become overdue by
/// and by, whatever the version.
fn tells_of_add_ons(object: &DynamicObject) -> bool {
    let kind = object.types.as_ref().map(|types| types.kind.as_str());
    matches!(kind, Some("AddonStack" | "AddonStackBinding" | "Cluster"))
}

fn is_stack_binding(object: &DynamicObject) -> bool {
    object.types.as_ref().is_some_and(|types| types.kind == "AddonStackBinding")
}

/// Waits until a binding names its cluster as today, and sees that what was known of its add-ons is still known: a cluster that
/// counted as replaced would start anew.
async fn is_of_the_same_cluster(cluster: &TestCluster, was: &DynamicObject) {
    let identity = |object: &DynamicObject| object.data["status"]["cluster"].as_str().map(ToOwned::to_owned);
    let bindings = api(cluster, was);
    let now = eventually("the cluster to be named as today", async || {
        let found = bindings.get(&was.name_any()).await.unwrap();
        let named = identity(&found);
        if named.as_ref().is_some_and(|named| named.starts_with("sha256:")) {
            Ok(found)
        } else {
            Err(format!("{named:?}"))
        }
    })
    .await;
    for field in ["name", "started", "attempted"] {
        assert_eq!(now.data["status"]["addons"][0][field], was.data["status"]["addons"][0][field], "{field}");
    }
}

/// What shows that an object was written.
fn written(object: &DynamicObject) -> serde_json::Value {
    json!([object.metadata.resource_version, object.metadata.managed_fields])
}

#[tokio::test]
async fn objects_of_earlier_versions_keep_every_field_and_stay_valid_under_the_new_kinds() {
    for fixture in Fixture::all() {
        let cluster = as_it_was(&fixture).await;
        let before = present(&cluster, &fixture).await;
        for object in &fixture.objects {
            assert_eq!(
                content(&before[&key(object)]),
                content(object),
                "{}: {}",
                fixture.version,
                key(object)
            );
        }
        upgrade_kinds(&cluster).await;
        let after = present(&cluster, &fixture).await;
        for (key, object) in &after {
            assert_eq!(content(object), content(&before[key]), "{}: {key}", fixture.version);
            let dry_run = PostParams { dry_run: true, ..PostParams::default() };
            let written = api(&cluster, object).replace(&object.name_any(), &dry_run, object).await;
            assert!(written.is_ok(), "{}: {key} is refused: {written:?}", fixture.version);
        }
    }
}

#[tokio::test]
async fn an_upgrade_applies_nothing_and_within_a_version_nothing_is_written() {
    for fixture in Fixture::all() {
        let cluster = as_it_was(&fixture).await;
        upgrade_kinds(&cluster).await;
        permit(&cluster).await;
        let before = present(&cluster, &fixture).await;
        let engine = Arc::new(Idle::of(fixture.engine.clone()));
        let address = free_address();
        let manager = Manager::start(&cluster, options(&fixture, engine.clone(), address)).await;
        for (kind, count) in fixture.kinds() {
            settled(address, kind, count).await;
        }
        assert_eq!(engine.runs(), Vec::<String>::new(), "{}: Terraform was run", fixture.version);
        let by_old_hash = |object: &&DynamicObject| {
            is_stack_binding(object)
                && object.data["status"]["cluster"].as_str().is_some_and(|named| named.len() == 16)
        };
        let renamed: Vec<_> = fixture.objects.iter().filter(by_old_hash).collect();
        assert_eq!(renamed.is_empty(), fixture.is_of_this_version(), "{}: no old name", fixture.version);
        for binding in renamed {
            is_of_the_same_cluster(&cluster, binding).await;
        }
        manager.stop().await;
        let after = present(&cluster, &fixture).await;
        for (key, object) in &after {
            let was = &before[key];
            if !fixture.is_of_this_version() {
                assert_eq!(lasting(object), lasting(was), "{}: {key} was changed", fixture.version);
                continue;
            }
            if tells_of_add_ons(object) {
                let stays = |object| {
                    let mut content = content(object);
                    content.as_object_mut().unwrap().remove("status");
                    content
                };
                assert_eq!(stays(object), stays(was), "{}: {key} was written", fixture.version);
                continue;
            }
            assert_eq!(content(object), content(was), "{}: {key} was written", fixture.version);
            assert_eq!(written(object), written(was), "{}: {key} was written", fixture.version);
        }
    }
}

fn options(fixture: &Fixture, engine: Arc<Idle>, address: std::net::SocketAddr) -> Options {
    let directory = tempfile::tempdir().unwrap().keep();
    let now = fixture.taken_at.checked_add(Duration::from_secs(60)).unwrap();
    let home = making::NAMESPACE.to_owned();
    let server = capt_controller::options::Server::default();
    let mut terraform = TerraformOptions::new(engine, directory, server, home, making::HOST.to_owned());
    // When reality is looked at again is noted; no test may depend on how long ago that was.
    terraform.clock = Clock::new(move || now);
    Options { terraform: Some(terraform), diagnostics_address: Some(address), ..Options::default() }
}

/// Waits until the manager has looked at that many objects of a kind and found them in order.
async fn settled(address: std::net::SocketAddr, kind: &str, count: usize) {
    let wanted = format!("capt_reconciles_total{{kind=\"{kind}\",outcome=\"Settled\"}} ");
    eventually(&format!("{count} of kind {kind} to be settled"), async || {
        let metrics = get(address, "/metrics").await.map_err(|error| format!("{error:?}"))?;
        let told = metrics.lines().find_map(|line| line.strip_prefix(&wanted)?.trim().parse::<usize>().ok());
        let reconciles: Vec<&str> =
            metrics.lines().filter(|line| line.starts_with("capt_reconciles_total")).collect();
        if told.is_some_and(|told| told >= count) { Ok(()) } else { Err(reconciles.join("; ")) }
    })
    .await;
}

/// `cargo xtask fixture upgrade` sets this to have the fixture written.
const WRITE: &str = "CAPT_WRITE_FIXTURE";

#[tokio::test]
async fn this_version_leaves_what_its_fixture_says() {
    let made = making::make().await;
    if std::env::var_os(WRITE).is_some() {
        made.write();
    }
    let kept = Fixture::all().into_iter().find(Fixture::is_of_this_version);
    let kept = kept.expect("`cargo xtask fixture upgrade` writes it");
    assert_eq!(made.shape(), kept.shape(), "`cargo xtask fixture upgrade` writes it anew");
}
