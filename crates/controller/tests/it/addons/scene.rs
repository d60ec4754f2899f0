//! Clusters whose workload API servers are real, and whose nodes and Flux the test plays itself.

use std::fmt::Debug;

use capt_api::addon_stack::{StepState, StepStatus};
use capt_api::{AddonStack, AddonStackBinding, Cluster};
use capt_controller::options::Options;
use capt_testkit::{TestCluster, watch_until};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::discovery::ApiResource;
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::stage::{Manager, Stage, cluster};

/// A namespace with a manager, and clusters in it.
pub(crate) struct Scene {
    pub(crate) stage: Stage,
    manager: Option<Manager>,
}

impl Scene {
    pub(crate) async fn set() -> Self {
        Self::set_with(Options::default()).await
    }

    /// As [`Self::set`], with a manager of other options.
    pub(crate) async fn set_with(options: Options) -> Self {
        let stage = Stage::without_manager().await;
        let mut scene = Self { stage, manager: None };
        scene.start_manager(options).await;
        scene
    }

    pub(crate) async fn start_manager(&mut self, options: Options) {
        let options = Options { namespace: Some(self.stage.namespace.clone()), ..options };
        self.manager = Some(Manager::start(cluster().await, options).await);
    }

    pub(crate) async fn stop_manager(&mut self) {
        if let Some(manager) = self.manager.take() {
            manager.stop().await;
        }
    }

    /// A Cluster that has come up: its kubeconfig and the outputs of its module are there.
    pub(crate) async fn put_cluster(&self, name: &str, workload: &TestCluster, labels: Value) {
        self.stage
            .put::<Cluster>(json!({ "metadata": { "name": name, "labels": labels }, "spec": {} }))
            .await;
        self.put_kubeconfig(name, &workload.control_plane().kubeconfig()).await;
        self.put_outputs(name, &outputs(name)).await;
        let patch = json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
            "status": { "initialization": { "infrastructureProvisioned": true, "controlPlaneInitialized": true } },
        });
        let parameters = PatchParams::apply("cluster-api").force();
        self.clusters().patch_status(name, &parameters, &Patch::Apply(patch)).await.unwrap();
    }

    pub(crate) async fn put_kubeconfig(&self, cluster: &str, kubeconfig: &str) {
        self.stage
            .put::<Secret>(json!({
                "metadata": { "name": format!("{cluster}-kubeconfig"), "labels": { "cluster.x-k8s.io/cluster-name": cluster } },
                "type": "cluster.x-k8s.io/secret", "stringData": { "value": kubeconfig },
            }))
            .await;
    }

    pub(crate) async fn put_outputs(&self, cluster: &str, outputs: &[(&str, String)]) {
        let data: serde_json::Map<String, Value> =
            outputs.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
        let name = format!("{cluster}-eks-connection");
        self.stage
            .put::<Secret>(json!({
                "metadata": { "name": name }, "type": "connection.crossplane.io/v1alpha1", "stringData": data,
            }))
            .await;
    }

    pub(crate) async fn put_manifests(&self, name: &str, text: &str) {
        self.stage
            .put::<ConfigMap>(json!({ "metadata": { "name": name }, "data": { "manifests.yaml": text } }))
            .await;
    }

    pub(crate) async fn put_stack(&self, name: &str, addons: Value) -> AddonStack {
        self.stage
            .put(json!({
                "metadata": { "name": name },
                "spec": { "clusterSelector": { "matchLabels": { "addons": name } }, "addons": addons },
            }))
            .await
    }

    pub(crate) fn clusters(&self) -> Api<Cluster> {
        self.stage.api()
    }

    pub(crate) fn bindings(&self) -> Api<AddonStackBinding> {
        self.stage.api()
    }

    /// Waits for an add-on in a cluster to be in a state for a reason.
    pub(crate) async fn step(
        &self,
        stack: &str,
        cluster: &str,
        addon: &str,
        state: StepState,
        reason: &str,
    ) -> StepStatus {
        let what = format!("{addon} of {stack} in {cluster} to be {state:?} ({reason})");
        let binding = format!("{stack}.{cluster}");
        let binding = watch_until(&what, &self.bindings(), &binding, |binding| {
            find_step(binding, addon).is_some_and(|step| step.state == state && step.reason == reason)
        })
        .await;
        find_step(&binding, addon).unwrap()
    }

    /// Waits for a condition of a Cluster.
    pub(crate) async fn cluster_condition(
        &self,
        name: &str,
        type_: &str,
        status: &str,
        reason: &str,
    ) -> Condition {
        let what = format!("{type_}={status} ({reason}) of Cluster {name}");
        let find = |cluster: &Cluster| {
            let conditions = cluster.status.iter().flat_map(|status| &status.conditions);
            let mut found =
                conditions.filter(|one| one.type_ == type_ && one.status == status && one.reason == reason);
            found.next().cloned()
        };
        let cluster = watch_until(&what, &self.clusters(), name, |cluster| find(cluster).is_some()).await;
        find(&cluster).unwrap()
    }

    pub(crate) async fn label(&self, cluster: &str, labels: Value) {
        self.stage.change::<Cluster>(cluster, json!({ "metadata": { "labels": labels } })).await;
    }
}

/// What the module of a cluster gives.
pub(crate) fn outputs(cluster: &str) -> Vec<(&'static str, String)> {
    vec![
        ("kubeconfig", "not for the cluster".to_owned()),
        ("cluster_name", cluster.to_owned()),
        ("cluster_endpoint", format!("https://{cluster}.example")),
        ("karpenter_iam_role_arn", format!("arn:aws:iam::123456789012:role/{cluster}")),
        ("karpenter_queue_name", format!("{cluster}-queue")),
    ]
}

fn find_step(binding: &AddonStackBinding, addon: &str) -> Option<StepStatus> {
    binding.status.as_ref()?.addons.iter().find(|step| step.name == addon).cloned()
}

/// Objects of any kind in a workload cluster.
pub(crate) fn objects(client: Client, api_version: &str, kind: &str, namespace: &str) -> Api<DynamicObject> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    Api::namespaced_with(client, namespace, &resource)
}

/// Writes the status of an object in a workload cluster, as nodes or Flux would.
pub(crate) async fn play<K>(api: &Api<K>, name: &str, status: Value)
where
    K: Clone + Debug + serde::de::DeserializeOwned,
{
    let patch = json!({ "status": status });
    api.patch_status(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
}
