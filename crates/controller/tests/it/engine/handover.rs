//! Workspaces that pass from Crossplane to CAPT and back. The test plays Crossplane.

use std::sync::Arc;

use capt_api::names::{annotation, finalizer};
use capt_api::{ProviderConfig, Workspace};
use capt_controller::options::{Options, TerraformOptions};
use capt_terraform::Operation;
use capt_testkit::{TestCluster, watch_until};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use super::recording::Recording;
use super::stage::{EngineStage, host, output, server_of};
use crate::stage::{Manager, Stage, permit};

const GREETING: &str = r#"
variable "greeting" { default = "hello" }
resource "terraform_data" "one" { input = var.greeting }
output "said" { value = terraform_data.one.output }
output "id" { value = terraform_data.one.id }
"#;

/// A control plane of its own: whom the kind of Workspaces belongs to is the same for all of them.
struct Site {
    cluster: TestCluster,
    stage: EngineStage,
    engine: Arc<Recording>,
    _manager: Manager,
}

impl Site {
    async fn set() -> Self {
        use capt_api::crd::{Foreign, foreign, own};
        let cluster = TestCluster::start().await;
        cluster
            .apply_crds(&[own(), foreign(Foreign::Terraform), foreign(Foreign::ClusterApi)].concat())
            .await;
        permit(&cluster).await;
        let namespace = cluster.namespace("handover").await;
        let stage = EngineStage::on(Stage::on(&cluster, &namespace));
        let engine = Arc::new(Recording::new(stage.process_engine().await));
        let artifacts = stage.directory.path().join("artifacts");
        let terraform =
            TerraformOptions::new(engine.clone(), artifacts, server_of(&cluster), namespace, host());
        let options = Options { terraform: Some(terraform), ..Options::default() };
        let manager = Manager::start(&cluster, options).await;
        Self { cluster, stage, engine, _manager: manager }
    }

    fn workspaces(&self) -> Api<Workspace> {
        self.stage.stage.workspaces()
    }

