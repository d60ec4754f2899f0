//! Which versions of Kubernetes, Flux, Helm and Karpenter go together.
//!
//! Everything is read from one table, `compatibility/table.yaml`, which names its sources and its date. What the table does not
//! know is told as not known: neither refused nor taken for good.

mod findings;
mod found;
mod judge;
mod order;
mod product;
mod sheet;
mod spans;
mod table;
#[cfg(test)]
mod tests;
mod uses;
mod version;

pub use findings::{Finding, Severity, findings};
pub use found::{Doubt, Found, versions_in};
pub use judge::{Judgement, Verdict, judge, judge_manifests};
pub use order::{Conflict, NoPath, Step, UpgradePath, upgrade_path};
pub use product::{Product, Versions};
pub use sheet::{Sheet, sheets};
pub use spans::{flux_for, karpenter_for};
pub use table::{
    Avoided, Beyond, Eks, Feature, FeatureName, Flux, Invalid, Karpenter, Kubernetes, Source, Table,
};
pub use version::{Minor, Minors, NotAVersion, Version};
