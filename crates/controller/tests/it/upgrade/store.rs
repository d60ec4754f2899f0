//! The store of an API server, written past it: the only way in which an object keeps its uid and its generation.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capt_testkit::TestCluster;
use http::Request;
use kube::api::DynamicObject;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config, ResourceExt};
use serde_json::{Value, json};

use super::fixture::plural;

/// A way into etcd.
pub(super) struct Store {
    client: Client,
}

impl Store {
    pub(super) async fn of(cluster: &TestCluster) -> Self {
        let directory = cluster.control_plane().directory();
        let read = |name: &str| std::fs::read(directory.join(name)).unwrap();
        let ports: Value = serde_json::from_slice(&read("ports.json")).unwrap();
        let data = |name: &str| STANDARD.encode(read(&format!("pki/{name}")));
        let kubeconfig = json!({
            "current-context": "etcd",
            "contexts": [{ "name": "etcd", "context": { "cluster": "etcd", "user": "etcd" } }],
            "clusters": [{ "name": "etcd", "cluster": {
                "server": format!("https://127.0.0.1:{}", ports["etcdClients"]),
                "certificate-authority-data": data("etcd-ca.crt"),
            } }],
            "users": [{ "name": "etcd", "user": {
                "client-certificate-data": data("etcd.crt"), "client-key-data": data("etcd.key"),
            } }],
        });
        let kubeconfig: Kubeconfig = serde_json::from_value(kubeconfig).unwrap();
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
        Self { client: Client::try_from(config).unwrap() }
    }

    /// Puts an object where the API server looks for it. It reads JSON whatever it writes itself.
    pub(super) async fn put(&self, object: &DynamicObject) {
        let mut stored = json!(object);
        stored["metadata"].as_object_mut().unwrap().remove("resourceVersion");
        let body =
            json!({ "key": STANDARD.encode(place(object)), "value": STANDARD.encode(stored.to_string()) });
        let request = Request::post("/v3/kv/put").body(body.to_string().into_bytes()).unwrap();
        self.client.request::<Value>(request).await.unwrap();
    }
}

/// The key of an object. Kinds of Kubernetes itself are kept without their group, those of CRDs with it.
fn place(object: &DynamicObject) -> String {
    let types = object.types.as_ref().unwrap();
    let plural = plural(object);
    let kind = match types.api_version.split_once('/') {
        Some((group, _)) if group.contains('.') && !group.ends_with(".k8s.io") => format!("{group}/{plural}"),
        _ => plural,
    };
    let name = object.name_any();
    match object.namespace() {
        Some(namespace) => format!("/registry/{kind}/{namespace}/{name}"),
        None => format!("/registry/{kind}/{name}"),
    }
}
