//! Takes releases out of the text of a module.

use std::ops::Range;

use hcl_edit::Span;
use hcl_edit::structure::Block;

use super::cuts::Cuts;
use super::outputs::{self, Output};
use super::references::{Ordering, ties};
use super::source::{Source, labels, title};
use super::trivia::{empty_line_before, paragraph};
use super::{Problem, RELEASE, Releases, Which, ordering, provider};
use crate::module::hcl::interface;

/// A module from which releases were taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Its text.
    pub text: String,
    /// The pieces of the former text that are not in it any more; all others are, in their order.
    pub cuts: Vec<Range<usize>>,
    /// What comes after them.
    pub appended: String,
    /// The addresses of the releases that were taken out.
    pub removed: Vec<String>,
    /// The names of the outputs that were added.
    pub added_outputs: Vec<String>,
    /// What else there is to know, for people.
    pub remarks: Vec<String>,
}

impl Edit {
    /// Whether the module is another now.
    pub fn changes(&self) -> bool {
        !self.cuts.is_empty() || !self.appended.is_empty()
    }
}

/// The names of the releases among these that a module declares itself.
pub fn releases(text: &str, which: &Releases) -> Result<Vec<String>, Problem> {
    let source = Source::read(text).map_err(Problem::Unreadable)?;
    Ok(source
        .blocks()
        .iter()
        .filter_map(|(block, _)| released(block, which))
        .map(ToOwned::to_owned)
        .collect())
}

/// Takes releases out of a module. One from which they were taken already stays as it is.
pub fn plan_edit(text: &str, which: &Which) -> Result<Edit, Problem> {
    let source = Source::read(text).map_err(Problem::Unreadable)?;
    let leaves = |block: &Block| released(block, &which.releases).is_some();
    let mut cuts = Cuts::default();
    let mut remarks = Vec::new();
    cut_orderings(&source, which, &mut cuts, &mut remarks)?;
    let (mut removed, mut added): (Vec<String>, Vec<Output>) = (Vec::new(), Vec::new());
    let module = interface(&source.body);
    for (block, floor) in source.blocks() {
        let (Some(name), Some(span)) = (released(block, &which.releases), block.span()) else { continue };
        removed.push(format!("{RELEASE}.{name}"));
        cuts.add(paragraph(source.text, &span, floor));
        let missing = outputs::missing(&source, block, &module);
        remarks.extend(missing.remarks);
        for output in missing.outputs {
            if added.iter().all(|known| known.name != output.name) {
                added.push(output);
            }
        }
    }
    if which.drop_provider {
        remarks.extend(provider::cut(&source, leaves, &mut cuts).err());
    }
    if let Some(last) = cuts.pieces().pop().filter(|last| last.end == source.text.len()) {
        cuts.add(empty_line_before(source.text, last.start));
    }
    let rest = cuts.apply(source.text);
    let appended = outputs::written(&added, &rest, line_break(source.text));
    let edit = Edit {
        text: format!("{}{rest}{appended}", &text[..source.mark]),
        cuts: cuts.pieces().iter().map(|cut| cut.start + source.mark..cut.end + source.mark).collect(),
        appended,
        removed,
        added_outputs: added.iter().map(|output| output.name.to_owned()).collect(),
        remarks,
    };
    check(&source, &edit, which)?;
    Ok(edit)
}

/// The name of the release that a block declares, if it is one of these.
fn released<'block>(block: &'block Block, which: &Releases) -> Option<&'block str> {
    match (block.ident.as_str(), labels(block).as_slice()) {
        ("resource", [RELEASE, name]) if which.includes(name) => Some(name),
        _ => None,
    }
}

/// What stays may come after what leaves, and no more: otherwise it is said where.
fn cut_orderings(
    source: &Source<'_>,
    which: &Which,
    cuts: &mut Cuts,
    remarks: &mut Vec<String>,
) -> Result<(), Problem> {
    let mut references = Vec::new();
    for (block, _) in source.blocks() {
        if released(block, &which.releases).is_some() {
            continue;
        }
        let ties = ties(source, block, &which.releases);
        references.extend(ties.references);
        for ordering in &ties.orderings {
            ordering::cut(source.text, ordering, cuts)
                .ok_or_else(|| Problem::Unsound(format!("`depends_on` of {}", title(block))))?;
            remarks.push(reordered(source, block, ordering));
        }
    }
    if references.is_empty() { Ok(()) } else { Err(Problem::Referenced(references)) }
}

fn reordered(source: &Source<'_>, block: &Block, ordering: &Ordering<'_>) -> String {
    let line = ordering.attribute.span().map_or(0, |span| source.line(span.start));
    format!("line {line}: `{}` no longer waits for the release (`depends_on`)", title(block))
}

fn line_break(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// What came of it has the blocks that it should have, and no others.
fn check(before: &Source<'_>, edit: &Edit, which: &Which) -> Result<(), Problem> {
    let after = Source::read(&edit.text).map_err(|invalid| Problem::Unsound(invalid.to_string()))?;
    let is_cut = |block: &Block| {
        let start = block.span().map(|span| span.start + before.mark);
        start.is_some_and(|start| {
            let next = edit.cuts.partition_point(|cut| cut.start <= start);
            next > 0 && edit.cuts[next - 1].contains(&start)
        })
    };
    let kept = before.blocks().into_iter().filter(|(block, _)| !is_cut(block));
    let added = edit.added_outputs.iter().map(|name| format!("output \"{name}\""));
    let expected: Vec<String> = kept.map(|(block, _)| title(block)).chain(added).collect();
    let found: Vec<String> = after.blocks().iter().map(|(block, _)| title(block)).collect();
    if found != expected {
        return Err(Problem::Unsound("other blocks would be touched".to_owned()));
    }
    if after.blocks().iter().any(|(block, _)| released(block, &which.releases).is_some()) {
        return Err(Problem::Unsound("a release would be left".to_owned()));
    }
    Ok(())
}
