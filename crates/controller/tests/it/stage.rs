//! What a test plays on: a namespace, a manager with least privileges, and hands to put objects there.

use std::fmt::Debug;

use capt_api::{Workspace, WorkspaceTemplate, WorkspaceTemplateApply};
use capt_controller::options::Options;
use capt_controller::{manager, rbac};
use capt_testkit::{TestCluster, watch_until};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Who the manager is in tests.
const USER: &str = "system:serviceaccount:capt-system:capt-manager";

static PREPARED: OnceCell<()> = OnceCell::const_new();

/// The shared control plane, with CAPT's kinds and permissions.
pub(crate) async fn cluster() -> &'static TestCluster {
    let cluster = TestCluster::shared().await;
    PREPARED.get_or_init(|| prepare(cluster)).await;
    cluster
}

/// Installs every CRD and the permissions of the manager's user.
pub(crate) async fn prepare(cluster: &TestCluster) {
    use capt_api::crd::{Foreign, foreign, own};
    cluster.apply_crds(&[own(), foreign(Foreign::Terraform), foreign(Foreign::ClusterApi)].concat()).await;
    permit(cluster).await;
}

/// Gives the manager's user the permissions that its drivers declare, and no others.
pub(crate) async fn permit(cluster: &TestCluster) {
    let permissions = [rbac::rules(), rbac::own_namespace_rules()].concat();
    let role = json!({ "metadata": { "name": "capt-manager" }, "rules": permissions });
    let binding = json!({
        "metadata": { "name": "capt-manager" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "capt-manager" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER }],
    });
    let client = cluster.client();
    let roles: Api<ClusterRole> = Api::all(client.clone());
    roles.create(&PostParams::default(), &serde_json::from_value(role).unwrap()).await.unwrap();
    let bindings: Api<ClusterRoleBinding> = Api::all(client);
    bindings.create(&PostParams::default(), &serde_json::from_value(binding).unwrap()).await.unwrap();
}

/// A client with the manager's permissions.
pub(crate) async fn manager_client(cluster: &TestCluster) -> Client {
    cluster.client_as(USER, &["system:authenticated"]).await
}

/// A manager in the background; it ends with the test.
pub(crate) struct Manager {
    shutdown: CancellationToken,
    task: Option<JoinHandle<Result<(), manager::Error>>>,
}

impl Manager {
    pub(crate) async fn start(cluster: &TestCluster, options: Options) -> Self {
        Self::start_with(manager_client(cluster).await, options)
    }

    /// A manager with a client that the test has its hands on.
    pub(crate) fn start_with(client: Client, options: Options) -> Self {
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(manager::run(client, options, shutdown.clone()));
        Self { shutdown, task: Some(task) }
    }

