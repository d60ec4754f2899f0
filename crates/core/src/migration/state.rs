//! Takes releases out of a state, as `terraform state rm` does, and keeps everything else as it is written there.

mod address;
pub(crate) mod spans;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::IgnoredAny;

use self::address::Index;
use self::spans::Spans;
use super::cuts::Cuts;
use super::{RELEASE, Releases};

/// A state that is larger than this is not read.
const LARGEST: usize = 64 << 20;
/// The version of states that every Terraform since 0.12 and every OpenTofu writes.
const VERSION: u64 = 4;

/// Why a state cannot be edited.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// It is too large.
    #[error("the state has {0} bytes, and at most {LARGEST} can be read")]
    TooLarge(usize),
    /// It is no state.
    #[error("it is no state of Terraform's: look at line {line}, column {column}")]
    NotAState {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
    },
    /// It is encrypted.
    #[error("the state is encrypted, and only OpenTofu can read it")]
    Encrypted,
    /// It is of a version that nobody writes any more, or not yet.
    #[error(
        "the state has version {0}, and only version {VERSION} can be edited: apply the module once with a present version"
    )]
    Version(u64),
    /// It was written too often to be written once more.
    #[error("the serial of the state cannot be counted on")]
    Serial,
}

/// What a state says of itself and of its releases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// The addresses of instances that the module itself declares, of the releases that were asked for.
    pub releases: Vec<String>,
    /// The addresses of instances that modules inside the module declare, of the releases that were asked for.
    pub nested: Vec<String>,
    /// The addresses of all else that the provider of releases is needed for.
    pub others: Vec<String>,
}

/// A state from which instances were taken.
#[derive(Clone, PartialEq, Eq)]
pub struct Forgotten {
    /// Its text.
    pub text: Vec<u8>,
    /// The addresses of what was taken out.
    pub addresses: Vec<String>,
    /// How often it has been written, this time included.
    pub serial: u64,
}

/// A state as far as it is looked at. One that OpenTofu has encrypted has other fields.
#[derive(Deserialize)]
struct Written {
    version: Option<u64>,
    serial: Option<u64>,
    resources: Option<Vec<Resource>>,
    encrypted_data: Option<IgnoredAny>,
}

#[derive(Deserialize)]
pub(crate) struct Resource {
    module: Option<String>,
    mode: String,
    #[serde(rename = "type")]
    kind: String,
    name: String,
    #[serde(default)]
    provider: String,
    #[serde(default)]
    instances: Vec<Instance>,
}

#[derive(Deserialize)]
struct Instance {
    index_key: Option<Index>,
}

impl Resource {
    fn is_release(&self) -> bool {
        self.mode == "managed" && self.kind == RELEASE
    }

    /// `module.a.helm_release.b`
    pub(crate) fn address(&self) -> String {
        let data = if self.mode == "data" { "data." } else { "" };
        let module = self.module.as_ref().map(|module| format!("{module}.")).unwrap_or_default();
        format!("{module}{data}{}.{}", self.kind, self.name)
    }

    /// The address of each instance. What was replaced and not destroyed yet has that of its successor.
    pub(crate) fn instances(&self) -> impl Iterator<Item = String> {
        let address = self.address();
        self.instances.iter().map(move |instance| match &instance.index_key {
            Some(index) => format!("{address}[{index}]"),
            None => address.clone(),
        })
    }
}

/// Looks for releases in a state.
pub fn inventory(state: &[u8], which: &Releases) -> Result<Inventory, Problem> {
    let (_, resources, _) = read(state)?;
    let mut found = Inventory::default();
    for resource in &resources {
        let asked_for = resource.is_release() && which.includes(&resource.name);
        let list = match (&resource.module, asked_for) {
            (None, true) => &mut found.releases,
            (Some(_), true) => &mut found.nested,
            (_, false) if is_of_provider(&resource.provider) => &mut found.others,
            (_, false) => continue,
        };
        for address in resource.instances() {
            // What was replaced and not destroyed yet follows its successor.
            if list.last() != Some(&address) {
                list.push(address);
            }
        }
    }
    Ok(found)
}

/// Whether a resource is of the provider of releases: `provider["registry.terraform.io/hashicorp/helm"].alias`.
fn is_of_provider(provider: &str) -> bool {
    provider.contains("/hashicorp/helm\"]") || provider == "provider.helm"
}

/// Takes instances out of a state. An address without an index is that of all instances. What is not there is forgotten
/// already; if nothing is there, the state stays as it is.
pub fn forget(state: &[u8], addresses: &BTreeSet<String>) -> Result<Forgotten, Problem> {
    let (text, resources, serial) = read(state)?;
    let spans = Spans::of(text);
    let mut cuts = Cuts::default();
    let mut forgotten: Vec<String> = Vec::new();
    let mut gone = vec![false; resources.len()];
    for (at, resource) in resources.iter().enumerate() {
        let whole = addresses.contains(&resource.address());
        let leaves: Vec<bool> =
            resource.instances().map(|address| whole || addresses.contains(&address)).collect();
        let leaving = resource.instances().zip(&leaves).filter(|(_, leaves)| **leaves);
        forgotten.extend(leaving.map(|(address, _)| address));
        gone[at] = (whole || !leaves.is_empty()) && leaves.iter().all(|leaves| *leaves);
        if !gone[at] && leaves.contains(&true) {
            spans.cut_instances(at, &leaves, &mut cuts);
        }
    }
    spans.cut_resources(&gone, &mut cuts);
    forgotten.dedup();
    if cuts.is_empty() {
        return Ok(Forgotten { text: state.to_vec(), addresses: forgotten, serial });
    }
    let next = serial.checked_add(1).ok_or(Problem::Serial)?;
    let (before, after) = (&text[..spans.serial.start], &text[spans.serial.end..]);
    let mut edited = Cuts::default();
    let digits = next.to_string();
    for cut in cuts.pieces() {
        let moved =
            |at: usize| if at >= spans.serial.end { at + digits.len() - spans.serial.len() } else { at };
        edited.add(moved(cut.start)..moved(cut.end));
    }
    let text = edited.apply(&[before, &digits, after].concat());
    Ok(Forgotten { text: text.into_bytes(), addresses: forgotten, serial: next })
}

pub(crate) fn read(state: &[u8]) -> Result<(&str, Vec<Resource>, u64), Problem> {
    if state.len() > LARGEST {
        return Err(Problem::TooLarge(state.len()));
    }
    let not_a_state = |line, column| Problem::NotAState { line, column };
    let text = std::str::from_utf8(state).map_err(|_| not_a_state(1, 1))?;
    let written: Written =
        serde_json::from_str(text).map_err(|error| not_a_state(error.line(), error.column()))?;
    match written {
        Written { encrypted_data: Some(_), .. } => Err(Problem::Encrypted),
        Written { version: Some(version), .. } if version != VERSION => Err(Problem::Version(version)),
        Written { version: Some(_), serial: Some(serial), resources: Some(resources), .. } => {
            Ok((text, resources, serial))
        }
        Written { .. } => Err(not_a_state(1, 1)),
    }
}
