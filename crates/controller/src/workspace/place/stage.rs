//! What tests of this driver's parts play on: a namespace, and a client with exactly the permissions that are declared.

use std::collections::BTreeMap;
use std::io::Write as _;

use capt_api::crd::{Foreign, foreign, own};
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_core::tie::ApplyKey;
use capt_core::workspace::backend::StatePlace;
use capt_testkit::{TestCluster, eventually};
use flate2::Compression;
use flate2::write::GzEncoder;
use k8s_openapi::ByteString;
use k8s_openapi::api::authorization::v1::SelfSubjectAccessReview;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule};
use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::{Owner, Place};

static PREPARED: OnceCell<()> = OnceCell::const_new();

/// A namespace, and clients for it.
pub(in crate::workspace) struct Stage {
    pub(in crate::workspace) namespace: String,
    /// May do everything.
    pub(in crate::workspace) administrator: Client,
    /// May do what the rules say.
    pub(in crate::workspace) client: Client,
}

impl Stage {
    /// A fresh namespace, and a client that may do what these rules say and nothing else.
    pub(in crate::workspace) async fn set(rules: Vec<PolicyRule>) -> Self {
        let cluster = TestCluster::shared().await;
        PREPARED
            .get_or_init(|| async {
                cluster.apply_crds(&[own(), foreign(Foreign::Terraform)].concat()).await;
            })
            .await;
        let namespace = cluster.namespace("engine").await;
        let administrator = cluster.client();
        let user = format!("manager-of-{namespace}");
        permit(&administrator, &user, rules).await;
        let client = cluster.client_as(&user, &["system:authenticated"]).await;
        await_permission(&client).await;
        Self { namespace, administrator, client }
    }

    /// The place of a Workspace that an apply of this namespace has made.
    pub(in crate::workspace) async fn place(&self, workspace: &str) -> Place {
        let apply: WorkspaceTemplateApply = serde_json::from_value(json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
            "metadata": { "name": format!("{workspace}-apply") },
            "spec": { "templateRef": { "name": "t" } },
        }))
        .unwrap();
        let api: Api<WorkspaceTemplateApply> = Api::namespaced(self.administrator.clone(), &self.namespace);
        let apply = api.create(&PostParams::default(), &apply).await.unwrap();
        let owner = Owner { key: ApplyKey::of(&apply), uid: apply.uid().unwrap() };
        Place { apply: Some(owner), workspace_uid: "uid-of-nobody".to_owned(), ..self.bare(workspace) }
    }

    /// The place of a Workspace that nobody has made, kept in this namespace.
    pub(in crate::workspace) fn bare(&self, workspace: &str) -> Place {
        Place {
            namespace: self.namespace.clone(),
            state: StatePlace::ours(&self.namespace),
            terraform_workspace: workspace.to_owned(),
            workspace: workspace.to_owned(),
            kept_as: workspace.to_owned(),
            workspace_uid: "uid-of-nobody".to_owned(),
            apply: None,
        }
    }

    /// Makes a Workspace, whose name no other test uses, for the place.
    pub(in crate::workspace) async fn workspace(&self, place: &mut Place) -> Workspace {
        place.workspace = format!("{}-{}", self.namespace, place.workspace);
        place.kept_as.clone_from(&place.workspace);
        let workspace: Workspace = serde_json::from_value(json!({
            "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace",
            "metadata": { "name": place.workspace },
            "spec": { "forProvider": { "source": "Inline", "module": "locals {}" } },
        }))
        .unwrap();
        let api: Api<Workspace> = Api::all(self.administrator.clone());
        let workspace = api.create(&PostParams::default(), &workspace).await.unwrap();
        place.workspace_uid = workspace.uid().unwrap();
        workspace
    }

    pub(in crate::workspace) fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.administrator.clone(), &self.namespace)
    }

    /// Creates a Secret as somebody else would.
    pub(in crate::workspace) async fn put(&self, object: Value) -> Secret {
        let secret: Secret = serde_json::from_value(object).unwrap();
        self.secrets().create(&PostParams::default(), &secret).await.unwrap()
    }

    /// Writes a Secret of a state as Terraform does.
    pub(in crate::workspace) async fn put_state(&self, name: &str, content: &[u8]) -> Secret {
        let workspace = name.trim_start_matches("tfstate-").split("-capt").next().unwrap_or_default();
        let labels = json!({
            "tfstate": "true", "tfstateSecretSuffix": "capt", "tfstateWorkspace": workspace,
            "app.kubernetes.io/managed-by": "terraform",
        });
        let data = BTreeMap::from([("tfstate", ByteString(content.to_vec()))]);
        let metadata = json!({ "name": name, "labels": labels, "annotations": { "encoding": "gzip" } });
        self.put(json!({ "metadata": metadata, "data": data })).await
    }

    /// Asks for the deletion of the namespace and waits until nothing can be made in it.
    pub(in crate::workspace) async fn end(&self) {
        let namespaces: Api<Namespace> = Api::all(self.administrator.clone());
        namespaces.delete(&self.namespace, &DeleteParams::default()).await.unwrap();
        eventually("the end of the namespace", async || {
            let secret = Secret {
                metadata: kube::api::ObjectMeta {
                    generate_name: Some("x-".to_owned()),
                    ..Default::default()
                },
                ..Secret::default()
            };
            let parameters = PostParams { dry_run: true, ..PostParams::default() };
            self.secrets()
                .create(&parameters, &secret)
                .await
                .is_err_and(|error| super::kept::is_ending(&error))
        })
        .await;
    }
}

/// Text as Terraform keeps it.
pub(in crate::workspace) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// A state with this serial and so many resources.
pub(in crate::workspace) fn state(serial: u64, resources: usize) -> Vec<u8> {
    let resources: Vec<Value> = (0..resources).map(|index| json!({ "name": index })).collect();
    let state =
        json!({ "version": 4, "serial": serial, "lineage": "l", "outputs": {}, "resources": resources });
    gzip(state.to_string().as_bytes())
}

/// The rules, with one more that says when they have reached the API server.
async fn permit(administrator: &Client, user: &str, mut rules: Vec<PolicyRule>) {
    rules.push(crate::rbac::rule("test.capt", &["permissions"], &["get"]));
    let role: ClusterRole =
        serde_json::from_value(json!({ "metadata": { "name": user }, "rules": rules })).unwrap();
    let binding: ClusterRoleBinding = serde_json::from_value(json!({
        "metadata": { "name": user },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user }],
    }))
    .unwrap();
    let cluster_roles: Api<ClusterRole> = Api::all(administrator.clone());
    cluster_roles.create(&PostParams::default(), &role).await.unwrap();
    let bindings: Api<ClusterRoleBinding> = Api::all(administrator.clone());
    bindings.create(&PostParams::default(), &binding).await.unwrap();
}

async fn await_permission(client: &Client) {
    let reviews: Api<SelfSubjectAccessReview> = Api::all(client.clone());
    let attributes = json!({ "group": "test.capt", "resource": "permissions", "verb": "get" });
    let review: SelfSubjectAccessReview =
        serde_json::from_value(json!({ "spec": { "resourceAttributes": attributes } })).unwrap();
    eventually("the permissions", async || {
        let answer = reviews.create(&PostParams::default(), &review).await;
        answer.is_ok_and(|review| review.status.is_some_and(|status| status.allowed))
    })
    .await;
}
