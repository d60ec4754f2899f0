//! A namespace with a manager whose clock the test moves, Clusters that lead to real API servers, and sets.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use capt_api::resource_set::ResourceBinding;
use capt_api::{Cluster, ClusterResourceSet, ClusterResourceSetBinding};
use capt_controller::options::{Clock, Options};
use capt_testkit::{TestCluster, eventually, watch_until};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::jiff::Timestamp;
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::stage::{Manager, Stage, cluster};

static FIRST: OnceCell<TestCluster> = OnceCell::const_new();
static SECOND: OnceCell<TestCluster> = OnceCell::const_new();

/// A cluster that things are brought to.
pub(super) async fn first() -> &'static TestCluster {
    FIRST.get_or_init(TestCluster::start).await
}

/// Another one.
pub(super) async fn second() -> &'static TestCluster {
    SECOND.get_or_init(TestCluster::start).await
}

/// What a test about sets plays on.
pub(super) struct Scene {
    pub(super) stage: Stage,
    manager: Option<Manager>,
    seconds: Arc<AtomicI64>,
}

impl Scene {
    pub(super) async fn set() -> Self {
        let mut scene = Self::without_manager().await;
        scene.start_manager().await;
        scene
    }

    pub(super) async fn without_manager() -> Self {
        Self::on(Stage::without_manager().await)
    }

    /// A namespace that nobody looks at yet.
    pub(super) fn on(stage: Stage) -> Self {
        Self { stage, manager: None, seconds: Arc::new(AtomicI64::new(Timestamp::now().as_second())) }
    }

    pub(super) fn options(&self) -> Options {
        let seconds = Arc::clone(&self.seconds);
        let clock = Clock::new(move || Timestamp::from_second(seconds.load(Ordering::Relaxed)).unwrap());
        Options { namespace: Some(self.stage.namespace.clone()), clock, ..Options::default() }
    }

    pub(super) async fn start_manager(&mut self) {
        self.manager = Some(Manager::start(cluster().await, self.options()).await);
    }

    pub(super) async fn stop_manager(&mut self) {
        if let Some(manager) = self.manager.take() {
            manager.stop().await;
        }
    }

    /// Moves the manager's clock. Its timers go by the real one, so that the set is touched to be looked at.
    pub(super) async fn later(&self, seconds: i64, set: &str) {
        let now = self.seconds.fetch_add(seconds, Ordering::Relaxed) + seconds;
        self.touch(set, &now.to_string()).await;
    }

    pub(super) async fn touch(&self, set: &str, value: &str) {
        self.change_set(set, json!({ "metadata": { "annotations": { "touched": value } } })).await;
    }

    /// A Cluster with the label `fleet`, whose control plane is there, and whose kubeconfig is this one.
    pub(super) async fn put_cluster(&self, name: &str, kubeconfig: &str) {
        self.put_cluster_labelled(name, json!({ "fleet": "test" })).await;
        self.initialize(name).await;
        self.put_kubeconfig(name, kubeconfig).await;
    }

    pub(super) async fn put_cluster_labelled(&self, name: &str, labels: Value) {
        let metadata = json!({ "name": name, "labels": labels });
        self.stage.put::<Cluster>(json!({ "metadata": metadata, "spec": {} })).await;
    }

