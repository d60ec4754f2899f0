//! Values that are written as YAML or JSON, with expressions in between.

use hcl_edit::expr::Expression;
use hcl_edit::template::{Element, Template};
use serde_json::Value;

use super::settings::Setting;
use crate::migration::source::Source;
use crate::yaml::without_aliases;

/// Stands for an expression while the text around it is read; nobody writes it.
const STAND_IN: &str = "CaptStandIn";

/// What a template sets; `None` where it cannot be read.
pub(super) fn read(source: &Source<'_>, template: &Template) -> Option<Vec<Setting>> {
    let mut text = String::new();
    let mut expressions: Vec<(&str, &Expression)> = Vec::new();
    for element in template {
        match element {
            Element::Literal(literal) => text.push_str(literal),
            Element::Interpolation(interpolation) => {
                text.push_str(&stand_in(expressions.len()));
                expressions.push((source.slice(&interpolation.expr)?, &interpolation.expr));
            }
            Element::Directive(_) => return None,
        }
    }
    settings(&text, &expressions)
}

/// What a text without expressions sets.
pub(super) fn read_plain(text: &str) -> Option<Vec<Setting>> {
    settings(text, &[])
}

fn stand_in(number: usize) -> String {
    format!("{STAND_IN}{number}x")
}

fn settings(text: &str, expressions: &[(&str, &Expression)]) -> Option<Vec<Setting>> {
    let tree = tree(text)?;
    let mut found = Vec::new();
    walk(&tree, &mut Vec::new(), &mut |path, value| {
        let (expression, parts) = expression(value, expressions);
        found.push(Setting { path: path.to_vec(), expression, parts, sensitive: false });
    });
    Some(found)
}

fn tree(text: &str) -> Option<Value> {
    let tree: Value = serde_saphyr::from_str_with_options(text, without_aliases())
        .ok()
        .or_else(|| serde_json::from_str(text).ok())?;
    tree.is_object().then_some(tree)
}

/// Every text in a tree of objects.
fn walk(tree: &Value, path: &mut Vec<String>, found: &mut impl FnMut(&[String], &str)) {
    match tree {
        Value::Object(fields) => {
            for (key, value) in fields {
                path.push(key.clone());
                walk(value, path, found);
                path.pop();
            }
        }
        Value::String(text) => found(path, text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
    }
}

/// A text in which expressions may stand, as an expression.
fn expression(text: &str, expressions: &[(&str, &Expression)]) -> (String, Vec<Expression>) {
    let mut parts = Vec::new();
    let mut written = String::new();
    let mut rest = text;
    while let Some((before, source, expression, after)) = next(rest, expressions) {
        // A bare name is a placeholder of CAPT's, which is one in a text only.
        let is_placeholder = matches!(expression, Expression::Variable(_));
        if before.is_empty() && after.is_empty() && written.is_empty() && !is_placeholder {
            return (source.to_owned(), vec![expression.clone()]);
        }
        written.push_str(&escaped(before));
        written.push_str("${");
        written.push_str(source);
        written.push('}');
        parts.push(expression.clone());
        rest = after;
    }
    written.push_str(&escaped(rest));
    (format!("\"{written}\""), parts)
}

/// The first expression in a text, with what comes before and after it.
fn next<'text, 'source>(
    text: &'text str,
    expressions: &[(&'source str, &'source Expression)],
) -> Option<(&'text str, &'source str, &'source Expression, &'text str)> {
    let (before, after) = text.split_once(STAND_IN)?;
    let (number, after) = after.split_once('x')?;
    let (source, expression) = expressions.get(number.parse::<usize>().ok()?)?;
    Some((before, source, expression, after))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            other => escaped.push(other),
        }
    }
    escaped.replace("${", "$${").replace("%{", "%%{")
}
