//! Takes releases that Terraform installed out of Terraform, and leaves them running: out of a module's text, and out of a
//! state.
//!
//! A module is edited by cutting pieces out of its text and by adding outputs at its end. All other bytes stay, whatever
//! they are. A state is edited in the same way: what is not cut out is not even read into a tree.

mod cuts;
mod edit;
mod inline;
mod ordering;
mod outputs;
mod problem;
mod provider;
mod references;
mod source;
pub mod state;
#[cfg(test)]
mod tests;
mod trivia;

use std::collections::BTreeSet;

pub use edit::{Edit, plan_edit, releases};
pub use inline::{Inline, inline};
pub use problem::{Problem, Reference};

/// The type of resource that a release is to Terraform.
pub(crate) const RELEASE: &str = "helm_release";

/// What is taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Which {
    /// The releases.
    pub releases: Releases,
    /// Whether the provider goes with them, if nothing else needs it.
    pub drop_provider: bool,
}

/// Releases, by the names that Terraform knows them by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Releases {
    /// All of them.
    All,
    /// These.
    Named(BTreeSet<String>),
}

impl Releases {
    /// Whether the release of this name is among them.
    pub fn includes(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.contains(name),
        }
    }
}
