//! A stage with a manager that runs Terraform.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use capt_api::crossplane::WorkspaceCondition;
use capt_api::engine_status::PlanStatus;
use capt_api::{Workspace, names};
use capt_controller::options::{EngineMode, Options, Server, TerraformOptions};
use capt_terraform::{Engine, ProcessEngine, Settings};
use capt_testkit::terraform::binary;
use capt_testkit::{TestCluster, watch_until};
use k8s_openapi::api::core::v1::Secret;
use kube::config::Kubeconfig;
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::recording::Recording;
use crate::stage::{Manager, Stage, cluster};

/// A namespace with a manager that runs its Workspaces.
pub(crate) struct EngineStage {
    pub(crate) stage: Stage,
    pub(crate) directory: TempDir,
    manager: Option<Manager>,
}

impl EngineStage {
    /// With the real binary.
    pub(crate) async fn set() -> Self {
        let mut stage = Self::without_manager().await;
        stage.start_manager().await;
        stage
    }

    pub(crate) async fn without_manager() -> Self {
        let stage = Stage::without_manager().await;
        Self { stage, directory: tempfile::tempdir().unwrap(), manager: None }
    }

    /// On a control plane of its own.
    pub(crate) fn on(stage: Stage) -> Self {
        Self { stage, directory: tempfile::tempdir().unwrap(), manager: None }
    }

    /// The engine that runs the real binary in this stage's directory.
    pub(crate) async fn process_engine(&self) -> Arc<dyn Engine> {
        let settings = Settings::new(self.directory.path().join("workspaces"), binary());
        Arc::new(ProcessEngine::start(settings).await.unwrap())
    }

    pub(crate) async fn start_manager(&mut self) {
        let engine = self.process_engine().await;
        self.start_manager_with(engine, |_| {}).await;
    }

    /// Starts a manager whose engine remembers what it was asked to do.
    pub(crate) async fn start_recorded(&mut self) -> Arc<Recording> {
        let engine = Arc::new(Recording::new(self.process_engine().await));
        self.start_manager_with(engine.clone(), |_| {}).await;
        engine
    }

    /// Starts a manager that looks after this stage's namespace.
    pub(crate) async fn start_manager_with(
        &mut self,
        engine: Arc<dyn Engine>,
        change: impl FnOnce(&mut TerraformOptions),
    ) {
        let options = self.options(engine, change).await;
        self.manager = Some(Manager::start(cluster().await, options).await);
    }

    pub(crate) async fn options(
        &self,
        engine: Arc<dyn Engine>,
        change: impl FnOnce(&mut TerraformOptions),
    ) -> Options {
        let artifacts = self.directory.path().join("artifacts");
        let mut terraform =
            TerraformOptions::new(engine, artifacts, server().await, self.namespace().to_owned(), host());
        terraform.mode = EngineMode::Auto;
        terraform.grace = Duration::from_secs(60);
        change(&mut terraform);
        Options {
            namespace: Some(self.namespace().to_owned()),
            terraform: Some(terraform),
            ..Options::default()
        }
    }

    pub(crate) async fn stop_manager(&mut self) {
        if let Some(manager) = self.manager.take() {
            manager.stop().await;
        }
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.stage.namespace
    }

    /// A template, and an apply of it that writes its outputs to the Secret `<name>-connection`.
    pub(crate) async fn put(&self, name: &str, module: &str, variables: Value) -> String {
        self.stage.put_template(name, module).await;
        self.stage
            .put_apply(
                &format!("{}-apply", self.stage.unique(name)),
                json!({
                    "templateRef": { "name": name },
                    "variables": variables,
                    "writeConnectionSecretToRef": { "name": format!("{name}-connection") },
                }),
            )
            .await;
        self.stage.unique(name)
    }

    /// A template with this spec of a Workspace, and an apply of it with these fields. What is not given is as usual: the
    /// module is inline, and outputs go to the Secret `<name>-connection`; null leaves a field out.
    pub(crate) async fn put_spec(&self, name: &str, spec: Value, apply: Value) -> String {
        let mut spec = spec;
        if spec["forProvider"]["source"].is_null() {
            spec["forProvider"]["source"] = json!("Inline");
        }
        let template = json!({ "metadata": { "name": name }, "spec": { "template": { "spec": spec } } });
        self.stage.put::<capt_api::WorkspaceTemplate>(template).await;
        let mut fields = json!({
            "templateRef": { "name": name },
            "writeConnectionSecretToRef": { "name": format!("{name}-connection") },
        });
        if let (Some(fields), Value::Object(given)) = (fields.as_object_mut(), apply) {
            fields.extend(given);
            fields.retain(|_, value| !value.is_null());
        }
        self.stage.put_apply(&format!("{}-apply", self.stage.unique(name)), fields).await;
        self.stage.unique(name)
    }

    pub(crate) async fn change_apply(&self, name: &str, patch: Value) {
        let apply = format!("{}-apply", self.stage.unique(name));
        self.stage.change::<capt_api::WorkspaceTemplateApply>(&apply, patch).await;
    }

    pub(crate) async fn change_variables(&self, name: &str, variables: Value) {
        let apply = format!("{}-apply", self.stage.unique(name));
        let patch = json!({ "spec": { "variables": variables } });
        self.stage.change::<capt_api::WorkspaceTemplateApply>(&apply, patch).await;
    }

    pub(crate) async fn delete_apply(&self, name: &str) {
        let apply = format!("{}-apply", self.stage.unique(name));
        self.stage.applies().delete(&apply, &kube::api::DeleteParams::default()).await.unwrap();
    }

