//! What is told to people.

use std::fmt::Write as _;

use capt_core::columns::aligned;
use capt_core::from_go::{By, Entry};

use super::{Outcome, View};

impl View {
    pub(super) fn sentences(&self) -> String {
        let mut text = match self.outcome {
            Outcome::NothingToDo => {
                "nothing to do: nothing of the Go implementation is left that CAPT does not have already"
                    .to_owned()
            }
            Outcome::Planned => "what becomes of what the Go implementation left:".to_owned(),
            Outcome::Done => "done; the manager does its part as soon as it runs:".to_owned(),
        };
        let header = ["KIND", "NAME", "BY", "WHAT"].map(ToOwned::to_owned);
        let rows: Vec<[String; 4]> = std::iter::once(header).chain(self.entries.iter().map(row)).collect();
        if !self.entries.is_empty() {
            for line in aligned(&rows, 2) {
                // Writing to a String cannot fail.
                let _ = write!(text, "\n  {line}");
            }
        }
        for (title, entries) in [("in the way:", &self.in_the_way), ("to know:", &self.remarks)] {
            if !entries.is_empty() {
                let _ = write!(text, "\n\n{title}\n- {}", entries.join("\n- "));
            }
        }
        text
    }
}

fn row(entry: &Entry) -> [String; 4] {
    let Entry { kind, namespace, name, by, what } = entry;
    let name = namespace.as_ref().map_or_else(|| name.clone(), |namespace| format!("{namespace}/{name}"));
    let by = match by {
        By::Command => "this command",
        By::Manager => "the manager",
        By::You => "you",
        By::Nobody => "nobody",
    };
    [kind.clone(), name, by.to_owned(), what.clone()]
}
