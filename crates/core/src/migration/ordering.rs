//! Takes releases out of lists that say what comes first.

use std::ops::Range;

use hcl_edit::Span;

use super::cuts::Cuts;
use super::references::Ordering;
use super::trivia::{begins_line, comments, ends_line, line_end, line_start, whole_lines};

/// Cuts the entries that name releases, and the whole attribute if no other is left; `None` where it is not known where they
/// are.
pub(super) fn cut(text: &str, ordering: &Ordering<'_>, cuts: &mut Cuts) -> Option<()> {
    let attribute = ordering.attribute.span()?;
    let list = ordering.list.span()?;
    if ordering.entries.len() == ordering.list.len() {
        let alone = begins_line(text, attribute.start) && ends_line(text, attribute.end);
        cuts.add(if alone {
            line_start(text, attribute.start)..line_end(text, attribute.end)
        } else {
            list.start + 1..list.end - 1
        });
        return Some(());
    }
    let spans: Vec<Range<usize>> = ordering.list.iter().map(Span::span).collect::<Option<_>>()?;
    let first_kept = ordering.entries.iter().enumerate().find(|(at, entry)| at != *entry);
    let first_kept = first_kept.map_or(ordering.entries.len(), |(at, _)| at);
    for &at in &ordering.entries {
        let entry = &spans[at];
        let before = if at == 0 { list.start + 1 } else { spans[at - 1].end };
        let next = spans.get(at + 1).map_or(list.end - 1, |next| next.start);
        let comma = comma(text, entry.end..next);
        let whole = entry.start..comma.map_or(entry.end, |comma| comma + 1);
        if begins_line(text, entry.start) && ends_line(text, whole.end) {
            cuts.add(whole_lines(text, &whole, before));
        } else if comma.is_some() {
            let blank =
                text[whole.end..next].len() - text[whole.end..next].trim_start_matches([' ', '\t']).len();
            cuts.add(whole.start..whole.end + blank);
        } else if first_kept < at {
            // The last one, without a comma of its own: the one before it goes.
            let start = self::comma(text, before..entry.start).unwrap_or(before);
            cuts.add(start..entry.end);
        } else {
            cuts.add(whole);
        }
    }
    Some(())
}

/// Where the comma is between two entries, which have nothing else between them but white space and comments.
fn comma(text: &str, between: Range<usize>) -> Option<usize> {
    let mut position = between.start;
    for comment in
        comments(text, between.clone()).into_iter().chain(std::iter::once(between.end..between.end))
    {
        if let Some(found) = text[position..comment.start].find(',') {
            return Some(position + found);
        }
        position = comment.end;
    }
    None
}
