//! The variables that a Cluster gives, beside those that its class asks for.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use serde_json::Value;

use super::super::near::instead;
use super::super::node::steps;
use super::super::object::Object;
use super::super::report::Report;
use super::super::rules::Rules;
use super::super::schema;
use super::{CLASS, declared, list, name};

/// Whether a Cluster gives what its class asks for, and nothing else. Classes of somebody who patches from outside may take more
/// variables than they declare.
pub(super) fn check(cluster: &Object, class: &Object, rules: &mut Rules, report: &mut Report<'_>) {
    let patched = list(&class.value, "/spec/patches").iter().any(|patch| patch.get("external").is_some());
    let known = declared(class);
    let given = list(&cluster.value, "/spec/topology/variables");
    for (index, variable) in given.iter().enumerate() {
        if let Some(name) = name(variable).filter(|name| !patched && !known.contains(name)) {
            let message =
                format!("{CLASS} `{}` has no variable `{name}`; {}", class.key.name, instead(name, &known));
            report.error(cluster, &format!("spec.topology.variables[{index}].name"), message);
        }
    }
    values(cluster, class, rules, report);
    for variable in list(&class.value, "/spec/variables") {
        let required = variable.get("required").and_then(Value::as_bool) == Some(true);
        let default = variable.pointer("/schema/openAPIV3Schema/default").is_some();
        let is_given = |wanted: &str| given.iter().any(|given| name(given) == Some(wanted));
        if let Some(name) = name(variable).filter(|name| required && !default && !is_given(name)) {
            let message = format!(
                "{CLASS} `{}` needs the variable `{name}`; write `- name: {name}` and its `value` below `spec.topology.variables`",
                class.key.name
            );
            report.error(cluster, "spec.topology.variables", message);
        }
    }
}

/// Whether the values are what the class says of them.
fn values(cluster: &Object, class: &Object, rules: &mut Rules, report: &mut Report<'_>) {
    let given = list(&cluster.value, "/spec/topology/variables");
    for variable in list(&class.value, "/spec/variables") {
        let schema = variable.pointer("/schema/openAPIV3Schema").cloned();
        let schema = schema.and_then(|schema| serde_json::from_value::<JSONSchemaProps>(schema).ok());
        let index = given.iter().position(|given| name(given).is_some() && name(given) == name(variable));
        let (Some(schema), Some(index), Some(name)) = (schema, index, name(variable)) else { continue };
        let path = format!("spec.topology.variables[{index}].value");
        let Some(node) = cluster.node.get(&steps(&path)).filter(|node| !node.is_null()) else { continue };
        schema::check_part(cluster, node, (name, &schema), rules, report);
    }
}
