//! What can be wrong with an add-on or with the cluster it goes to: it is told, nothing else stops, and repair is enough.

use capt_api::AddonStackBinding;
use capt_api::addon_stack::StepState;
use capt_testkit::{TestCluster, watch_until};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::api::{DeleteParams, DynamicObject, ListParams, PostParams};
use kube::{Api, Client, ResourceExt};
use rstest::rstest;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::scene::{Scene, objects};

static WORKLOAD: OnceCell<TestCluster> = OnceCell::const_new();

/// A workload cluster for every test that keeps to a namespace of its own.
pub(super) async fn workload() -> &'static TestCluster {
    WORKLOAD.get_or_init(TestCluster::start).await
}

/// A scene, and a namespace in the workload cluster that no other test uses.
pub(super) async fn set() -> (Scene, String) {
    let (scene, workload) = tokio::join!(Scene::set(), workload());
    let namespace = workload.namespace("addon").await;
    (scene, namespace)
}

/// A `ConfigMap` in a namespace.
pub(super) fn map(name: &str, namespace: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name}, namespace: {namespace} }}\ndata: {{ a: b }}\n"
    )
}

pub(super) fn one_addon() -> Value {
    json!([{ "name": "one", "delivery": "Direct", "resources": [{ "kind": "ConfigMap", "name": "manifests" }] }])
}

fn maps(namespace: &str, client: Client) -> Api<ConfigMap> {
    Api::namespaced(client, namespace)
}

#[rstest]
#[case::yaml("a: [", "ConfigMap `manifests`, key `manifests.yaml`, document 2")]
#[case::no_kind("apiVersion: v1\nmetadata: { name: x }", "document 2")]
#[case::no_name("apiVersion: v1\nkind: ConfigMap", "document 2")]
#[tokio::test]
async fn one_bad_document_of_five_is_named_and_nothing_is_brought(#[case] bad: &str, #[case] named: &str) {
    let (scene, namespace) = set().await;
    let good: Vec<_> = ["a", "c", "d", "e"].map(|name| map(name, &namespace)).into();
    let text = [&good[0], bad, &good[1], &good[2], &good[3]].join("\n---\n");
    scene.put_manifests("manifests", &text).await;
    scene.put_stack("base", one_addon()).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    let step = scene.step("base", "demo", "one", StepState::Blocked, "ManifestInvalid").await;
    assert!(step.message.contains(named), "{}", step.message);
    let client = workload().await.client();
    assert!(maps(&namespace, client.clone()).get_opt("a").await.unwrap().is_none());
    scene.put_manifests("manifests", &good.join("\n---\n")).await;
    scene.step("base", "demo", "one", StepState::Ready, "AddonReady").await;
    assert!(maps(&namespace, client).get_opt("e").await.unwrap().is_some());
}

#[tokio::test]
async fn a_missing_config_map_is_waited_for() {
    let (scene, namespace) = set().await;
    scene.put_stack("base", one_addon()).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    let step = scene.step("base", "demo", "one", StepState::Blocked, "ResourceMissing").await;
    assert_eq!(
        step.message,
        format!("ConfigMap `manifests` does not exist in namespace `{}`", scene.stage.namespace)
    );
    scene.put_manifests("manifests", &map("a", &namespace)).await;
    scene.step("base", "demo", "one", StepState::Ready, "AddonReady").await;
    // What was brought stays when the source goes.
    scene.stage.api::<ConfigMap>().delete("manifests", &DeleteParams::default()).await.unwrap();
    let step = scene.step("base", "demo", "one", StepState::Blocked, "ResourceMissing").await;
    assert!(step.message.ends_with("what was brought stays"), "{}", step.message);
    assert!(maps(&namespace, workload().await.client()).get_opt("a").await.unwrap().is_some());
}

#[tokio::test]
async fn a_secret_of_the_wrong_type_is_told() {
    let (scene, namespace) = set().await;
    let addons = json!([{ "name": "one", "delivery": "Direct", "resources": [{ "kind": "Secret", "name": "manifests" }] }]);
    let put = async |type_: &str| {
        let data = json!({ "manifests.yaml": map("a", &namespace) });
        let secret = json!({ "metadata": { "name": "manifests" }, "type": type_, "stringData": data });
        let secrets = scene.stage.api::<Secret>();
        let _ = secrets.delete("manifests", &DeleteParams::default()).await;
        secrets.create(&PostParams::default(), &serde_json::from_value(secret).unwrap()).await.unwrap();
    };
    put("Opaque").await;
    scene.put_stack("base", addons).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    let step = scene.step("base", "demo", "one", StepState::Blocked, "WrongSecretType").await;
    assert_eq!(
        step.message,
        "Secret `manifests` has the type `Opaque`: Secrets with manifests have the type `addons.cluster.x-k8s.io/resource-set`"
    );
    put("addons.cluster.x-k8s.io/resource-set").await;
    scene.step("base", "demo", "one", StepState::Ready, "AddonReady").await;
}