    pub(super) async fn initialize(&self, name: &str) {
        let status = json!({ "status": { "initialization": { "controlPlaneInitialized": true } } });
        let clusters = self.stage.api::<Cluster>();
        clusters.patch_status(name, &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    }

    pub(super) async fn put_kubeconfig(&self, cluster: &str, kubeconfig: &str) {
        let name = format!("{cluster}-kubeconfig");
        self.stage
            .put::<Secret>(json!({
                "metadata": { "name": name, "labels": { "cluster.x-k8s.io/cluster-name": cluster } },
                "type": "cluster.x-k8s.io/secret", "stringData": { "value": kubeconfig },
            }))
            .await;
    }

    /// A set that selects the label `fleet` and takes `ConfigMaps`.
    pub(super) async fn put_set(
        &self,
        name: &str,
        strategy: &str,
        config_maps: &[&str],
    ) -> ClusterResourceSet {
        let resources: Vec<_> =
            config_maps.iter().map(|name| json!({ "kind": "ConfigMap", "name": name })).collect();
        let selector = json!({ "matchLabels": { "fleet": "test" } });
        self.put_set_with(
            name,
            json!({ "clusterSelector": selector, "strategy": strategy, "resources": resources }),
        )
        .await
    }

    pub(super) async fn put_set_with(&self, name: &str, spec: Value) -> ClusterResourceSet {
        self.stage.put(json!({ "metadata": { "name": name }, "spec": spec })).await
    }

    pub(super) async fn change_set(&self, name: &str, patch: Value) {
        self.stage.change::<ClusterResourceSet>(name, patch).await;
    }

    pub(super) async fn delete<K>(&self, name: &str)
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
    {
        self.stage.api::<K>().delete(name, &DeleteParams::default()).await.unwrap();
    }

    /// Waits until an object of the namespace is gone.
    pub(super) async fn gone<K>(&self, name: &str)
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
    {
        let api = self.stage.api::<K>();
        eventually(&format!("{name} to go"), async || api.get_opt(name).await.unwrap().is_none()).await;
    }

    /// Waits for what is told of a set, and answers with the message.
    pub(super) async fn told(&self, set: &str, status: &str, reason: &str) -> String {
        let what = format!("ResourcesApplied={status} ({reason}) of {set}");
        let found = watch_until(&what, &self.stage.api::<ClusterResourceSet>(), set, |found| {
            condition(found, "ResourcesApplied")
                .is_some_and(|told| told.status == status && told.reason == reason)
        })
        .await;
        condition(&found, "ResourcesApplied").unwrap().message.clone()
    }

    /// Waits until everything is everywhere.
    pub(super) async fn applied(&self, set: &str) {
        self.told(set, "True", "Applied").await;
    }

    pub(super) fn bindings(&self) -> Api<ClusterResourceSetBinding> {
        self.stage.api()
    }

    /// What is written down of a set in a Cluster; `None` where nothing is.
    pub(super) async fn entries(&self, cluster: &str, set: &str) -> Option<Vec<ResourceBinding>> {
        let binding = self.bindings().get_opt(cluster).await.unwrap()?;
        let mut entries = binding.spec.bindings.into_iter();
        entries.find(|entry| entry.cluster_resource_set_name == set).map(|entry| entry.resources)
    }

    /// Names of resources and whether they were brought.
    pub(super) async fn brought(&self, cluster: &str, set: &str) -> Option<Vec<(String, bool)>> {
        let entries = self.entries(cluster, set).await?;
        Some(entries.into_iter().map(|entry| (entry.name, entry.applied)).collect())
    }
}

/// A condition of a set.
pub(super) fn condition<'set>(set: &'set ClusterResourceSet, type_: &str) -> Option<&'set Condition> {
    set.status.as_ref()?.conditions.iter().find(|told| told.type_ == type_)
}

/// `ConfigMaps` in a namespace of a cluster.
pub(super) fn far(cluster: &TestCluster, namespace: &str) -> Api<ConfigMap> {
    Api::namespaced(cluster.client(), namespace)
}

/// The manifest of a `ConfigMap` with one value.
pub(super) fn manifest(namespace: &str, name: &str, value: &str) -> String {
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name, "namespace": namespace },
        "data": { "key": value },
    });
    object.to_string()
}

/// The value in a `ConfigMap` that came of [`manifest`].
pub(super) async fn value(api: &Api<ConfigMap>, name: &str) -> Option<String> {
    api.get_opt(name).await.unwrap()?.data?.remove("key")
}
