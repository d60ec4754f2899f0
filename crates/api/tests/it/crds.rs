//! What the CRDs promise to users, to Cluster API and to the API server.

use capt_api::crd::own;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use kube::ResourceExt;
use rstest::rstest;
use serde_json::Value;

use crate::schema::{all, finished, items, root, visit};

/// Paths of everything in every schema that `wrong` finds fault with.
fn faults(wrong: impl Fn(&str, &JSONSchemaProps) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for crd in all() {
        let kind = crd.spec.names.kind.clone();
        visit(&kind, root(&crd), &mut |path, schema| {
            if wrong(path, schema) {
                found.push(path.to_owned());
            }
        });
    }
    found
}

#[rstest]
#[case("captclusters.infrastructure.cluster.x-k8s.io", "CAPTCluster", "captcluster", &[])]
#[case("captclustertemplates.infrastructure.cluster.x-k8s.io", "CAPTClusterTemplate", "captclustertemplate", &[])]
#[case("captcontrolplanes.controlplane.cluster.x-k8s.io", "CAPTControlPlane", "captcontrolplane", &[])]
#[case("captcontrolplanetemplates.controlplane.cluster.x-k8s.io", "CAPTControlPlaneTemplate", "captcontrolplanetemplate", &[])]
#[case("workspacetemplates.infrastructure.cluster.x-k8s.io", "WorkspaceTemplate", "workspacetemplate", &["wt"])]
#[case("workspacetemplateapplies.infrastructure.cluster.x-k8s.io", "WorkspaceTemplateApply", "workspacetemplateapply", &["wtapply"])]
#[case("workspaces.tf.upbound.io", "Workspace", "workspace", &[])]
#[case("providerconfigs.tf.upbound.io", "ProviderConfig", "providerconfig", &[])]
#[case("clusters.cluster.x-k8s.io", "Cluster", "cluster", &["cl"])]
fn names_are_those_that_others_look_for(
    #[case] crd: &str,
    #[case] kind: &str,
    #[case] singular: &str,
    #[case] short: &[&str],
) {
    let names = finished(crd).spec.names;
    assert_eq!(names.kind, kind);
    assert_eq!(names.singular.as_deref(), Some(singular));
    assert_eq!(names.short_names.unwrap_or_default(), short);
    // Cluster API's core finds CRDs by this rule and no other.
    let lower = kind.to_lowercase();
    let plural = lower.strip_suffix('y').map_or_else(|| format!("{lower}s"), |stem| format!("{stem}ies"));
    assert_eq!(names.plural, plural);
}

#[rstest]
#[case("captclusters.infrastructure.cluster.x-k8s.io", &["CLUSTER", "VPC-ID", "READY", "REASON", "AGE"])]
#[case("captclustertemplates.infrastructure.cluster.x-k8s.io", &["AGE"])]
#[case("captcontrolplanes.controlplane.cluster.x-k8s.io", &["CLUSTER", "READY", "PHASE", "VERSION", "ENDPOINT", "(SECRETS)", "AGE"])]
#[case("captcontrolplanetemplates.controlplane.cluster.x-k8s.io", &["AGE"])]
#[case("workspacetemplates.infrastructure.cluster.x-k8s.io", &["VERSION", "READY", "REASON", "(DESCRIPTION)", "AGE"])]
#[case("workspacetemplateapplies.infrastructure.cluster.x-k8s.io", &["WORKSPACE", "APPLIED", "READY", "REASON", "(TEMPLATE)", "(MESSAGE)", "AGE"])]
#[case("workspaces.tf.upbound.io", &["SYNCED", "READY", "AGE"])]
#[case("providerconfigs.tf.upbound.io", &["AGE"])]
#[case("clusters.cluster.x-k8s.io", &["(PAUSED)", "AVAILABLE", "PHASE", "AGE"])]
fn kubectl_get_shows_these_columns_and_those_in_brackets_when_wide(
    #[case] crd: &str,
    #[case] columns: &[&str],
) {
    let crd = finished(crd);
    let shown: Vec<String> = crd.spec.versions[0]
        .additional_printer_columns
        .iter()
        .flatten()
        .map(|column| match column.priority {
            Some(priority) if priority > 0 => format!("({})", column.name),
            _ => column.name.clone(),
        })
        .collect();
    assert_eq!(shown, columns);
}

