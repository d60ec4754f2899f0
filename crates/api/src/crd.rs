//! The CRDs as they are installed: derived from the kinds, then given what the derive cannot say.

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion, CustomResourceValidation, JSONSchemaProps,
    JSONSchemaPropsOrArray, JSONSchemaPropsOrBool, ValidationRule,
};
use kube::{CustomResourceExt, ResourceExt};
use serde_json::Value;

use crate::addon_stack::{AddonStack, AddonStackBinding};
use crate::capi::Cluster;
use crate::capt_cluster::{CAPTCluster, CAPTClusterTemplate};
use crate::capt_control_plane::{CAPTControlPlane, CAPTControlPlaneTemplate};
use crate::crossplane::{ProviderConfig, Workspace};
use crate::names::{MANAGED_BY_CAPT, annotation, label};
use crate::resource_set::{ClusterResourceSet, ClusterResourceSetBinding};
use crate::workspace_template::WorkspaceTemplate;
use crate::workspace_template_apply::WorkspaceTemplateApply;

/// The version of CAPT that these are of. Each CRD says it, so that another CAPT can tell whether it is older or newer.
pub const CAPT_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version that all of CAPT's own kinds have.
const OWN_VERSION: &str = "v1beta1";

/// The version that Clusters had before, and that many manifests still have.
const EARLIER_CLUSTER_VERSION: &str = "v1beta1";

/// How many expressions a selector of labels may have, and how many values each.
const MOST_EXPRESSIONS: i64 = 100;

/// What is said to whoever writes a Cluster in the earlier version.
const WRITE_THE_NEWER_CLUSTER: &str = "Clusters of the version v1beta1 are not taken here: write \
    `apiVersion: cluster.x-k8s.io/v1beta2`, and give spec.infrastructureRef and spec.controlPlaneRef an apiGroup \
    (infrastructure.cluster.x-k8s.io, controlplane.cluster.x-k8s.io), a kind and a name, instead of an apiVersion and a \
    namespace";

/// CRDs of kinds that somebody else may have installed already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// Crossplane's Workspace and `ProviderConfig`.
    Terraform,
    /// Cluster API's Cluster, `ClusterResourceSet` and its binding.
    ClusterApi,
}

/// The CRDs of CAPT's own kinds. `clusterctl move` sees them all, whoever installed them: what it did not see would be left
/// behind, with all that hangs on it.
pub fn own() -> Vec<CustomResourceDefinition> {
    let contract = (label::CONTRACT_V1BETA2, OWN_VERSION);
    let seen = (label::CLUSTERCTL, "");
    vec![
        finished(CAPTCluster::crd(), &[contract, seen]),
        finished(CAPTClusterTemplate::crd(), &[contract, seen]),
        finished(CAPTControlPlane::crd(), &[contract, seen]),
        finished(CAPTControlPlaneTemplate::crd(), &[contract, seen]),
        finished(WorkspaceTemplate::crd(), &[contract, seen, (label::MOVE, "")]),
        finished(WorkspaceTemplateApply::crd(), &[contract, seen, (label::MOVE_HIERARCHY, "")]),
        finished(AddonStack::crd(), &[seen, (label::MOVE, "")]),
        finished(AddonStackBinding::crd(), &[seen, (label::MOVE, "")]),
    ]
}

/// CRDs that are compatible with those of others, for homes where the others are not.
///
/// Those of Cluster API are seen by `clusterctl move`, so that a home can be moved. Those of Terraform never are: it would
/// take along the Workspaces of every namespace, and leave them at the source, too.
pub fn foreign(which: Foreign) -> Vec<CustomResourceDefinition> {
    let compatible = (label::COMPATIBLE, "true");
    let terraform = |crd| finished(crd, &[compatible]);
    let cluster_api = |crd| finished(crd, &[compatible, (label::CLUSTERCTL, "")]);
    match which {
        Foreign::Terraform => vec![terraform(Workspace::crd()), terraform(ProviderConfig::crd())],
        Foreign::ClusterApi => vec![
            with_earlier_version(cluster_api(Cluster::crd())),
            cluster_api(ClusterResourceSet::crd()),
            cluster_api(ClusterResourceSetBinding::crd()),
        ],
    }
}

