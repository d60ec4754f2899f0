//! Objects as the Go implementation leaves them, under kinds that say no more than it needs.

use std::fmt::Debug;

use capt_api::Workspace;
use capt_api::crd::{Foreign, foreign};
use capt_api::names::{condition, finalizer, label};
use capt_testkit::{TestCluster, loose_definition};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::{Api, Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::stage::{permit, ready};

const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io";
const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";
/// What it calls itself as the manager of fields.
const MANAGER: &str = "manager";
const LONG_AGO: &str = "2024-11-01T00:00:00Z";

/// A management cluster with what was left in it.
pub(super) struct Left {
    pub(super) cluster: TestCluster,
    namespace: String,
}

impl Left {
    /// With its kinds, and no objects yet.
    pub(super) async fn behind() -> Self {
        let cluster = TestCluster::start().await;
        let kinds = [
            kind(INFRASTRUCTURE, "CAPTCluster", "captclusters"),
            kind(CONTROL_PLANE, "CAPTControlPlane", "captcontrolplanes"),
            kind(INFRASTRUCTURE, "WorkspaceTemplate", "workspacetemplates"),
            kind(INFRASTRUCTURE, "WorkspaceTemplateApply", "workspacetemplateapplies"),
            kind(INFRASTRUCTURE, "CaptMachine", "captmachines"),
        ];
        let others = [foreign(Foreign::Terraform), foreign(Foreign::ClusterApi)].concat();
        cluster.apply_crds(&[kinds.to_vec(), others].concat()).await;
        permit(&cluster).await;
        let left = Self { namespace: cluster.namespace("team").await, cluster };
        left.put_template("control-plane", &["cluster_name", "kubernetes_version", "region"]).await;
        left.put_template("vpc", &["cluster_name", "vpc_name"]).await;
        left
    }

    pub(super) fn client(&self) -> Client {
        self.cluster.client()
    }

    pub(super) fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
    {
        Api::namespaced(self.client(), &self.namespace)
    }

    /// Where the control planes are said to be: that of the test itself.
    pub(super) fn url(&self) -> &str {
        self.cluster.control_plane().url()
    }

    pub(super) fn port(&self) -> i32 {
        self.url().rsplit(':').next().unwrap().parse().unwrap()
    }

    pub(super) async fn workspace(&self, name: &str) -> Workspace {
        Api::<Workspace>::all(self.client()).get(name).await.unwrap()
    }

    fn objects(&self, group: &str, kind: &str) -> Api<DynamicObject> {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1beta1", kind));
        if kind == "Workspace" {
            Api::all_with(self.client(), &resource)
        } else {
            Api::namespaced_with(self.client(), &self.namespace, &resource)
        }
    }

    /// Makes an object with its status.
    async fn put(&self, group: &str, kind: &str, mut object: Value, status: Value) -> DynamicObject {
        object["apiVersion"] = json!(format!("{group}/v1beta1"));
        object["kind"] = json!(kind);
        let api = self.objects(group, kind);
        let parameters = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
        let made = api.create(&parameters, &serde_json::from_value(object).unwrap()).await.unwrap();
        if status.is_null() {
            return made;
        }
        let patch = Patch::Merge(json!({ "status": status }));
        let parameters = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
        api.patch_status(&made.name_any(), &parameters, &patch).await.unwrap()
    }

    async fn put_template(&self, name: &str, variables: &[&str]) {
        let vars: Vec<Value> =
            variables.iter().map(|name| json!({ "key": name, "value": format!("${{{name}}}") })).collect();
        let for_provider = json!({ "source": "Inline", "module": module(variables), "vars": vars });
        let spec = json!({ "template": { "metadata": { "description": name }, "spec": { "forProvider": for_provider } } });
        self.put(
            INFRASTRUCTURE,
            "WorkspaceTemplate",
            json!({ "metadata": { "name": name }, "spec": spec }),
            Value::Null,
        )
        .await;
    }

    /// Adds a line to the module of a template.
    pub(super) async fn edit_template(&self, name: &str, line: &str) {
        let api = self.objects(INFRASTRUCTURE, "WorkspaceTemplate");
        let found = api.get(name).await.unwrap();
        let module = found.data["spec"]["template"]["spec"]["forProvider"]["module"].as_str().unwrap();
        let patch = json!({ "spec": { "template": { "spec": { "forProvider": { "module": format!("{module}{line}\n") } } } } });
        api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    }

    pub(super) async fn put_machine(&self, name: &str) -> DynamicObject {
        let object = json!({ "metadata": { "name": name, "finalizers": ["infrastructure.cluster.x-k8s.io/captmachine"] } });
        self.put(INFRASTRUCTURE, "CaptMachine", object, json!({ "ready": true })).await
    }

    pub(super) async fn machine(&self, name: &str) -> DynamicObject {
        self.objects(INFRASTRUCTURE, "CaptMachine").get(name).await.unwrap()
    }

    /// A cluster that has been running for years.
    pub(super) async fn put_cluster(&self, name: &str, region: &str) {
        let cluster: DynamicObject = {
            let reference =
                |group: &str, kind: &str| json!({ "apiGroup": group, "kind": kind, "name": name });
            let spec = json!({
                "controlPlaneRef": reference(CONTROL_PLANE, "CAPTControlPlane"),
                "infrastructureRef": reference(INFRASTRUCTURE, "CAPTCluster"),
            });
            let resource = ApiResource::erase::<capt_api::Cluster>(&());
            let api: Api<DynamicObject> = Api::namespaced_with(self.client(), &self.namespace, &resource);
            let object = json!({
                "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": { "name": name }, "spec": spec,
            });
            api.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap()
        };
        let owner = owner("cluster.x-k8s.io/v1beta1", "Cluster", &cluster);
        let network = self.put_network(name, &owner).await;
        let control_plane = self.put_control_plane(name, region, &owner).await;
        let vpc = format!("{name}-vpc");
        let variables = json!({ "cluster_name": name, "vpc_name": vpc, "environment": "production" });
        self.put_apply(&vpc, "vpc", variables, Value::Null, &network).await;
        let vars = json!([{ "key": "cluster_name", "value": name }, { "key": "vpc_name", "value": vpc }]);
        self.put_workspace(
            &vpc,
            &["cluster_name", "vpc_name"],
            vars,
            Value::Null,
            json!({ "vpc_id": "vpc-0abc" }),
        )
        .await;

        let connection = json!({ "name": format!("{name}-eks-connection"), "namespace": self.namespace });
        let variables = json!({ "cluster_name": name, "kubernetes_version": "1.34", "region": region });
        let apply = format!("{name}-eks-controlplane-apply");
        self.put_apply(&apply, "control-plane", variables, connection.clone(), &control_plane).await;
        let vars = json!([
            { "key": "cluster_name", "value": name },
            { "key": "kubernetes_version", "value": "1.34" },
            { "key": "region", "value": region },
        ]);
        let outputs = json!({ "cluster_name": name, "cluster_endpoint": self.url() });
        let declared = ["cluster_name", "kubernetes_version", "region"];
        self.put_workspace(&format!("{name}-eks-controlplane"), &declared, vars, connection, outputs).await;
        self.put_secrets(name, &control_plane).await;
    }

    async fn put_network(&self, name: &str, owner: &Value) -> DynamicObject {
        let object = json!({
            "metadata": {
                "name": name, "ownerReferences": [owner], "labels": { label::CLUSTER_NAME: name },
                "finalizers": [finalizer::LEGACY_NETWORK],
            },
            "spec": {
                "region": "ap-northeast-1", "vpcTemplateRef": { "name": "vpc", "namespace": self.namespace },
                "workspaceTemplateApplyName": format!("{name}-vpc"),
            },
        });
        let failed = json!({
            "type": condition::LEGACY[1], "status": "True", "reason": "VPCFailed", "message": "conflict", "lastTransitionTime": LONG_AGO,
        });
        let status = json!({
            "ready": true, "vpcId": "vpc-0abc", "failureReason": "VPCFailed", "failureMessage": "conflict", "conditions": [failed],
        });
        self.put(INFRASTRUCTURE, "CAPTCluster", object, status).await
    }

    async fn put_control_plane(&self, name: &str, region: &str, owner: &Value) -> DynamicObject {
        let object = json!({
            "metadata": {
                "name": name, "ownerReferences": [owner], "labels": { label::CLUSTER_NAME: name },
                "finalizers": [finalizer::LEGACY_CONTROL_PLANE],
            },
            "spec": {
                "version": "1.34",
                "workspaceTemplateRef": { "name": "control-plane", "namespace": self.namespace },
                "controlPlaneConfig": { "region": region },
                "controlPlaneEndpoint": { "host": self.url(), "port": 443 },
                "workspaceTemplateApplyName": format!("{name}-eks-controlplane-apply"),
            },
        });
        let told = json!({
            "type": "Ready", "status": "False", "reason": "EndpointUpdateFailed", "message": "conflict", "lastTransitionTime": LONG_AGO,
        });
        let status = json!({
            "ready": false, "initialized": false, "secretsReady": true, "phase": "Failed", "conditions": [told],
            "failureReason": "EndpointUpdateFailed", "failureMessage": "conflict",
        });
        self.put(CONTROL_PLANE, "CAPTControlPlane", object, status).await
    }

    async fn put_apply(
        &self,
        name: &str,
        template: &str,
        variables: Value,
        connection: Value,
        maker: &DynamicObject,
    ) {
        let kind = &maker.types.as_ref().unwrap().kind;
        let version = &maker.types.as_ref().unwrap().api_version;
        let mut spec = json!({
            "templateRef": { "name": template, "namespace": self.namespace }, "variables": variables,
        });
        if !connection.is_null() {
            spec["writeConnectionSecretToRef"] = connection;
        }
        let object = json!({
            "metadata": {
                "name": name, "finalizers": [finalizer::LEGACY], "ownerReferences": [owner(version, kind, maker)],
            },
            "spec": spec,
        });
        let told = |type_: &str| json!({ "type": type_, "status": "True", "reason": "Available", "lastTransitionTime": LONG_AGO });
        let status = json!({
            "workspaceName": name.strip_suffix("-apply").unwrap_or(name), "applied": true, "lastAppliedTime": LONG_AGO,
            "conditions": [told("Ready"), told("Synced")],
        });
        self.put(INFRASTRUCTURE, "WorkspaceTemplateApply", object, status).await;
    }

    async fn put_workspace(
        &self,
        name: &str,
        declared: &[&str],
        vars: Value,
        connection: Value,
        outputs: Value,
    ) {
        let mut spec = json!({
            "deletionPolicy": "Delete",
            "forProvider": { "source": "Inline", "module": module(declared), "vars": vars },
        });
        if !connection.is_null() {
            spec["writeConnectionSecretToRef"] = connection;
        }
        let mut status = ready();
        status["atProvider"] = json!({ "outputs": outputs });
        self.put("tf.upbound.io", "Workspace", json!({ "metadata": { "name": name }, "spec": spec }), status)
            .await;
    }

    async fn put_secrets(&self, name: &str, control_plane: &DynamicObject) {
        let owner = owner("controlplane.cluster.x-k8s.io/v1beta1", "CAPTControlPlane", control_plane);
        let kubeconfig = self.cluster.control_plane().kubeconfig();
        let authority = crate::control_plane::scene::field(&kubeconfig, "certificate-authority-data");
        let secrets = [
            json!({
                "metadata": { "name": format!("{name}-eks-connection") }, "type": "connection.crossplane.io/v1alpha1",
                "stringData": {
                    "kubeconfig": kubeconfig, "cluster_certificate_authority_data": authority,
                    "cluster_endpoint": self.url(), "cluster_name": name,
                },
            }),
            json!({
                "metadata": {
                    "name": format!("{name}-kubeconfig"), "ownerReferences": [owner.clone()],
                    "labels": { label::CLUSTER_NAME: name },
                },
                "type": "cluster.x-k8s.io/secret", "stringData": { "value": "an old one" },
            }),
            json!({
                "metadata": { "name": format!("{name}-ca"), "ownerReferences": [owner] },
                "stringData": { "tls.crt": "old", "ca.crt": "old" },
            }),
        ];
        let api: Api<k8s_openapi::api::core::v1::Secret> = self.api();
        for secret in secrets {
            api.create(&PostParams::default(), &serde_json::from_value(secret).unwrap()).await.unwrap();
        }
    }
}

fn owner(version: &str, kind: &str, object: &DynamicObject) -> Value {
    json!({
        "apiVersion": version, "kind": kind, "name": object.name_any(), "uid": object.uid(),
        "controller": true, "blockOwnerDeletion": true,
    })
}

fn module(variables: &[&str]) -> String {
    let declared: Vec<String> = variables.iter().map(|name| format!("variable \"{name}\" {{}}")).collect();
    declared.join("\n")
}

/// A kind that takes everything, with the label of the older contract.
fn kind(group: &str, kind: &str, plural: &str) -> CustomResourceDefinition {
    let mut crd = loose_definition(group, "v1beta1", kind, plural);
    crd.labels_mut().insert(label::CONTRACT_V1BETA1.to_owned(), "v1beta1".to_owned());
    crd
}
