//! The text of a module beside its structure.

use std::ops::Range;

use hcl_edit::Span;
use hcl_edit::structure::{Block, Body};

use crate::module::{Invalid, hcl};
use crate::placeholder::scan::{Context, Start, scan};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A module that was read.
pub(super) struct Source<'text> {
    /// The text, without a byte order mark.
    pub(super) text: &'text str,
    /// Its structure, with spans in the text.
    pub(super) body: Body,
    /// How many bytes the byte order mark has.
    pub(super) mark: usize,
    /// Where each line ends but the last.
    line_breaks: Vec<usize>,
}

impl<'text> Source<'text> {
    pub(super) fn read(whole: &'text str) -> Result<Self, Invalid> {
        let text = whole.strip_prefix(BYTE_ORDER_MARK).unwrap_or(whole);
        let body = hcl::parse(&without_placeholders(text))?;
        let line_breaks = text.match_indices('\n').map(|(at, _)| at).collect();
        Ok(Self { text, body, mark: whole.len() - text.len(), line_breaks })
    }

    /// The line of a place, counted from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        self.line_breaks.partition_point(|line_break| *line_break < at) + 1
    }

    /// What the text has there; nothing where the place is not known.
    pub(super) fn slice(&self, node: &impl Span) -> Option<&'text str> {
        self.text.get(node.span()?)
    }

    /// The blocks at the top, each with where the structure before it ends.
    pub(super) fn blocks(&self) -> Vec<(&Block, usize)> {
        with_floors(&self.body, 0)
            .filter_map(|(structure, floor)| Some((structure.as_block()?, floor)))
            .collect()
    }
}

/// The structures of a body, each with where the one before it ends.
pub(super) fn with_floors(
    body: &Body,
    begin: usize,
) -> impl Iterator<Item = (&hcl_edit::structure::Structure, usize)> {
    body.iter().scan(begin, |floor, structure| {
        let before = *floor;
        *floor = structure.span().map_or(before, |span| span.end);
        Some((structure, before))
    })
}

/// A block as its first line has it: `resource "aws_iam_role" "karpenter"`.
pub(super) fn title(block: &Block) -> String {
    let labels = block.labels.iter().map(|label| format!(" \"{}\"", label.as_str()));
    block.ident.as_str().to_owned() + &labels.collect::<String>()
}

/// The labels of a block.
pub(super) fn labels(block: &Block) -> Vec<&str> {
    block.labels.iter().map(hcl_edit::structure::BlockLabel::as_str).collect()
}

/// A text of the same length whose placeholders outside of strings are names: the parser knows no others.
fn without_placeholders(text: &str) -> String {
    let mut smooth = text.to_owned();
    for site in scan(text, Start::Body).sites {
        if site.context == Context::Expression {
            let Range { start, end } = site.range;
            smooth.replace_range(start..end, &format!("p_{}_", site.name));
        }
    }
    smooth
}
