//! Makes values and texts that are as awkward as possible.

use proptest::{prelude::*, sample::select};
use serde_json::{Value, json};

/// The names of the placeholders in all generated texts.
pub(super) const NAMES: [&str; 3] = ["V0", "V1", "V2"];

const AWKWARD: &[&str] = &[
    "\"",
    "\\",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "$",
    "%",
    "$$",
    "{",
    "}",
    "${",
    "%{",
    "$${",
    "%%{",
    "~}",
    "${~",
    "EOT",
    "E",
    "OT",
    "T",
    "EOT\n",
    "\nEOT\n",
    " ",
    "*/",
    "/*",
    "*",
    "/",
    "#",
    "//",
    "<<EOT\n",
    "<<-E\n",
    "\0",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "ü",
    "😀",
    "null",
    "true",
    "5",
    "-1.5e3",
    "[1,\"${V1}\"]",
    "{\"a\": [{}, \"%{\\n\"]}",
    "${V0}",
    "${V1}",
    "$${V2}",
    "${k}",
    "${var.x}",
    "= 1\nb {",
    "\\u0024",
    "\\u12",
    "\\ud800",
    "(",
    ")",
    "[",
    "]",
    ",",
    "if",
    "for",
];

/// A value: often a JSON literal, often not.
pub(super) fn value() -> impl Strategy<Value = String> {
    text_of(6)
}

/// A text with placeholders that is rarely well formed.
pub(super) fn text() -> impl Strategy<Value = String> {
    text_of(24)
}

fn text_of(pieces: usize) -> impl Strategy<Value = String> {
    let piece =
        prop_oneof![4 => select(AWKWARD).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)];
    prop::collection::vec(piece, 0..pieces).prop_map(|pieces| pieces.concat())
}

/// A Workspace's spec, and trees that are none.
pub(super) fn tree() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![text().prop_map(Value::from), any::<i32>().prop_map(Value::from), Just(Value::Null)];
    let any_tree = leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(value(), inner, 0..4).prop_map(|fields| fields.into_iter().collect()),
        ]
    });
    let format = select(&["HCL", "JSON", "${V0}"]);
    let source = select(&["Inline", "Remote", "${V0}"]);
    (any_tree, text(), source, format).prop_map(|(rest, module, source, format)| {
        json!({ "forProvider": { "source": source, "inlineFormat": format, "module": module, "rest": rest } })
    })
}

/// A placeholder and the text around it.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    before: &'static str,
    index: usize,
    after: &'static str,
}

const BEFORE: &[&str] = &["", "", "a", "%", "$${", "E", "EO", "*", "${var.x}"];
const AFTER: &[&str] =
    &["", "", "b", "{", "{c}", "OT", "T", "/", "$", "%%{", "$${", "${var.x}", "%{ if true }y%{ endif }"];

/// One part of a module.
#[derive(Debug, Clone)]
pub(super) enum Item {
    /// A quoted string.
    Quoted(Vec<Piece>),
    /// A quoted string in an interpolation in a quoted string.
    Nested(Vec<Piece>),
    /// Lines of a heredoc with the indentation of each.
    Heredoc { indented: bool, lines: Vec<(usize, Vec<Piece>)> },
    /// A value on its own.
    Bare(usize),
    /// A comment from its beginning to its end.
    Comment(&'static str, Vec<Piece>, &'static str),
}

/// Some parts of a module, each to be put into a block of its own.
pub(super) fn module() -> impl Strategy<Value = Vec<Item>> {
    let piece = (select(BEFORE), 0..3_usize, select(AFTER)).prop_map(|(before, index, after)| Piece {
        before,
        index,
        after: if after == "$" { "$-" } else { after },
    });
    let pieces = prop::collection::vec(piece, 1..4).boxed();
    let lines = prop::collection::vec((0..4_usize, pieces.clone()), 1..4);
    let comment = select(&[("# ", "\n"), ("//", "\n"), ("/*", " */"), ("/* ", "*/\n")]);
    let item = prop_oneof![
        pieces.clone().prop_map(Item::Quoted),
        pieces.clone().prop_map(Item::Nested),
        (any::<bool>(), lines).prop_map(|(indented, lines)| Item::Heredoc { indented, lines }),
        (0..3_usize).prop_map(Item::Bare),
        (comment, pieces).prop_map(|((start, end), pieces)| Item::Comment(start, pieces, end)),
    ];
    prop::collection::vec(item, 1..5)
}

impl Item {
    /// The part as HCL: the attribute `a<index>` in a block, or a comment.
    pub(super) fn text(&self, index: usize) -> String {
        let value = match self {
            Self::Quoted(pieces) => format!("\"{}\"", written(pieces)),
            Self::Nested(pieces) => format!("\"${{upper(\"{}\")}}-${{V1}}\"", written(pieces)),
            Self::Heredoc { indented, lines } => {
                let lines = lines
                    .iter()
                    .map(|(indent, pieces)| format!("{}{}\n", " ".repeat(*indent), written(pieces)));
                let start = if *indented { "<<-EOT" } else { "<<EOT" };
                format!("{start}\n{}  EOT", lines.collect::<String>())
            }
            Self::Bare(value) => format!("${{{}}}", NAMES[*value]),
            Self::Comment(start, pieces, end) => {
                let inside = written(pieces).replace("*/", "* /");
                return format!("{start}{inside}{end}b \"x\" {{}} # ${{V0}}\n");
            }
        };
        format!("b \"x\" {{\n  a{index} = {value}\n}}\n")
    }

    /// What the attribute must evaluate to.
    pub(super) fn expected(&self, values: &[String; 3]) -> Option<Value> {
        match self {
            Self::Quoted(pieces) => Some(read(pieces, values).into()),
            Self::Nested(pieces) => Some(format!("{}-{}", read(pieces, values), values[1]).into()),
            Self::Heredoc { lines, .. } => {
                let lines = lines
                    .iter()
                    .map(|(indent, pieces)| format!("{}{}\n", " ".repeat(*indent), read(pieces, values)));
                Some(lines.collect::<String>().into())
            }
            Self::Bare(value) => {
                let literal =
                    serde_json::from_str(&values[*value]).ok().filter(|literal: &Value| !literal.is_string());
                Some(literal.map_or(Value::from(values[*value].as_str()), |literal| in_floats(&literal)))
            }
            Self::Comment(..) => None,
        }
    }
}

fn written(pieces: &[Piece]) -> String {
    pieces.iter().flat_map(|piece| [piece.before, "${", NAMES[piece.index], "}", piece.after]).collect()
}

/// The text that the pieces stand for, references read as a dot.
fn read(pieces: &[Piece], values: &[String; 3]) -> String {
    let fixed = |text: &str| {
        text.replace("${var.x}", ".")
            .replace("%{ if true }y%{ endif }", "y")
            .replace("$${", "${")
            .replace("%%{", "%{")
    };
    pieces
        .iter()
        .flat_map(|piece| [fixed(piece.before), values[piece.index].clone(), fixed(piece.after)])
        .collect()
}

fn in_floats(tree: &Value) -> Value {
    match tree {
        Value::Number(number) => number.as_f64().into(),
        Value::Array(items) => items.iter().map(in_floats).collect(),
        Value::Object(fields) => fields.iter().map(|(key, field)| (key.clone(), in_floats(field))).collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => tree.clone(),
    }
}
