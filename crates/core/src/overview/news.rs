//! What has changed from one look to the next, a line each, for those who read a log and not a screen.

use std::collections::BTreeMap;

use super::Overview;
use super::line::{Line, Role, Span};
use super::node::{Mark, Node};
use super::plain::one_line;

type Flat<'tree> = BTreeMap<String, &'tree Node>;

/// Everything that is new, different or gone since `before`. Nothing of what is only older.
pub fn news(before: Option<&Overview>, now: &Overview) -> Vec<Line> {
    let mut old = Flat::new();
    if let Some(before) = before {
        flatten(&before.tree, &mut old);
    }
    let mut lines = Vec::new();
    differing(&now.tree, &old, &mut lines);
    let mut new = Flat::new();
    flatten(&now.tree, &mut new);
    lines.extend(old.keys().filter(|title| !new.contains_key(*title)).map(|title| gone(title)));
    lines
}

fn flatten<'tree>(node: &'tree Node, all: &mut Flat<'tree>) {
    all.insert(node.title(), node);
    node.children.iter().for_each(|child| flatten(child, all));
}

/// Those that differ, in the order of the tree.
fn differing(node: &Node, old: &Flat<'_>, lines: &mut Vec<Line>) {
    let said = |node: &Node| (node.state, node.reason.clone(), node.message.clone());
    if old.get(&node.title()).map(|old| said(old)) != Some(said(node)) {
        lines.push(line(node));
    }
    node.children.iter().for_each(|child| differing(child, old, lines));
}

fn line(node: &Node) -> Line {
    let title = if node.blocks { Role::Blocker } else { Role::Plain };
    let words = [node.reason.clone(), one_line(&node.message)];
    let words = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(": ");
    let separator = if words.is_empty() { "" } else { "  " };
    let spans = [
        (Role::Mark(node.state), node.state.sign().to_owned()),
        (title, format!(" {}", node.title())),
        (Role::Plain, format!("{separator}{words}")),
    ];
    Line { spans: spans.into_iter().map(|(role, text)| Span { role, text }).collect() }
}

fn gone(title: &str) -> Line {
    let text = format!("{} {title}  is gone", Mark::Ready.sign());
    Line { spans: vec![Span { role: Role::Faint, text }] }
}
