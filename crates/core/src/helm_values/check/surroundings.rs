//! What a `HelmRelease` finds in its cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use capt_api::addon_stack::ValuesSecret;
use serde_json::Value;

/// What is known of a module's outputs.
#[derive(Clone, Copy, Default)]
pub enum Outputs<'facts> {
    /// Nothing.
    #[default]
    Unknown,
    /// Which there are.
    Names(&'facts BTreeSet<String>),
    /// Which there are, and what they are.
    Values(&'facts BTreeMap<String, Vec<u8>>),
}

/// What comes to the cluster beside a `HelmRelease`.
#[derive(Clone, Copy, Default)]
pub struct Surroundings<'facts> {
    /// The Secrets that the stack brings.
    pub values: &'facts [ValuesSecret],
    /// The name of those that the user gives none; unknown where it differs from cluster to cluster.
    pub default_name: Option<&'facts str>,
    /// What goes into them.
    pub outputs: Outputs<'facts>,
    /// The objects that the stack's manifests hold; only `ConfigMaps` and Secrets among them matter.
    pub objects: &'facts [&'facts Value],
}

/// Outputs and objects may be secret.
impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { values, default_name, outputs: _, objects: _ } = self;
        let mut shown = formatter.debug_struct("Surroundings");
        shown.field("values", values).field("default_name", default_name).finish_non_exhaustive()
    }
}

impl<'facts> Surroundings<'facts> {
    /// The Secrets of the stack with this name, wherever they are.
    pub(super) fn secrets_named(&self, name: &str) -> impl Iterator<Item = &'facts ValuesSecret> {
        let default_name = self.default_name;
        self.values.iter().filter(move |secret| secret.name.as_deref().or(default_name) == Some(name))
    }

    /// Whether there is a Secret of the stack whose name is not known.
    pub(super) fn has_unnamed(&self) -> bool {
        self.default_name.is_none() && self.values.iter().any(|secret| secret.name.is_none())
    }
}
