//! A plan for people.

use std::fmt::Write as _;

use super::{Outcome, Plan, Use};

impl Plan {
    /// The plan, or what came of it.
    pub(in crate::commands::migrate) fn sentences(&self) -> String {
        let mut text = match (self.outcome, &self.template) {
            (Outcome::NothingToDo, None) => format!(
                "nothing to do: no WorkspaceTemplate of the namespace {} has {}",
                self.namespace, self.asked_for
            ),
            (Outcome::NothingToDo, Some(template)) => format!(
                "nothing to do: neither WorkspaceTemplate `{template}` nor any state of what uses it has {}",
                self.asked_for
            ),
            (Outcome::Planned, _) => self.planned(),
            (Outcome::Done, _) => self.done(),
        };
        list(&mut text, "in the way:", &self.in_the_way);
        list(&mut text, "to know:", &self.remarks);
        list(&mut text, "left to do:", &self.left);
        text
    }

    fn planned(&self) -> String {
        let template = self.template.as_deref().unwrap_or_default();
        let mut text = if self.diff.is_empty() {
            format!("WorkspaceTemplate `{template}` stays as it is")
        } else {
            self.diff.trim_end_matches(['\r', '\n']).to_owned()
        };
        for user in &self.applies {
            // Writing to a String cannot fail.
            let _ = write!(text, "\n\n{}", user.sentences());
        }
        text
    }

    fn done(&self) -> String {
        let template = self.template.as_deref().unwrap_or_default();
        let left = self.applies.iter().filter(|user| !user.leaving.is_empty()).count();
        let states = if left == 1 { "1 state".to_owned() } else { format!("{left} states") };
        format!(
            "done: {} left {states} and WorkspaceTemplate `{template}`; nothing was uninstalled",
            self.asked_for
        )
    }
}

fn list(text: &mut String, title: &str, entries: &[String]) {
    if entries.is_empty() {
        return;
    }
    let _ = write!(text, "\n\n{title}");
    for entry in entries {
        let _ = write!(text, "\n- {entry}");
    }
}

impl Use {
    fn sentences(&self) -> String {
        let mut text = format!("WorkspaceTemplateApply `{}` is paused meanwhile", self.name);
        match (&self.state, self.leaving.as_slice()) {
            (Some(state), []) => {
                let _ = write!(text, "\n  the state in Secret `{state}` stays as it is");
            }
            (Some(state), leaving) => {
                let _ = write!(text, "\n  out of the state in Secret `{state}`:");
                for address in leaving {
                    let _ = write!(text, "\n    {address}");
                }
            }
            (None, _) => text.push_str("\n  it has no state"),
        }
        if let Some(cluster) = &self.cluster {
            for (key, value) in &self.labels {
                let _ = write!(text, "\n  Cluster `{cluster}` gets the label {key}={value}");
            }
        }
        text
    }
}
