//! Colours of lines. They are taken away again where nobody would see them.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use capt_core::overview::{Line, Mark, Role};

/// The line with its colours.
pub(crate) fn paint(line: &Line) -> String {
    let mut text = String::new();
    for span in &line.spans {
        let style = style(span.role);
        // Writing to a String cannot fail.
        let _ = write!(text, "{style}{}{style:#}", span.text);
    }
    text
}

const fn style(role: Role) -> Style {
    match role {
        Role::Heading | Role::Blocker => Style::new().bold(),
        Role::Faint | Role::Mark(Mark::Unknown) => Style::new().dimmed(),
        Role::Mark(Mark::Ready) => AnsiColor::Green.on_default(),
        Role::Mark(Mark::Waiting) => AnsiColor::Yellow.on_default(),
        Role::Mark(Mark::Failing) => AnsiColor::Red.on_default(),
        Role::Mark(Mark::Paused) => AnsiColor::Cyan.on_default(),
        Role::Plain => Style::new(),
    }
}
