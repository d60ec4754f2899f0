//! What is thought of two versions beside each other.

use super::super::order::{UpgradePath, conflicts, path};
use super::super::product::{Product, Versions};
use super::super::spans;
use super::super::table::{Beyond, Table};
use super::super::version::{Minor, Minors, Version};
use super::{Judgement, Verdict};

/// An add-on beside Kubernetes; nothing where the table does not have the add-on.
pub(super) fn with_kubernetes(
    table: &Table,
    addon: Product,
    (version, kubernetes): (Version, Version),
) -> Option<Judgement> {
    let supports = match addon {
        Product::Flux => table.flux(version).ok()?.kubernetes,
        Product::Karpenter => table.karpenter(version).ok()?.kubernetes,
        Product::Kubernetes | Product::Helm => return None,
    };
    let minor = kubernetes.minor();
    let newest = table.kubernetes.last().map(|row| row.minor);
    let (verdict, message) = if supports.contains(minor) {
        (Verdict::Supported, format!("{addon} {version} supports Kubernetes {supports}"))
    } else if newest.is_some_and(|newest| newest < minor && newest == supports.last) {
        // It supports all that there was when the table was made.
        let message = format!(
            "{addon} {version} supports Kubernetes {supports}; whether it supports {minor}, the table of {} does not tell: look \
             at the documentation of {addon}",
            table.date
        );
        (Verdict::Unknown(Beyond::Newer), message)
    } else {
        (Verdict::Outside, outside(table, addon, version, kubernetes, supports))
    };
    Some(Judgement { about: format!("{addon} {version} and Kubernetes {kubernetes}"), verdict, message })
}

/// What would do, and in which order to get there.
fn outside(table: &Table, addon: Product, version: Version, kubernetes: Version, supports: Minors) -> String {
    let minor = kubernetes.minor();
    let instead = match spans::addon_for(table, addon, minor) {
        Some(instead) => format!("with Kubernetes {minor} take {addon} {instead}"),
        None => format!("no {addon} of the table supports Kubernetes {minor}"),
    };
    let is_too_new = supports.last < minor;
    let order = if is_too_new {
        format!("{addon} goes before Kubernetes")
    } else {
        format!("Kubernetes goes before {addon}, one minor version at a time")
    };
    let checked = match addon {
        Product::Flux => table.flux(version).ok().filter(|row| row.check_minimum <= minor && !is_too_new),
        Product::Kubernetes | Product::Karpenter | Product::Helm => None,
    };
    let checked = checked.map(|_| " (though `flux check` lets it pass)").unwrap_or_default();
    let steps = way(table, addon, version, minor, supports).map(|way| format!(": {}", listed(&way)));
    format!(
        "{addon} {version} supports Kubernetes {supports} and not {minor}{checked}: {instead}; with {addon} {version} take \
         Kubernetes {supports}; {order}{}",
        steps.unwrap_or_default()
    )
}

/// The upgrades that would have led to both, from the nearest state that is supported.
fn way(
    table: &Table,
    addon: Product,
    version: Version,
    minor: Minor,
    supports: Minors,
) -> Option<UpgradePath> {
    let state = |kubernetes: Minor, version: Version| {
        Versions::default().with(Product::Kubernetes, Version::of(kubernetes)).with(addon, version)
    };
    let (from, to) = if supports.last < minor {
        let kubernetes = Versions::default().with(Product::Kubernetes, Version::of(minor));
        (state(supports.last, version), kubernetes)
    } else {
        let rows = table.versions(addon).into_iter().rev();
        let is_supported = |row: &Version| conflicts(table, &state(minor, *row)).is_empty();
        let newest = rows.filter(|row| *row < version).find(is_supported)?;
        (state(minor, newest), state(supports.first, version))
    };
    path(table, &from, &to).ok().filter(|path| path.conflicts.is_empty() && path.is_supported())
}

fn listed(path: &UpgradePath) -> String {
    let steps: Vec<_> = path.steps.iter().map(ToString::to_string).collect();
    steps.join(", then ")
}

/// Helm beside the Flux that it is in; nothing where the table does not have one of them.
pub(super) fn helm_with_flux(table: &Table, helm: Version, flux: Version) -> Option<Judgement> {
    let row = table.flux(flux).ok()?;
    let [asked, there] = [helm, row.helm].map(Version::major);
    let instead = spans::flux_with_helm(table, asked)?;
    let (verdict, message) = if asked == there {
        (Verdict::Supported, format!("Flux {} has Helm {} in it", row.minor, row.helm))
    } else {
        let message = format!(
            "Flux {} has Helm {} in it and not Helm {asked}: for Helm {asked} take Flux {instead}, or with Flux {flux} use Helm \
             {there}; Helm goes from one to the other together with Flux",
            row.minor, row.helm
        );
        (Verdict::Outside, message)
    };
    Some(Judgement { about: format!("Helm {helm} and Flux {flux}"), verdict, message })
}
