//! Versions of Kubernetes, and which of them to report.
//!
//! Cluster API wants a version with a patch in a control plane's spec (`v1.34.2`), and takes a reported version that is older
//! for an upgrade under way. EKS tells only `1.34`. So what is told is matched to what was asked for as far as it goes.

use std::cmp::Ordering;
use std::fmt;

/// The longest text that is looked at.
const LONGEST: usize = 128;

/// A version: `1.34`, `v1.34.2`, `v1.34.2+k3s1`, `1.34.2-eks-3abbec1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KubernetesVersion {
    major: u32,
    minor: u32,
    patch: Option<u32>,
    suffix: Option<String>,
    build: Option<String>,
}

impl KubernetesVersion {
    /// Reads a version, with or without its `v` and its patch. Nothing for what is none, such as `latest`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() > LONGEST {
            return None;
        }
        let text = without_v(text);
        let (text, build) = parted(text, '+');
        let (text, suffix) = parted(text, '-');
        let mut numbers = text.split('.');
        let major = number(numbers.next()?)?;
        let minor = number(numbers.next()?)?;
        let patch = numbers.next().map(number);
        if numbers.next().is_some() || patch == Some(None) || ![suffix, build].into_iter().all(is_legal) {
            return None;
        }
        let [suffix, build] = [suffix, build].map(|text| text.map(ToOwned::to_owned));
        Some(Self { major, minor, patch: patch.flatten(), suffix, build })
    }

    /// Whether a cluster that tells `running` is what `self` asks for. What only one of them tells does not part them, but
    /// for a prerelease: `v1.35.0-rc.1` is not `v1.35.0`.
    pub fn matches(&self, running: &Self) -> bool {
        fn agree<T: PartialEq + Copy>(one: Option<T>, other: Option<T>) -> bool {
            one.is_none() || other.is_none() || one == other
        }
        (self.major, self.minor) == (running.major, running.minor)
            && agree(self.patch, running.patch)
            && agree(self.vendor(), running.vendor())
            && agree(self.build.as_deref(), running.build.as_deref())
            && self.prerelease() == running.prerelease()
    }

    /// Whether it is of this minor version or a newer one.
    pub fn is_at_least(&self, minor: (u32, u32)) -> bool {
        (self.major, self.minor) >= minor
    }

    /// Major and minor version, such as `1.34`.
    pub fn minor(&self) -> String {
        format!("{}.{}", self.major, self.minor)
    }

    /// Semantic versioning has one place for two things: EKS's `-eks-3abbec1` follows a release, `-rc.1` comes before it.
    fn prerelease(&self) -> Option<&str> {
        let is_prerelease =
            |suffix: &&str| ["alpha", "beta", "rc"].iter().any(|stage| suffix.starts_with(stage));
        self.suffix.as_deref().filter(is_prerelease)
    }

    fn vendor(&self) -> Option<&str> {
        if self.prerelease().is_some() { None } else { self.suffix.as_deref() }
    }
}

fn without_v(text: &str) -> &str {
    text.strip_prefix('v').unwrap_or(text)
}

fn parted(text: &str, separator: char) -> (&str, Option<&str>) {
    text.split_once(separator).map_or((text, None), |(start, rest)| (start, Some(rest)))
}

/// A number without a leading zero, as semantic versioning has it.
fn number(text: &str) -> Option<u32> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    plain.then(|| text.parse().ok()).flatten()
}

fn is_legal(part: Option<&str>) -> bool {
    let is_identifier = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    part.is_none_or(|part| part.split('.').all(is_identifier))
}

/// Semantic, as Cluster API wants it: with a leading `v` and a patch.
impl fmt::Display for KubernetesVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "v{}.{}.{}", self.major, self.minor, self.patch.unwrap_or(0))?;
        if let Some(suffix) = &self.suffix {
            write!(formatter, "-{suffix}")?;
        }
        self.build.iter().try_for_each(|build| write!(formatter, "+{build}"))
    }
}

/// From old to new, as Cluster API sorts `status.versions`: by semantic versioning, then by build.
impl Ord for KubernetesVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch.unwrap_or(0));
        let suffixes = || match (&self.suffix, &other.suffix) {
            (None, None) => Ordering::Equal,
            // What is before a release is older than it.
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(one), Some(other)) => compare_identifiers(one, other),
        };
        let builds = || {
            let [one, other] = [self, other].map(|version| version.build.as_deref().unwrap_or_default());
            compare_identifiers(one, other)
        };
        let order = numbers(self).cmp(&numbers(other)).then_with(suffixes).then_with(builds);
        order.then_with(|| self.patch.cmp(&other.patch))
    }
}

impl PartialOrd for KubernetesVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Identifier by identifier: numbers by their value and before words, words by their letters.
fn compare_identifiers(one: &str, other: &str) -> Ordering {
    let keys = |text: &str| -> Vec<(bool, usize, String)> {
        let key = |identifier: &str| {
            let numeric = !identifier.is_empty() && identifier.bytes().all(|byte| byte.is_ascii_digit());
            let digits = if numeric { identifier.trim_start_matches('0').len() } else { 0 };
            (!numeric, digits, identifier.to_owned())
        };
        text.split('.').map(key).collect()
    };
    keys(one).cmp(&keys(other))
}

/// The version to report for a cluster that tells `running`, where `spec` was asked for: the spec's where the two match, so
/// that Cluster API sees no upgrade for ever, and else the cluster's own. Nothing where `running` is no version.
pub fn reported(spec: &str, running: &str) -> Option<String> {
    let running = KubernetesVersion::parse(running)?;
    let spec = KubernetesVersion::parse(spec).filter(|spec| spec.matches(&running));
    match spec {
        Some(spec) if spec.patch.is_some() || running.patch.is_none() => Some(spec.to_string()),
        _ => Some(running.to_string()),
    }
}

/// Whether a cluster that tells `running` has yet to come to `spec`. One that is newer than asked for, since EKS ends old
/// versions by itself, is not on its way anywhere; nor is one whose version nobody knows.
pub fn is_rolling_out(spec: &str, running: &str) -> bool {
    let versions = KubernetesVersion::parse(spec).zip(KubernetesVersion::parse(running));
    versions.is_some_and(|(spec, running)| !spec.matches(&running) && running < spec)
}

/// The spec's version as a module gets it in `kubernetes_version`: as it was written, without the leading `v`.
///
/// EKS itself takes only a minor version and refuses a patch: a module for EKS is to be given [`minor`].
pub fn for_module(spec: &str) -> String {
    without_v(spec.trim()).to_owned()
}

/// The spec's major and minor version, such as `1.34`: what EKS takes.
pub fn minor(spec: &str) -> Option<String> {
    KubernetesVersion::parse(spec).map(|version| version.minor())
}

#[cfg(test)]
mod tests;
