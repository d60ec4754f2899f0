//! What a network plays on.

use capt_api::names::label;
use capt_api::{CAPTCluster, CAPTControlPlane, Workspace, WorkspaceTemplateApply};
use capt_testkit::{eventually, watch_until};
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};

use crate::stage::{Stage, module, ready};

/// A namespace with a template `vpc`, and a network `net` of the Cluster `cluster`, whose apply and Workspace are `vpc`.
pub(super) struct Scene {
    pub(super) stage: Stage,
    pub(super) cluster: String,
    pub(super) vpc: String,
}

impl Scene {
    /// A manager looks at it.
    pub(super) async fn set() -> Self {
        let mut scene = Self::without_manager().await;
        scene.stage.start_manager().await;
        scene
    }

    /// Nobody looks at it yet.
    pub(super) async fn without_manager() -> Self {
        let stage = Stage::without_manager().await;
        stage.put_template("vpc", &module(&["name", "region"])).await;
        let cluster = stage.unique("demo");
        Self { vpc: format!("{cluster}-vpc"), cluster, stage }
    }

    pub(super) fn networks(&self) -> Api<CAPTCluster> {
        self.stage.api()
    }

    /// A network that is made from the template, and what else its spec says.
    pub(super) async fn put(&self, spec: Value) -> CAPTCluster {
        let mut whole = json!({ "region": "r", "vpcTemplateRef": { "name": "vpc" } });
        for (key, value) in spec.as_object().unwrap() {
            whole[key] = value.clone();
        }
        self.put_exactly(whole).await
    }

    /// A network with exactly this spec.
    pub(super) async fn put_exactly(&self, spec: Value) -> CAPTCluster {
        let metadata = json!({ "name": "net", "labels": { label::CLUSTER_NAME: self.cluster } });
        self.stage.put(json!({ "metadata": metadata, "spec": spec })).await
    }

    pub(super) async fn change(&self, patch: Value) {
        self.stage.change::<CAPTCluster>("net", patch).await;
    }

    /// Waits for a condition of the network.
    pub(super) async fn condition(&self, type_: &str, status: &str, reason: &str) -> CAPTCluster {
        watch_until(
            &format!("{type_}={status} ({reason})"),
            &self.networks(),
            "net",
            |network: &CAPTCluster| {
                let conditions = network.status.iter().flat_map(|status| &status.conditions);
                conditions
                    .into_iter()
                    .any(|found| found.type_ == type_ && found.status == status && found.reason == reason)
            },
        )
        .await
    }

    /// Waits for the apply to fulfil a condition.
    pub(super) async fn apply(
        &self,
        what: &str,
        holds: impl Fn(&WorkspaceTemplateApply) -> bool,
    ) -> WorkspaceTemplateApply {
        watch_until(what, &self.stage.applies(), &self.vpc, holds).await
    }

    /// Plays the one who runs Terraform, until the network is ready.
    pub(super) async fn provision(&self) -> CAPTCluster {
        self.stage.condition(&self.vpc, "Applied", "True", "UpToDate").await;
        self.finish(json!({ "vpc_id": "vpc-1", "azs": ["b", "a"] })).await;
        self.condition("Ready", "True", "NetworkReady").await
    }

    /// Reports a Workspace that is ready and has these outputs.
    pub(super) async fn finish(&self, outputs: Value) {
        let status = json!({ "conditions": ready()["conditions"], "atProvider": { "outputs": outputs } });
        self.stage.report(&self.vpc, status).await;
    }

    pub(super) async fn delete(&self) {
        self.networks().delete("net", &DeleteParams::default()).await.unwrap();
    }

    pub(super) async fn gone(&self) {
        eventually("the network to be gone", async || {
            self.networks().get_opt("net").await.unwrap().is_none()
        })
        .await;
    }

    /// Sets the finalizers of the Workspace: as Terraform's destroy does, they keep it from going away.
    pub(super) async fn hold_workspace(&self, finalizers: &[&str]) {
        let patch = json!({ "metadata": { "finalizers": finalizers } });
        let workspaces: Api<Workspace> = self.stage.workspaces();
        workspaces.patch(&self.vpc, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    /// A control plane of the same Cluster, which only the test looks after.
    pub(super) async fn put_control_plane(&self, name: &str) -> CAPTControlPlane {
        let metadata = json!({
            "name": name, "labels": { label::CLUSTER_NAME: self.cluster }, "finalizers": ["example.com/hold"],
            "annotations": { capt_api::names::annotation::MANAGED_BY: "test" },
        });
        let spec = json!({ "version": "1.34", "workspaceTemplateRef": { "name": "t" } });
        self.stage.put(json!({ "metadata": metadata, "spec": spec })).await
    }
}

pub(super) fn message<'network>(network: &'network CAPTCluster, type_: &str) -> &'network str {
    let conditions = network.status.iter().flat_map(|status| &status.conditions);
    conditions
        .into_iter()
        .find(|found| found.type_ == type_)
        .map(|found| found.message.as_str())
        .unwrap_or_default()
}
