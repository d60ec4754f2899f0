//! Why Flux cannot make the values of a `HelmRelease`.

use capt_api::resource_set::ResourceKind;

use super::file::FileFlaw;
use super::set::Flaw;
use super::tree::Limit;

/// Why there is no preview: Flux would fail too, but for what is larger than anybody means. The sentence never repeats a
/// value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A reference that leads nowhere.
    #[error(
        "{} `{name}` has no key `{key}`, or does not exist; add it, or write `optional: true` beside the reference",
        .kind.as_str()
    )]
    Missing {
        /// A `ConfigMap` or a Secret.
        kind: ResourceKind,
        /// Its name.
        name: String,
        /// The key in it.
        key: String,
    },
    /// A whole file of values that is none.
    #[error(
        "the key `{key}` of {} `{name}` {flaw}; write a mapping there, or add a targetPath to put the value at",
        .kind.as_str()
    )]
    File {
        /// A `ConfigMap` or a Secret.
        kind: ResourceKind,
        /// Its name.
        name: String,
        /// The key in it.
        key: String,
        /// What is wrong with it.
        flaw: FileFlaw,
    },
    /// A target path, or a value at it, that cannot be set.
    #[error(
        "the targetPath `{target_path}` with the value of the key `{key}` of {} `{name}` {flaw}; correct the path, or \
         write `literal: true` if it is the value",
        .kind.as_str()
    )]
    Path {
        /// A `ConfigMap` or a Secret.
        kind: ResourceKind,
        /// Its name.
        name: String,
        /// The key in it.
        key: String,
        /// The target path.
        target_path: String,
        /// What is wrong with it.
        flaw: Flaw,
    },
    /// More than anybody means.
    #[error("the values together have {0}; make them smaller")]
    Limit(#[from] Limit),
}
