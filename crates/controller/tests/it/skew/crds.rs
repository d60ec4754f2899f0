//! CRDs as other versions of CAPT have them.

use capt_api::crd::{Foreign, foreign, own};
use capt_api::names::annotation;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSON, JSONSchemaProps,
};
use kube::ResourceExt;
use serde_json::json;

/// A version that no CAPT has yet.
pub(super) const NEXT: &str = "99.0.0";

/// Every CRD that this CAPT has.
pub(super) fn current() -> Vec<CustomResourceDefinition> {
    [own(), foreign(Foreign::Terraform), foreign(Foreign::ClusterApi)].concat()
}

pub(super) fn of_kind(kind: &str) -> CustomResourceDefinition {
    current().into_iter().find(|crd| crd.spec.names.kind == kind).unwrap()
}

pub(super) fn schema<'crd>(
    crd: &'crd mut CustomResourceDefinition,
    path: &[&str],
) -> &'crd mut JSONSchemaProps {
    let root = crd.spec.versions[0].schema.as_mut().unwrap().open_api_v3_schema.as_mut().unwrap();
    path.iter().fold(root, |schema, name| schema.properties.as_mut().unwrap().get_mut(*name).unwrap())
}

/// As a CAPT had it whose applies did not tell what waits for approval.
pub(super) fn older() -> CustomResourceDefinition {
    let mut crd = of_kind("WorkspaceTemplateApply");
    schema(&mut crd, &["status"]).properties.as_mut().unwrap().remove("pendingDigest").unwrap();
    crd.annotations_mut().insert(annotation::VERSION.to_owned(), "0.0.1".to_owned());
    crd
}

fn novelty() -> JSONSchemaProps {
    JSONSchemaProps { type_: Some("string".to_owned()), ..JSONSchemaProps::default() }
}

/// As a CAPT to come may have them: a new field in spec and status, a new value, and a newer version.
pub(super) fn newer() -> Vec<CustomResourceDefinition> {
    let mut crds = current();
    for crd in &mut crds {
        crd.annotations_mut().insert(annotation::VERSION.to_owned(), NEXT.to_owned());
        for part in ["spec", "status"] {
            let root = schema(crd, &[]).properties.as_mut().unwrap();
            if let Some(fields) = root.get_mut(part).and_then(|part| part.properties.as_mut()) {
                fields.insert("novelty".to_owned(), novelty());
            }
        }
        if crd.spec.names.kind == "WorkspaceTemplate" {
            let of_workspaces = schema(crd, &["spec", "template", "spec"]).properties.as_mut().unwrap();
            of_workspaces.insert("novelty".to_owned(), novelty());
        }
        if crd.spec.names.kind == "WorkspaceTemplateApply" {
            let policies = schema(crd, &["spec", "updatePolicy"]).enum_.as_mut().unwrap();
            policies.push(JSON(json!("Sometimes")));
        }
    }
    crds
}
