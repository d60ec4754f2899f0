//! What is thought of one version.

use k8s_openapi::jiff::civil::Date;

use super::super::product::Product;
use super::super::spans;
use super::super::table::{Beyond, Eks, Table};
use super::super::version::{Minor, Version};
use super::{Judgement, Verdict, unknown};

fn judgement(product: Product, version: Version, verdict: Verdict, message: String) -> Judgement {
    Judgement { about: format!("{product} {version}"), verdict, message }
}

/// Kubernetes, and how long EKS supports it.
pub(super) fn kubernetes(table: &Table, version: Version, today: Option<Date>) -> Judgement {
    let product = Product::Kubernetes;
    let minor = version.minor();
    let row = match table.kubernetes(minor) {
        Ok(row) => row,
        Err(beyond) => return unknown(table, product, version, beyond),
    };
    let Some(eks) = row.eks else {
        let message = format!("Kubernetes {minor} is in the table; until when EKS supports it is not known");
        return judgement(product, version, Verdict::Supported, message);
    };
    let (verdict, message) = on_eks(minor, eks, today);
    judgement(product, version, verdict, message)
}

fn on_eks(minor: Minor, eks: Eks, today: Option<Date>) -> (Verdict, String) {
    let Eks { released: _, standard_support_ends: standard, extended_support_ends: extended } = eks;
    match today {
        Some(today) if extended < today => {
            let next = minor.next();
            let message = format!(
                "EKS ended all support of Kubernetes {minor} on {extended}: upgrade to {next}, and on from there one minor \
                 version at a time"
            );
            (Verdict::EndOfSupport, message)
        }
        Some(today) if standard < today => {
            let message = format!(
                "EKS ended standard support of Kubernetes {minor} on {standard}, and ends extended support on {extended}: \
                 upgrade before that"
            );
            (Verdict::Supported, message)
        }
        Some(_) | None => {
            let message = format!(
                "EKS supports Kubernetes {minor} until {standard}, and with extended support until {extended}"
            );
            (Verdict::Supported, message)
        }
    }
}

/// Flux. Where it is judged beside Kubernetes, nothing is said of one that is well.
pub(super) fn flux(table: &Table, version: Version, is_paired: bool) -> Option<Judgement> {
    let product = Product::Flux;
    let row = match table.flux(version) {
        Ok(row) => row,
        Err(beyond) => return Some(unknown(table, product, version, beyond)),
    };
    if let Some(ended_by) = row.ended_by {
        let instead = spans::supported_flux(table).unwrap_or_default();
        let message = format!(
            "the support of Flux {} ended when Flux {ended_by} came out: go on to Flux {instead}, as far as Kubernetes \
             allows",
            row.minor
        );
        return Some(judgement(product, version, Verdict::EndOfSupport, message));
    }
    let message = format!("Flux {} supports Kubernetes {}", row.minor, row.kubernetes);
    (!is_paired).then(|| judgement(product, version, Verdict::Supported, message))
}

/// Karpenter. Where it is judged beside Kubernetes, nothing is said of one that is well.
pub(super) fn karpenter(table: &Table, version: Version, is_paired: bool) -> Option<Judgement> {
    let product = Product::Karpenter;
    let row = match table.karpenter(version) {
        Ok(row) => row,
        Err(beyond) => return Some(unknown(table, product, version, beyond)),
    };
    if let Some(avoided) = table.avoided(version) {
        let message = format!(
            "Karpenter {version} is not to be used: {}; take another version of {}, or a newer one",
            avoided.reason,
            version.minor()
        );
        return Some(judgement(product, version, Verdict::Avoid, message));
    }
    let message = format!("Karpenter {version} supports Kubernetes {}", row.kubernetes);
    (!is_paired).then(|| judgement(product, version, Verdict::Supported, message))
}

/// Helm. Where it is judged beside Flux, nothing is said of one that is well.
pub(super) fn helm(table: &Table, version: Version, is_paired: bool) -> Option<Judgement> {
    let product = Product::Helm;
    let major = version.major();
    let Some(flux) = spans::flux_with_helm(table, major) else {
        let is_older = table.versions(product).first().is_some_and(|first| major < first.major());
        let beyond = if is_older { Beyond::Older } else { Beyond::Newer };
        return Some(unknown(table, product, version, beyond));
    };
    let message = format!("Helm {major} is in Flux {flux}");
    (!is_paired).then(|| judgement(product, version, Verdict::Supported, message))
}