#[test]
fn only_clusters_have_a_second_version_and_nothing_can_be_written_in_it() {
    for crd in all() {
        let others: Vec<&str> = crd.spec.versions[1..].iter().map(|version| version.name.as_str()).collect();
        let expected: &[&str] = if crd.spec.names.kind == "Cluster" { &["v1beta1"] } else { &[] };
        assert_eq!(others, expected, "{}", crd.name_any());
    }
    let clusters = finished("clusters.cluster.x-k8s.io");
    let earlier = &clusters.spec.versions[1];
    let schema = earlier.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.as_ref()).unwrap();
    let rules = schema.x_kubernetes_validations.as_ref().unwrap();
    assert_eq!(rules.iter().map(|rule| rule.rule.as_str()).collect::<Vec<_>>(), ["false"]);
    assert!(earlier.served && !earlier.storage);
    // Others take a conversion webhook for a sign of Cluster API itself.
    assert!(clusters.spec.conversion.is_none());
}

#[test]
fn every_own_kind_is_in_the_category_capt() {
    for crd in own() {
        let categories = crd.spec.names.categories.clone().unwrap_or_default();
        assert!(categories.iter().any(|category| category == "capt"), "{}: {categories:?}", crd.name_any());
    }
}

#[test]
fn every_own_kind_has_the_contract_label_and_no_older_one() {
    // Stacks of add-ons follow no contract: Cluster API does not look at them.
    for crd in own().into_iter().filter(|crd| crd.spec.group != "addons.cluster.x-k8s.io") {
        let contracts: Vec<(&str, &str)> = crd
            .labels()
            .iter()
            .filter(|(key, _)| key.starts_with("cluster.x-k8s.io/v"))
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        assert_eq!(contracts, [("cluster.x-k8s.io/v1beta2", "v1beta1")], "{}", crd.name_any());
    }
}

#[test]
fn conditions_are_keyed_by_type_so_that_several_may_write_them() {
    let is_conditions = |path: &str| path.ends_with(".status.conditions");
    let unkeyed = faults(|path, schema| {
        is_conditions(path)
            && (schema.x_kubernetes_list_type.as_deref() != Some("map")
                || schema.x_kubernetes_list_map_keys.as_deref() != Some(&["type".to_owned()]))
    });
    assert_eq!(unkeyed, Vec::<String>::new());
    assert_eq!(
        faults(|path, _| is_conditions(path)).len(),
        10,
        "every kind but the two for ClusterClass and what ClusterResourceSets write down has conditions"
    );
}

#[test]
fn conditions_need_no_message_because_earlier_versions_wrote_none() {
    let strict = faults(|path, schema| {
        let required = items(schema).and_then(|items| items.required.clone()).unwrap_or_default();
        path.ends_with(".status.conditions") && required.iter().any(|name| name == "message")
    });
    assert_eq!(strict, Vec::<String>::new());
}

#[test]
fn nothing_is_nullable_so_that_nulls_are_dropped() {
    let nullable = faults(|_, schema| {
        schema.nullable.is_some() || schema.enum_.iter().flatten().any(|member| member.0 == Value::Null)
    });
    assert_eq!(nullable, Vec::<String>::new());
}

#[test]
fn every_field_says_what_it_is_for() {
    let silent = faults(|path, schema| {
        let is_field = !path.ends_with("[]") && !path.ends_with("{}");
        let is_ours = path.contains(".spec") || path.contains(".status");
        is_field && is_ours && schema.description.as_deref().is_none_or(|text| text.trim().is_empty())
    });
    assert_eq!(silent, Vec::<String>::new());
}

#[test]
fn no_default_puts_an_empty_list_or_map_into_objects() {
    let empty = faults(|_, schema| match schema.default.as_ref().map(|default| &default.0) {
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Object(fields)) => fields.is_empty(),
        Some(Value::Null) => true,
        _ => false,
    });
    assert_eq!(empty, Vec::<String>::new());
}

#[test]
fn every_list_in_a_spec_has_an_end() {
    let endless = faults(|path, schema| {
        path.contains(".spec") && schema.type_.as_deref() == Some("array") && schema.max_items.is_none()
    });
    assert_eq!(endless, Vec::<String>::new());
}

#[test]
fn every_format_is_one_that_the_api_server_knows() {
    let unknown = faults(|_, schema| {
        schema.format.as_deref().is_some_and(|format| !["date-time", "int32", "int64"].contains(&format))
    });
    assert_eq!(unknown, Vec::<String>::new());
}