#[tokio::test]
async fn a_definition_and_its_object_may_stand_in_one_file() {
    let (scene, namespace) = set().await;
    let group = format!("{namespace}.example.com");
    let text = format!(
        "apiVersion: {group}/v1\nkind: Widget\nmetadata: {{ name: w, namespace: {namespace} }}\n---\n\
         apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{ name: widgets.{group} }}\n\
         spec:\n  group: {group}\n  names: {{ kind: Widget, listKind: WidgetList, plural: widgets, singular: widget }}\n  \
         scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    \
         schema: {{ openAPIV3Schema: {{ type: object, x-kubernetes-preserve-unknown-fields: true }} }}\n"
    );
    scene.put_manifests("manifests", &text).await;
    scene.put_stack("base", one_addon()).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    scene.step("base", "demo", "one", StepState::Ready, "AddonReady").await;
    let widgets: Api<DynamicObject> =
        objects(workload().await.client(), &format!("{group}/v1"), "Widget", &namespace);
    assert!(widgets.get_opt("w").await.unwrap().is_some());
}

#[tokio::test]
async fn a_missing_namespace_is_told_and_comes_later() {
    let (scene, namespace) = set().await;
    let later = format!("{namespace}-later");
    scene.put_manifests("manifests", &format!("{}---\n{}", map("a", &later), map("b", &namespace))).await;
    scene.put_stack("base", one_addon()).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    let step = scene.step("base", "demo", "one", StepState::Failed, "NamespaceMissing").await;
    assert!(step.message.contains(&format!("the cluster has no namespace `{later}`")), "{}", step.message);
    let client = workload().await.client();
    assert!(
        maps(&namespace, client.clone()).get_opt("b").await.unwrap().is_some(),
        "others are brought all the same"
    );
    let made: Namespace = serde_json::from_value(json!({ "metadata": { "name": later } })).unwrap();
    Api::<Namespace>::all(client).create(&PostParams::default(), &made).await.unwrap();
    scene.step("base", "demo", "one", StepState::Ready, "AddonReady").await;
}

#[tokio::test]
async fn a_kind_that_the_cluster_does_not_serve_is_told() {
    let (scene, namespace) = set().await;
    let text = format!(
        "apiVersion: nobody.example.com/v1\nkind: Thing\nmetadata: {{ name: t, namespace: {namespace} }}\n"
    );
    scene.put_manifests("manifests", &text).await;
    scene.put_stack("base", one_addon()).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    let step = scene.step("base", "demo", "one", StepState::Failed, "KindNotServed").await;
    assert!(step.message.contains("does not serve `nobody.example.com/v1` `Thing`"), "{}", step.message);
    assert!(step.next_attempt.is_some());
}

#[tokio::test]
async fn what_the_cluster_refuses_is_told_with_its_words_and_given_up_where_the_user_says_so() {
    let (scene, namespace) = set().await;
    // A port that no Service can have.
    let service = |port: u32| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{ name: s, namespace: {namespace} }}\nspec: {{ ports: [{{ port: {port} }}] }}\n"
        )
    };
    scene.put_manifests("manifests", &service(70000)).await;
    let addons = json!([{
        "name": "one", "delivery": "Direct", "retry": { "limit": 0 },
        "resources": [{ "kind": "ConfigMap", "name": "manifests" }],
    }]);
    scene.put_stack("base", addons).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    let step = scene.step("base", "demo", "one", StepState::Failed, "RetriesExhausted").await;
    assert!(step.message.contains("given up after 1 attempts"), "{}", step.message);
    assert!(step.message.contains("must be between 1 and 65535"), "{}", step.message);
    scene.put_manifests("manifests", &service(80)).await;
    scene.step("base", "demo", "one", StepState::Ready, "AddonReady").await;
}

#[rstest]
#[case::unreachable("https://127.0.0.1:1", None, "ClusterUnreachable")]
#[case::unauthorized("", Some("garbage"), "ClusterUnreachable")]
#[tokio::test]
async fn a_cluster_that_cannot_be_reached_is_told_and_comes_back(
    #[case] server: &str,
    #[case] token: Option<&str>,
    #[case] reason: &str,
) {
    let (scene, namespace) = set().await;
    let good = workload().await.control_plane().kubeconfig();
    let mut bad: Value = serde_saphyr::from_str(&good).unwrap();
    if !server.is_empty() {
        bad["clusters"][0]["cluster"]["server"] = json!(server);
    }
    if let Some(token) = token {
        bad["users"][0]["user"] = json!({ "token": token });
    }
    scene.put_manifests("manifests", &map("a", &namespace)).await;
    scene.put_stack("base", one_addon()).await;
    scene.put_cluster("bad", workload().await, json!({})).await;
    scene.put_kubeconfig("bad", &serde_saphyr::to_string(&bad).unwrap()).await;
    scene.label("bad", json!({ "addons": "base" })).await;
    let step = scene.step("base", "bad", "one", StepState::Failed, reason).await;
    assert!(!step.message.contains("garbage"), "{}", step.message);
    let condition = scene.cluster_condition("bad", "AddonsReady", "False", reason).await;
    assert!(condition.message.starts_with("AddonStack `base`: `one`: "), "{}", condition.message);
    scene.put_kubeconfig("bad", &good).await;
    scene.step("base", "bad", "one", StepState::Ready, "AddonReady").await;
}

