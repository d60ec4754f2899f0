//! Replaces `${NAME}` placeholders by values, in single texts and in whole trees.
//!
//! Invariant: a value never changes the structure of what it is written into. It stays inside its string, its
//! comment or its expression, whatever it holds. Names nobody knows and escapes (`$${NAME}`) stay byte for
//! byte, and a value is never searched for placeholders itself.

mod escape;
mod json;
pub(crate) mod literal;
mod name;
#[cfg(test)]
mod properties;
pub(crate) mod scan;
#[cfg(test)]
mod tests;
mod tree;
mod values;
mod write;

use std::{collections::BTreeSet, ops::Range};

pub use tree::substitute_tree;
pub use values::Values;

/// How a text is read by whoever reads it, and so how a value has to be written into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// A name, a URL, the value of a variable: values are inserted as they are.
    Plain,
    /// A Terraform module in HCL.
    Hcl,
    /// A Terraform module in JSON, whose strings are templates to Terraform.
    Json,
}

/// What came of a substitution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Substituted<T> {
    /// The text or tree with every known placeholder replaced.
    pub result: T,
    /// The names that were replaced.
    pub used: BTreeSet<String>,
}

/// Replaces the placeholders of known names in `text`; all other bytes stay as they are.
pub fn substitute(text: &str, syntax: Syntax, values: &Values) -> Substituted<String> {
    let mut used = BTreeSet::new();
    let edits = edits(text, syntax, &mut |name| {
        let value = values.get(name)?;
        used.insert(name.to_owned());
        Some(value)
    });
    let result = splice(text, &edits);
    Substituted { result, used }
}

/// The names of all placeholders in `text` that are not escaped, known or not.
///
/// HCL's own `${k}` looks the same, so a name found here need not be meant as a placeholder.
pub fn placeholders(text: &str, syntax: Syntax) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    edits(text, syntax, &mut |name| {
        names.insert(name.to_owned());
        None
    });
    names
}

/// A piece of the source and what is written in its place.
struct Edit {
    range: Range<usize>,
    replacement: String,
}

/// Gives the value of a known name.
type Lookup<'lookup, 'values> = &'lookup mut dyn FnMut(&str) -> Option<&'values str>;

fn edits(text: &str, syntax: Syntax, lookup: Lookup<'_, '_>) -> Vec<Edit> {
    match syntax {
        Syntax::Plain => plain_edits(text, lookup),
        Syntax::Hcl => template_edits(text, scan::Start::Body, lookup),
        Syntax::Json => json::edits(text, lookup),
    }
}

fn plain_edits(text: &str, lookup: Lookup<'_, '_>) -> Vec<Edit> {
    name::find_all(text, 0..text.len())
        .filter_map(|(range, name)| Some(Edit { range, replacement: lookup(name)?.to_owned() }))
        .collect()
}

fn template_edits(text: &str, start: scan::Start, lookup: Lookup<'_, '_>) -> Vec<Edit> {
    let strips = write::has_strip_markers(text);
    scan::scan(text, start)
        .sites
        .iter()
        .filter_map(|site| {
            let value = lookup(site.name)?;
            Some(Edit {
                range: site.range.clone(),
                replacement: write::replacement(text, site, value, strips),
            })
        })
        .collect()
}

fn splice(text: &str, edits: &[Edit]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut copied = 0;
    for Edit { range, replacement } in edits {
        result.push_str(&text[copied..range.start]);
        result.push_str(replacement);
        copied = range.end;
    }
    result.push_str(&text[copied..]);
    result
}
