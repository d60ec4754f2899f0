//! A Cluster with a control plane whose Terraform the test plays itself.

use capt_api::{CAPTControlPlane, Cluster, Workspace};
use capt_controller::options::Options;
use capt_testkit::{TestCluster, watch_until};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::Api;
use kube::api::PostParams;
use serde_json::{Value, json};

use crate::stage::{Manager, Stage, cluster, module, ready};

/// The name of the Cluster; names of Workspaces have no namespace, so that each scene has its own.
pub(crate) struct Scene {
    pub(crate) stage: Stage,
    pub(crate) name: String,
    pub(crate) manager: Option<Manager>,
    pub(crate) workload: &'static TestCluster,
}

impl Scene {
    /// A Cluster without a network, and a manager.
    pub(crate) async fn set() -> Self {
        Self::set_with(Options::default()).await
    }

    /// As [`Self::set`], with a manager of other options.
    pub(crate) async fn set_with(options: Options) -> Self {
        let mut scene = Self::without_manager().await;
        scene.start_manager(options).await;
        scene.put(json!({})).await;
        scene
    }

    /// A namespace with a template.
    pub(crate) async fn without_manager() -> Self {
        let stage = Stage::without_manager().await;
        let name = stage.unique("c");
        stage.put_template("control-plane", &module(&["cluster_name", "kubernetes_version", "region"])).await;
        Self { stage, name, manager: None, workload: cluster().await }
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

    /// Puts the Cluster and its control plane there.
    pub(crate) async fn put(&self, control_plane_spec: Value) {
        self.put_cluster().await;
        self.put_control_plane(control_plane_spec).await;
    }

    pub(crate) async fn put_cluster(&self) {
        let reference = json!({
            "apiGroup": "controlplane.cluster.x-k8s.io", "kind": "CAPTControlPlane", "name": self.name,
        });
        self.stage
            .put::<Cluster>(
                json!({ "metadata": { "name": self.name }, "spec": { "controlPlaneRef": reference } }),
            )
            .await;
    }

    pub(crate) async fn put_control_plane(&self, more: Value) {
        let mut spec = json!({ "version": "1.34", "workspaceTemplateRef": { "name": "control-plane" } });
        for (field, value) in more.as_object().unwrap() {
            spec[field] = value.clone();
        }
        self.stage.put::<CAPTControlPlane>(json!({ "metadata": { "name": self.name }, "spec": spec })).await;
    }

    pub(crate) fn control_planes(&self) -> Api<CAPTControlPlane> {
        self.stage.api()
    }

    pub(crate) fn secrets(&self) -> Api<Secret> {
        self.stage.api()
    }

    /// The name of the control plane's Workspace.
    pub(crate) fn workspace_name(&self) -> String {
        format!("{}-eks-controlplane", self.name)
    }

    pub(crate) fn connection_name(&self) -> String {
        format!("{}-eks-connection", self.name)
    }

    /// Waits for the Workspace.
    pub(crate) async fn workspace(&self) -> Workspace {
        self.stage.workspace(&self.workspace_name(), "the Workspace", |_| true).await
    }

    /// What a module gives for the cluster that the test itself runs on.
    pub(crate) fn outputs(&self) -> Vec<(String, String)> {
        let kubeconfig = self.workload.control_plane().kubeconfig();
        let authority = field(&kubeconfig, "certificate-authority-data");
        vec![
            ("kubeconfig".to_owned(), kubeconfig),
            ("cluster_certificate_authority_data".to_owned(), authority),
            ("cluster_endpoint".to_owned(), self.workload.control_plane().url().to_owned()),
            ("cluster_name".to_owned(), self.name.clone()),
        ]
    }

    /// Writes the connection Secret, whole, as the one who runs Terraform would.
    pub(crate) async fn connect(&self, outputs: &[(String, String)]) {
        let data: serde_json::Map<String, Value> =
            outputs.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
        let name = self.connection_name();
        let mut secret: Secret = serde_json::from_value(json!({
            "metadata": { "name": name }, "stringData": data, "type": "connection.crossplane.io/v1alpha1",
        }))
        .unwrap();
        match self.secrets().get_opt(&name).await.unwrap() {
            None => drop(self.secrets().create(&PostParams::default(), &secret).await.unwrap()),
            Some(found) => {
                secret.metadata.resource_version = found.metadata.resource_version;
                self.secrets().replace(&name, &PostParams::default(), &secret).await.unwrap();
            }
        }
    }

    /// Plays Terraform to the end: the Workspace is ready, its outputs are there.
    pub(crate) async fn provision(&self) {
        self.workspace().await;
        self.connect(&self.outputs()).await;
        self.report_ready(&self.outputs()).await;
    }

    /// Says that the Workspace is ready.
    pub(crate) async fn report_ready(&self, outputs: &[(String, String)]) {
        let open: serde_json::Map<String, Value> = outputs
            .iter()
            .filter(|(key, _)| key != "kubeconfig")
            .map(|(key, value)| (key.clone(), json!(value)))
            .collect();
        let mut status = ready();
        status["atProvider"] = json!({ "outputs": open });
        self.stage.report(&self.workspace_name(), status).await;
    }

    /// Waits for something about the control plane.
    pub(crate) async fn until(
        &self,
        what: &str,
        holds: impl Fn(&CAPTControlPlane) -> bool,
    ) -> CAPTControlPlane {
        watch_until(what, &self.control_planes(), &self.name, holds).await
    }

    /// Waits for a condition of the control plane.
    pub(crate) async fn condition(&self, type_: &str, status: &str, reason: &str) -> CAPTControlPlane {
        self.until(&format!("{type_}={status} ({reason})"), |found| {
            condition(found, type_).is_some_and(|told| told.status == status && told.reason == reason)
        })
        .await
    }

    /// The content of a Secret.
    pub(crate) async fn secret(&self, name: &str, key: &str) -> Option<String> {
        let secret = self.secrets().get_opt(name).await.unwrap()?;
        secret.data?.get(key).map(|content| String::from_utf8(content.0.clone()).unwrap())
    }
}

/// The value of a field in a kubeconfig.
pub(crate) fn field(kubeconfig: &str, name: &str) -> String {
    let start = kubeconfig.find(name).unwrap() + name.len();
    kubeconfig[start..]
        .trim_start_matches([':', ' ', '"'])
        .split(['\n', '"'])
        .next()
        .unwrap()
        .trim()
        .to_owned()
}

/// A condition of a control plane.
pub(crate) fn condition<'found>(found: &'found CAPTControlPlane, type_: &str) -> Option<&'found Condition> {
    found.status.as_ref()?.conditions.iter().find(|told| told.type_ == type_)
}
