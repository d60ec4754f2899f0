//! Which parts of a module refer to releases.

use hcl_edit::Span;
use hcl_edit::expr::{Array, Expression, Traversal, TraversalOperator};
use hcl_edit::structure::{Attribute, Block};
use hcl_edit::visit::{Visit, visit_attr, visit_traversal};

use super::source::{Source, title};
use super::{RELEASE, Reference, Releases};

/// What a block has to do with releases that leave.
pub(super) struct Ties<'body> {
    /// Places that need the release itself.
    pub(super) references: Vec<Reference>,
    /// Lists that only say what comes first.
    pub(super) orderings: Vec<Ordering<'body>>,
}

/// A `depends_on` that names releases.
pub(super) struct Ordering<'body> {
    pub(super) attribute: &'body Attribute,
    pub(super) list: &'body Array,
    /// The entries that name releases, by their place in the list.
    pub(super) entries: Vec<usize>,
}

/// What a block has to do with these releases.
pub(super) fn ties<'body>(source: &Source<'_>, block: &'body Block, releases: &Releases) -> Ties<'body> {
    let orderings = orderings(block, releases);
    let mut finder = Finder { releases, found: Vec::new() };
    finder.visit_body(&block.body);
    let reference = |(name, at): (String, usize)| Reference {
        release: format!("{RELEASE}.{name}"),
        block: title(block),
        line: source.line(at),
    };
    Ties { references: finder.found.into_iter().map(reference).collect(), orderings }
}

fn orderings<'body>(block: &'body Block, releases: &Releases) -> Vec<Ordering<'body>> {
    let mut found = Vec::new();
    for structure in &block.body {
        if let Some(inner) = structure.as_block() {
            found.extend(orderings(inner, releases));
        }
        let Some(attribute) = structure.as_attribute() else { continue };
        let Some(list) = ordering_list(attribute) else { continue };
        let named = |entry: &Expression| named(entry).is_some_and(|name| releases.includes(name));
        let entries: Vec<usize> = (0..list.len()).filter(|at| list.get(*at).is_some_and(named)).collect();
        if !entries.is_empty() {
            found.push(Ordering { attribute, list, entries });
        }
    }
    found
}

fn ordering_list(attribute: &Attribute) -> Option<&Array> {
    match &attribute.value {
        Expression::Array(list) if attribute.key.as_str() == "depends_on" => Some(list),
        _ => None,
    }
}

/// The release that an entry of `depends_on` names. Terraform's first versions had them in quotes, and it still takes that.
fn named(entry: &Expression) -> Option<&str> {
    match entry {
        Expression::Traversal(traversal) => release(traversal),
        Expression::String(text) => {
            let name = text.as_str().strip_prefix(RELEASE)?.strip_prefix('.')?;
            Some(name.split(['.', '[']).next().unwrap_or(name))
        }
        _ => None,
    }
}

/// The release that a traversal begins with.
fn release(traversal: &Traversal) -> Option<&str> {
    match (&traversal.expr, traversal.operators.first()?.value()) {
        (Expression::Variable(root), TraversalOperator::GetAttr(name)) if root.as_str() == RELEASE => {
            Some(name.as_str())
        }
        _ => None,
    }
}

struct Finder<'releases> {
    releases: &'releases Releases,
    found: Vec<(String, usize)>,
}

impl Visit for Finder<'_> {
    fn visit_attr(&mut self, attribute: &Attribute) {
        let Some(list) = ordering_list(attribute) else { return visit_attr(self, attribute) };
        for entry in list.iter().filter(|entry| named(entry).is_none()) {
            self.visit_expr(entry);
        }
    }

    fn visit_traversal(&mut self, traversal: &Traversal) {
        if let Some(name) = release(traversal).filter(|name| self.releases.includes(name)) {
            let at = traversal.span().or_else(|| traversal.expr.span()).map_or(0, |span| span.start);
            self.found.push((name.to_owned(), at));
        }
        visit_traversal(self, traversal);
    }
}
