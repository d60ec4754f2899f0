//! Runs for programs and for people.

use std::fmt::Write as _;

use capt_api::engine_status::RunOperation;
use capt_core::columns::aligned;
use capt_core::workspace::run_log::RunLog;
use serde::Serialize;

/// The runs that were asked for.
#[derive(Serialize)]
pub(super) struct Logs<'runs> {
    pub(super) runs: &'runs [RunView],
}

/// A run of a Workspace.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunView {
    workspace: String,
    /// Runs are counted from 1.
    pub(super) number: u64,
    #[serde(flatten)]
    log: RunLog,
}

impl RunView {
    pub(super) fn new(workspace: String, number: u64, log: RunLog) -> Self {
        Self { workspace, number, log }
    }

    /// What it was, and what it printed.
    pub(super) fn sentences(&self) -> String {
        let RunLog { lines, gap, .. } = &self.log;
        let mut text = self.headline();
        for (index, line) in lines.iter().enumerate() {
            if let Some(gap) = gap.filter(|gap| gap.after == index) {
                // Writing to a String cannot fail.
                let _ = write!(text, "\n… {} lines are left out …", gap.lines);
            }
            text.push('\n');
            text.push_str(line);
        }
        if lines.is_empty() {
            text.push_str("\n(it printed nothing)");
        }
        text
    }

    /// What it was, when, why, and what came of it.
    pub(super) fn headline(&self) -> String {
        let Self { workspace, number, log } = self;
        let RunLog { operation, cause, started_at, ended_at, succeeded, result, .. } = log;
        let seconds = ended_at.duration_since(*started_at).as_secs();
        let end = if *succeeded {
            format!("{result}, after {seconds} s")
        } else {
            format!("failed after {seconds} s: {result}")
        };
        format!(
            "# Workspace `{workspace}`, run {number}: {}, {started_at:.0}, because {}: {end}",
            word(*operation),
            cause.sentence()
        )
    }
}

/// The runs in a table.
pub(super) fn table(runs: &[RunView]) -> String {
    if runs.is_empty() {
        return "no run is kept".to_owned();
    }
    let header = ["WORKSPACE", "RUN", "WHAT", "BEGAN", "TOOK", "RESULT"].map(ToOwned::to_owned);
    let rows = runs.iter().map(|RunView { workspace, number, log }| {
        let result = if log.succeeded { log.result.clone() } else { format!("failed: {}", log.result) };
        [
            workspace.clone(),
            number.to_string(),
            word(log.operation).to_owned(),
            format!("{:.0}", log.started_at),
            format!("{} s", log.ended_at.duration_since(log.started_at).as_secs()),
            first_line(&result),
        ]
    });
    aligned(&std::iter::once(header).chain(rows).collect::<Vec<_>>(), 2).join("\n")
}

fn first_line(text: &str) -> String {
    const LONGEST: usize = 100;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// What an operation is called.
pub(super) fn word(operation: RunOperation) -> &'static str {
    match operation {
        RunOperation::Plan => "plan",
        RunOperation::Preview => "plan to see",
        RunOperation::Apply => "apply",
        RunOperation::PlanDestroy => "plan destroy",
        RunOperation::Destroy => "destroy",
        RunOperation::Outputs => "outputs",
        RunOperation::Unlock => "unlock",
    }
}

#[cfg(test)]
mod tests {
    use capt_core::workspace::run_log::{Cause, Gap};

    use super::*;

    fn run(number: u64, succeeded: bool) -> RunView {
        let log = RunLog {
            operation: RunOperation::Apply,
            cause: Cause::Change,
            started_at: "2026-11-16T12:00:00.5Z".parse().unwrap(),
            ended_at: "2026-11-16T12:00:12Z".parse().unwrap(),
            succeeded,
            result: if succeeded {
                "applied".to_owned()
            } else {
                "apply failed: no quota\nat all".to_owned()
            },
            quiet: false,
            lines: vec!["a.b: Creating...".to_owned(), "a.b: Creation complete after 0s".to_owned()],
            gap: (!succeeded).then_some(Gap { after: 1, lines: 12 }),
        };
        RunView::new("prod-vpc".to_owned(), number, log)
    }

    #[test]
    fn a_run_is_shown_with_its_headline() {
        insta::assert_snapshot!(run(7, true).sentences(), @r"
        # Workspace `prod-vpc`, run 7: apply, 2026-11-16T12:00:00Z, because what goes in has changed, or was not finished: applied, after 11 s
        a.b: Creating...
        a.b: Creation complete after 0s
        ");
    }

    #[test]
    fn lines_that_are_left_out_are_told() {
        assert!(run(7, false).sentences().contains("Creating...\n… 12 lines are left out …\na.b: Creation"));
    }

    #[test]
    fn runs_are_a_table() {
        insta::assert_snapshot!(table(&[run(7, true), run(8, false)]), @r"
        WORKSPACE  RUN  WHAT   BEGAN                 TOOK  RESULT
        prod-vpc   7    apply  2026-11-16T12:00:00Z  11 s  applied
        prod-vpc   8    apply  2026-11-16T12:00:00Z  11 s  failed: apply failed: no quota
        ");
    }
}
