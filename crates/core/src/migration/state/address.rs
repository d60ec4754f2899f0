//! Indices as addresses have them.

use std::fmt;

use serde::Deserialize;

/// What tells one instance from another.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Index {
    /// Of `count`.
    Number(u64),
    /// Of `for_each`.
    Key(String),
}

impl fmt::Display for Index {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Key(key) => {
                let quoted = serde_json::Value::from(key.as_str()).to_string();
                formatter.write_str(&quoted.replace("${", "$${").replace("%{", "%%{"))
            }
        }
    }
}
