//! Where each product can stop on its way.

use super::super::product::{Product, Versions};
use super::super::table::Table;
use super::super::version::Version;
use super::NoPath;

/// The versions that a product can have on the way, from old to new. It starts at the first.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) product: Product,
    pub(super) stops: Vec<Version>,
    /// Whether it has to get to the last, or may stay wherever it is supported.
    pub(super) must_arrive: bool,
}

/// Those that are there now. Where there is a choice, the first of them moves first.
const ORDER: [Product; 3] = [Product::Flux, Product::Karpenter, Product::Kubernetes];

pub(super) fn axes(table: &Table, from: &Versions, to: &Versions) -> Result<Vec<Axis>, NoPath> {
    let mut axes = Vec::new();
    for product in ORDER {
        match (from.get(product), to.get(product)) {
            (Some(from), to) => axes.push(axis(table, product, from, to)?),
            (None, Some(_)) => return Err(NoPath::Unstated(product)),
            (None, None) => {}
        }
    }
    Ok(axes)
}

fn axis(table: &Table, product: Product, from: Version, to: Option<Version>) -> Result<Axis, NoPath> {
    let rows = table.versions(product);
    // What is already of the minor version that was asked for without a patch is there.
    let to = to.map(|to| if to == Version::of(from.minor()) { from } else { to });
    for version in to.into_iter().chain([from]) {
        if let (Some(&first), Some(&last)) = (rows.first(), rows.last())
            && (version.minor() < first.minor() || last.minor() < version.minor())
        {
            return Err(NoPath::NotInTable { product, version, first, last });
        }
    }
    if let Some(to) = to.filter(|to| *to < from) {
        return Err(NoPath::Backwards { product, from, to });
    }
    // Kubernetes goes nowhere unless it is told to.
    let to = to.or_else(|| (product == Product::Kubernetes).then_some(from));
    let is_between = |row: &Version| from < *row && to.is_none_or(|to| row.minor() < to.minor());
    let between = rows.into_iter().filter(is_between);
    let stops = [from].into_iter().chain(between).chain(to.filter(|to| *to != from)).collect();
    Ok(Axis { product, stops, must_arrive: to.is_some() })
}
