//! What tests play on: a namespace of a cluster, and hands to bring objects there.

use capt_api::resource_set::ResourceKind;
use capt_core::addon::names::field_manager;
use capt_core::manifest::{Manifest, ObjectKey, Place};
use capt_testkit::TestCluster;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

use crate::deliver::{Delivered, Known, Mode, Order, Outcome, Trouble, deliver};
use crate::workload::tests::stage::{kubeconfig, workload};
use crate::workload::{Patience, Workload};

/// Whose the objects are, unless a test says otherwise.
pub(super) const CLAIM: &str = "fleet/demo/stack/addon";

pub(super) struct Stage {
    pub(super) namespace: String,
    pub(super) client: Client,
    pub(super) workload: Workload,
}

impl Stage {
    pub(super) async fn set() -> Self {
        let cluster = TestCluster::shared().await;
        Self {
            namespace: cluster.namespace("deliver").await,
            client: cluster.client(),
            workload: workload(&kubeconfig().await, Patience::default()).await,
        }
    }

    /// A `ConfigMap` of this namespace with one entry.
    pub(super) fn map(&self, name: &str, value: &str) -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": name, "namespace": self.namespace }, "data": { "key": value },
        })
    }

    pub(super) fn maps(&self) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// The entry of a `ConfigMap`.
    pub(super) async fn value(&self, name: &str) -> Option<String> {
        self.maps().get_opt(name).await.unwrap()?.data?.remove("key")
    }

    /// Changes a `ConfigMap` as somebody else would.
    pub(super) async fn change(&self, name: &str, patch: Value) -> ConfigMap {
        let parameters = PatchParams { field_manager: Some("somebody".to_owned()), ..PatchParams::default() };
        self.maps().patch(name, &parameters, &Patch::Merge(patch)).await.unwrap()
    }

    /// Applies an object as somebody else would.
    pub(super) async fn put(&self, object: &Value) -> ConfigMap {
        let name = object["metadata"]["name"].as_str().unwrap();
        let parameters = PatchParams::apply("somebody");
        self.maps().patch(name, &parameters, &Patch::Apply(object)).await.unwrap()
    }

    pub(super) async fn deliver(&self, objects: &[Value]) -> Delivered {
        self.deliver_for(Some(CLAIM), Mode::Keep, objects).await
    }

    pub(super) async fn deliver_for(&self, claim: Option<&str>, mode: Mode, objects: &[Value]) -> Delivered {
        let manifests = manifests(objects);
        let manager = claim.map_or_else(|| "capt-resource-set".to_owned(), field_manager);
        let known = Known::new();
        let order = Order { manifests: &manifests, manager: &manager, claim, mode, known: &known };
        deliver(&self.workload.talk(), &order).await
    }

    /// The resource version of a `ConfigMap`.
    pub(super) async fn version(&self, name: &str) -> String {
        self.maps().get(name).await.unwrap().resource_version().unwrap()
    }
}

/// The objects as documents of a `ConfigMap`.
pub(super) fn manifests(objects: &[Value]) -> Vec<Manifest> {
    let place = |document| Place {
        kind: ResourceKind::ConfigMap,
        name: "manifests".to_owned(),
        key: "all.yaml".to_owned(),
        document,
        item: None,
    };
    let numbered = objects.iter().enumerate();
    numbered.map(|(index, object)| Manifest { place: place(index + 1), object: object.clone() }).collect()
}

pub(super) fn keys(objects: &[Value]) -> Vec<ObjectKey> {
    objects.iter().map(ObjectKey::of).collect()
}

/// What became of the objects, in order.
pub(super) fn outcomes(delivered: &Delivered) -> Vec<Outcome> {
    assert_eq!(delivered.stopped, None);
    delivered.outcomes.iter().map(|(_, outcome)| outcome.clone()).collect()
}

/// What went wrong with an object.
#[track_caller]
pub(super) fn trouble(delivered: &Delivered, index: usize) -> Trouble {
    match &delivered.outcomes[index].1 {
        Outcome::Failed(trouble) => trouble.clone(),
        other => panic!("{other:?} and not failed"),
    }
}
