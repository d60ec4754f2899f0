//! Walks over the schemas of CRDs.

use capt_api::crd::{Foreign, foreign, own};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use kube::ResourceExt;
use serde_json::Value;

/// Every CRD that CAPT can install.
pub(crate) fn all() -> Vec<CustomResourceDefinition> {
    [own(), foreign(Foreign::Terraform), foreign(Foreign::ClusterApi)].concat()
}

/// The CRD of this name as it is installed.
pub(crate) fn finished(name: &str) -> CustomResourceDefinition {
    all().into_iter().find(|crd| crd.name_any() == name).unwrap()
}

/// The schema of the version that is stored, which is the first.
pub(crate) fn root(crd: &CustomResourceDefinition) -> &JSONSchemaProps {
    let version = &crd.spec.versions[0];
    assert!(version.storage, "{}", crd.name_any());
    version.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.as_ref()).unwrap()
}

/// Visits a schema and all below it, with their paths.
pub(crate) fn visit(path: &str, schema: &JSONSchemaProps, look: &mut impl FnMut(&str, &JSONSchemaProps)) {
    look(path, schema);
    for (name, property) in schema.properties.iter().flatten() {
        visit(&format!("{path}.{name}"), property, look);
    }
    if let Some(items) = items(schema) {
        visit(&format!("{path}[]"), items, look);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &schema.additional_properties {
        visit(&format!("{path}{{}}"), values, look);
    }
}

/// The fields of a schema that none of these values has.
pub(crate) fn missing(schema: &JSONSchemaProps, values: &[Value]) -> Vec<String> {
    let mut found = Vec::new();
    look_for(schema, &values.iter().collect::<Vec<_>>(), "", &mut found);
    found
}

fn look_for(schema: &JSONSchemaProps, values: &[&Value], path: &str, found: &mut Vec<String>) {
    for (name, property) in schema.properties.iter().flatten() {
        let path = format!("{path}.{name}");
        let inner: Vec<&Value> = values.iter().filter_map(|value| value.get(name)).collect();
        if inner.is_empty() {
            found.push(path);
        } else {
            look_for(property, &inner, &path, found);
        }
    }
    if let Some(items) = items(schema) {
        let inner: Vec<&Value> = values.iter().filter_map(|value| value.as_array()).flatten().collect();
        look_for(items, &inner, &format!("{path}[]"), found);
    }
}

pub(crate) fn items(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    match schema.items.as_ref()? {
        JSONSchemaPropsOrArray::Schema(items) => Some(items),
        JSONSchemaPropsOrArray::Schemas(_) => None,
    }
}
