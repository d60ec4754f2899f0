//! What tests play on: kubeconfigs, the clusters that they lead to, and a client that is listened to.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use capt_testkit::TestCluster;
use http::{Request, Response};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::client::Body;
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

use crate::index::Name;
use crate::secret_versions::SecretVersions;
use crate::workload::{Identity, Patience, Unavailable, Workload, Workloads, client};

/// A namespace with kubeconfigs, and what CAPT knows of it.
pub(crate) struct Stage {
    pub(crate) namespace: String,
    pub(crate) administrator: Client,
    secrets: SecretVersions,
    listened: Client,
    requests: Arc<AtomicUsize>,
}

impl Stage {
    pub(crate) async fn set() -> Self {
        let cluster = TestCluster::shared().await;
        let administrator = cluster.client();
        let requests = Arc::new(AtomicUsize::new(0));
        let (counted, client) = (Arc::clone(&requests), administrator.clone());
        let service = tower::service_fn(move |request: Request<Body>| {
            counted.fetch_add(1, Ordering::Relaxed);
            let client = client.clone();
            async move { client.send(request).await }
        });
        Self {
            namespace: cluster.namespace("workload").await,
            administrator,
            secrets: SecretVersions::default(),
            listened: Client::new(service, "default"),
            requests,
        }
    }

    /// Writes the Secret of a cluster as somebody would, and notes it as the watch would.
    pub(crate) async fn put(&self, cluster: &str, content: &Value) -> Secret {
        let name = format!("{cluster}-kubeconfig");
        let mut secret = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": name } });
        for (field, value) in content.as_object().unwrap() {
            secret[field] = value.clone();
        }
        secret["metadata"]["name"] = json!(name);
        let parameters = PatchParams::apply("somebody").force();
        let written = self.api().patch(&name, &parameters, &Patch::Apply(secret)).await.unwrap();
        self.secrets.there(&written.metadata);
        written
    }

    /// As [`Self::put`], with this kubeconfig.
    pub(crate) async fn put_kubeconfig(&self, cluster: &str, kubeconfig: &str) -> Secret {
        self.put(cluster, &json!({ "stringData": { "value": kubeconfig } })).await
    }

    pub(crate) async fn delete(&self, secret: &Secret) {
        self.api().delete(&secret.name_any(), &DeleteParams::default()).await.unwrap();
        let mut gone = secret.metadata.clone();
        gone.resource_version = Some(u64::MAX.to_string());
        self.secrets.gone(&gone);
    }

    pub(crate) async fn client(
        &self,
        workloads: &Workloads,
        cluster: &str,
    ) -> Result<Arc<Workload>, Unavailable> {
        let name = Name::new(&self.namespace, cluster);
        workloads.by_secret(&name, &self.secrets, &self.listened).await
    }

    /// How many requests CAPT made to the cluster that it runs in.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    fn api(&self) -> Api<Secret> {
        Api::namespaced(self.administrator.clone(), &self.namespace)
    }
}

/// The kubeconfig of an administrator of the test's own cluster.
pub(crate) async fn kubeconfig() -> String {
    TestCluster::shared().await.control_plane().kubeconfig()
}

/// A kubeconfig for the test's own cluster, with a token.
pub(crate) async fn with_token(token: &str) -> String {
    let control_plane = TestCluster::shared().await.control_plane();
    at(control_plane.url(), Some(&authority(&control_plane.kubeconfig())), &json!({ "token": token }))
}

/// A kubeconfig for any server.
pub(crate) fn at(server: &str, authority: Option<&str>, user: &Value) -> String {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "x",
        "clusters": [{ "name": "x", "cluster": { "server": server, "certificate-authority-data": authority } }],
        "contexts": [{ "name": "x", "context": { "cluster": "x", "user": "x" } }],
        "users": [{ "name": "x", "user": user }],
    })
    .to_string()
}

/// A port where nobody listens, and one where somebody listens and never says a word.
pub(crate) fn silent_server() -> (TcpListener, String) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = format!("https://{}", listener.local_addr().unwrap());
    (listener, address)
}

/// Deadlines that tests can wait for.
pub(crate) const IMPATIENT: Patience = Patience {
    connect: Duration::from_millis(300),
    read: Duration::from_millis(300),
    request: Duration::from_millis(300),
};

/// A cluster by its kubeconfig.
pub(crate) async fn workload(kubeconfig: &str, patience: Patience) -> Workload {
    let connected = client::connect(kubeconfig.as_bytes(), patience).await.unwrap();
    Workload {
        client: connected.client,
        kinds: Arc::default(),
        patience,
        secret: "a/x-kubeconfig".to_owned(),
        identity: Identity { secret_uid: None, server: connected.server },
    }
}

/// A cluster that answers what a test says.
pub(crate) fn scripted<B: ToString>(
    answer: impl Fn(&Request<Body>) -> (u16, B) + Clone + Send + Sync + 'static,
) -> Workload {
    let service = tower::service_fn(move |request: Request<Body>| {
        let (code, body) = answer(&request);
        let response = Response::builder().status(code).header("Content-Type", "application/json");
        let response = response.body(Body::from(body.to_string().into_bytes()));
        async move { response }
    });
    Workload {
        client: Client::new(service, "default"),
        kinds: Arc::default(),
        patience: Patience::default(),
        secret: "a/x-kubeconfig".to_owned(),
        identity: Identity { secret_uid: None, server: String::new() },
    }
}

/// What an API server says with an error.
pub(crate) fn refusal(code: u16, reason: &str, message: &str) -> (u16, Value) {
    (
        code,
        json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message }),
    )
}

/// What an API server says of the kinds of a group and version.
pub(crate) fn served(kinds: &[(&str, &str)]) -> (u16, Value) {
    let resources: Vec<_> = kinds
        .iter()
        .map(|(kind, plural)| json!({ "kind": kind, "name": plural, "singularName": "", "namespaced": false, "verbs": ["list"] }))
        .collect();
    (200, json!({ "kind": "APIResourceList", "groupVersion": "", "resources": resources }))
}

fn authority(kubeconfig: &str) -> String {
    let field = "certificate-authority-data:";
    let start = kubeconfig.find(field).unwrap() + field.len();
    kubeconfig[start..].trim_start_matches([' ', '"']).split(['\n', '"']).next().unwrap().trim().to_owned()
}
