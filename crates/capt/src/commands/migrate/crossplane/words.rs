//! What is done, for people.

use std::fmt::Write as _;

use super::{Entry, Outcome, Report, Way};

impl Report {
    pub(super) fn sentences(&self) -> String {
        if self.workspaces.is_empty() {
            return "nothing to do: there are no Workspaces".to_owned();
        }
        let lines: Vec<String> = self.workspaces.iter().map(|entry| entry.sentence(self.way)).collect();
        lines.join("\n")
    }
}

impl Entry {
    fn sentence(&self, way: Way) -> String {
        let who = match way {
            Way::ToCapt => "CAPT",
            Way::ToCrossplane => "Crossplane",
        };
        let name = &self.name;
        let mut text = match self.outcome {
            Outcome::Planned => format!("Workspace `{name}`: {who} is to run it"),
            Outcome::Done => format!("Workspace `{name}`: {who} runs it"),
            Outcome::Waiting => match way {
                Way::ToCapt => format!("Workspace `{name}`: {who} runs it and waits"),
                Way::ToCrossplane => format!("Workspace `{name}`: it stays with CAPT"),
            },
            Outcome::NothingToDo => match way {
                Way::ToCapt => format!("Workspace `{name}`: nothing to do, CAPT runs it already"),
                Way::ToCrossplane => format!("Workspace `{name}`: nothing to do, it was not handed to CAPT"),
            },
            Outcome::InTheWay => format!("Workspace `{name}`: cannot be handed over"),
        };
        if let Some(state) = &self.state {
            // Writing to a String cannot fail.
            let _ = write!(text, "; its state stays where it is ({state})");
        }
        if let Some(message) = &self.message {
            let _ = write!(text, ": {message}");
        }
        text
    }
}
