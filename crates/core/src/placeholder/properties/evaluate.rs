//! Evaluates what a module says, as far as the tests write modules.

use hcl_edit::{
    expr::{Expression, ObjectKey, UnaryOperator},
    parser::parse_template,
    template::{Directive, Element},
};
use serde_json::{Map, Number, Value};

/// The text of a template on its own.
pub(super) fn template(text: &str) -> String {
    match parse_template(text) {
        Ok(template) => template.into_iter().map(|part| element(&part)).collect(),
        Err(error) => panic!("{text}\n{error}"),
    }
}

/// A tree of JSON with all its strings read as templates.
pub(super) fn json(tree: &Value) -> Value {
    match tree {
        Value::String(text) => Value::String(template(text)),
        Value::Array(items) => items.iter().map(json).collect(),
        Value::Object(fields) => fields.iter().map(|(key, field)| (template(key), json(field))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => tree.clone(),
    }
}

/// An expression; a function call gives its argument, a reference a dot.
pub(super) fn expression(value: &Expression) -> Value {
    match value {
        Expression::Null(_) => Value::Null,
        Expression::Bool(flag) => Value::Bool(*flag.value()),
        Expression::Number(number) => {
            number.value().as_f64().and_then(Number::from_f64).map_or(Value::Null, Value::Number)
        }
        Expression::UnaryOp(operation) => {
            assert_eq!(*operation.operator.value(), UnaryOperator::Neg);
            let negated = expression(&operation.expr).as_f64().expect("a number");
            (-negated).into()
        }
        Expression::String(text) => Value::String(text.value().clone()),
        Expression::StringTemplate(parts) => Value::String(parts.iter().map(element).collect()),
        Expression::HeredocTemplate(heredoc) => Value::String(heredoc.template.iter().map(element).collect()),
        Expression::Array(items) => items.iter().map(expression).collect(),
        Expression::Object(fields) => {
            let fields = fields.iter().map(|(key, field)| (object_key(key), expression(field.expr())));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Expression::FuncCall(call) => expression(call.args.iter().next().expect("an argument")),
        Expression::Traversal(_) => ".".into(),
        other => panic!("not written by these tests: {other:?}"),
    }
}

fn object_key(key: &ObjectKey) -> String {
    match key {
        ObjectKey::Ident(name) => name.to_string(),
        ObjectKey::Expression(key) => text(key),
    }
}

fn text(value: &Expression) -> String {
    expression(value).as_str().expect("a string").to_owned()
}

fn element(part: &Element) -> String {
    match part {
        Element::Literal(literal) => literal.to_string(),
        Element::Interpolation(interpolation) => text(&interpolation.expr),
        Element::Directive(directive) => match directive.as_ref() {
            Directive::If(condition) => condition.if_expr.template.iter().map(element).collect(),
            Directive::For(_) => panic!("not written by these tests"),
        },
    }
}
