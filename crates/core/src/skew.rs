//! CRDs of another version of CAPT than this one: whether it can work with them, and what to do if not.
//!
//! The API server drops what a CRD does not know, without a word. So what counts is the schema that is served: one that lacks
//! a field or a value which this CAPT has would lose it. The version that a CRD says it is of decides nothing by itself; it
//! tells which of the two is to be upgraded.

mod schema;
#[cfg(test)]
mod tests;
mod words;

use capt_api::crd::Foreign;
use capt_api::names::annotation;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion, JSONSchemaProps,
};
use kube::ResourceExt as _;
use semver::Version;

use schema::lacking;
pub use words::install;

/// The longest version that is looked at.
const LONGEST_VERSION: usize = 64;

/// What a CRD on an API server is beside the one that this CAPT has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Skew {
    /// It has what this CAPT needs, and nothing that this CAPT does not know.
    None,
    /// It is not there.
    Missing,
    /// It is there, but not in the version of the API that this CAPT reads.
    NotServed {
        /// The version of the API that this CAPT reads.
        wanted: String,
        /// Those that are served.
        served: Vec<String>,
        /// The CAPT that it is of, if that is newer.
        newer: Option<Version>,
    },
    /// It lacks what this CAPT has.
    Older {
        /// The first thing that it lacks.
        lacks: String,
        /// The CAPT that it is of, if it says so and is another.
        version: Option<Version>,
    },
    /// It is of a newer CAPT, and has all that this one needs.
    Newer {
        /// The CAPT that it is of, if it says so.
        version: Option<Version>,
        /// The first thing that this CAPT does not know.
        more: Option<String>,
    },
    /// It is of a newer CAPT, and lacks what this one has.
    TooNew {
        /// The first thing that it lacks.
        lacks: String,
        /// The CAPT that it is of.
        version: Version,
    },
}

impl Skew {
    /// Whether a manager of this CAPT has to wait until the CRD is another: what it writes would be lost. Of a kind that is not
    /// there, there are no objects; and where somebody else's kind is not served as CAPT reads it, CAPT does without.
    pub const fn holds_up(&self, kinds: Option<Foreign>) -> bool {
        match self {
            Self::None | Self::Missing | Self::Newer { .. } => false,
            Self::NotServed { .. } => kinds.is_none(),
            Self::Older { .. } | Self::TooNew { .. } => true,
        }
    }

    /// Whether this CAPT is to leave the CRD as it is, because a newer one wrote it.
    pub const fn is_of_a_newer_capt(&self) -> bool {
        match self {
            Self::NotServed { newer, .. } | Self::Newer { version: newer, .. } => newer.is_some(),
            Self::TooNew { .. } => true,
            Self::None | Self::Missing | Self::Older { .. } => false,
        }
    }
}

/// Compares the CRD that this CAPT has with what the API server has.
pub fn compare(wanted: &CustomResourceDefinition, found: Option<&CustomResourceDefinition>) -> Skew {
    let Some(found) = found else { return Skew::Missing };
    let (ours, theirs) = (version(wanted), version(found));
    let theirs_differs = theirs != ours;
    let newer = theirs.clone().filter(|theirs| ours.as_ref().is_none_or(|ours| theirs > ours));
    let Some(read) = wanted.spec.versions.iter().find(|version| version.storage) else { return Skew::None };
    let Some(served) = served(found).find(|version| version.name == read.name) else {
        let served = served(found).map(|version| version.name.clone()).collect();
        return Skew::NotServed { wanted: read.name.clone(), served, newer };
    };
    let [lacks, more] =
        [(read, served), (served, read)].map(|(one, other)| lacking(schema(one), schema(other)));
    match (lacks, newer) {
        (Some(lacks), Some(version)) => Skew::TooNew { lacks, version },
        (Some(lacks), None) => Skew::Older { lacks, version: theirs.filter(|_| theirs_differs) },
        (None, Some(version)) => Skew::Newer { version: Some(version), more },
        (None, None) if more.is_none() || (theirs.is_some() && theirs < ours) => Skew::None,
        (None, None) => Skew::Newer { version: None, more },
    }
}

/// The CAPT that a CRD says it is of. What cannot be read as a version says nothing.
pub fn version(crd: &CustomResourceDefinition) -> Option<Version> {
    let text = crd.annotations().get(annotation::VERSION)?;
    if text.len() > LONGEST_VERSION {
        return None;
    }
    Version::parse(text.strip_prefix('v').unwrap_or(text)).ok()
}

fn served(crd: &CustomResourceDefinition) -> impl Iterator<Item = &CustomResourceDefinitionVersion> {
    crd.spec.versions.iter().filter(|version| version.served)
}

fn schema(version: &CustomResourceDefinitionVersion) -> Option<&JSONSchemaProps> {
    version.schema.as_ref()?.open_api_v3_schema.as_ref()
}
