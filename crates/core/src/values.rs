//! The Secret with a module's outputs that goes to a cluster.
//!
//! Only the outputs that were chosen are in it, and each is written so that the `HelmReleases` that read it get exactly
//! the text that the module gave, whatever version of Flux reads it.

mod problem;
mod release;
mod target_path;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use capt_api::addon_stack::{ValueKey, ValuesSecret};
use secrecy::{ExposeSecret as _, SecretString};

use crate::digest::short_digest;
use crate::helm_values::{Reference, Unprintable, effect, unprintable};
use crate::manifest::ObjectKey;
use crate::name::{is_namespace_name, is_object_name};
pub use problem::Problem;
pub use release::{Release, releases};
use target_path::quoted;

/// The output that is never handed to a cluster.
const KUBECONFIG: &str = "kubeconfig";

/// A Secret in a cluster as it should be.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its content.
    pub data: BTreeMap<String, SecretString>,
    /// Names the content, without telling it.
    pub digest: String,
    /// The `HelmReleases` that read it, in order.
    pub consumers: Vec<ObjectKey>,
}

/// The Secret that a cluster is to get.
///
/// `default_name` is its name if the user gives none, and `salt` is something of the cluster's own, so that equal values
/// have another digest elsewhere. `releases` are those that may read it; others are passed over.
pub fn wanted(
    values: &ValuesSecret,
    default_name: &str,
    outputs: &BTreeMap<String, Vec<u8>>,
    releases: &[Release],
    salt: &str,
) -> Result<Wanted, Problem> {
    let name = values.name.as_deref().unwrap_or(default_name);
    let namespace = values.namespace.as_str();
    if !is_object_name(name) || !is_namespace_name(namespace) {
        return Err(Problem::Name { namespace: namespace.to_owned(), name: name.to_owned() });
    }
    let readers: Vec<&Release> = releases.iter().filter(|release| release.reads(namespace, name)).collect();
    let mut data = BTreeMap::new();
    for (key, value) in chosen(values, outputs)? {
        data.insert(key.to_owned(), SecretString::from(written(key, value, name, &readers)?));
    }
    let content = data.iter().flat_map(|(key, value)| [key.as_str(), value.expose_secret()]);
    let digest = short_digest([salt, namespace, name].into_iter().chain(content), 16);
    let mut consumers: Vec<ObjectKey> = readers.into_iter().map(Release::key).collect();
    consumers.sort_unstable();
    consumers.dedup();
    Ok(Wanted { namespace: namespace.to_owned(), name: name.to_owned(), data, digest, consumers })
}

/// The keys of the Secret and their values as the module gives them.
fn chosen<'values>(
    values: &'values ValuesSecret,
    outputs: &'values BTreeMap<String, Vec<u8>>,
) -> Result<BTreeMap<&'values str, &'values str>, Problem> {
    let mut chosen = BTreeMap::new();
    let mut sources: BTreeMap<&str, &str> = BTreeMap::new();
    let mut missing = Vec::new();
    for ValueKey { output, key, default, optional } in &values.keys {
        if output == KUBECONFIG {
            return Err(Problem::Kubeconfig);
        }
        let key = key.as_deref().unwrap_or(output);
        if let Some(other) = sources.insert(key, output) {
            let outputs = [other.to_owned(), output.clone()];
            return Err(Problem::SameKey { key: key.to_owned(), outputs });
        }
        let value = match outputs.get(output).filter(|value| !value.is_empty()) {
            Some(value) => {
                std::str::from_utf8(value).map_err(|_| Problem::NotText { output: output.clone() })?
            }
            None => match default {
                Some(default) => default,
                None if *optional => continue,
                None => {
                    missing.push(output.clone());
                    continue;
                }
            },
        };
        chosen.insert(key, value);
    }
    if missing.is_empty() {
        return Ok(chosen);
    }
    let there = outputs.iter().filter(|(output, value)| *output != KUBECONFIG && !value.is_empty());
    Err(Problem::Missing { outputs: missing, known: there.map(|(output, _)| output.clone()).collect() })
}

/// The value as it has to be in the Secret, so that every reader gets it as it is.
fn written(key: &str, value: &str, secret: &str, readers: &[&Release]) -> Result<String, Problem> {
    let references = |wanted: fn(&Reference) -> bool| -> Vec<String> {
        let reads = |reference: &Reference| reference.is_to(secret, key) && wanted(reference);
        let names = readers.iter().filter(|release| release.references.iter().any(reads));
        names.map(|release| release.key().to_string()).collect()
    };
    let placed = references(|reference| reference.target_path.is_some());
    if let Some(unprintable) = unprintable(value).filter(|_| !placed.is_empty()) {
        let ends_in_line_break = unprintable == Unprintable::EndsInLineBreak;
        return Err(Problem::Unprintable { key: key.to_owned(), ends_in_line_break, releases: placed });
    }
    if effect(value).is_none() {
        return Ok(value.to_owned());
    }
    let interpreting = references(Reference::interprets);
    let verbatim = references(|reference| !reference.interprets());
    match (interpreting.is_empty(), verbatim.is_empty()) {
        (true, _) => Ok(value.to_owned()),
        (false, true) => Ok(quoted(value)),
        (false, false) => Err(Problem::Mixed { key: key.to_owned(), interpreting, verbatim }),
    }
}
