//! Whether versions go together.

mod alone;
mod pair;

use k8s_openapi::jiff::civil::Date;
use serde::{Serialize, Serializer};

use super::product::{Product, Versions};
use super::table::{Beyond, Table};
use super::uses::uses;
use super::version::Version;
use crate::manifest::Manifest;

/// What is thought of one version, or of two beside each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// What it is about, for example `Flux 2.8 and Kubernetes 1.34`.
    pub about: String,
    /// What is thought of it.
    pub verdict: Verdict,
    /// Why, and what would do.
    pub message: String,
}

/// What is thought of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They go together.
    Supported,
    /// They do not go together.
    Outside,
    /// The table does not tell.
    Unknown(Beyond),
    /// It is not to be used.
    Avoid,
    /// Nobody looks after it any more.
    EndOfSupport,
}

impl Verdict {
    /// The word for programs and people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Supported => "Supported",
            Self::Outside => "Outside",
            Self::Unknown(_) => "Unknown",
            Self::Avoid => "Avoid",
            Self::EndOfSupport => "EndOfSupport",
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Judges each version, and each add-on beside Kubernetes. Without `today`, nothing is said of support that ends on a day.
pub fn judge(versions: &Versions, today: Option<Date>) -> Vec<Judgement> {
    judge_by(Table::embedded(), versions, today)
}

/// Judges versions as [`judge`] does, and what manifests ask of the Flux among them.
///
/// The versions that the manifests bring are read by [`super::versions_in`].
pub fn judge_manifests(manifests: &[Manifest], versions: &Versions, today: Option<Date>) -> Vec<Judgement> {
    let table = Table::embedded();
    let mut judgements = judge_by(table, versions, today);
    judgements.extend(versions.flux.into_iter().flat_map(|flux| uses(table, flux, manifests)));
    judgements
}

pub(super) fn judge_by(table: &Table, versions: &Versions, today: Option<Date>) -> Vec<Judgement> {
    let Versions { kubernetes, flux, karpenter, helm } = *versions;
    let mut judgements = Vec::new();
    judgements.extend(kubernetes.map(|version| alone::kubernetes(table, version, today)));
    judgements.extend(flux.and_then(|version| alone::flux(table, version, kubernetes.is_some())));
    judgements.extend(karpenter.and_then(|version| alone::karpenter(table, version, kubernetes.is_some())));
    judgements.extend(helm.and_then(|version| alone::helm(table, version, flux.is_some())));
    for (addon, version) in [(Product::Flux, flux), (Product::Karpenter, karpenter)] {
        judgements.extend(version.zip(kubernetes).and_then(|pair| pair::with_kubernetes(table, addon, pair)));
    }
    judgements.extend(helm.zip(flux).and_then(|(helm, flux)| pair::helm_with_flux(table, helm, flux)));
    judgements
}

/// What the table does not have.
fn unknown(table: &Table, product: Product, version: Version, beyond: Beyond) -> Judgement {
    let named = table.versions(product);
    let (word, edge, place) = match beyond {
        Beyond::Older => ("older", named.first(), "begins"),
        Beyond::Newer => ("newer", named.last(), "ends"),
    };
    let edge = edge.map(|edge| format!(", which {place} with {edge}")).unwrap_or_default();
    let message = format!(
        "{product} {version} is {word} than what the table of {} knows{edge}: look at the documentation of {product}",
        table.date
    );
    Judgement { about: format!("{product} {version}"), verdict: Verdict::Unknown(beyond), message }
}
