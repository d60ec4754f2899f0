//! Tokens for EKS: made by CAPT, renewed in time, kept over restarts.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use capt_api::{CAPTControlPlane, Cluster};
use capt_controller::options::{Clock, Options, Tokens};
use capt_eks::scripted::ScriptedMinter;
use capt_testkit::eventually;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use kube::{Api, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::scene::{Scene, condition, field};
use crate::engine::moves::{fresh, leave};

const HOST: &str = "https://ABC.gr7.eu-west-1.eks.amazonaws.com";

/// A clock that the test moves, and a minter that goes by it.
struct World {
    minter: Arc<ScriptedMinter>,
    seconds: Arc<AtomicI64>,
}

impl World {
    fn new() -> Self {
        let world = Self {
            minter: Arc::new(ScriptedMinter::default()),
            seconds: Arc::new(AtomicI64::new(Timestamp::now().as_second())),
        };
        world.advance(0);
        world
    }

    fn advance(&self, seconds: i64) {
        let now = self.seconds.fetch_add(seconds, Ordering::Relaxed) + seconds;
        self.minter.stop_clock_at(Timestamp::from_second(now).unwrap());
    }

    fn options(&self) -> Options {
        let seconds = Arc::clone(&self.seconds);
        let clock = Clock::new(move || Timestamp::from_second(seconds.load(Ordering::Relaxed)).unwrap());
        Options { tokens: Tokens::new(self.minter.clone()), clock, ..Options::default() }
    }
}

fn outputs(scene: &Scene) -> Vec<(String, String)> {
    let authority = scene.outputs()[1].clone();
    let more = [("cluster_endpoint", HOST), ("cluster_name", "prod")];
    let more = more.map(|(name, value)| (name.to_owned(), value.to_owned()));
    [authority].into_iter().chain(more).collect()
}

async fn token(scene: &Scene) -> Option<String> {
    let kubeconfig = scene.secret(&format!("{}-kubeconfig", scene.name), "value").await?;
    Some(field(&kubeconfig, "token"))
}

async fn provisioned(world: &World) -> Scene {
    let scene = Scene::set_with(world.options()).await;
    scene.workspace().await;
    scene.connect(&outputs(&scene)).await;
    scene.report_ready(&outputs(&scene)).await;
    scene.condition("SecretsReady", "True", "SecretsWritten").await;
    scene
}

#[tokio::test]
async fn a_kubeconfig_is_made_where_the_module_gives_only_name_endpoint_and_authority() {
    let world = World::new();
    let scene = provisioned(&world).await;
    let first = token(&scene).await.unwrap();
    assert!(first.starts_with("k8s-aws-v1."), "{first}");
    let request = &world.minter.requests()[0];
    assert_eq!((request.region.as_str(), request.cluster_name.as_str()), ("eu-west-1", "prod"));
    let people = scene.secret(&format!("{}-user-kubeconfig", scene.name), "value").await.unwrap();
    assert!(people.contains("get-token") && !people.contains("k8s-aws-v1."));
}

#[tokio::test]
async fn a_token_is_renewed_in_time_and_kept_over_restarts() {
    let world = World::new();
    let mut scene = provisioned(&world).await;
    let first = token(&scene).await.unwrap();

    scene.stop_manager().await;
    scene.start_manager(world.options()).await;
    scene
        .stage
        .change::<CAPTControlPlane>(&scene.name, json!({ "metadata": { "annotations": { "touched": "1" } } }))
        .await;
    scene.condition("SecretsReady", "True", "SecretsWritten").await;
    assert_eq!(token(&scene).await.as_ref(), Some(&first), "a restart renews nothing");
    assert_eq!(world.minter.requests().len(), 1);

    world.advance(601);
    // The timer goes by the real clock, which the test cannot move: any event will do.
    scene
        .stage
        .change::<CAPTControlPlane>(&scene.name, json!({ "metadata": { "annotations": { "touched": "2" } } }))
        .await;
    eventually("the token to be renewed", async || token(&scene).await.is_some_and(|token| token != first))
        .await;
}

/// What `clusterctl move` does of an object: another uid, its owners as they are called there, and no status.
async fn arrive<K>(api: &Api<K>, left: K, uids: &mut BTreeMap<String, String>)
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + Serialize,
{
    let mut object = serde_json::to_value(&left).unwrap();
    object.as_object_mut().unwrap().remove("status");
    let mut object: K = fresh(serde_json::from_value(object).unwrap());
    let before = left.meta().uid.clone().unwrap();
    for owner in object.meta_mut().owner_references.iter_mut().flatten() {
        owner.uid.clone_from(&uids[&owner.uid]);
    }
    let made = api.create(&PostParams::default(), &object).await.unwrap();
    uids.insert(before, made.meta().uid.clone().unwrap());
}

/// Takes an object along.
async fn pack<K>(api: &Api<K>, name: &str) -> K
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + Serialize,
{
    let left = api.get(name).await.unwrap();
    leave(api, name).await;
    left
}

#[tokio::test]
async fn a_token_goes_on_being_renewed_after_a_move() {
    let world = World::new();
    let mut scene = provisioned(&world).await;
    let first = token(&scene).await.unwrap();
    scene.stop_manager().await;
    let (clusters, applies) = (scene.stage.api::<Cluster>(), scene.stage.applies());
    let secrets = scene.secrets();
    let names = ["kubeconfig", "user-kubeconfig", "ca", "control-plane-kubeconfig"];
    let mut kept = Vec::new();
    for name in names {
        kept.push(pack(&secrets, &format!("{}-{name}", scene.name)).await);
    }
    let apply = pack(&applies, &format!("{}-apply", scene.workspace_name())).await;
    let control_plane = pack(&scene.control_planes(), &scene.name).await;
    let cluster = pack(&clusters, &scene.name).await;
    let mut uids = BTreeMap::new();
    arrive(&clusters, cluster, &mut uids).await;
    arrive(&scene.control_planes(), control_plane, &mut uids).await;
    arrive(&applies, apply, &mut uids).await;
    for secret in kept {
        arrive(&secrets, secret, &mut uids).await;
    }

    scene.start_manager(world.options()).await;
    scene.report_ready(&outputs(&scene)).await;
    scene.condition("SecretsReady", "True", "SecretsWritten").await;
    assert_eq!(token(&scene).await.as_ref(), Some(&first), "a token that is good arrives and is kept");
    world.advance(601);
    let touch = json!({ "metadata": { "annotations": { "touched": "1" } } });
    scene.stage.change::<CAPTControlPlane>(&scene.name, touch).await;
    eventually("the token to be renewed", async || token(&scene).await.is_some_and(|token| token != first))
        .await;
    let kubeconfig = secrets.get(&format!("{}-kubeconfig", scene.name)).await.unwrap();
    let uid = scene.control_planes().get(&scene.name).await.unwrap().uid();
    assert_eq!(kubeconfig.owner_references()[0].uid, uid.unwrap());
}

#[tokio::test]
async fn a_token_that_cannot_be_renewed_is_used_until_it_ends_and_then_told() {
    let world = World::new();
    let scene = provisioned(&world).await;
    let first = token(&scene).await.unwrap();
    world.minter.fail(Some(capt_eks::Error::NoIdentity { tried: Vec::new() }));
    world.advance(601);
    let touch = |value: &str| json!({ "metadata": { "annotations": { "touched": value } } });
    scene.stage.change::<CAPTControlPlane>(&scene.name, touch("1")).await;
    let found = scene
        .until("to warn", |found| {
            condition(found, "SecretsReady")
                .is_some_and(|told| told.message.contains("no token could be made"))
        })
        .await;
    assert_eq!(condition(&found, "SecretsReady").unwrap().status, "True");
    assert_eq!(token(&scene).await.as_ref(), Some(&first));
    world.advance(600);
    scene.stage.change::<CAPTControlPlane>(&scene.name, touch("2")).await;
    let found = scene.condition("SecretsReady", "False", "CredentialsUnavailable").await;
    assert!(condition(&found, "SecretsReady").unwrap().message.contains("no AWS identity found"));
    assert_eq!(token(&scene).await.as_ref(), Some(&first), "the last one stays in place");
    world.minter.fail(None);
    scene.condition("SecretsReady", "True", "SecretsWritten").await;
}

#[tokio::test]
async fn the_role_of_the_spec_is_taken_on() {
    let world = World::new();
    let mut scene = Scene::without_manager().await;
    scene.start_manager(world.options()).await;
    let role = "arn:aws:iam::111122223333:role/ours";
    scene.put(json!({ "controlPlaneConfig": { "identity": { "roleArn": role, "externalId": "x" } } })).await;
    scene.workspace().await;
    scene.connect(&outputs(&scene)).await;
    scene.report_ready(&outputs(&scene)).await;
    scene.condition("SecretsReady", "True", "SecretsWritten").await;
    let request = world.minter.requests().remove(0);
    let given = request.role.unwrap();
    assert_eq!((given.arn.as_str(), given.external_id.as_deref()), (role, Some("x")));
}
