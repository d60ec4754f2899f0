//! Fields of a schema, in the order of their paths.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

use super::super::markdown::{code, plain};

/// A row of the table.
pub(super) struct Field {
    /// From the object's root; bold where it has to be given.
    pub(super) path: String,
    pub(super) kind: String,
    pub(super) default: String,
    /// What it is for, and what it has to be like.
    pub(super) text: String,
}

/// Every field below this one.
pub(super) fn fields(path: &str, schema: &JSONSchemaProps) -> Vec<Field> {
    let mut all = Vec::new();
    let required: &[String] = schema.required.as_deref().unwrap_or_default();
    for (name, below) in schema.properties.iter().flatten() {
        let path = format!("{path}.{name}");
        all.push(field(&path, below, required.contains(name)));
        all.extend(fields(&path, below));
    }
    if let Some(items) = items(schema) {
        all.extend(fields(&format!("{path}[]"), items));
    }
    if let Some(values) = values(schema) {
        all.extend(fields(&format!("{path}{{}}"), values));
    }
    all
}

fn field(path: &str, schema: &JSONSchemaProps, required: bool) -> Field {
    let path = code(path);
    let described = schema.description.as_deref().map(plain);
    let parts = described
        .into_iter()
        .chain(bounds(schema))
        .chain(rules(schema).into_iter().map(|rule| format!("*{rule}*")));
    Field {
        path: if required { format!("**{path}**") } else { path },
        kind: kind(schema),
        default: schema.default.as_ref().map(|default| code(&default.0.to_string())).unwrap_or_default(),
        text: parts.collect::<Vec<_>>().join(" "),
    }
}

fn kind(schema: &JSONSchemaProps) -> String {
    if let Some(choices) = &schema.enum_ {
        let choices = choices.iter().filter(|choice| !choice.0.is_null());
        let choices =
            choices.map(|choice| code(choice.0.as_str().map_or(&choice.0.to_string(), |text| text)));
        return choices.collect::<Vec<_>>().join(", ");
    }
    if let Some(items) = items(schema) {
        return format!("list of {}", kind(items));
    }
    if let Some(values) = values(schema) {
        return format!("map of {}", kind(values));
    }
    match schema.type_.as_deref() {
        Some("object") if schema.properties.is_none() => "any object".to_owned(),
        Some(kind) => kind.to_owned(),
        None if schema.x_kubernetes_int_or_string == Some(true) => "integer or string".to_owned(),
        None => "any".to_owned(),
    }
}

fn items(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    match schema.items.as_ref()? {
        JSONSchemaPropsOrArray::Schema(items) => Some(items),
        JSONSchemaPropsOrArray::Schemas(_) => None,
    }
}

fn values(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    match schema.additional_properties.as_ref()? {
        JSONSchemaPropsOrBool::Schema(values) => Some(values),
        JSONSchemaPropsOrBool::Bool(_) => None,
    }
}

/// Sizes, ranges and patterns.
fn bounds(schema: &JSONSchemaProps) -> Option<String> {
    let number = |words: &str, bound: Option<f64>| bound.map(|bound| format!("{words} {bound}"));
    let size =
        |words: &str, bound: Option<i64>, unit: &str| bound.map(|bound| format!("{words} {bound} {unit}"));
    let all = [
        number("at least", schema.minimum),
        number("at most", schema.maximum),
        size("at least", schema.min_length, "characters"),
        size("at most", schema.max_length, "characters"),
        size("at least", schema.min_items, "entries"),
        size("at most", schema.max_items, "entries"),
        schema.pattern.as_deref().map(|pattern| format!("matches {}", code(pattern))),
    ];
    let all: Vec<_> = all.into_iter().flatten().collect();
    (!all.is_empty()).then(|| format!("({})", all.join(", ")))
}

/// What the API server says when a rule is broken.
pub(super) fn rules(schema: &JSONSchemaProps) -> Vec<String> {
    let rules = schema.x_kubernetes_validations.iter().flatten();
    rules.map(|rule| plain(rule.message.as_deref().unwrap_or(&rule.rule))).collect()
}
