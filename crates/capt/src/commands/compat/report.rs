//! What came of a check, for programs and for people.

use capt_core::compatibility::{Judgement, Table, Verdict, Versions};
use jiff::civil::Date;
use serde::Serialize;

/// What came of a check.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// The day up to which the table is true.
    date: Date,
    supported: bool,
    versions: Versions,
    judgements: Vec<Judgement>,
    /// Why something could not be judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    doubts: Vec<String>,
}

impl Report {
    pub(super) fn new(versions: Versions, judgements: Vec<Judgement>, doubts: Vec<String>) -> Self {
        let is_good = |judgement: &Judgement| judgement.verdict == Verdict::Supported;
        let supported = judgements.iter().all(is_good) && doubts.is_empty();
        Self { date: Table::embedded().date, supported, versions, judgements, doubts }
    }

    /// Whether there was anything to judge.
    pub(super) fn is_something(&self) -> bool {
        !self.judgements.is_empty() || !self.doubts.is_empty()
    }

    /// Whether nothing speaks against any of it.
    pub(super) fn is_supported(&self) -> bool {
        self.supported
    }

    /// The same for people.
    pub(super) fn sentences(&self) -> String {
        let judged = self.judgements.iter().map(|judgement| (judgement.verdict.as_str(), &judgement.message));
        let mut lines: Vec<String> = Vec::new();
        if self.versions != Versions::default() {
            lines.push(format!("{}:", self.versions));
        }
        lines.extend(judged.map(|(verdict, message)| format!("  {verdict:WIDTH$}  {message}")));
        lines.extend(self.doubts.iter().map(|doubt| format!("  {:WIDTH$}  {doubt}", "Unknown")));
        lines.push(format!("by the table of {}", self.date));
        lines.join("\n")
    }
}

/// The longest verdict.
const WIDTH: usize = Verdict::EndOfSupport.as_str().len();
