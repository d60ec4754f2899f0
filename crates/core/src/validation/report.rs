//! Collects what is found.

use std::collections::BTreeSet;

use super::File;
use super::finding::{Finding, Severity};
use super::object::Object;
use super::position::Position;

/// The longest line that is shown.
const LONGEST: usize = 400;

/// What is found, so far.
pub(super) struct Report<'files> {
    files: &'files [File<'files>],
    found: Vec<(usize, Found)>,
    errors: usize,
}

struct Found {
    position: Position,
    severity: Severity,
    message: String,
    hidden: bool,
}

impl<'files> Report<'files> {
    pub(super) const fn new(files: &'files [File<'files>]) -> Self {
        Self { files, found: Vec::new(), errors: 0 }
    }

    /// Something at a place of a file. Where it is hidden the line is not shown.
    pub(super) fn tell(
        &mut self,
        file: usize,
        position: Position,
        severity: Severity,
        hidden: bool,
        message: impl Into<String>,
    ) {
        self.errors += usize::from(severity == Severity::Error);
        self.found.push((file, Found { position, severity, message: message.into(), hidden }));
    }

    /// Something about a place of an object, for example `spec.addons[0].name`.
    pub(super) fn tell_of(
        &mut self,
        object: &Object,
        path: &str,
        severity: Severity,
        message: impl Into<String>,
    ) {
        self.tell(object.file, object.place(path), severity, object.is_hidden(), message);
    }

    pub(super) fn error(&mut self, object: &Object, path: &str, message: impl Into<String>) {
        self.tell_of(object, path, Severity::Error, message);
    }

    pub(super) fn warning(&mut self, object: &Object, path: &str, message: impl Into<String>) {
        self.tell_of(object, path, Severity::Warning, message);
    }

    /// The name of a file.
    pub(super) fn file(&self, file: usize) -> &'files str {
        self.files[file].name
    }

    /// How many errors there are so far.
    pub(super) const fn errors(&self) -> usize {
        self.errors
    }

    /// Everything in the order of files and lines, nothing twice.
    pub(super) fn finish(self) -> Vec<Finding> {
        let Self { files, mut found, .. } = self;
        found.sort_by_key(|(file, found)| (*file, found.position, std::cmp::Reverse(found.severity)));
        let mut told = BTreeSet::new();
        let lines: Vec<Vec<&str>> = files.iter().map(|file| file.text.lines().collect()).collect();
        let finding = |(file, found): (usize, Found)| {
            let Found { position, severity, message, hidden } = found;
            let is_new = told.insert((file, position, message.clone()));
            let line = lines[file].get(position.line - 1).filter(|_| !hidden);
            let excerpt = line.map(|line| line.trim_start_matches('\u{feff}'));
            let excerpt = excerpt.filter(|line| line.chars().count() <= LONGEST).map(str::to_owned);
            is_new.then(|| Finding {
                file: files[file].name.to_owned(),
                position,
                severity,
                message,
                excerpt,
            })
        };
        found.into_iter().filter_map(finding).collect()
    }
}
