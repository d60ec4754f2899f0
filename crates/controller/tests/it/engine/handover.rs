//! Workspaces that pass from Crossplane to CAPT and back. The test plays Crossplane.

use std::sync::Arc;

use capt_api::names::{annotation, finalizer};
use capt_api::{ProviderConfig, Workspace};
use capt_controller::options::{Options, TerraformOptions};
use capt_terraform::Operation;
use capt_testkit::{TestCluster, eventually, watch_until};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use super::modules::{COUNT, slow, unique_lines};
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

    /// Crossplane was there before, and the manager knows it.
    async fn crossplane_is_there(&self) {
        self.crossplane_arrives().await;
        self.put_workspace("another", json!({ annotation::RUN_BY: "capt" }), "default").await;
        self.asked("another").await;
    }

    /// Crossplane says that it leaves a Workspace alone, as it does whenever it sees the pause.
    async fn crossplane_puts_down(&self, name: &str) {
        self.asked(name).await;
        self.crossplane_says_paused(name).await;
    }

    async fn crossplane_says_paused(&self, name: &str) {
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

    /// Crossplane holds a Workspace and has made something for it.
    async fn crossplane_makes(&self, name: &str) {
        watch_until(&format!("{name} to be there"), &self.workspaces(), name, |_| true).await;
        let patch = Patch::Merge(json!({ "metadata": {
            "finalizers": [finalizer::MANAGED_RESOURCE],
            "annotations": { annotation::EXTERNAL_CREATE_SUCCEEDED: "2026-01-01T10:00:00Z" },
        } }));
        self.workspaces().patch(name, &PatchParams::default(), &patch).await.unwrap();
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

    /// Left behind by a move, and paused for Crossplane.
    async fn frozen(&self, name: &str) -> Workspace {
        watch_until(&format!("{name} to be frozen"), &self.workspaces(), name, |workspace| {
            let keys = [annotation::FROZEN, annotation::CROSSPLANE_PAUSED];
            keys.iter().all(|key| workspace.annotations().contains_key(*key))
        })
        .await
    }

    /// A Workspace that is made again is CAPT's from its first moment, and nothing is made before somebody has looked.
    async fn is_looked_for_and_not_made_again(&self, name: &str) {
        assert!(is_born_paused(&self.asked(name).await));
        self.crossplane_puts_down(name).await;
        self.taken(name).await;
        self.stage.condition(name, "Synced", "False", "on its own disk").await;
        assert!(self.engine.take().is_empty(), "nothing is made a second time, and nothing destroyed");
    }

    async fn given(&self, name: &str) -> Workspace {
        watch_until(&format!("{name} to be Crossplane's"), &self.workspaces(), name, |workspace| {
            let noted = |key: &str| workspace.annotations().get(key).map(String::as_str);
            let keys = [annotation::HANDOVER, annotation::CROSSPLANE_PAUSED];
            noted(annotation::RUN_BY) == Some("crossplane") && keys.iter().all(|key| noted(key).is_none())
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

/// Whether the write of an apply, and no later one, has put the pause there.
fn is_born_paused(workspace: &Workspace) -> bool {
    let writes = workspace.metadata.managed_fields.iter().flatten();
    let own = writes.filter(|write| write.manager.as_deref() == Some("capt") && write.subresource.is_none());
    own.filter_map(|write| serde_json::to_string(&write.fields_v1).ok())
        .any(|fields| fields.contains("f:crossplane.io/paused") && fields.contains("f:spec"))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_capt_has_made_elsewhere_is_never_begun_by_crossplane() {
    let site = Site::set().await;
    let stage = &site.stage;
    site.crossplane_is_there().await;
    stage.stage.put_template("demo", GREETING).await;
    let name = stage.stage.unique("demo");
    let note = format!("{}/tfstate-{name}-capt", stage.namespace());
    let apply = json!({
        "metadata": { "name": format!("{name}-apply"), "annotations": { annotation::STATE: note } },
        "spec": { "templateRef": { "name": "demo" }, "variables": { "greeting": "hello" } },
    });
    stage.stage.put::<capt_api::WorkspaceTemplateApply>(apply).await;
    let asked = site.asked(&name).await;
    assert!(is_born_paused(&asked), "Crossplane may have begun: {:?}", asked.metadata.managed_fields);
    assert_eq!(asked.annotations()[annotation::RUN_BY], "capt");

    // A later write of the apply takes nothing of it away, whoever has it by then.
    let change = async |greeting: &str| {
        stage.change_variables("demo", json!({ "greeting": greeting })).await;
        watch_until(&format!("{name} to say {greeting}"), &site.workspaces(), &name, |workspace| {
            serde_json::to_string(&workspace.spec).unwrap().contains(greeting)
        })
        .await
    };
    change("bye").await;
    site.crossplane_puts_down(&name).await;
    site.taken(&name).await;
    change("once more").await;
    site.taken(&name).await;
    stage.condition(&name, "Synced", "False", "the state that was there is missing").await;
    assert!(site.engine.take().is_empty(), "nothing is made a second time");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_crossplane_has_made_is_moved_without_being_made_again() {
    use super::moves::{fresh, leave};
    let site = Site::set().await;
    let stage = &site.stage;
    site.crossplane_is_there().await;
    let name = stage.put("demo", GREETING, json!({ "greeting": "hello" })).await;
    site.crossplane_makes(&name).await;
    let applies = stage.stage.applies();
    let apply = format!("{name}-apply");
    let noted = watch_until("the apply to know it", &applies, &apply, |apply| {
        apply.annotations().get(annotation::MADE_BY).map(String::as_str) == Some("crossplane")
    })
    .await;

    // At the source nobody runs it any more, and once Crossplane has put it down it is removed without a destroy.
    leave(&applies, &apply).await;
    assert!(
        site.frozen(&name).await.metadata.deletion_timestamp.is_none(),
        "Crossplane has not put it down yet"
    );
    site.crossplane_says_paused(&name).await;
    stage.gone(&name).await;

    // At the target.
    let mut arrived = fresh(noted);
    arrived.status = None;
    applies.create(&PostParams::default(), &arrived).await.unwrap();
    site.is_looked_for_and_not_made_again(&name).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apply_that_is_lost_is_made_again_with_what_crossplane_has_made_for_it() {
    use super::lost_applies::{annotate, put_network, remembers};
    use super::moves::leave;
    let site = Site::set().await;
    let stage = &site.stage;
    site.crossplane_is_there().await;
    let name = put_network(stage).await;
    site.crossplane_makes(&name).await;
    remembers(stage, Some("crossplane")).await;

    // clusterctl ends after it has deleted the apply, and before it deletes the network.
    annotate(stage, json!({ annotation::PAUSED: "" })).await;
    leave(&stage.stage.applies(), &name).await;
    site.frozen(&name).await;
    site.crossplane_says_paused(&name).await;
    stage.gone(&name).await;
    annotate(stage, json!({ annotation::PAUSED: null })).await;

    site.is_looked_for_and_not_made_again(&name).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn crossplane_that_arrives_in_the_middle_of_a_run_is_kept_from_it() {
    let site = Site::set().await;
    let stage = &site.stage;
    let directory = stage.file("made").parent().unwrap().to_owned();
    let name = stage.put("slow", &slow(&directory), json!({})).await;
    eventually("an apply to go on", async || {
        site.engine.operations().iter().any(|operation| matches!(operation, Operation::Apply { .. }))
    })
    .await;
    site.crossplane_arrives().await;
    site.crossplane_puts_down(&name).await;
    site.taken(&name).await;
    stage.ready(&name).await;
    assert_eq!(unique_lines(&stage.file("made")).len(), COUNT);
}
