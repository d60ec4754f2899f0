//! What a plan would do, readable and without secrets.

mod read;
mod sensitive;
mod value;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::imports::FailedImport;

pub(crate) use read::{nothing, read};

/// Names what a plan would do. The same changes have the same hash, however often they are planned.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanHash(String);

impl PlanHash {
    /// A hash that was written down earlier.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// 64 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PlanHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A plan that was made and saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What to name when it is to be applied.
    pub hash: PlanHash,
    /// Whether it destroys everything.
    pub destroy: bool,
    /// Whether applying it changes anything, the state included: Terraform's own verdict.
    #[serde(default = "yes")]
    pub applicable: bool,
    /// Changes to resources, by address.
    pub changes: Vec<Change>,
    /// Changes to outputs.
    pub outputs: Vec<OutputChange>,
    /// What else Terraform says of it, for example deferred changes, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// Resources that somebody changed outside of Terraform.
    pub drift: Vec<String>,
    /// What Terraform warned of.
    pub warnings: Vec<crate::diagnostic::Diagnostic>,
    /// The kind of backend that the module itself declares and that holds the state, for example `s3`, where the run
    /// asked for another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<String>,
    /// What an interrupted apply has made and this plan does not take in, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_imported: Vec<FailedImport>,
}

impl Plan {
    /// Whether applying it would change nothing.
    pub fn is_empty(&self) -> bool {
        !self.applicable
    }

    /// Whether applying it would change outputs and nothing else. Such a plan may come back after every apply, as that of
    /// `timestamp()` does. What is only read changes nothing but outputs. Where resources were changed outside of Terraform, an
    /// apply takes that into the state, and outputs follow.
    pub fn changes_outputs_alone(&self) -> bool {
        let reads = self.changes.iter().all(|change| change.action == Action::Read);
        let any = !self.changes.is_empty() || !self.outputs.is_empty();
        self.applicable && any && reads && self.others.is_empty() && self.drift.is_empty()
    }

    /// Whether it changes outputs, and none of them to a value that is known before the apply.
    pub fn changes_only_unknown_outputs(&self) -> bool {
        self.changes_outputs_alone() && self.outputs.iter().all(|output| !output.known)
    }

    /// How many resources it would treat in this way.
    pub fn count(&self, action: Action) -> usize {
        self.changes.iter().filter(|change| change.action == action).count()
    }

    /// The steps of its apply, as the progress counts them.
    pub fn steps(&self) -> u64 {
        self.changes.iter().map(|change| change.action.steps()).sum()
    }
}

/// What a plan of an earlier version says, which was kept only where it changes something.
fn yes() -> bool {
    true
}

/// For example `2 to add, 0 to change, 1 to replace, 0 to destroy, 1 to move`, then a line for each change.
impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = Action::ALL.into_iter().map(|action| (action, self.count(action)));
        let mut separator = "";
        for (action, count) in counts.filter(|(action, count)| action.is_always_counted() || *count > 0) {
            let Some(word) = action.infinitive() else { continue };
            write!(formatter, "{separator}{count} to {word}")?;
            separator = ", ";
        }
        if self.changes_outputs_alone() {
            write!(formatter, ", {} of outputs", counted(self.outputs.len(), "change"))?;
        }
        for change in &self.changes {
            write!(formatter, "\n{:>8} {}{}", change.action.word(), change.address, change.remark())?;
            for attribute in &change.attributes {
                write!(
                    formatter,
                    "\n           {}: {} -> {}",
                    attribute.name, attribute.before, attribute.after
                )?;
            }
        }
        for output in &self.outputs {
            write!(formatter, "\n{:>8} output {}", output.action.word(), output.name)?;
        }
        for other in &self.others {
            write!(formatter, "\n    also {other}")?;
        }
        for FailedImport { address, why } in &self.not_imported {
            write!(formatter, "\n    made by an interrupted run, and not imported: {address} ({why})")?;
        }
        Ok(())
    }
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// What happens to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// It is made.
    Create,
    /// It is changed in place.
    Update,
    /// It is deleted and made anew.
    Replace,
    /// It is deleted.
    Delete,
    /// A data source is read.
    Read,
    /// It is dropped from the state and stays as it is.
    Forget,
    /// It is taken into the state as it is.
    Import,
    /// It gets another address in the state and stays as it is.
    Move,
    /// Something that this version of CAPT does not know.
    Unknown,
}

impl Action {
    /// All of them, in the order in which a summary counts them.
    pub const ALL: [Self; 9] = [
        Self::Create,
        Self::Update,
        Self::Replace,
        Self::Delete,
        Self::Import,
        Self::Move,
        Self::Forget,
        Self::Read,
        Self::Unknown,
    ];

    /// For a line of its own.
    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Replace => "replace",
            Self::Delete => "destroy",
            Self::Read => "read",
            Self::Forget => "forget",
            Self::Import => "import",
            Self::Move => "move",
            Self::Unknown => "other",
        }
    }

    /// For a summary; none where it is not counted there.
    fn infinitive(self) -> Option<&'static str> {
        match self {
            Self::Create => Some("add"),
            Self::Update => Some("change"),
            Self::Replace => Some("replace"),
            Self::Delete => Some("destroy"),
            Self::Import => Some("import"),
            Self::Move => Some("move"),
            Self::Forget => Some("forget"),
            Self::Unknown => Some("treat in a way that CAPT does not know"),
            Self::Read => None,
        }
    }

    fn is_always_counted(self) -> bool {
        match self {
            Self::Create | Self::Update | Self::Replace | Self::Delete => true,
            Self::Read | Self::Forget | Self::Import | Self::Move | Self::Unknown => false,
        }
    }

    fn steps(self) -> u64 {
        match self {
            Self::Create | Self::Update | Self::Delete | Self::Read | Self::Unknown => 1,
            Self::Replace => 2,
            Self::Forget | Self::Import | Self::Move => 0,
        }
    }
}

/// What happens to one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its address.
    pub address: String,
    /// What happens.
    pub action: Action,
    /// Why, in Terraform's words, for example `replace_because_cannot_update`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The address that it has in the state until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// What it is imported by, for example its identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<String>,
    /// Which of its attributes change.
    pub attributes: Vec<AttributeChange>,
}

impl Change {
    /// What a line says of it behind its address; nothing where action and address say it all.
    pub fn remark(&self) -> String {
        let moved = self.moved_from.as_ref().map(|from| match self.action {
            Action::Move => format!("from {from}"),
            _ => format!("moved from {from}"),
        });
        let imported = self.imported.as_ref().map(|by| match self.action {
            Action::Import => by.clone(),
            _ => format!("imported, {by}"),
        });
        let reason = self.reason.as_ref().map(|reason| reason.replace('_', " "));
        let remarks: Vec<String> = [reason, moved, imported].into_iter().flatten().collect();
        if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join("; ")) }
    }
}

/// How an attribute changes. Sensitive values are not in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttributeChange {
    /// The attribute.
    pub name: String,
    /// Its value now.
    pub before: String,
    /// Its value afterwards.
    pub after: String,
}

/// How an output changes. Its value is not in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputChange {
    /// The output.
    pub name: String,
    /// What happens.
    pub action: Action,
    /// Whether the module calls it sensitive.
    pub sensitive: bool,
    /// Whether its value is known before the apply. That of `timestamp()` is not, and differs after every apply.
    #[serde(default = "yes")]
    pub known: bool,
}
