//! Takes out the provider that only releases needed.

use hcl_edit::Span;
use hcl_edit::expr::{Expression, ObjectKey};
use hcl_edit::structure::{Attribute, Block};
use hcl_edit::visit::{Visit, visit_attr};

use super::cuts::Cuts;
use super::source::{Source, labels, title, with_floors};
use super::trivia::{begins_line, paragraph, whole_lines};

/// The provider's name in a module.
const PROVIDER: &str = "helm";

/// Cuts the provider's blocks and its requirement, unless a block that stays needs it: then it is said which one.
pub(super) fn cut(
    source: &Source<'_>,
    leaves: impl Fn(&Block) -> bool,
    cuts: &mut Cuts,
) -> Result<(), String> {
    let blocks = source.blocks();
    if let Some((block, _)) = blocks.iter().find(|(block, _)| !leaves(block) && needs(block)) {
        let line = block.span().map_or(0, |span| source.line(span.start));
        return Err(format!("provider \"{PROVIDER}\" stays: `{}` on line {line} needs it", title(block)));
    }
    for (block, floor) in blocks {
        match (block.ident.as_str(), labels(block).as_slice()) {
            ("provider", [PROVIDER]) => {
                if let Some(span) = block.span() {
                    cuts.add(paragraph(source.text, &span, floor));
                }
            }
            ("terraform", []) => cut_requirement(source, block, cuts),
            _ => {}
        }
    }
    Ok(())
}

fn cut_requirement(source: &Source<'_>, terraform: &Block, cuts: &mut Cuts) {
    for required in terraform.body.get_blocks("required_providers") {
        let Some(span) = required.span() else { continue };
        let begin = required.body.span().map_or(span.start, |body| body.start);
        for (structure, floor) in with_floors(&required.body, begin) {
            let is_it = |attribute: &Attribute| attribute.key.as_str() == PROVIDER;
            if let Some(attribute) = structure.as_attribute().filter(|attribute| is_it(attribute))
                && let Some(span) = attribute.span()
                && begins_line(source.text, span.start)
            {
                cuts.add(whole_lines(source.text, &span, floor));
            }
        }
    }
}

/// Whether a block is of this provider, or hands it on.
fn needs(block: &Block) -> bool {
    let name = labels(block).first().copied().unwrap_or_default();
    match block.ident.as_str() {
        "provider" | "terraform" => false,
        "resource" | "data" | "ephemeral" if is_of_provider(name) => true,
        _ => {
            let mut finder = Finder(false);
            finder.visit_body(&block.body);
            finder.0
        }
    }
}

fn is_of_provider(kind: &str) -> bool {
    kind.strip_prefix(PROVIDER).is_some_and(|rest| rest.starts_with('_'))
}

/// Looks for `provider = helm.alias` and `providers = { helm = helm }`.
struct Finder(bool);

impl Visit for Finder {
    fn visit_attr(&mut self, attribute: &Attribute) {
        match attribute.key.as_str() {
            "provider" => self.0 |= is_provider(&attribute.value),
            "providers" => {
                if let Expression::Object(handed) = &attribute.value {
                    let is_key = |key: &ObjectKey| key.as_ident().is_some_and(|key| key.as_str() == PROVIDER);
                    self.0 |= handed.iter().any(|(key, value)| is_key(key) || is_provider(value.expr()));
                }
            }
            _ => visit_attr(self, attribute),
        }
    }
}

fn is_provider(expression: &Expression) -> bool {
    match expression {
        Expression::Variable(name) => name.as_str() == PROVIDER,
        Expression::Traversal(traversal) => is_provider(&traversal.expr),
        Expression::String(name) => name.as_str().split('.').next() == Some(PROVIDER),
        _ => false,
    }
}
