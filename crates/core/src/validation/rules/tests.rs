use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

use super::super::definition::all_schemas;
use super::*;

/// Operators, macros and functions of CEL itself that our rules use.
const OF_CEL: [&str; 6] = ["contains", "endsWith", "size", "startsWith", "int", "string"];

fn rules(schema: &JSONSchemaProps, found: &mut Vec<String>) {
    found.extend(schema.x_kubernetes_validations.iter().flatten().map(|rule| rule.rule.clone()));
    schema.properties.iter().flatten().for_each(|(_, property)| rules(property, found));
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &schema.items {
        rules(items, found);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(any)) = &schema.additional_properties {
        rules(any, found);
    }
}

#[test]
fn every_rule_that_is_not_about_a_change_can_be_worked_out() {
    let mut all = Vec::new();
    all_schemas().for_each(|schema| rules(schema, &mut all));
    assert!(all.len() > 100, "{}", all.len());
    for rule in all.iter().filter(|rule| !rule.contains(BEFORE)) {
        let tree = parse(rule).unwrap_or_else(|| panic!("{rule}"));
        let unknown: Vec<String> = tree
            .references()
            .functions()
            .iter()
            .filter(|name| name.starts_with(|first: char| first.is_ascii_alphabetic()))
            .filter(|name| !OF_CEL.contains(name) && !functions::ALL.contains(name))
            .map(|name| (*name).to_owned())
            .collect();
        assert_eq!(unknown, Vec::<String>::new(), "{rule}");
    }
}
