//! Which versions of one thing go with another, in words.

use super::product::Product;
use super::table::Table;
use super::version::{Minor, Version};

/// The versions of Flux that support a version of Kubernetes, for example `2.7 to 2.9`.
pub fn flux_for(table: &Table, kubernetes: Minor) -> Option<String> {
    words(table.flux.iter().map(|row| (Version::of(row.minor), row.kubernetes.contains(kubernetes))))
}

/// The versions of Karpenter that support a version of Kubernetes, for example `1.6 to 1.14, but not 1.8.4`.
pub fn karpenter_for(table: &Table, kubernetes: Minor) -> Option<String> {
    let supports = |version| table.karpenter(version).is_ok_and(|row| row.kubernetes.contains(kubernetes));
    let words = words(table.karpenter.iter().map(|row| (row.from.short(), supports(row.from))))?;
    let avoided = table.avoid.iter().filter(|avoided| supports(avoided.version));
    let avoided: Vec<_> = avoided.map(|avoided| avoided.version.to_string()).collect();
    Some(if avoided.is_empty() { words } else { format!("{words}, but not {}", avoided.join(" or ")) })
}

/// The versions of an add-on that support a version of Kubernetes.
pub(super) fn addon_for(table: &Table, addon: Product, kubernetes: Minor) -> Option<String> {
    match addon {
        Product::Flux => flux_for(table, kubernetes),
        Product::Karpenter => karpenter_for(table, kubernetes),
        Product::Kubernetes | Product::Helm => None,
    }
}

/// The versions of Flux that have a major version of Helm in them.
pub(super) fn flux_with_helm(table: &Table, major: u32) -> Option<String> {
    words(table.flux.iter().map(|row| (Version::of(row.minor), row.helm.major() == major)))
}

/// The versions of Flux whose support has not ended.
pub(super) fn supported_flux(table: &Table) -> Option<String> {
    words(table.flux.iter().map(|row| (Version::of(row.minor), row.ended_by.is_none())))
}

/// The versions of Flux from one on.
pub(super) fn flux_since(table: &Table, first: Minor) -> Option<String> {
    words(table.flux.iter().map(|row| (Version::of(row.minor), first <= row.minor)))
}

/// The versions that belong, each run of them from its first to its last.
fn words(rows: impl Iterator<Item = (Version, bool)>) -> Option<String> {
    let mut runs: Vec<Vec<Version>> = Vec::new();
    let mut goes_on = false;
    for (version, belongs) in rows {
        match (belongs, goes_on, runs.last_mut()) {
            (true, true, Some(run)) => run.push(version),
            (true, _, _) => runs.push(vec![version]),
            (false, _, _) => {}
        }
        goes_on = belongs;
    }
    let texts = runs.iter().filter_map(|run| match run.as_slice() {
        [] => None,
        [one] => Some(one.to_string()),
        [one, other] => Some(format!("{one} or {other}")),
        [first, .., last] => Some(format!("{first} to {last}")),
    });
    let texts: Vec<_> = texts.collect();
    (!texts.is_empty()).then(|| texts.join(", or "))
}
