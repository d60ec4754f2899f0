//! The tree and what blocks as lines of text, with the role of every piece: who prints them knows the colours.

use k8s_openapi::jiff::Timestamp;

use super::Overview;
use super::age::age;
use super::blocker::Blocker;
use super::node::{Mark, Node};
use super::plain::one_line;

/// What a piece of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Headings of columns.
    Heading,
    /// What draws the tree, and what is less important.
    Faint,
    /// A mark, or a reason beside it.
    Mark(Mark),
    /// What blocks.
    Blocker,
    /// Anything else.
    Plain,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What it is.
    pub role: Role,
    /// Its text, without line breaks.
    pub text: String,
}

/// A line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its pieces, from left to right.
    pub spans: Vec<Span>,
}

impl Line {
    fn add(mut self, role: Role, text: impl Into<String>) -> Self {
        self.spans.push(Span { role, text: text.into() });
        self
    }

    /// The text alone.
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    /// As much as fits, and nothing after the last visible character.
    fn fitted(mut self, width: Option<usize>) -> Self {
        let mut left = width.unwrap_or(usize::MAX);
        for span in &mut self.spans {
            span.text = shortened(&span.text, left);
            left -= span.text.chars().count();
        }
        while let Some(last) = self.spans.last_mut() {
            last.text.truncate(last.text.trim_end().len());
            if !last.text.is_empty() {
                break;
            }
            self.spans.pop();
        }
        self
    }
}

/// At most so many characters, the last one an ellipsis where something is missing.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept = text.chars().take(most.saturating_sub(1));
    if most == 0 { String::new() } else { kept.chain(['…']).collect() }
}

/// One row before it is aligned.
struct Row<'tree> {
    branch: String,
    node: &'tree Node,
}

/// The whole overview: the tree, and below it what blocks. Lines are cut at `width` characters where one is given.
pub fn lines(overview: &Overview, now: Timestamp, width: Option<usize>) -> Vec<Line> {
    let mut rows = Vec::new();
    collect(&overview.tree, String::new(), "", &mut rows);
    let mut lines = aligned(&rows, now, width);
    if let Some(blocker) = &overview.summary.blocker {
        lines.push(Line::default());
        lines.extend(told(blocker, overview.summary.ready, now, width));
    }
    lines
}

fn collect<'tree>(node: &'tree Node, branch: String, below: &str, rows: &mut Vec<Row<'tree>>) {
    rows.push(Row { branch, node });
    let last = node.children.len().saturating_sub(1);
    for (index, child) in node.children.iter().enumerate() {
        let (own, next) = if index == last { ("└ ", "  ") } else { ("├ ", "│ ") };
        collect(child, format!("{below}{own}"), &format!("{below}{next}"), rows);
    }
}

fn aligned(rows: &[Row<'_>], now: Timestamp, width: Option<usize>) -> Vec<Line> {
    let since = |node: &Node| node.since.as_ref().map(|time| age(time.0, now)).unwrap_or_default();
    let longest = |heading: &str, length: &dyn Fn(&Row<'_>) -> usize| {
        rows.iter().map(length).chain([heading.len()]).max().unwrap_or_default()
    };
    let names = longest("NAME", &|row| row.branch.chars().count() + 2 + row.node.title().chars().count());
    let reasons = longest("REASON", &|row| row.node.reason.chars().count());
    let ages = longest("SINCE", &|row| since(row.node).len());
    let heading = format!("  {:names$}  {:reasons$}  {:ages$}  MESSAGE", "NAME", "REASON", "SINCE");
    let mut lines = vec![Line::default().add(Role::Heading, heading).fitted(width)];
    for Row { branch, node } in rows {
        let used = branch.chars().count() + 2 + node.title().chars().count();
        let (gutter, name) = if node.blocks { ("→ ", Role::Blocker) } else { ("  ", Role::Plain) };
        let reason = match node.state {
            Mark::Ready => Role::Faint,
            state => Role::Mark(state),
        };
        let line = Line::default()
            .add(Role::Blocker, gutter)
            .add(Role::Faint, branch)
            .add(Role::Mark(node.state), node.state.sign())
            .add(name, format!(" {}{}", node.title(), " ".repeat(names.saturating_sub(used))))
            .add(reason, format!("  {:reasons$}", node.reason))
            .add(Role::Faint, format!("  {:ages$}  ", since(node)))
            .add(Role::Plain, one_line(&node.message));
        lines.push(line.fitted(width));
    }
    lines
}

/// What blocks, in full.
fn told(blocker: &Blocker, ready: bool, now: Timestamp, width: Option<usize>) -> Vec<Line> {
    let Blocker { kind, name, state, reason, since, message, meaning, action, .. } = blocker;
    let heading = match state {
        Mark::Failing if ready => "Needs attention: ",
        Mark::Failing | Mark::Unknown => "Blocked by: ",
        Mark::Ready | Mark::Waiting => "Waiting for: ",
        Mark::Paused => "Held by: ",
    };
    let mut first = Line::default().add(Role::Heading, heading).add(Role::Blocker, format!("{kind}/{name}"));
    if !reason.is_empty() {
        first = first.add(Role::Plain, ", ").add(Role::Mark(*state), reason);
    }
    if let Some(since) = since {
        first = first.add(Role::Faint, format!(", for {}", age(since.0, now)));
    }
    let mut lines = vec![first];
    for text in message.lines() {
        lines.extend(wrapped("  ", text, width));
    }
    if !meaning.is_empty() {
        lines.extend(wrapped("  what it means: ", meaning, width));
    }
    lines.extend(wrapped("  what to do: ", action, width));
    lines
}

/// A text in as many lines as it needs, the later ones indented.
fn wrapped(beginning: &str, text: &str, width: Option<usize>) -> Vec<Line> {
    const INDENTED: &str = "    ";
    const NARROWEST: usize = 40;
    let width = width.map_or(usize::MAX, |width| width.max(NARROWEST));
    let mut lines = Vec::new();
    let mut line = beginning.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        let needed = line.chars().count() + word.chars().count() + usize::from(!empty);
        if needed > width && !empty {
            lines.push(std::mem::replace(&mut line, INDENTED.to_owned()));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    lines.push(line);
    lines.into_iter().map(|line| Line::default().add(Role::Plain, line)).collect()
}