    /// Crossplane installs its provider: the kind has an owner from now on.
    async fn crossplane_arrives(&self) {
        let crds: Api<CustomResourceDefinition> = Api::all(self.cluster.client());
        let owner = json!({
            "apiVersion": "pkg.crossplane.io/v1", "kind": "ProviderRevision",
            "name": "provider-terraform", "uid": "6b0f0fb4-5a0f-4d3c-8f43-0b1a1b1a1b1a",
        });
        let patch = json!({ "metadata": { "ownerReferences": [owner] } });
        let name = "workspaces.tf.upbound.io";
        crds.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    /// Crossplane says that it leaves a Workspace alone, as it does whenever it sees the pause.
    async fn crossplane_puts_down(&self, name: &str) {
        self.asked(name).await;
        let condition = json!({
            "type": "Synced", "status": "False", "reason": "ReconcilePaused",
            "lastTransitionTime": "2026-01-01T10:00:00Z",
        });
        self.told(name, json!({ "conditions": [condition] })).await;
    }

    /// Crossplane has looked at a Workspace.
    async fn crossplane_runs(&self, name: &str) {
        self.told(name, json!({ "atProvider": { "checksum": "0123" } })).await;
    }

    async fn told(&self, name: &str, status: Value) {
        let patch = Patch::Merge(json!({ "status": status }));
        self.workspaces().patch_status(name, &PatchParams::default(), &patch).await.unwrap();
    }

    async fn handover(&self, name: &str, word: &str) -> Workspace {
        watch_until(&format!("{name} to be {word}"), &self.workspaces(), name, |workspace| {
            let noted = |key: &str| workspace.annotations().get(key).map(String::as_str);
            noted(annotation::HANDOVER) == Some(word) && noted(annotation::CROSSPLANE_PAUSED) == Some("true")
        })
        .await
    }

    async fn asked(&self, name: &str) -> Workspace {
        self.handover(name, "pausing").await
    }

    async fn taken(&self, name: &str) -> Workspace {
        self.handover(name, "taken").await
    }

    async fn given(&self, name: &str) -> Workspace {
        watch_until(&format!("{name} to be Crossplane's"), &self.workspaces(), name, |workspace| {
            let keys = [annotation::RUN_BY, annotation::HANDOVER, annotation::CROSSPLANE_PAUSED];
            keys.iter().all(|key| !workspace.annotations().contains_key(*key))
        })
        .await
    }

    async fn put_config(&self, name: &str, namespace: &str, suffix: &str) {
        let configuration = format!(
            "terraform {{\n  backend \"kubernetes\" {{\n    namespace = \"{namespace}\"\n    secret_suffix = \"{suffix}\"\n    in_cluster_config = true\n  }}\n}}\n"
        );
        let config = json!({
            "apiVersion": "tf.upbound.io/v1beta1", "kind": "ProviderConfig",
            "metadata": { "name": name }, "spec": { "configuration": configuration },
        });
        let configs: Api<ProviderConfig> = Api::all(self.cluster.client());
        configs.create(&PostParams::default(), &serde_json::from_value(config).unwrap()).await.unwrap();
    }

    async fn put_workspace(&self, name: &str, annotations: Value, config: &str) {
        let workspace = json!({
            "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace",
            "metadata": { "name": name, "annotations": annotations },
            "spec": {
                "forProvider": { "source": "Inline", "module": GREETING },
                "providerConfigRef": { "name": config },
            },
        });
        let workspace = serde_json::from_value(workspace).unwrap();
        self.workspaces().create(&PostParams::default(), &workspace).await.unwrap();
    }

    async fn secret_of(&self, namespace: &str, name: &str) -> Option<Secret> {
        let secrets: Api<Secret> = Api::namespaced(self.cluster.client(), namespace);
        secrets.get_opt(name).await.unwrap()
    }

    fn applies(&self) -> usize {
        self.engine.take().iter().filter(|operation| matches!(operation, Operation::Apply { .. })).count()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn crossplane_that_arrives_makes_nothing_twice_and_gets_what_it_can_find() {
    let site = Site::set().await;
    let stage = &site.stage;
    let name = stage.put("demo", GREETING, json!({ "greeting": "hello" })).await;
    stage.ready(&name).await;

    // What Crossplane would make a second time it is kept from, and CAPT goes on once that is said.
    site.crossplane_arrives().await;
    site.crossplane_puts_down(&name).await;
    site.taken(&name).await;
    let id = output(&stage.ready(&name).await, "id").cloned();
    assert_eq!(site.applies(), 1);
    stage.change_variables("demo", json!({ "greeting": "bye" })).await;
    stage.output(&name, "said", json!("bye")).await;

    // It is not handed back before Crossplane would find the state.
    stage.annotate(&name, annotation::RUN_BY, "crossplane").await;
    stage.condition(&name, "Synced", "False", "secret_suffix     = \"capt\"").await;
    site.put_config("default", stage.namespace(), "capt").await;
    let given = site.given(&name).await;
    assert_eq!(given.annotations()[annotation::EXTERNAL_NAME], name);
    assert!(given.finalizers().iter().any(|entry| entry == finalizer::MANAGED_RESOURCE));
    let kept = stage.state(&name).await.unwrap();
    assert!(
        !kept.finalizers().iter().any(|entry| entry == finalizer::STATE),
        "Crossplane could not delete it"
    );
    assert!(!stage.secrets().await.iter().any(|secret| secret.starts_with("capt-record-")));
    assert_eq!(site.applies(), 1);

    // What Crossplane did since is not CAPT's: with the same inputs there is a plan, with others it waits.
    site.crossplane_runs(&name).await;
    stage.change_variables("demo", json!({ "greeting": "once more" })).await;
    stage.annotate(&name, annotation::RUN_BY, "capt").await;
    site.crossplane_puts_down(&name).await;
    let plan = stage.pending(&name, "somebody else made what it would change").await;
    assert_eq!(site.applies(), 0);
    stage.annotate(&name, annotation::APPROVE_PLAN, &plan.hash).await;
    let workspace = stage.output(&name, "said", json!("once more")).await;
    assert_eq!(output(&workspace, "id").cloned(), id);
    assert_eq!(workspace.status.unwrap().at_provider.unwrap().checksum, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_is_found_where_crossplane_keeps_it_or_missed() {
    let site = Site::set().await;
    let stage = &site.stage;
    let theirs = site.cluster.namespace("crossplane-system").await;
    site.put_config("theirs", &theirs, "providerconfig-default").await;

    let made = json!({ annotation::EXTERNAL_CREATE_SUCCEEDED: "2026-01-01T10:00:00Z" });
    site.put_workspace("on-a-disk", made.clone(), "default").await;
    site.put_workspace("lost", made, "theirs").await;
    stage.condition("on-a-disk", "Synced", "False", "on its own disk").await;
    stage.condition("lost", "Synced", "False", "not where the ProviderConfig says").await;
    assert!(site.engine.take().is_empty(), "nothing is made a second time");
    for name in ["on-a-disk", "lost"] {
        site.workspaces().delete(name, &DeleteParams::default()).await.unwrap();
        stage.condition(name, "Synced", "False", "nothing can be destroyed").await;
    }

    let name = "found";
    site.put_workspace(name, json!({}), "theirs").await;
    let workspace = stage.ready(name).await;
    let secret = "tfstate-found-providerconfig-default";
    assert_eq!(workspace.annotations()[annotation::STATE], format!("{theirs}/{secret}"));
    let kept = site.secret_of(&theirs, secret).await.unwrap();
    assert!(kept.finalizers().iter().any(|entry| entry == finalizer::STATE));
    assert!(
        site.secret_of(stage.namespace(), "capt-record-found").await.is_some(),
        "the record is CAPT's own"
    );
    assert!(site.secret_of(&theirs, "capt-record-found").await.is_none());

    site.workspaces().delete(name, &DeleteParams::default()).await.unwrap();
    stage.gone(name).await;
    assert!(site.secret_of(&theirs, secret).await.is_none());
}
