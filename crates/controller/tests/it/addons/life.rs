//! The life of an add-on: started by hand, held, paused, brought again, taken away.

use capt_api::addon_stack::StepState;
use capt_api::{AddonStack, AddonStackBinding, ClusterResourceSet};
use capt_controller::options::Options;
use capt_testkit::{TestCluster, eventually, watch_until};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::Api;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::bad_input::{map, one_addon, set, workload};
use super::scene::Scene;

async fn maps(namespace: &str) -> Api<ConfigMap> {
    Api::namespaced(workload().await.client(), namespace)
}

async fn gone(maps: &Api<ConfigMap>, name: &str) {
    eventually("it to be taken away", async || maps.get_opt(name).await.unwrap().is_none()).await;
}

fn removed(name: &str, manifests: &str) -> Value {
    json!({
        "name": name, "delivery": "Direct", "removal": "Delete", "resources": [{ "kind": "ConfigMap", "name": manifests }],
    })
}

async fn ready(scene: &Scene, addon: &str) {
    scene.step("base", "demo", addon, StepState::Ready, "AddonReady").await;
}

#[tokio::test]
async fn a_label_by_hand_starts_an_add_on_and_taking_it_away_holds_it() {
    let (scene, namespace) = set().await;
    scene.put_manifests("manifests", &map("a", &namespace)).await;
    let addons = json!([
        { "name": "never", "values": [{ "namespace": "x", "keys": [{ "output": "nobody_gives_this" }] }] },
        {
            "name": "two", "dependsOn": ["never"], "gateLabel": "two/enabled", "delivery": "Direct",
            "resources": [{ "kind": "ConfigMap", "name": "manifests" }],
        },
    ]);
    scene.put_stack("base", addons).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    scene.step("base", "demo", "two", StepState::Pending, "WaitingForAddons").await;
    scene.label("demo", json!({ "two/enabled": "true" })).await;
    ready(&scene, "two").await;
    scene.label("demo", json!({ "two/enabled": "false" })).await;
    let step = scene.step("base", "demo", "two", StepState::Blocked, "GateClosed").await;
    assert!(step.message.contains("`two/enabled` of the Cluster is `false`"), "{}", step.message);
    assert!(maps(&namespace).await.get_opt("a").await.unwrap().is_some(), "what was brought stays");
    scene.label("demo", json!({ "two/enabled": "true" })).await;
    ready(&scene, "two").await;
}

#[tokio::test]
async fn a_label_of_ours_that_the_user_takes_away_is_not_set_again() {
    let (scene, namespace) = set().await;
    scene.put_manifests("manifests", &map("a", &namespace)).await;
    let mut addons = one_addon();
    addons[0]["gateLabel"] = json!("one/enabled");
    scene.put_stack("base", addons).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    ready(&scene, "one").await;
    scene.label("demo", json!({ "one/enabled": null })).await;
    let step = scene.step("base", "demo", "one", StepState::Blocked, "GateClosed").await;
    assert!(step.message.contains("was taken off the Cluster"), "{}", step.message);
    scene.label("demo", json!({ "one/enabled": "true" })).await;
    ready(&scene, "one").await;
}

#[tokio::test]
async fn two_sets_of_the_user_may_bring_the_same_object() {
    let (scene, namespace) = set().await;
    for name in ["first", "second"] {
        let manifests = format!("{}\n---\n{}", map("shared", &namespace), map(name, &namespace));
        scene.put_manifests(name, &manifests).await;
        scene
            .stage
            .put::<ClusterResourceSet>(json!({
                "metadata": { "name": name },
                "spec": {
                    "clusterSelector": { "matchLabels": { "one/enabled": "true" } }, "strategy": "ApplyOnce",
                    "resources": [{ "kind": "ConfigMap", "name": name }],
                },
            }))
            .await;
    }
    scene.put_stack("base", json!([{ "name": "one", "gateLabel": "one/enabled" }])).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    ready(&scene, "one").await;
    for name in ["shared", "first", "second"] {
        assert!(maps(&namespace).await.get_opt(name).await.unwrap().is_some(), "{name} is not there");
    }
}

#[tokio::test]
async fn nothing_is_brought_while_the_stack_is_paused() {
    let (scene, namespace) = set().await;
    scene.put_manifests("manifests", &map("a", &namespace)).await;
    scene.put_stack("base", one_addon()).await;
    scene.stage.change::<AddonStack>("base", json!({ "spec": { "paused": true } })).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    watch_until("the pause to be told", &scene.bindings(), "base.demo", |binding| {
        let conditions = binding.status.iter().flat_map(|status| &status.conditions);
        conditions.filter(|one| one.type_ == "Paused").any(|one| one.status == "True")
    })
    .await;
    assert!(maps(&namespace).await.get_opt("a").await.unwrap().is_none());
    scene.stage.change::<AddonStack>("base", json!({ "spec": { "paused": false } })).await;
    ready(&scene, "one").await;
}