/// So many take every connection and never say a word; one after the other they would be waited for for minutes.
const SILENT: usize = 40;

#[tokio::test]
async fn clusters_that_never_answer_hold_up_no_other() {
    let (scene, namespace) = set().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let silent = tokio::spawn(async move {
        let mut connections = Vec::new();
        while let Ok(connection) = listener.accept().await {
            connections.push(connection);
        }
    });
    let good = workload().await.control_plane().kubeconfig();
    let mut bad: Value = serde_saphyr::from_str(&good).unwrap();
    bad["clusters"][0]["cluster"]["server"] = json!(format!("https://{address}"));
    let bad = serde_saphyr::to_string(&bad).unwrap();
    scene.put_manifests("manifests", &map("a", &namespace)).await;
    scene.put_stack("base", one_addon()).await;
    for number in 0..SILENT {
        let name = format!("silent-{number}");
        scene.put_cluster(&name, workload().await, json!({})).await;
        scene.put_kubeconfig(&name, &bad).await;
        scene.label(&name, json!({ "addons": "base" })).await;
    }
    for number in 0..SILENT {
        let name = format!("base.silent-{number}");
        watch_until("the cluster to be bound", &scene.bindings(), &name, |_| true).await;
    }
    scene.put_cluster("good", workload().await, json!({ "addons": "base" })).await;
    scene.step("base", "good", "one", StepState::Ready, "AddonReady").await;
    silent.abort();
}

#[tokio::test]
async fn two_stacks_that_claim_one_object_are_told() {
    let (scene, namespace) = set().await;
    scene.put_manifests("manifests", &map("a", &namespace)).await;
    scene.put_stack("first", one_addon()).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "first" })).await;
    scene.step("first", "demo", "one", StepState::Ready, "AddonReady").await;
    let second = json!({
        "metadata": { "name": "second" },
        "spec": { "clusterSelector": { "matchLabels": { "addons": "first" } }, "addons": one_addon() },
    });
    scene.stage.put::<capt_api::AddonStack>(second).await;
    let step = scene.step("second", "demo", "one", StepState::Failed, "ObjectClaimed").await;
    assert!(step.message.contains("/demo/first/one"), "{}", step.message);
    scene.cluster_condition("demo", "AddonsReady", "False", "ObjectClaimed").await;
    scene.step("first", "demo", "one", StepState::Ready, "AddonReady").await;
}

#[tokio::test]
async fn a_value_that_the_module_does_not_give_is_told_with_those_that_it_gives() {
    let (scene, namespace) = set().await;
    let addons = json!([{
        "name": "one", "values": [{ "namespace": namespace, "keys": [{ "output": "karpenter_role" }] }],
    }]);
    scene.put_stack("base", addons).await;
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    let step = scene.step("base", "demo", "one", StepState::Blocked, "OutputMissing").await;
    for named in ["karpenter_role", "karpenter_iam_role_arn"] {
        assert!(step.message.contains(named), "{}", step.message);
    }
    assert!(!step.message.contains("not for the cluster"), "{}", step.message);
}

#[tokio::test]
async fn a_circle_of_add_ons_is_told_and_nothing_is_brought() {
    let (scene, _) = set().await;
    let addons = json!([
        { "name": "a", "dependsOn": ["b"], "gateLabel": "x" },
        { "name": "b", "dependsOn": ["c"], "gateLabel": "y" },
        { "name": "c", "dependsOn": ["a"], "gateLabel": "z" },
    ]);
    scene.put_cluster("demo", workload().await, json!({ "addons": "base" })).await;
    scene.put_stack("base", addons).await;
    let stacks = scene.stage.api::<capt_api::AddonStack>();
    let stack = watch_until("the circle to be told", &stacks, "base", |stack| {
        let conditions = stack.status.iter().flat_map(|status| &status.conditions);
        conditions.filter(|one| one.type_ == "Ready").any(|one| one.reason == "DependencyCycle")
    })
    .await;
    let ready = &stack.status.unwrap().conditions[0];
    assert!(ready.message.contains("`a` → `b` → `c` → `a`"), "{}", ready.message);
    let bindings: Vec<AddonStackBinding> = scene.bindings().list(&ListParams::default()).await.unwrap().items;
    assert_eq!(bindings.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), [""; 0]);
}
