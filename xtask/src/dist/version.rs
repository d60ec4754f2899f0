//! The version of a release.

use std::fmt;
use std::str::FromStr;

use anyhow::Context;

/// A version, as `vX.Y.Z`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) major: u64,
    pub(crate) minor: u64,
    pub(crate) patch: u64,
    /// What follows, with its hyphen: `-rc.1`.
    rest: String,
}

impl Version {
    /// That of the workspace.
    pub(crate) fn of_this() -> Self {
        let number = |text: &str| text.parse().unwrap_or_default();
        let before = env!("CARGO_PKG_VERSION_PRE");
        Self {
            major: number(env!("CARGO_PKG_VERSION_MAJOR")),
            minor: number(env!("CARGO_PKG_VERSION_MINOR")),
            patch: number(env!("CARGO_PKG_VERSION_PATCH")),
            rest: if before.is_empty() { String::new() } else { format!("-{before}") },
        }
    }

    /// The next one that changes nothing but what was wrong.
    pub(crate) fn next_patch(&self) -> Self {
        Self { patch: self.patch + 1, rest: String::new(), ..self.clone() }
    }

    /// The first one of the next series.
    pub(crate) fn next_minor(&self) -> Self {
        Self { minor: self.minor + 1, patch: 0, rest: String::new(), ..self.clone() }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { major, minor, patch, rest } = self;
        write!(formatter, "v{major}.{minor}.{patch}{rest}")
    }
}

impl FromStr for Version {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let version = parse(text).with_context(|| format!("`{text}` is no version: write it as v1.2.3"))?;
        Ok(version)
    }
}

fn parse(text: &str) -> Option<Version> {
    let text = text.strip_prefix('v')?;
    let (numbers, rest) = text.split_at(text.find('-').unwrap_or(text.len()));
    let is_known = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-');
    if rest == "-" || !rest.chars().all(is_known) {
        return None;
    }
    let mut numbers = numbers.split('.').map(str::parse);
    let mut next = || numbers.next()?.ok();
    let version = Version { major: next()?, minor: next()?, patch: next()?, rest: rest.to_owned() };
    numbers.next().is_none().then_some(version)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::release("v1.2.3")]
    #[case::candidate("v0.1.0-rc.1")]
    fn a_version_is_written_as_it_was_read(#[case] text: &str) {
        assert_eq!(text.parse::<Version>().unwrap().to_string(), text);
    }

    #[rstest]
    #[case::without_its_letter("1.2.3")]
    #[case::too_short("v1.2")]
    #[case::too_long("v1.2.3.4")]
    #[case::words("vnext")]
    #[case::nothing_after_the_hyphen("v1.2.3-")]
    #[case::a_path("v1.2.3-../..")]
    fn what_is_no_version_is_refused(#[case] text: &str) {
        assert!(text.parse::<Version>().is_err());
    }

    #[test]
    fn this_version_has_its_neighbours() {
        let version: Version = "v1.2.3-rc.1".parse().unwrap();

        assert_eq!(version.next_patch().to_string(), "v1.2.4");
        assert_eq!(version.next_minor().to_string(), "v1.3.0");
    }
}
