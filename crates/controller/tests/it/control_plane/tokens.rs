//! Tokens for EKS: made by CAPT, renewed in time, kept over restarts.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use capt_controller::options::{Clock, Options, Tokens};
use capt_eks::scripted::ScriptedMinter;
use capt_testkit::eventually;
use k8s_openapi::jiff::Timestamp;
use serde_json::json;

use super::scene::{Scene, condition, field};

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
        .change::<capt_api::CAPTControlPlane>(
            &scene.name,
            json!({ "metadata": { "annotations": { "touched": "1" } } }),
        )
        .await;
    scene.condition("SecretsReady", "True", "SecretsWritten").await;
    assert_eq!(token(&scene).await.as_ref(), Some(&first), "a restart renews nothing");
    assert_eq!(world.minter.requests().len(), 1);

    world.advance(601);
    // The timer goes by the real clock, which the test cannot move: any event will do.
    scene
        .stage
        .change::<capt_api::CAPTControlPlane>(
            &scene.name,
            json!({ "metadata": { "annotations": { "touched": "2" } } }),
        )
        .await;
    eventually("the token to be renewed", async || token(&scene).await.is_some_and(|token| token != first))
        .await;
}

#[tokio::test]
async fn a_token_that_cannot_be_renewed_is_used_until_it_ends_and_then_told() {
    let world = World::new();
    let scene = provisioned(&world).await;
    let first = token(&scene).await.unwrap();
    world.minter.fail(Some(capt_eks::Error::NoIdentity { tried: Vec::new() }));
    world.advance(601);
    let touch = |value: &str| json!({ "metadata": { "annotations": { "touched": value } } });
    scene.stage.change::<capt_api::CAPTControlPlane>(&scene.name, touch("1")).await;
    let found = scene
        .until("to warn", |found| {
            condition(found, "SecretsReady")
                .is_some_and(|told| told.message.contains("no token could be made"))
        })
        .await;
    assert_eq!(condition(&found, "SecretsReady").unwrap().status, "True");
    assert_eq!(token(&scene).await.as_ref(), Some(&first));
    world.advance(600);
    scene.stage.change::<capt_api::CAPTControlPlane>(&scene.name, touch("2")).await;
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