#[tokio::test]
async fn a_request_brings_back_what_was_deleted_or_changed_in_the_cluster() {
    let (scene, namespace) = set().await;
    scene.put_manifests("manifests", &format!("{}---\n{}", map("a", &namespace), map("b", &namespace))).await;
    scene.put_stack("base", one_addon()).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    ready(&scene, "one").await;
    let maps = maps(&namespace).await;
    maps.delete("a", &DeleteParams::default()).await.unwrap();
    let patch = json!({ "data": { "a": "changed", "theirs": "stays" } });
    maps.patch("b", &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    let request = json!({ "metadata": { "annotations": { "capt.cluster.x-k8s.io/requested-at": "now" } } });
    scene.stage.change::<AddonStackBinding>("base.demo", request).await;
    watch_until("it to be there again", &maps, "a", |_| true).await;
    let repaired =
        watch_until("it to be as it should be", &maps, "b", |map| map.data.as_ref().unwrap()["a"] == "b")
            .await;
    assert_eq!(repaired.data.unwrap()["theirs"], "stays");
    watch_until("the request to be handled", &scene.bindings(), "base.demo", |binding| {
        binding.status.as_ref().is_some_and(|status| status.last_handled_request.as_deref() == Some("now"))
    })
    .await;
}

#[tokio::test]
async fn what_the_manifests_no_longer_hold_is_taken_away() {
    let (scene, namespace) = set().await;
    scene.put_manifests("manifests", &format!("{}---\n{}", map("a", &namespace), map("b", &namespace))).await;
    scene.put_stack("base", one_addon()).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    ready(&scene, "one").await;
    scene.put_manifests("manifests", &map("b", &namespace)).await;
    let maps = maps(&namespace).await;
    gone(&maps, "a").await;
    assert!(maps.get_opt("b").await.unwrap().is_some());
}

#[tokio::test]
async fn an_add_on_that_leaves_the_stack_is_taken_away_or_stays_as_it_says() {
    let (scene, namespace) = set().await;
    scene.put_manifests("goes", &map("goes", &namespace)).await;
    scene.put_manifests("stays", &map("stays", &namespace)).await;
    let mut stays = one_addon()[0].clone();
    stays["name"] = json!("stays");
    stays["resources"][0]["name"] = json!("stays");
    let rest = json!({ "name": "rest", "values": [{ "namespace": namespace, "keys": [{ "output": "cluster_name" }] }] });
    scene.put_stack("base", json!([removed("goes", "goes"), stays, rest])).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    for addon in ["goes", "stays", "rest"] {
        ready(&scene, addon).await;
    }
    scene.stage.change::<AddonStack>("base", json!({ "spec": { "addons": [rest] } })).await;
    let maps = maps(&namespace).await;
    gone(&maps, "goes").await;
    watch_until("only one add-on to be told", &scene.bindings(), "base.demo", |binding| {
        binding.status.as_ref().is_some_and(|status| status.addons.len() == 1)
    })
    .await;
    assert!(maps.get_opt("stays").await.unwrap().is_some());
}

#[tokio::test]
async fn a_cluster_that_is_no_longer_selected_loses_what_is_to_be_taken_away() {
    let (scene, namespace) = set().await;
    scene.put_manifests("goes", &map("goes", &namespace)).await;
    let mut addon = removed("goes", "goes");
    addon["gateLabel"] = json!("goes/enabled");
    scene.put_stack("base", json!([addon])).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    ready(&scene, "goes").await;
    scene.label("demo", json!({ "addons": null })).await;
    gone(&maps(&namespace).await, "goes").await;
    eventually("the binding to be gone", async || {
        scene.bindings().get_opt("base.demo").await.unwrap().is_none()
    })
    .await;
    watch_until("label and condition to be gone", &scene.clusters(), "demo", |cluster| {
        let told =
            cluster.status.iter().flat_map(|status| &status.conditions).any(|one| one.type_ == "AddonsReady");
        !told && !cluster.metadata.labels.iter().flatten().any(|(key, _)| key == "goes/enabled")
    })
    .await;
}

#[tokio::test]
async fn a_deleted_stack_takes_its_add_ons_along_and_then_goes() {
    let (scene, namespace) = set().await;
    scene.put_manifests("goes", &map("goes", &namespace)).await;
    scene.put_stack("base", json!([removed("goes", "goes")])).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    ready(&scene, "goes").await;
    let stacks: Api<AddonStack> = scene.stage.api();
    stacks.delete("base", &DeleteParams::default()).await.unwrap();
    gone(&maps(&namespace).await, "goes").await;
    eventually("the stack to be gone", async || stacks.get_opt("base").await.unwrap().is_none()).await;
    assert!(scene.bindings().list(&ListParams::default()).await.unwrap().items.is_empty());
}

#[tokio::test]
async fn placeholders_are_replaced_by_what_they_are_for_each_cluster() {
    let (scene, namespace) = set().await;
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: \"${{CLUSTER_NAME}}\", namespace: {namespace} }}\n\
         data: {{ queue: \"${{INTERRUPTION_QUEUE_NAME}}\", theirs: \"$${{STAYS}} ${{lower}}\" }}\n"
    );
    scene.put_manifests("manifests", &text).await;
    let addons = json!([{ "name": "one", "resources": [{ "kind": "ConfigMap", "name": "manifests", "render": true }] }]);
    scene.put_stack("base", addons).await;
    for name in ["demo", "other"] {
        scene.put_cluster(name, workload().await, json!({ "addons": "base" })).await;
        scene.step("base", name, "one", StepState::Ready, "AddonReady").await;
        let data = maps(&namespace).await.get(name).await.unwrap().data.unwrap();
        assert_eq!(data["queue"], format!("{name}-queue"));
        assert_eq!(data["theirs"], "${STAYS} ${lower}");
    }
}

