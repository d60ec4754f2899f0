//! Content that must never be printed.

use std::fmt;

/// Bytes that are shown to nobody: `Debug` hides them, and there is no `Display` and no `Serialize`.
///
/// A field that has to travel names [`in_clear`] itself, so that every such place can be found.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// Takes the content in.
    pub fn new(content: impl Into<Vec<u8>>) -> Self {
        Self(content.into())
    }

    /// The content, for the one who really needs it.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("(secret)")
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

/// Writes and reads a [`Secret`] as base64: for a value that goes where secrets are kept.
pub mod in_clear {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::Secret;

    /// Writes the content.
    pub fn serialize<S: Serializer>(secret: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(secret.expose()))
    }

    /// Reads the content. The message of a failure does not repeat it.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(Secret).map_err(|_| D::Error::custom("a secret that is not base64"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_does_not_show_a_secret() {
        assert_eq!(format!("{:?}", Some(Secret::from("hunter2"))), "Some((secret))");
    }
}
