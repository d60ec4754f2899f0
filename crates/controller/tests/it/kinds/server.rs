//! Objects as users send them: checked strictly, as kubectl does, and stored only where a test says so.

use capt_api::crd::{Foreign, foreign, own};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::Request;
use kube::{Client, Error};
use serde_json::Value;

use crate::stage;

/// A namespace of the shared API server.
pub(crate) struct Server {
    client: Client,
    namespace: String,
    definitions: Vec<CustomResourceDefinition>,
}

/// One thing that the API server finds wrong.
#[derive(Debug)]
pub(crate) struct Complaint {
    /// The path of the field; empty where the whole object is meant.
    pub(crate) field: String,
    pub(crate) message: String,
}

impl Server {
    pub(crate) async fn with_namespace() -> Self {
        let cluster = stage::cluster().await;
        let definitions = [own(), foreign(Foreign::Terraform), foreign(Foreign::ClusterApi)].concat();
        Self { client: cluster.client(), namespace: cluster.namespace("kinds").await, definitions }
    }

    /// A name that no other test uses, for what has no namespace.
    pub(crate) fn unique(&self, name: &str) -> String {
        format!("{}-{name}", self.namespace)
    }

    /// What the API server would store.
    pub(crate) async fn try_create(&self, object: &Value) -> Result<Value, Vec<Complaint>> {
        self.post(object, true).await
    }

    /// Stores an object.
    pub(crate) async fn create(&self, object: &Value) -> Result<Value, Vec<Complaint>> {
        self.post(object, false).await
    }

    async fn post(&self, object: &Value, dry_run: bool) -> Result<Value, Vec<Complaint>> {
        let parameters = PostParams { dry_run, ..PostParams::default() };
        let body = serde_json::to_vec(object).unwrap();
        let mut request = Request::new(self.path(object)).create(&parameters, body).unwrap();
        *request.uri_mut() = format!("{}&fieldValidation=Strict", request.uri()).parse().unwrap();
        self.client.request(request).await.map_err(complaints)
    }

    /// What the API server would store if this change were made to a stored object.
    pub(crate) async fn try_change(&self, object: &Value, change: &Value) -> Result<Value, Vec<Complaint>> {
        let parameters = PatchParams { dry_run: true, ..PatchParams::default() };
        let patch = Patch::Merge(change);
        let request = Request::new(self.path(object)).patch(name(object), &parameters, &patch).unwrap();
        self.client.request(request).await.map_err(complaints)
    }

    /// Writes the status of a stored object.
    pub(crate) async fn write_status(&self, object: &Value, status: &Value) -> Result<Value, Vec<Complaint>> {
        let body = serde_json::json!({ "status": status });
        let parameters = PatchParams::default();
        let request = Request::new(self.path(object))
            .patch_subresource("status", name(object), &parameters, &Patch::Merge(body))
            .unwrap();
        self.client.request(request).await.map_err(complaints)
    }

    fn path(&self, object: &Value) -> String {
        let kind = object["kind"].as_str().unwrap();
        let definition =
            self.definitions.iter().find(|definition| definition.spec.names.kind == kind).unwrap();
        let version = object["apiVersion"].as_str().unwrap();
        let plural = &definition.spec.names.plural;
        if definition.spec.scope == "Namespaced" {
            format!("/apis/{version}/namespaces/{}/{plural}", self.namespace)
        } else {
            format!("/apis/{version}/{plural}")
        }
    }
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

fn complaints(error: Error) -> Vec<Complaint> {
    let status = match error {
        Error::Api(status) => status,
        error => return vec![Complaint { field: String::new(), message: format!("no answer: {error}") }],
    };
    let causes = status.details.map(|details| details.causes).unwrap_or_default();
    if causes.is_empty() {
        return vec![Complaint { field: String::new(), message: status.message }];
    }
    causes.into_iter().map(|cause| Complaint { field: cause.field, message: cause.message }).collect()
}
