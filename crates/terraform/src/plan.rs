//! What a plan would do, readable and without secrets.

mod read;
mod sensitive;
mod value;

use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) use read::read;

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
    /// Changes to resources, by address. Empty together with `outputs` means that there is nothing to do.
    pub changes: Vec<Change>,
    /// Changes to outputs.
    pub outputs: Vec<OutputChange>,
    /// Resources that somebody changed outside of Terraform.
    pub drift: Vec<String>,
    /// What Terraform warned of.
    pub warnings: Vec<crate::diagnostic::Diagnostic>,
    /// The kind of backend that the module itself declares and that holds the state, for example `s3`, where the run
    /// asked for another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<String>,
}

impl Plan {
    /// Whether applying it would change nothing.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.outputs.is_empty()
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

/// For example `2 to add, 0 to change, 1 to replace, 0 to destroy`, then a line for each change.
impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} to add, {} to change, {} to replace, {} to destroy",
            self.count(Action::Create),
            self.count(Action::Update),
            self.count(Action::Replace),
            self.count(Action::Delete)
        )?;
        for change in &self.changes {
            write!(formatter, "\n{:>8} {}", change.action.word(), change.address)?;
            if let Some(reason) = &change.reason {
                write!(formatter, " ({reason})")?;
            }
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
        Ok(())
    }
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
}

impl Action {
    fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Replace => "replace",
            Self::Delete => "destroy",
            Self::Read => "read",
            Self::Forget => "forget",
        }
    }

    fn steps(self) -> u64 {
        match self {
            Self::Create | Self::Update | Self::Delete | Self::Read => 1,
            Self::Replace => 2,
            Self::Forget => 0,
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
    /// Which of its attributes change.
    pub attributes: Vec<AttributeChange>,
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
}
