//! The table itself.

mod check;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use k8s_openapi::jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::product::Product;
use super::version::{Minor, Minors, Version};

pub use check::Invalid;

/// Everything that is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Table {
    /// The day up to which it is true.
    pub date: Date,
    /// What the rows rest on, by the names that they use.
    pub sources: BTreeMap<String, Source>,
    /// Kubernetes, from old to new, without a gap.
    pub kubernetes: Vec<Kubernetes>,
    /// Flux, from old to new, without a gap.
    pub flux: Vec<Flux>,
    /// What Flux has since which version.
    pub features: Vec<Feature>,
    /// Karpenter, from old to new, without a gap.
    pub karpenter: Vec<Karpenter>,
    /// Versions of Karpenter that are not to be used.
    pub avoid: Vec<Avoided>,
}

/// What a row rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// A document or a file.
    pub document: String,
    /// Which version of it.
    pub version: String,
}

/// A minor version of Kubernetes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kubernetes {
    /// The version.
    pub minor: Minor,
    /// How long EKS supports it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eks: Option<Eks>,
    /// What this rests on.
    pub sources: Vec<String>,
}

/// How long EKS supports a version.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Eks {
    /// The day since when EKS has it.
    pub released: Date,
    /// The last day of standard support.
    pub standard_support_ends: Date,
    /// The last day of extended support.
    pub extended_support_ends: Date,
}

/// A minor version of Flux.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Flux {
    /// The version.
    pub minor: Minor,
    /// The versions of Kubernetes that it supports.
    pub kubernetes: Minors,
    /// What `flux check` asks for, which may be less.
    pub check_minimum: Minor,
    /// The version of Flux that ended its support, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<Minor>,
    /// The release that the rest is told of.
    pub seen: Version,
    /// Its source-controller.
    pub source_controller: Version,
    /// Its helm-controller.
    pub helm_controller: Version,
    /// The Helm in its helm-controller.
    pub helm: Version,
    /// The versions in which it serves `HelmReleases`, newest first.
    pub helm_release: Vec<String>,
    /// The versions in which it serves `OCIRepositories`, newest first.
    pub oci_repository: Vec<String>,
    /// What this rests on.
    pub sources: Vec<String>,
}

/// Something that Flux has since a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// Names it.
    pub name: FeatureName,
    /// The first version of Flux that has it.
    pub flux: Minor,
    /// What it is.
    pub what: String,
    /// What this rests on.
    pub sources: Vec<String>,
}

/// Names something that Flux has since a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureName {
    /// Secrets with a label are looked at as soon as they change.
    WatchLabel,
    /// Failed releases are tried again for ever.
    RetryOnFailure,
    /// Values that are texts and nothing else.
    Literal,
}

impl FeatureName {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::WatchLabel, Self::RetryOnFailure, Self::Literal];

    /// The name in the table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WatchLabel => "watch-label",
            Self::RetryOnFailure => "retry-on-failure",
            Self::Literal => "literal",
        }
    }
}

/// Versions of Karpenter that are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Karpenter {
    /// The first of them; they go on up to the next row.
    pub from: Version,
    /// The versions of Kubernetes that they support.
    pub kubernetes: Minors,
    /// The day of the first one, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<Date>,
    /// What this rests on.
    pub sources: Vec<String>,
}

/// A version of Karpenter that is not to be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Avoided {
    /// The version.
    pub version: Version,
    /// Why.
    pub reason: String,
    /// What this rests on.
    pub sources: Vec<String>,
}

/// On which side of the table a version is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// It is older than everything in it.
    Older,
    /// It is newer than everything in it.
    Newer,
}

impl Table {
    /// The table that CAPT knows.
    #[expect(clippy::expect_used, reason = "a test reads the same text")]
    pub fn embedded() -> &'static Self {
        static TABLE: LazyLock<Table> =
            LazyLock::new(|| Table::parse(include_str!("table.yaml")).expect("the table is well formed"));
        &TABLE
    }

    /// A minor version of Kubernetes.
    pub fn kubernetes(&self, minor: Minor) -> Result<&Kubernetes, Beyond> {
        of_minor(&self.kubernetes, |row| row.minor, minor)
    }

    /// The row of a version of Flux.
    pub fn flux(&self, version: Version) -> Result<&Flux, Beyond> {
        of_minor(&self.flux, |row| row.minor, version.minor())
    }

    /// The row of a version of Karpenter. One without a patch is taken for the first of its minor.
    pub fn karpenter(&self, version: Version) -> Result<&Karpenter, Beyond> {
        let is_newer = self.karpenter.last().is_none_or(|last| last.from.minor() < version.minor());
        if is_newer {
            return Err(Beyond::Newer);
        }
        // One without a patch stands before the row of its own minor.
        let is_reached = |row: &&Karpenter| row.from.short() <= version;
        self.karpenter.iter().rev().find(is_reached).ok_or(Beyond::Older)
    }

    /// The versions that have a row, from old to new. Those of Helm are those in Flux.
    pub fn versions(&self, product: Product) -> Vec<Version> {
        match product {
            Product::Kubernetes => self.kubernetes.iter().map(|row| Version::of(row.minor)).collect(),
            Product::Flux => self.flux.iter().map(|row| Version::of(row.minor)).collect(),
            Product::Karpenter => self.karpenter.iter().map(|row| row.from.short()).collect(),
            Product::Helm => self.flux.iter().map(|row| row.helm).collect(),
        }
    }

    /// Why a version of Karpenter is not to be used, if it is not.
    pub fn avoided(&self, version: Version) -> Option<&Avoided> {
        self.avoid.iter().find(|avoided| avoided.version == version)
    }

    /// Whether a version of Flux has something; `None` where the table does not tell.
    pub fn has(&self, flux: Version, name: FeatureName) -> Option<bool> {
        let feature = self.features.iter().find(|feature| feature.name == name)?;
        match self.flux(flux) {
            Ok(row) => Some(feature.flux <= row.minor),
            // What an older version did not have yet is no question.
            Err(Beyond::Older) => Some(false),
            Err(Beyond::Newer) => None,
        }
    }
}

fn of_minor<Row>(rows: &[Row], minor_of: impl Fn(&Row) -> Minor, minor: Minor) -> Result<&Row, Beyond> {
    let is_older = rows.first().is_some_and(|first| minor < minor_of(first));
    let beyond = if is_older { Beyond::Older } else { Beyond::Newer };
    rows.iter().find(|row| minor_of(row) == minor).ok_or(beyond)
}
