//! `clusterctl move`, played on one API server: what it does at the source, and what it makes at the target.

use capt_api::names::{annotation, finalizer};
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_terraform::Operation;
use capt_testkit::{eventually, watch_until};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::modules::{COUNT, slow, touching, unique_lines};
use super::stage::EngineStage;

/// An apply, and the Secrets that it owns: what clusterctl takes along.
pub(super) struct Luggage {
    pub(super) apply: WorkspaceTemplateApply,
    pub(super) secrets: Vec<Secret>,
}

impl Luggage {
    /// What clusterctl would take along, in which nothing may be missing.
    pub(super) async fn of(stage: &EngineStage, name: &str) -> Self {
        Self::of_apply(stage, &format!("{name}-apply")).await
    }

    pub(super) async fn of_apply(stage: &EngineStage, name: &str) -> Self {
        let apply = stage.stage.applies().get(name).await.unwrap();
        let uid = apply.uid().unwrap();
        let secrets = stage.stage.api::<Secret>().list(&ListParams::default()).await.unwrap().items;
        // clusterctl leaves behind what has any owner that it does not move.
        let moves = |secret: &Secret| {
            let owners = secret.owner_references();
            !owners.is_empty() && owners.iter().all(|owner| owner.uid == uid)
        };
        Self { apply, secrets: secrets.into_iter().filter(moves).collect() }
    }

    fn names(&self) -> Vec<String> {
        self.secrets.iter().map(ResourceExt::name_any).collect()
    }

    /// Deletes everything as clusterctl does it at the source: what is owned goes first.
    pub(super) async fn leave(&self, stage: &EngineStage) {
        for secret in &self.secrets {
            leave(&stage.stage.api::<Secret>(), &secret.name_any()).await;
        }
        leave(&stage.stage.applies(), &self.apply.name_any()).await;
    }

    /// Makes everything anew as clusterctl does it at the target: without status, with the new uid as the owner's.
    pub(super) async fn arrive(&self, stage: &EngineStage) {
        let mut apply = fresh(self.apply.clone());
        apply.status = None;
        let made = stage.stage.applies().create(&PostParams::default(), &apply).await.unwrap();
        for secret in &self.secrets {
            let mut secret = fresh(secret.clone());
            for owner in secret.metadata.owner_references.iter_mut().flatten() {
                owner.uid = made.uid().unwrap();
            }
            stage.stage.api::<Secret>().create(&PostParams::default(), &secret).await.unwrap();
        }
    }
}

/// clusterctl pauses the Cluster before it touches anything.
pub(super) async fn pause(stage: &EngineStage, name: &str) {
    stage.change_apply("real", json!({ "metadata": { "annotations": { annotation::PAUSED: "" } } })).await;
    stage.condition(name, "Synced", "False", "is paused").await;
}

/// An object as it is made anew elsewhere.
pub(crate) fn fresh<K: Resource>(mut object: K) -> K {
    let metadata = object.meta_mut();
    (metadata.uid, metadata.resource_version, metadata.deletion_timestamp) = (None, None, None);
    metadata.managed_fields = None;
    object
}

