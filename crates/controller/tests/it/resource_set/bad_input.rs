//! What cannot be brought is told, and holds up nothing else.

use capt_api::ClusterResourceSet;
use capt_testkit::{eventually, watch_until};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use rstest::rstest;
use serde_json::json;

use super::scene::{Scene, condition, far, first, manifest, value};

#[tokio::test]
async fn a_missing_config_map_is_told_and_brought_as_soon_as_it_is_there() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("missing").await;
    let there = far(workload, &namespace);
    scene.put_set("s", "ApplyOnce", &["first", "second"]).await;
    let message = scene.told("s", "False", "ResourceMissing").await;
    assert!(message.contains("ConfigMap `first` does not exist"), "{message}");
    assert!(message.contains("ConfigMap `second` does not exist"), "{message}");

    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    scene.stage.put_config_map("second", &[("a", &manifest(&namespace, "b", "1"))]).await;
    eventually("the other one to be brought", async || value(&there, "b").await.is_some()).await;
    let message = scene.told("s", "False", "ResourceMissing").await;
    assert!(message.contains("`first`"), "{message}");

    scene.stage.put_config_map("first", &[("a", &manifest(&namespace, "a", "1"))]).await;
    scene.applied("s").await;
    assert_eq!(value(&there, "a").await.as_deref(), Some("1"));
    let brought = scene.brought("c", "s").await.unwrap();
    assert_eq!(brought, [("first".to_owned(), true), ("second".to_owned(), true)]);
    let events = scene.stage.events("s").await;
    let told: Vec<_> = events.iter().filter_map(|event| event.reason.as_deref()).collect();
    assert!(told.contains(&"ResourceMissing") && told.contains(&"Applied"), "{told:?}");
}

#[rstest]
#[case::malformed_json_list(
    "[{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"x\"}},",
    "key `bad`"
)]
#[case::second_of_five(
    "kind: List\napiVersion: v1\nitems: []\n---\na: [\n---\n# nothing\n---\n# nothing\n---\n# nothing\n",
    "document 2"
)]
#[case::no_object("just words", "not an object")]
#[tokio::test]
async fn a_manifest_that_cannot_be_read_is_told_with_its_place_and_nothing_of_it_is_brought(
    #[case] text: &str,
    #[case] expected: &str,
) {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("broken").await;
    let there = far(workload, &namespace);
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    let good = manifest(&namespace, "beside", "1");
    scene.stage.put_config_map("broken", &[("bad", text), ("good", &good)]).await;
    scene.stage.put_config_map("sound", &[("a", &manifest(&namespace, "sound", "1"))]).await;
    scene.put_set("s", "ApplyOnce", &["broken", "sound"]).await;
    let message = scene.told("s", "False", "ManifestInvalid").await;
    assert!(message.contains("ConfigMap `broken`") && message.contains(expected), "{message}");
    eventually("what is sound to be brought", async || value(&there, "sound").await.is_some()).await;
    let expected = [("broken".to_owned(), false), ("sound".to_owned(), true)];
    eventually("the truth to be written down", async || {
        scene.brought("c", "s").await.as_deref() == Some(&expected)
    })
    .await;
    assert_eq!(value(&there, "beside").await, None);

    scene.stage.put_config_map("broken", &[("bad", "# mended"), ("good", &good)]).await;
    scene.applied("s").await;
    assert_eq!(value(&there, "beside").await.as_deref(), Some("1"));
}

#[tokio::test]
async fn a_secret_of_another_type_is_told_and_its_content_is_not() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("type").await;
    let there = far(workload, &namespace);
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    let text = manifest(&namespace, "from-a-secret", "hidden");
    scene.stage.put_secret("credentials", &[("a", &text)]).await;
    let spec = json!({
        "clusterSelector": { "matchLabels": { "fleet": "test" } },
        "resources": [{ "kind": "Secret", "name": "credentials" }],
    });
    scene.put_set_with("s", spec).await;
    let message = scene.told("s", "False", "WrongSecretType").await;
    assert!(message.contains("Secret `credentials` is of the type `Opaque`"), "{message}");
    assert!(!message.contains("hidden"), "{message}");
    assert_eq!(scene.entries("c", "s").await, None);

    scene.delete::<Secret>("credentials").await;
    scene.told("s", "False", "ResourceMissing").await;
    let secret = json!({
        "metadata": { "name": "credentials" }, "type": "addons.cluster.x-k8s.io/resource-set", "stringData": { "a": text },
    });
    scene.stage.put::<Secret>(secret).await;
    scene.applied("s").await;
    assert_eq!(value(&there, "from-a-secret").await.as_deref(), Some("hidden"));
}

#[tokio::test]
async fn an_object_that_the_cluster_refuses_is_told_and_does_not_hold_up_the_others() {
    let (scene, workload) = (Scene::set().await, first().await);
    let namespace = workload.namespace("refused").await;
    let there = far(workload, &namespace);
    scene.put_cluster("c", &workload.control_plane().kubeconfig()).await;
    let lost = manifest("nowhere-at-all", "lost", "1");
    let texts = [("a", lost.as_str()), ("b", &manifest(&namespace, "found", "1"))];
    scene.stage.put_config_map("m", &texts).await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    let message = scene.told("s", "False", "NamespaceMissing").await;
    assert!(message.contains("Cluster `c`") && message.contains("ConfigMap `m`"), "{message}");
    assert_eq!(value(&there, "found").await.as_deref(), Some("1"));
    assert_eq!(scene.brought("c", "s").await.unwrap(), [("m".to_owned(), false)]);

    // Other content is tried at once, whatever pause was on.
    scene.stage.put_config_map("m", &[("a", "# taken out"), texts[1]]).await;
    scene.applied("s").await;
}

#[tokio::test]
async fn a_selector_that_selects_nothing_says_so() {
    let scene = Scene::set().await;
    scene.stage.put_config_map("m", &[("a", "# nothing")]).await;
    scene.put_set("s", "ApplyOnce", &["m"]).await;
    let message = scene.told("s", "False", "NoClusters").await;
    assert!(message.contains(&scene.stage.namespace), "{message}");
    let found = watch_until("to be observed", &scene.stage.api::<ClusterResourceSet>(), "s", |found| {
        found.status.as_ref().is_some_and(|status| status.observed_generation == found.metadata.generation)
    })
    .await;
    assert_eq!(condition(&found, "Paused").unwrap().reason, "NotPaused");
    scene.delete::<ConfigMap>("m").await;
    scene.told("s", "False", "ResourceMissing").await;
}