    pub(crate) async fn annotate(&self, workspace: &str, key: &str, value: &str) {
        let patch = json!({ "metadata": { "annotations": { key: value } } });
        let parameters = kube::api::PatchParams::default();
        self.stage.workspaces().patch(workspace, &parameters, &kube::api::Patch::Merge(patch)).await.unwrap();
    }

    /// Waits for a condition of a Workspace, with a message that holds this text.
    pub(crate) async fn condition(
        &self,
        workspace: &str,
        type_: &str,
        status: &str,
        text: &str,
    ) -> Workspace {
        let what = format!("{type_}={status} of {workspace} with `{text}`");
        watch_until(&what, &self.stage.workspaces(), workspace, |workspace| {
            find(workspace, type_).is_some_and(|found| {
                found.status == status && found.message.as_deref().unwrap_or_default().contains(text)
            })
        })
        .await
    }

    pub(crate) async fn ready(&self, workspace: &str) -> Workspace {
        watch_until(&format!("{workspace} to be ready"), &self.stage.workspaces(), workspace, |workspace| {
            let holds = |type_| find(workspace, type_).is_some_and(|found| found.status == "True");
            holds("Ready") && holds("Synced")
        })
        .await
    }

    /// Waits until an output in the status has this value.
    pub(crate) async fn output(&self, workspace: &str, name: &str, value: Value) -> Workspace {
        let what = format!("output {name} of {workspace} to be {value}");
        watch_until(&what, &self.stage.workspaces(), workspace, |workspace| {
            output(workspace, name) == Some(&value)
        })
        .await
    }

    /// Asks for a look at reality, and waits until it was taken and all that follows from it is done.
    pub(crate) async fn check(&self, workspace: &str, request: &str) -> Workspace {
        self.annotate(workspace, names::annotation::RECONCILE_REQUESTED_AT, request).await;
        watch_until(&format!("{workspace} to be checked"), &self.stage.workspaces(), workspace, |workspace| {
            let Some(status) = &workspace.status else { return false };
            let running = status.engine.as_ref().is_some_and(|engine| engine.run.is_some());
            status.last_handled_reconcile_at.as_deref() == Some(request) && !running
        })
        .await
    }

    /// Waits until a plan needs approval, for a reason that holds this text.
    pub(crate) async fn pending(&self, workspace: &str, text: &str) -> PlanStatus {
        let workspace = self.condition(workspace, "ApprovalRequired", "True", text).await;
        workspace.status.unwrap().engine.unwrap().plan.unwrap()
    }

    pub(crate) async fn gone(&self, workspace: &str) {
        let workspaces = self.stage.workspaces();
        capt_testkit::eventually(&format!("{workspace} to be gone"), async || {
            workspaces.get_opt(workspace).await.unwrap().is_none()
        })
        .await;
    }

    /// The data of a Secret of this namespace, as text.
    pub(crate) async fn secret(&self, name: &str) -> Option<std::collections::BTreeMap<String, String>> {
        let secrets: Api<Secret> = self.stage.api();
        let secret = secrets.get_opt(name).await.unwrap()?;
        let text = |bytes: k8s_openapi::ByteString| String::from_utf8_lossy(&bytes.0).into_owned();
        Some(secret.data.unwrap_or_default().into_iter().map(|(key, value)| (key, text(value))).collect())
    }

    /// The Secret that holds the state of a Workspace.
    pub(crate) async fn state(&self, workspace: &str) -> Option<Secret> {
        self.stage.api::<Secret>().get_opt(&format!("tfstate-{workspace}-capt")).await.unwrap()
    }

    /// Deletes a Secret whatever holds it.
    pub(crate) async fn wipe(&self, secret: &str) {
        let secrets: Api<Secret> = self.stage.api();
        secrets.delete(secret, &kube::api::DeleteParams::default()).await.unwrap();
        if secrets.get_metadata_opt(secret).await.unwrap().is_some() {
            self.stage.change::<Secret>(secret, json!({ "metadata": { "finalizers": null } })).await;
        }
    }

    /// The names of all Secrets of this namespace.
    pub(crate) async fn secrets(&self) -> Vec<String> {
        let secrets: Api<Secret> = self.stage.api();
        let all = secrets.list_metadata(&kube::api::ListParams::default()).await.unwrap();
        all.iter().map(ResourceExt::name_any).collect()
    }

    /// A file that a module can write to.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        let directory = self.directory.path().join("reality");
        fs::create_dir_all(&directory).unwrap();
        directory.join(name)
    }
}

pub(crate) fn find<'workspace>(
    workspace: &'workspace Workspace,
    type_: &str,
) -> Option<&'workspace WorkspaceCondition> {
    workspace.status.as_ref()?.conditions.iter().find(|condition| condition.type_ == type_)
}

pub(crate) fn output<'workspace>(workspace: &'workspace Workspace, name: &str) -> Option<&'workspace Value> {
    workspace.status.as_ref()?.at_provider.as_ref()?.outputs.get(name)
}

/// What this machine calls itself in locks.
pub(crate) fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// How Terraform reaches the shared API server.
async fn server() -> Server {
    server_of(cluster().await)
}

/// How Terraform reaches an API server.
pub(crate) fn server_of(cluster: &TestCluster) -> Server {
    let kubeconfig = Kubeconfig::from_yaml(&cluster.control_plane().kubeconfig()).unwrap();
    let cluster = kubeconfig.clusters[0].cluster.clone().unwrap();
    let authority = cluster.certificate_authority_data.map(|data| {
        use base64::Engine as _;
        String::from_utf8(base64::engine::general_purpose::STANDARD.decode(data).unwrap()).unwrap()
    });
    Server { address: cluster.server.unwrap(), certificate_authority: authority, server_name: None }
}
