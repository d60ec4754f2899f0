//! Versions as the table compares them: by their numbers.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::condition::cut;
use crate::kubernetes_version::KubernetesVersion;

/// How much of a text that is no version is repeated.
const SHOWN: usize = 40;

/// A version of Kubernetes, Flux, Karpenter or Helm: `1.34`, `v1.34.2`, `1.34.2-eks-3abbec1`. Only its numbers count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    minor: Minor,
    patch: Option<u32>,
}

impl Version {
    /// Reads a version, with or without its `v`, its patch and what follows that.
    pub fn parse(text: &str) -> Result<Self, NotAVersion> {
        numbers(text).ok_or_else(|| NotAVersion::new(text))
    }

    /// The first version of a minor, as far as it is known without a patch.
    pub const fn of(minor: Minor) -> Self {
        Self { minor, patch: None }
    }

    /// Major and minor version.
    pub const fn minor(self) -> Minor {
        self.minor
    }

    /// The major version.
    pub const fn major(self) -> u32 {
        self.minor.major
    }

    /// Without a patch where that is zero: as rows of the table are named.
    #[must_use]
    pub fn short(self) -> Self {
        Self { patch: self.patch.filter(|patch| *patch > 0), ..self }
    }
}

/// What [`KubernetesVersion`] takes for a version is one here too; it has the grammar.
fn numbers(text: &str) -> Option<Version> {
    KubernetesVersion::parse(text)?;
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut numbers = text.split(['-', '+']).next()?.split('.').map(|number| number.parse().ok());
    let minor = Minor { major: numbers.next()??, minor: numbers.next()?? };
    Some(Version { minor, patch: numbers.next().flatten() })
}

/// From old to new. One whose patch is not known stands at the beginning of its minor.
impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |version: &Self| (version.minor, version.patch.unwrap_or(0), version.patch.is_some());
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.minor)?;
        self.patch.map_or(Ok(()), |patch| write!(formatter, ".{patch}"))
    }
}

impl TryFrom<String> for Version {
    type Error = NotAVersion;

    fn try_from(text: String) -> Result<Self, NotAVersion> {
        Self::parse(&text)
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

/// A major and a minor version: `1.34`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Minor {
    major: u32,
    minor: u32,
}

impl Minor {
    /// The minor version after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self { minor: self.minor.saturating_add(1), ..self }
    }
}

impl fmt::Display for Minor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

impl TryFrom<String> for Minor {
    type Error = NotAVersion;

    fn try_from(text: String) -> Result<Self, NotAVersion> {
        let version = Version::parse(&text)?;
        let is_all = version.minor.to_string() == text;
        is_all.then_some(version.minor).ok_or_else(|| NotAVersion::new(&text))
    }
}

impl From<Minor> for String {
    fn from(minor: Minor) -> Self {
        minor.to_string()
    }
}

/// Minor versions from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Minors {
    /// The first.
    pub first: Minor,
    /// The last.
    pub last: Minor,
}

impl Minors {
    /// Whether a minor version is among them.
    pub fn contains(self, minor: Minor) -> bool {
        self.first <= minor && minor <= self.last
    }
}

impl fmt::Display for Minors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last } = self;
        if first == last { write!(formatter, "{first}") } else { write!(formatter, "{first} to {last}") }
    }
}

/// A text that is no version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no version: write it as for example 1.34, v1.34.2 or 1.34.2-eks-3abbec1")]
pub struct NotAVersion(String);

impl NotAVersion {
    pub(super) fn new(text: &str) -> Self {
        let plain = |character: char| if character.is_control() { '?' } else { character };
        Self(cut(text.trim(), SHOWN).chars().map(plain).collect())
    }
}