/// Takes an object away as clusterctl does at the source.
pub(crate) async fn leave<K>(api: &Api<K>, name: &str)
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + std::fmt::Debug,
    K: DeserializeOwned + Serialize,
{
    let replace = json!([{ "op": "add", "path": "/metadata/annotations", "value": { annotation::DELETE_FOR_MOVE: "" } }]);
    let patch = Patch::<()>::Json(serde_json::from_value(replace).unwrap());
    api.patch(name, &PatchParams::default(), &patch).await.unwrap();
    api.delete(name, &DeleteParams::default()).await.unwrap();
    if api.get_metadata_opt(name).await.unwrap().is_some() {
        let strip = Patch::Merge(json!({ "metadata": { "finalizers": [] } }));
        // A manager may have been faster.
        let _ = api.patch(name, &PatchParams::default(), &strip).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_is_kept_goes_along_and_is_taken_up_with_an_empty_plan() {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.start_recorded().await;
    let name = stage.put("real", &touching(&stage.file("real")), json!({})).await;
    stage.ready(&name).await;
    let luggage = Luggage::of(&stage, &name).await;
    for wanted in
        [format!("tfstate-{name}-capt"), format!("capt-record-{name}"), "real-connection".to_owned()]
    {
        assert!(luggage.names().contains(&wanted), "{wanted} is left behind: {:?}", luggage.names());
    }
    engine.take();

    pause(&stage, &name).await;
    luggage.leave(&stage).await;
    // What was seen to be moved is not kept, and not destroyed either.
    stage.gone(&name).await;
    assert_eq!(engine.take(), []);
    assert!(stage.file("real").exists());
    eventually("nothing to be left", async || stage.secrets().await.is_empty()).await;

    let mut luggage = luggage;
    luggage.apply.annotations_mut().insert(annotation::APPROVE_PLAN.to_owned(), "sha256:before".to_owned());
    luggage.arrive(&stage).await;
    stage.ready(&name).await;
    assert_eq!(engine.take(), [Operation::Plan, Operation::Outputs]);
    assert!(stage.file("real").exists());
    let arrived = Luggage::of(&stage, &name).await;
    assert_eq!(arrived.names(), luggage.names());
    assert!(!arrived.apply.annotations().contains_key(annotation::APPROVE_PLAN), "it was approved there");
}

/// A Workspace as it was when its manager stopped, and all that was taken away from the source since.
async fn moved_while_nobody_ran() -> (EngineStage, Luggage, Workspace) {
    let mut stage = EngineStage::without_manager().await;
    stage.start_manager().await;
    let name = stage.put("real", &touching(&stage.file("real")), json!({})).await;
    let before = stage.ready(&name).await;
    stage.stop_manager().await;
    let luggage = Luggage::of(&stage, &name).await;
    luggage.leave(&stage).await;
    (stage, luggage, before)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_that_was_away_leaves_what_was_moved_frozen_and_takes_it_up_again() {
    let (mut stage, luggage, before) = moved_while_nobody_ran().await;
    let name = before.name_any();

    let engine = stage.start_recorded().await;
    let told = stage
        .condition(&name, "Synced", "False", "If it was moved to another cluster, delete this Workspace")
        .await;
    assert!(told.metadata.deletion_timestamp.is_none());
    assert_eq!(engine.take(), []);

    luggage.arrive(&stage).await;
    let after = stage.ready(&name).await;
    assert_eq!(after.uid(), before.uid());
    assert!(!engine.take().iter().any(|operation| matches!(operation, Operation::Apply { .. })));
    assert!(stage.file("real").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_left_behind_and_deleted_is_not_destroyed_when_its_apply_comes_back() {
    let (mut stage, luggage, before) = moved_while_nobody_ran().await;
    let name = before.name_any();
    // It hangs, since nobody is there to let go of it.
    stage.stage.workspaces().delete(&name, &DeleteParams::default()).await.unwrap();
    luggage.arrive(&stage).await;

    let engine = stage.start_recorded().await;
    let made_again = |workspace: &Workspace| workspace.uid() != before.uid();
    watch_until("the Workspace to be made again", &stage.stage.workspaces(), &name, made_again).await;
    stage.ready(&name).await;
    assert_eq!(engine.take(), [Operation::Plan, Operation::Outputs]);
    assert!(stage.file("real").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_did_not_arrive_is_waited_for() {
    let mut stage = EngineStage::without_manager().await;
    let engine = stage.start_recorded().await;
    let name = stage.put("real", &touching(&stage.file("real")), json!({})).await;
    stage.ready(&name).await;
    let luggage = Luggage::of(&stage, &name).await;
    pause(&stage, &name).await;
    luggage.leave(&stage).await;
    stage.gone(&name).await;
    engine.take();

    let (none, all) = (Vec::new(), luggage.secrets);
    let bare = Luggage { apply: luggage.apply, secrets: none };
    bare.arrive(&stage).await;
    stage.condition(&name, "Synced", "False", "the state that was there is missing").await;
    assert_eq!(engine.take(), []);

    // It comes late.
    let owner = stage.stage.applies().get(&format!("{name}-apply")).await.unwrap().uid().unwrap();
    for secret in all {
        let mut secret = fresh(secret);
        secret.metadata.owner_references.iter_mut().flatten().for_each(|it| it.uid.clone_from(&owner));
        stage.stage.api::<Secret>().create(&PostParams::default(), &secret).await.unwrap();
    }
    stage.ready(&name).await;
    assert!(!engine.take().iter().any(|operation| matches!(operation, Operation::Apply { .. })));
}

async fn blocks(stage: &EngineStage, name: &str) -> bool {
    let record = stage.stage.api::<Secret>().get_opt(&format!("capt-record-{name}")).await.unwrap();
    record.is_some_and(|record| record.annotations().contains_key(annotation::BLOCK_MOVE))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apply_holds_up_a_move_until_what_it_gave_is_published_whoever_paused_it_meanwhile() {
    let stage = EngineStage::set().await;
    let directory = stage.file("x").parent().unwrap().to_owned();
    let name = stage.put("slow", &slow(&directory), json!({})).await;
    eventually("the move to be held up", async || blocks(&stage, &name).await).await;
    assert!(stage.secret("slow-connection").await.is_none());
    // As clusterctl does it, which then waits.
    stage.change_apply("slow", json!({ "metadata": { "annotations": { annotation::PAUSED: "" } } })).await;

    eventually("the move to go on", async || !blocks(&stage, &name).await).await;
    assert_eq!(unique_lines(&stage.file("made")).len(), COUNT);
    assert_eq!(stage.secret("slow-connection").await.unwrap()["count"], COUNT.to_string());
    stage.condition(&name, "Synced", "False", "is paused").await;
    let luggage = Luggage::of(&stage, &name).await;
    assert!(luggage.names().contains(&"slow-connection".to_owned()), "{:?}", luggage.names());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_that_comes_up_with_nothing_going_on_lets_a_paused_move_go_on() {
    let mut stage = EngineStage::without_manager().await;
    stage.start_manager().await;
    let name = stage.put("real", &touching(&stage.file("real")), json!({})).await;
    stage.ready(&name).await;
    stage.stop_manager().await;
    // As a manager leaves it that is killed during an apply.
    let patch = json!({ "metadata": { "annotations": { annotation::BLOCK_MOVE: "" } } });
    stage.stage.change::<Secret>(&format!("capt-record-{name}"), patch).await;
    stage.change_apply("real", json!({ "metadata": { "annotations": { annotation::PAUSED: "" } } })).await;

    let engine = stage.start_recorded().await;
    eventually("the move to go on", async || !blocks(&stage, &name).await).await;
    stage.condition(&name, "Synced", "False", "is paused").await;
    assert_eq!(engine.take(), []);
    let record = stage.stage.api::<Secret>().get(&format!("capt-record-{name}")).await.unwrap();
    assert!(record.finalizers().iter().any(|held| held == finalizer::STATE));
}
