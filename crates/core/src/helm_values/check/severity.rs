//! How bad each problem is.

use super::finding::Severity;
use super::problem::{Problem, Winner};
use crate::helm_values::effect::Effect;

impl Problem {
    /// How bad it is.
    pub const fn severity(&self) -> Severity {
        match self {
            Self::ObjectUnknown { .. } | Self::KeptByQuotes { .. } => Severity::Hint,
            Self::Changes { effect, .. } => match effect {
                // Often meant so.
                Effect::Number | Effect::Truth | Effect::List => Severity::Hint,
                Effect::Null | Effect::Injects | Effect::Altered => Severity::Warning,
                Effect::Refused(_) => Severity::Error,
            },
            Self::TooManyReferences { .. }
            | Self::LiteralWithoutPath
            | Self::ValuesPrefix { .. }
            | Self::Slashes { .. }
            | Self::UnescapedDots { certain: false, .. }
            | Self::AlsoInline { winner: Winner::Reference | Winner::Unclear, .. }
            | Self::SamePath { .. }
            | Self::OverReference { .. }
            | Self::KeyNotFed { optional: true, .. }
            | Self::MayBeMissing { .. } => Severity::Warning,
            Self::ValuesNotMapping
            | Self::ReferencesNotList
            | Self::EntryNotMapping
            | Self::Kind
            | Self::Name { .. }
            | Self::NotTruth
            | Self::Key
            | Self::PathNotText
            | Self::PathEmpty
            | Self::PathTooLong { .. }
            | Self::PathCharacter { .. }
            | Self::PathGrammar { .. }
            | Self::DoubledBackslash { .. }
            | Self::UnescapedDots { certain: true, .. }
            | Self::AlsoInline { winner: Winner::Inline, .. }
            | Self::ThroughInline { .. }
            | Self::LostInList { .. }
            | Self::ThroughReference { .. }
            | Self::SplitReference { .. }
            | Self::KeyNotFed { optional: false, .. }
            | Self::OutputMissing { .. }
            | Self::OtherNamespace { .. }
            | Self::KeyNotHeld { .. }
            | Self::MixedForms { .. }
            | Self::Unprintable { .. }
            | Self::FileUnusable { .. } => Severity::Error,
        }
    }
}
