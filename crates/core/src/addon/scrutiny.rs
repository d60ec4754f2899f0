//! What is looked at before an add-on is brought: whether its values arrive as they are meant, and whether versions go together.

use capt_api::addon_stack::{Compatibility, ValuesSecret};
use capt_api::names::Reason;

use crate::apply::Blocked;
use crate::compatibility::{self, Versions, findings, versions_in};
use crate::helm_values::check::{self, Outputs, Surroundings, check};
use crate::helm_values::{GROUP, KIND};
use crate::manifest::Manifest;
use crate::note::Note;

/// What an add-on is looked at beside.
pub struct Beside<'facts> {
    /// What the other add-ons of the stack bring.
    pub others: &'facts [Manifest],
    /// The Secrets with values that the whole stack brings.
    pub values: &'facts [ValuesSecret],
    /// The name of those that the user gives none.
    pub default_name: &'facts str,
    /// The module's outputs.
    pub outputs: Outputs<'facts>,
    /// The version that runs, as far as it is known.
    pub kubernetes: Option<&'facts str>,
    /// What happens where versions do not go together.
    pub policy: Compatibility,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scrutiny {
    /// Why it is not brought.
    pub refused: Option<Blocked>,
    /// What is told all the same.
    pub remarks: Vec<Note>,
}

impl Scrutiny {
    fn refuse(&mut self, reason: Reason, message: String) {
        self.refused.get_or_insert_with(|| Blocked::new(reason, message));
    }

    fn remark(&mut self, reason: Reason, message: String) {
        self.remarks.push(Note { warning: true, reason, message });
    }

    /// All of it as remarks: what is there already is not taken away, but told.
    pub fn tolerated(mut self) -> Vec<Note> {
        if let Some(Blocked { reason, message }) = self.refused.take() {
            self.remarks.insert(0, Note { warning: true, reason, message });
        }
        self.remarks
    }
}

/// Looks at what an add-on would bring.
pub fn scrutinize(manifests: &[Manifest], beside: &Beside<'_>) -> Scrutiny {
    let mut scrutiny = Scrutiny::default();
    misplaced(manifests, beside, &mut scrutiny);
    incompatible(manifests, beside, &mut scrutiny);
    scrutiny
}

/// `HelmReleases` that would not get their values as they are meant.
fn misplaced(manifests: &[Manifest], beside: &Beside<'_>, scrutiny: &mut Scrutiny) {
    let objects: Vec<_> = manifests.iter().chain(beside.others).map(|manifest| &manifest.object).collect();
    let surroundings = Surroundings {
        values: beside.values,
        default_name: Some(beside.default_name),
        outputs: beside.outputs,
        objects: &objects,
    };
    for manifest in manifests {
        let key = manifest.key();
        if key.group() != GROUP || key.kind != KIND {
            continue;
        }
        for finding in check(&manifest.object, &surroundings) {
            let message = format!("{key}: {finding}");
            match finding.severity() {
                check::Severity::Error => scrutiny.refuse(Reason::ValuesMisplaced, message),
                check::Severity::Warning => scrutiny.remark(Reason::ValuesMisplaced, message),
                // It says what cannot be seen from here, which is nothing new to whoever wrote it.
                check::Severity::Hint => {}
            }
        }
    }
}

/// Versions that do not go together. An add-on without a version of its own has nothing to do with it.
fn incompatible(manifests: &[Manifest], beside: &Beside<'_>, scrutiny: &mut Scrutiny) {
    let refuses = match beside.policy {
        Compatibility::Ignore => return,
        Compatibility::Warn => false,
        Compatibility::Refuse => true,
    };
    let found = versions_in(manifests);
    if found.versions == Versions::default() && found.doubts.is_empty() {
        return;
    }
    let all: Vec<_> = manifests.iter().chain(beside.others).cloned().collect();
    for finding in findings(&all, beside.kubernetes) {
        match finding.severity {
            compatibility::Severity::Error if refuses => {
                scrutiny.refuse(Reason::Incompatible, finding.message);
            }
            compatibility::Severity::Error | compatibility::Severity::Warning => {
                scrutiny.remark(Reason::Incompatible, finding.message);
            }
        }
    }
}

#[cfg(test)]
mod tests;
