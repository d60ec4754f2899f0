//! How a command ended, and what that means.

use std::fs;
use std::process::ExitStatus;
use std::time::Duration;

use crate::diagnostic::{Diagnostic, LockInfo, Severity, parse_human};
use crate::engine::Verb;
use crate::error::Error;
use crate::redact::Redactor;
use crate::stream::Fold;
use crate::workdir::{Workdir, Worked};

/// How many lines of a command without diagnostics are told.
const LAST_LINES: usize = 5;

/// Whether a command was asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    No,
    /// By the caller.
    Asked,
    /// Because it took longer than this.
    TooLong(Duration),
}

/// A command that has ended. Its texts are free of secrets.
pub(super) struct Ended {
    pub(super) verb: Verb,
    pub(super) exit: ExitStatus,
    stopped: Stopped,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The lock that was in the way, and whether a command of ours left it behind.
    lock: Option<(LockInfo, bool)>,
    /// Whether it had begun to change something, and came to its own end: neither killed nor crashed.
    pub(super) settled: bool,
    /// For the log, when the command is not a stream.
    pub(super) lines: Vec<String>,
}

impl Ended {
    pub(super) fn read(
        workdir: &Workdir,
        redactor: &Redactor,
        verb: Verb,
        exit: ExitStatus,
        stopped: Stopped,
        fold: Fold,
    ) -> Result<Self, Error> {
        let read = |stream: &str| {
            let path = workdir.raw(verb, stream);
            fs::read(&path)
                .map(|bytes| without_colours(&String::from_utf8_lossy(&bytes)))
                .map_err(Error::file(path))
        };
        let errors = read("err")?;
        let settled = !fold.calls(redactor).is_empty() && fold.has_ended_by_itself();
        let mut diagnostics = fold.diagnostics;
        diagnostics.extend(parse_human(&errors).into_iter().map(|diagnostic| diagnostic.redacted(redactor)));
        if !exit.success() && diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error) {
            diagnostics.extend(last_lines(&errors, redactor));
        }
        // What these print are values.
        let printed = if matches!(verb, Verb::Show | Verb::Output | Verb::StatePull) {
            String::new()
        } else {
            read("out")?
        };
        let told = diagnostics.iter().map(ToString::to_string);
        let lines = printed
            .lines()
            .filter(|line| !line.is_empty())
            .map(|line| redactor.redact(line))
            .chain(told)
            .collect();
        let lock = diagnostics.iter().find_map(Diagnostic::lock).map(|lock| {
            let left_behind = Worked::left(workdir, &lock, redactor);
            (lock, left_behind)
        });
        Ok(Self { verb, exit, stopped, diagnostics, lock, settled, lines })
    }

    /// Whether it ended as it should, and so left no lock.
    pub(super) fn is_clean(&self) -> bool {
        matches!((self.verb, self.exit.code()), (_, Some(0)) | (Verb::Plan, Some(2)))
    }

    /// Whether somebody else's lock kept it from its work.
    pub(super) fn is_locked_out(&self) -> bool {
        self.lock.is_some()
    }

    /// The exit code, if it is one of those that mean success.
    pub(super) fn expect(&self, codes: &[i32]) -> Result<i32, Error> {
        match self.exit.code() {
            Some(code) if codes.contains(&code) => Ok(code),
            _ => Err(self.failure()),
        }
    }

    pub(super) fn warnings(&self) -> Vec<Diagnostic> {
        self.diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == Severity::Warning)
            .cloned()
            .collect()
    }

    /// Whether something that init makes is missing, in the words of either tool.
    pub(super) fn asks_for_init(&self) -> bool {
        let mut errors = self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
        errors
            .any(|error| ["terraform init", "tofu init"].iter().any(|command| error.detail.contains(command)))
    }

    fn failure(&self) -> Error {
        let verb = self.verb;
        match self.stopped {
            Stopped::Asked => return Error::Interrupted { verb },
            Stopped::TooLong(limit) => {
                return Error::TimedOut { verb, limit, diagnostics: self.diagnostics.clone() };
            }
            Stopped::No => {}
        }
        if let Some((lock, left_behind)) = self.lock.clone() {
            return Error::Locked { verb, lock, left_behind };
        }
        if self.diagnostics.iter().any(|diagnostic| diagnostic.summary == "Saved plan is stale") {
            return Error::StalePlan { why: "the state changed since it was made" };
        }
        Error::Failed { verb, exit: self.exit.to_string(), diagnostics: self.diagnostics.clone() }
    }
}

/// Some commands colour what they print although they were told not to.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.find('m').map_or(part, |end| &part[end + 1..]))
}

/// A command that says nothing in its usual form: a crash, or no Terraform at all.
fn last_lines(errors: &str, redactor: &Redactor) -> Option<Diagnostic> {
    let lines: Vec<&str> = errors.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let from = lines.len().saturating_sub(LAST_LINES);
    (!lines.is_empty()).then(|| Diagnostic::error(redactor.redact(&lines[from..].join("; "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_taken_off() {
        assert_eq!(without_colours("\u{1b}[31mFailed\u{1b}[0m\u{1b}[0m: no\n"), "Failed: no\n");
    }
}
