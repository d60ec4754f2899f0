//! What was found, for programs and for people.

use anstyle::{AnsiColor, Style};
use capt_core::validation::{Finding, Severity};
use serde::Serialize;

use super::files::Read;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// The longest line that is shown in full.
const WIDEST: usize = 120;

/// What was found.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    files: usize,
    errors: usize,
    warnings: usize,
    findings: Vec<Finding>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<Skipped>,
}

/// A file that another tool reads.
#[derive(Debug, Serialize)]
pub(super) struct Skipped {
    file: String,
    message: &'static str,
}

impl Skipped {
    pub(super) fn of(read: &Read) -> Option<Self> {
        let tool = read.other_tool()?;
        Some(Self { file: read.name().to_owned(), message: tool.explanation() })
    }
}

impl Report {
    /// With `strict`, warnings count as errors.
    pub(super) fn new(files: usize, mut findings: Vec<Finding>, skipped: Vec<Skipped>, strict: bool) -> Self {
        if strict {
            for finding in &mut findings {
                finding.severity = Severity::Error;
            }
        }
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
        Self { files, errors, warnings: findings.len() - errors, findings, skipped }
    }

    pub(super) fn is_good(&self) -> bool {
        self.errors == 0
    }

    /// How much was found.
    pub(super) fn counts(&self) -> String {
        let counted =
            |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        let found = match (self.errors, self.warnings) {
            (0, 0) => "no problems".to_owned(),
            (errors, 0) => counted(errors, "error"),
            (0, warnings) => counted(warnings, "warning"),
            (errors, warnings) => {
                format!("{} and {}", counted(errors, "error"), counted(warnings, "warning"))
            }
        };
        let skipped = match self.skipped.len() {
            0 => String::new(),
            count => format!(", {count} skipped"),
        };
        format!("{found} in {}{skipped}", counted(self.files, "file"))
    }

    /// Each with its line and a mark below the place. How much it is, is told as the error where there is one.
    pub(super) fn text(&self) -> String {
        let mut blocks: Vec<String> = self.findings.iter().map(block).collect();
        blocks.extend(self.skipped.iter().map(|one| format!("{}: skipped: {}", one.file, one.message)));
        if self.is_good() {
            blocks.push(self.counts());
        }
        blocks.join("\n")
    }
}

fn block(finding: &Finding) -> String {
    let Finding { file, position, severity, message, excerpt } = finding;
    let style = match severity {
        Severity::Error => ERROR,
        Severity::Warning => WARNING,
    };
    let (line, column) = (position.line, position.column);
    let head = format!("{file}:{line}:{column}: {style}{}:{style:#} {message}", severity.as_str());
    let Some(excerpt) = excerpt.as_deref().filter(|excerpt| excerpt.chars().count() <= WIDEST) else {
        return head;
    };
    // The mark stands below its place only if every character is as wide as a blank.
    let plain: String =
        excerpt.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    let mark = " ".repeat(column.saturating_sub(1).min(plain.chars().count()));
    format!("{head}\n  {number} | {plain}\n  {margin} | {mark}{style}^{style:#}")
}