#[tokio::test]
async fn a_manager_that_starts_again_finds_everything_done() {
    let (mut scene, namespace) = set().await;
    scene.put_manifests("manifests", &map("a", &namespace)).await;
    scene.put_stack("base", one_addon()).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    ready(&scene, "one").await;
    let before = scene.bindings().get("base.demo").await.unwrap();
    scene.stop_manager().await;
    scene.start_manager(Options::default()).await;
    // Something else that is told after the restart.
    scene.put_cluster("other", workload().await, json!({ "addons": "base" })).await;
    scene.step("base", "other", "one", StepState::Failed, "ObjectClaimed").await;
    let after = scene.bindings().get("base.demo").await.unwrap();
    assert_eq!(before.metadata.resource_version, after.metadata.resource_version);
}

#[tokio::test]
async fn a_value_is_written_as_those_need_it_who_read_it_later() {
    let (scene, namespace) = set().await;
    let release = format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{ name: r, namespace: {namespace} }}\nspec:\n  \
         valuesFrom: [{{ kind: Secret, name: values, valuesKey: cluster_name, targetPath: settings.clusterName }}]\n"
    );
    scene.put_manifests("release", &release).await;
    let addons = json!([
        { "name": "values", "values": [{ "name": "values", "namespace": namespace, "keys": [{ "output": "cluster_name" }] }] },
        { "name": "release", "dependsOn": ["values"], "delivery": "Direct", "resources": [{ "kind": "ConfigMap", "name": "release" }] },
    ]);
    scene.put_stack("base", addons).await;
    scene.put_cluster("demo", workload().await, json!({})).await;
    scene.put_outputs("demo", &[("cluster_name", "123".to_owned())]).await;
    scene.label("demo", json!({ "addons": "base" })).await;
    // Nobody who comes later is waited for.
    ready(&scene, "values").await;
    let secrets: Api<Secret> = Api::namespaced(workload().await.client(), &namespace);
    let secret = secrets.get("values").await.unwrap();
    // Helm would take bare digits for a number.
    assert_eq!(secret.data.unwrap()["cluster_name"].0, b"\"123\"");
}

#[tokio::test]
async fn a_cluster_that_took_the_place_of_another_gets_everything_anew() {
    let (scene, namespace) = set().await;
    scene.put_manifests("manifests", &map("a", &namespace)).await;
    scene.put_stack("base", one_addon()).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    ready(&scene, "one").await;
    let other = TestCluster::start().await;
    let made: Namespace = serde_json::from_value(json!({ "metadata": { "name": namespace } })).unwrap();
    Api::<Namespace>::all(other.client()).create(&PostParams::default(), &made).await.unwrap();
    scene.put_kubeconfig("demo", &other.control_plane().kubeconfig()).await;
    let maps: Api<ConfigMap> = Api::namespaced(other.client(), &namespace);
    watch_until("it to be in the other cluster", &maps, "a", |_| true).await;
    ready(&scene, "one").await;
}
