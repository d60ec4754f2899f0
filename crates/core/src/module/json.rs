//! Modules in Terraform's JSON syntax.
//!
//! An object may stand for a block, a list of objects for several, and a key may come more than once.

mod node;

use node::Node;

use super::{Invalid, Kind, Module, Output, Variable};

pub(super) fn read(text: &str) -> Result<Module, Invalid> {
    let root: Node = serde_json::from_str(text).map_err(|error| invalid(&error))?;
    let mut module = Module::default();
    for (name, body) in root.blocks("variable") {
        module.variables.insert(name.to_owned(), variable(body));
    }
    for (name, body) in root.blocks("output") {
        module.outputs.insert(name.to_owned(), Output { sensitive: is_sensitive(body) });
    }
    Ok(module)
}

/// What the parser refuses and Terraform does not, by what it says of it.
const STRICTER_THAN_TERRAFORM: [&str; 3] = ["recursion limit", "number out of range", "hex escape"];

fn invalid(error: &serde_json::Error) -> Invalid {
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or_default();
    Invalid {
        line: error.line(),
        column: error.column(),
        message: message.to_owned(),
        certain: !STRICTER_THAN_TERRAFORM.iter().any(|refusal| message.contains(refusal)),
    }
}

fn variable(body: &Node) -> Variable {
    Variable {
        kind: body.field("type").map_or(Kind::Untyped, kind),
        required: body.field("default").is_none(),
        sensitive: is_sensitive(body),
    }
}

fn kind(node: &Node) -> Kind {
    match node {
        Node::Text(keyword) => Kind::from_keyword(keyword),
        Node::Object(_) | Node::List(_) | Node::Flag(_) | Node::Other => Kind::Complex,
    }
}

/// Anything but a plain `false` counts as sensitive: it is better to hide too much.
fn is_sensitive(body: &Node) -> bool {
    body.field("sensitive").is_some_and(|node| match node {
        Node::Flag(flag) => *flag,
        Node::Text(flag) => flag != "false",
        Node::Object(_) | Node::List(_) | Node::Other => true,
    })
}