/// Adds the earlier version of Clusters, in which nothing can be written: whoever tries is told what to write instead, where
/// the API server by itself would only say that there is no such kind.
fn with_earlier_version(mut crd: CustomResourceDefinition) -> CustomResourceDefinition {
    let refusal = ValidationRule {
        rule: "false".to_owned(),
        message: Some(WRITE_THE_NEWER_CLUSTER.to_owned()),
        ..ValidationRule::default()
    };
    let anything = JSONSchemaProps {
        description: Some("Not taken in this version: write cluster.x-k8s.io/v1beta2.".to_owned()),
        type_: Some("object".to_owned()),
        x_kubernetes_preserve_unknown_fields: Some(true),
        x_kubernetes_validations: Some(vec![refusal]),
        ..JSONSchemaProps::default()
    };
    let subresources = crd.spec.versions.first().and_then(|version| version.subresources.clone());
    crd.spec.versions.push(CustomResourceDefinitionVersion {
        name: EARLIER_CLUSTER_VERSION.to_owned(),
        served: true,
        storage: false,
        deprecated: Some(true),
        deprecation_warning: Some(
            "cluster.x-k8s.io/v1beta1 Cluster is for reading only; write cluster.x-k8s.io/v1beta2".to_owned(),
        ),
        schema: Some(CustomResourceValidation { open_api_v3_schema: Some(anything) }),
        subresources,
        ..CustomResourceDefinitionVersion::default()
    });
    crd
}

fn finished(mut crd: CustomResourceDefinition, labels: &[(&str, &str)]) -> CustomResourceDefinition {
    let own = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let managed = (label::MANAGED_BY.to_owned(), MANAGED_BY_CAPT.to_owned());
    *crd.labels_mut() = own.chain([managed]).collect::<BTreeMap<_, _>>();
    crd.annotations_mut().insert(annotation::VERSION.to_owned(), CAPT_VERSION.to_owned());
    for version in &mut crd.spec.versions {
        if let Some(schema) = version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut()) {
            without_null(schema);
            as_the_api_server_has_it(schema);
            without_required_message(schema);
        }
    }
    crd
}

/// Lets conditions go without a message: earlier versions wrote Crossplane's conditions, which often have none.
fn without_required_message(schema: &mut JSONSchemaProps) {
    let status = schema.properties.as_mut().and_then(|properties| properties.get_mut("status"));
    let fields = status.and_then(|status| status.properties.as_mut());
    let conditions = fields.and_then(|fields| fields.get_mut("conditions"));
    if let Some(JSONSchemaPropsOrArray::Schema(condition)) = conditions.and_then(|list| list.items.as_mut())
        && let Some(required) = &mut condition.required
    {
        required.retain(|field| field != "message");
    }
}

/// Numbers in a format that the API server knows, and selectors with an end.
fn as_the_api_server_has_it(schema: &mut JSONSchemaProps) {
    if schema.format.as_deref() == Some("uint32") {
        schema.format = Some("int32".to_owned());
    }
    for (name, property) in schema.properties.iter_mut().flatten() {
        if name == "matchExpressions" {
            property.max_items = property.max_items.or(Some(MOST_EXPRESSIONS));
            if let Some(JSONSchemaPropsOrArray::Schema(expression)) = &mut property.items {
                let values = expression.properties.as_mut().and_then(|fields| fields.get_mut("values"));
                if let Some(values) = values {
                    values.max_items = values.max_items.or(Some(MOST_EXPRESSIONS));
                }
            }
        }
        as_the_api_server_has_it(property);
    }
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut schema.items {
        as_the_api_server_has_it(items);
    }
}

/// Takes `nullable` and `null` out of a schema: the API server then drops nulls that users write.
fn without_null(schema: &mut JSONSchemaProps) {
    schema.nullable = None;
    if let Some(members) = &mut schema.enum_ {
        members.retain(|member| member.0 != Value::Null);
    }
    let properties = schema.properties.iter_mut().flat_map(BTreeMap::values_mut);
    properties.for_each(without_null);
    match &mut schema.items {
        Some(JSONSchemaPropsOrArray::Schema(items)) => without_null(items),
        Some(JSONSchemaPropsOrArray::Schemas(items)) => items.iter_mut().for_each(without_null),
        None => {}
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties {
        without_null(values);
    }
}
