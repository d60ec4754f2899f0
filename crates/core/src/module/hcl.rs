//! Modules in Terraform's own language.

mod prepare;
mod undeclared;

use hcl_edit::{
    expr::Expression,
    parser::{self, parse_body},
    structure::{Block, Body},
};

use super::{Invalid, Kind, Module, Output, Variable};

pub(crate) use undeclared::{Undeclared, undeclared};

/// The structure of a module; its spans are those of `text`.
pub(crate) fn parse(text: &str) -> Result<Body, Invalid> {
    super::size::check(text)?;
    let prepared = prepare::prepare(text)?;
    parse_body(&prepared).map_err(|error| invalid(&error))
}

pub(super) fn read(text: &str) -> Result<Module, Invalid> {
    parse(text).map(|body| interface(&body))
}

/// What a module of this structure declares.
pub(crate) fn interface(body: &Body) -> Module {
    let mut module = Module::default();
    for block in body.blocks() {
        let Some(name) = block.labels.first().map(|label| label.as_str().to_owned()) else {
            continue;
        };
        match block.ident.as_str() {
            "variable" => drop(module.variables.insert(name, variable(block))),
            "output" => drop(module.outputs.insert(name, Output { sensitive: is_sensitive(&block.body) })),
            _ => {}
        }
    }
    module
}

/// What the parser refuses and Terraform does not, by what it says of it.
const STRICTER_THAN_TERRAFORM: [&str; 3] = ["nesting depth", "binary operation", "redefined object key"];

fn invalid(error: &parser::Error) -> Invalid {
    Invalid {
        line: error.location().line(),
        column: error.location().column(),
        message: error.message().replace("eof", "end of the text"),
        certain: !STRICTER_THAN_TERRAFORM.iter().any(|refusal| error.message().contains(refusal)),
    }
}

fn variable(block: &Block) -> Variable {
    Variable {
        kind: value(&block.body, "type").map_or(Kind::Untyped, kind),
        required: !block.body.has_attribute("default"),
        sensitive: is_sensitive(&block.body),
    }
}

fn kind(expression: &Expression) -> Kind {
    match expression {
        Expression::Variable(name) => Kind::from_keyword(name.as_str()),
        // Terraform still takes the quoted form of its first versions.
        Expression::String(name) => Kind::from_keyword(name.as_str()),
        _ => Kind::Complex,
    }
}

/// Anything but a plain `false` counts as sensitive: it is better to hide too much.
fn is_sensitive(body: &Body) -> bool {
    value(body, "sensitive").is_some_and(|value| match value {
        Expression::Bool(flag) => *flag.value(),
        Expression::String(flag) => flag.as_str() != "false",
        _ => true,
    })
}

fn value<'body>(body: &'body Body, key: &str) -> Option<&'body Expression> {
    body.get_attribute(key).map(|attribute| &attribute.value)
}
