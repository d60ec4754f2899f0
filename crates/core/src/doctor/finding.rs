//! What was found.

use std::fmt::Write as _;

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    /// All is well.
    Good,
    /// Somebody should know.
    Warning,
    /// Something does not work.
    Bad,
}

impl Level {
    /// What stands before a finding.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Good => "✓",
            Self::Warning => "!",
            Self::Bad => "✗",
        }
    }
}

/// What was found at one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What was looked at: `parts`, `kinds`, `Cluster team-a/prod`.
    pub area: String,
    /// How bad it is.
    pub level: Level,
    /// What holds.
    pub message: String,
    /// What to type or do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Finding {
    /// All is well.
    pub fn good(area: impl Into<String>, message: impl Into<String>) -> Self {
        Self { area: area.into(), level: Level::Good, message: message.into(), fix: None }
    }

    /// Somebody should know.
    pub fn warning(area: impl Into<String>, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { area: area.into(), level: Level::Warning, message: message.into(), fix: Some(fix.into()) }
    }

    /// Something does not work.
    pub fn bad(area: impl Into<String>, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { area: area.into(), level: Level::Bad, message: message.into(), fix: Some(fix.into()) }
    }
}

/// Everything that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// One after the other, those of one place together.
    pub findings: Vec<Finding>,
}

impl Report {
    /// How many are of this level.
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }

    /// For people: a heading for each place, a line for each finding, and what to do below it. `marked` dresses the mark.
    pub fn text(&self, marked: impl Fn(Level) -> String) -> String {
        let mut text = String::new();
        let mut area = "";
        for Finding { area: of, level, message, fix } in &self.findings {
            if of != area {
                let gap = if area.is_empty() { "" } else { "\n" };
                let _ = writeln!(text, "{gap}{of}");
                area = of;
            }
            let _ = writeln!(text, "  {} {message}", marked(*level));
            if let Some(fix) = fix {
                let _ = writeln!(text, "      fix: {fix}");
            }
        }
        let (bad, warnings) = (self.count(Level::Bad), self.count(Level::Warning));
        let _ = match (bad, warnings) {
            (0, 0) => write!(text, "\nAll is well."),
            (0, warnings) => write!(text, "\nNothing is wrong; {}.", counted(warnings, "warning")),
            (bad, 0) => write!(text, "\n{} to fix.", counted(bad, "thing")),
            (bad, warnings) => {
                write!(text, "\n{} to fix; {}.", counted(bad, "thing"), counted(warnings, "warning"))
            }
        };
        text
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