    pub(crate) async fn stop(mut self) {
        self.shutdown.cancel();
        self.task.take().unwrap().await.unwrap().unwrap();
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

/// A namespace with a manager for it.
pub(crate) struct Stage {
    pub(crate) client: Client,
    pub(crate) namespace: String,
    manager: Option<Manager>,
}

impl Stage {
    /// A fresh namespace and a manager that looks at it.
    pub(crate) async fn set() -> Self {
        let mut stage = Self::without_manager().await;
        stage.start_manager().await;
        stage
    }

    /// A fresh namespace that nobody looks at yet.
    pub(crate) async fn without_manager() -> Self {
        let cluster = cluster().await;
        Self { client: cluster.client(), namespace: cluster.namespace("test").await, manager: None }
    }

    /// A namespace of another control plane.
    pub(crate) fn on(cluster: &TestCluster, namespace: &str) -> Self {
        Self { client: cluster.client(), namespace: namespace.to_owned(), manager: None }
    }

    pub(crate) async fn start_manager(&mut self) {
        let options = Options { namespace: Some(self.namespace.clone()), ..Options::default() };
        self.manager = Some(Manager::start(cluster().await, options).await);
    }

    pub(crate) async fn stop_manager(&mut self) {
        if let Some(manager) = self.manager.take() {
            manager.stop().await;
        }
    }

    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub(crate) fn applies(&self) -> Api<WorkspaceTemplateApply> {
        self.api()
    }

    pub(crate) fn workspaces(&self) -> Api<Workspace> {
        Api::all(self.client.clone())
    }

    /// A name that no other test uses, for what has no namespace.
    pub(crate) fn unique(&self, name: &str) -> String {
        format!("{}-{name}", self.namespace)
    }

    /// Applies an object as a user would.
    pub(crate) async fn put<K>(&self, object: Value) -> K
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
            + Clone
            + Debug
            + DeserializeOwned
            + Serialize,
    {
        let mut object = object;
        object["apiVersion"] = json!(K::api_version(&()));
        object["kind"] = json!(K::kind(&()));
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let parameters = PatchParams::apply("somebody").force();
        self.api::<K>().patch(&name, &parameters, &Patch::Apply(object)).await.unwrap()
    }

    pub(crate) async fn put_template(&self, name: &str, module: &str) -> WorkspaceTemplate {
        self.put(template(name, module)).await
    }

    pub(crate) async fn put_apply(&self, name: &str, spec: Value) -> WorkspaceTemplateApply {
        self.put(json!({ "metadata": { "name": name }, "spec": spec })).await
    }

    pub(crate) async fn put_secret(&self, name: &str, data: &[(&str, &str)]) {
        let data: serde_json::Map<String, Value> =
            data.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
        self.put::<Secret>(json!({ "metadata": { "name": name }, "stringData": data })).await;
    }

    pub(crate) async fn put_config_map(&self, name: &str, data: &[(&str, &str)]) {
        let data: serde_json::Map<String, Value> =
            data.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
        self.put::<ConfigMap>(json!({ "metadata": { "name": name }, "data": data })).await;
    }

    /// Waits for the Workspace of this name to fulfil a condition.
    pub(crate) async fn workspace(
        &self,
        name: &str,
        what: &str,
        holds: impl Fn(&Workspace) -> bool,
    ) -> Workspace {
        watch_until(what, &self.workspaces(), name, holds).await
    }

    /// Waits for a condition of an apply.
    pub(crate) async fn condition(
        &self,
        apply: &str,
        type_: &str,
        status: &str,
        reason: &str,
    ) -> WorkspaceTemplateApply {
        let what = format!("{type_}={status} ({reason}) of {apply}");
        watch_until(&what, &self.applies(), apply, |apply| {
            find_condition(apply, type_).is_some_and(|found| found.status == status && found.reason == reason)
        })
        .await
    }

    /// Writes the status of a Workspace as the one who runs Terraform would.
    pub(crate) async fn report(&self, workspace: &str, status: Value) {
        let patch = json!({ "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace", "status": status });
        let parameters = PatchParams::apply("terraform-runner").force();
        self.workspaces().patch_status(workspace, &parameters, &Patch::Apply(patch)).await.unwrap();
    }

    /// Changes an object as a user would.
    pub(crate) async fn change<K>(&self, name: &str, patch: Value)
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
    {
        self.api::<K>().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    /// The Events about an object of this namespace.
    pub(crate) async fn events(&self, name: &str) -> Vec<Event> {
        let all = self.api::<Event>().list(&ListParams::default()).await.unwrap();
        let about =
            |event: &Event| event.regarding.as_ref().and_then(|object| object.name.as_deref()) == Some(name);
        all.items.into_iter().filter(about).collect()
    }
}

/// A template with an inline module.
pub(crate) fn template(name: &str, module: &str) -> Value {
    json!({
        "metadata": { "name": name },
        "spec": { "template": { "spec": { "forProvider": { "source": "Inline", "module": module } } } },
    })
}

/// A module that declares some variables.
pub(crate) fn module(variables: &[&str]) -> String {
    let declared = variables.iter().map(|name| {
        format!(
            "variable \"{name}\" {{}}
"
        )
    });
    declared.collect::<Vec<_>>().concat()
        + "locals { x = 1 }
"
}

/// Conditions that say Ready.
pub(crate) fn ready() -> Value {
    json!({ "conditions": [condition("Ready", "True", "Available"), condition("Synced", "True", "ReconcileSuccess")] })
}

pub(crate) fn condition(type_: &str, status: &str, reason: &str) -> Value {
    json!({ "type": type_, "status": status, "reason": reason, "lastTransitionTime": "2026-01-01T00:00:00Z" })
}

pub(crate) fn find_condition<'apply>(
    apply: &'apply WorkspaceTemplateApply,
    type_: &str,
) -> Option<&'apply k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition> {
    apply.status.as_ref()?.conditions.iter().find(|condition| condition.type_ == type_)
}

pub(crate) fn message<'apply>(apply: &'apply WorkspaceTemplateApply, type_: &str) -> &'apply str {
    find_condition(apply, type_).map(|condition| condition.message.as_str()).unwrap_or_default()
}

/// The value of a variable in a Workspace.
pub(crate) fn var<'workspace>(workspace: &'workspace Workspace, key: &str) -> Option<&'workspace str> {
    workspace.spec.for_provider.vars.iter().find(|var| var.key == key).map(|var| var.value.as_str())
}

pub(crate) fn annotation<'object, K: ResourceExt>(object: &'object K, key: &str) -> Option<&'object str> {
    object.annotations().get(key).map(String::as_str)
}
