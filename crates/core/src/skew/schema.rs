//! What one schema has and another lacks, as the API server sees it when it drops what it does not know.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

/// What a schema does with a field.
enum Kept<'schema> {
    /// It is kept, whatever is in it.
    Whole,
    /// It is kept as far as this schema goes.
    By(&'schema JSONSchemaProps),
    /// It is dropped.
    Not,
}

/// The first thing that one schema has and the other would drop or refuse: a field by its path, or a value of a field.
pub(super) fn lacking(has: Option<&JSONSchemaProps>, other: Option<&JSONSchemaProps>) -> Option<String> {
    let (Some(has), Some(other)) = (has, other) else { return None };
    walk(has, other, &mut String::new())
}

fn walk(has: &JSONSchemaProps, other: &JSONSchemaProps, path: &mut String) -> Option<String> {
    if let Some(value) = refused(has, other) {
        return Some(format!("value {value} of the field {path}"));
    }
    for (name, field) in has.properties.iter().flatten() {
        let length = path.len();
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
        let lacking = match kept(other, name) {
            Kept::Whole => None,
            Kept::By(other) => walk(field, other, path),
            Kept::Not => Some(format!("field {path}")),
        };
        path.truncate(length);
        if lacking.is_some() {
            return lacking;
        }
    }
    inside(has, other, path)
}

/// What is in lists, in maps, and in fields that may hold anything.
fn inside(has: &JSONSchemaProps, other: &JSONSchemaProps, path: &mut String) -> Option<String> {
    if let (Some(JSONSchemaPropsOrArray::Schema(has)), Some(JSONSchemaPropsOrArray::Schema(other))) =
        (&has.items, &other.items)
    {
        return walk(has, other, path);
    }
    let dropped = || Some(format!("room for all that may be in the field {path}"));
    match (&has.additional_properties, anything_else(other)) {
        (Some(JSONSchemaPropsOrBool::Schema(has)), Kept::By(other)) => walk(has, other, path),
        (Some(JSONSchemaPropsOrBool::Bool(true)), Kept::By(_))
        | (Some(JSONSchemaPropsOrBool::Schema(_) | JSONSchemaPropsOrBool::Bool(true)), Kept::Not) => {
            dropped()
        }
        (None | Some(JSONSchemaPropsOrBool::Bool(false)), Kept::Not | Kept::By(_))
            if has.x_kubernetes_preserve_unknown_fields == Some(true) =>
        {
            dropped()
        }
        _ => None,
    }
}

/// What becomes of a field.
fn kept<'schema>(schema: &'schema JSONSchemaProps, name: &str) -> Kept<'schema> {
    let field = schema.properties.as_ref().and_then(|fields| fields.get(name));
    field.map_or_else(|| anything_else(schema), Kept::By)
}

/// What becomes of a field that is not named.
fn anything_else(schema: &JSONSchemaProps) -> Kept<'_> {
    match &schema.additional_properties {
        Some(JSONSchemaPropsOrBool::Schema(values)) => Kept::By(values),
        Some(JSONSchemaPropsOrBool::Bool(true)) => Kept::Whole,
        None | Some(JSONSchemaPropsOrBool::Bool(false)) => {
            if schema.x_kubernetes_preserve_unknown_fields == Some(true) { Kept::Whole } else { Kept::Not }
        }
    }
}

/// A value that the one names and the other does not take.
fn refused(has: &JSONSchemaProps, other: &JSONSchemaProps) -> Option<String> {
    let (has, other) = (has.enum_.as_ref()?, other.enum_.as_ref()?);
    has.iter().find(|value| !other.contains(value)).map(|value| value.0.to_string())
}
