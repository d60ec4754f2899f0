//! The objects that `ConfigMaps` and Secrets with manifests hold.
//!
//! Everything that is wrong is told at once, with its place. What is told of a Secret is the place and the kind of
//! problem, never a word of its content.

mod document;
mod duplicate;
mod key;
mod object;
mod order;
mod problem;
pub mod render;
mod split;
mod strip;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use capt_api::resource_set::{ResourceKind, ResourceReference};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::digest::hexadecimal;

pub use duplicate::{Duplicate, duplicates};
pub use key::ObjectKey;
pub use order::order;
pub use problem::{Invalid, Problem, Problems, Shown};
pub(crate) use split::is_marker;
pub use strip::strip;

/// What the API server lets a `ConfigMap` or Secret hold, in bytes.
const LARGEST: usize = 1_048_576;
/// How many documents, and how many objects, one `ConfigMap` or Secret may hold.
const MOST: usize = 2_000;

/// Where a manifest stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// A `ConfigMap` or a Secret.
    pub kind: ResourceKind,
    /// Its name.
    pub name: String,
    /// The key in it.
    pub key: String,
    /// The document in the key's text, counted from 1.
    pub document: usize,
    /// The item of the document, counted from 1, where the document is a list.
    pub item: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, key, document, item } = self;
        write!(formatter, "{} `{name}`, key `{key}`, document {document}", kind.as_str())?;
        item.map_or(Ok(()), |item| write!(formatter, ", item {item}"))
    }
}

/// An object that is to be in a cluster.
#[derive(Clone, PartialEq)]
pub struct Manifest {
    /// Where it stands.
    pub place: Place,
    /// The object: a mapping with `apiVersion`, `kind` and `metadata.name`.
    pub object: Value,
}

impl Manifest {
    /// Names the object.
    pub fn key(&self) -> ObjectKey {
        ObjectKey::of(&self.object)
    }
}

/// The object may come from a Secret or hold values of one, and shows in no debug output.
impl fmt::Debug for Manifest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Manifest").field("place", &self.place).finish_non_exhaustive()
    }
}

/// Reads every manifest of a `ConfigMap` or Secret, in the order of its keys.
///
/// Each value is a stream of YAML or JSON documents, empty ones among them. Lists are taken apart.
pub fn parse<Text: AsRef<[u8]>>(
    kind: ResourceKind,
    name: &str,
    data: &BTreeMap<String, Text>,
) -> Result<Vec<Manifest>, Problems> {
    let resource = ResourceReference { kind, name: name.to_owned() };
    if data.values().map(|text| text.as_ref().len()).sum::<usize>() > LARGEST {
        return Err(Invalid::of(resource, Problem::TooLarge).into());
    }
    let mut found = Found { resource, objects: 0, manifests: Vec::new(), problems: Vec::new() };
    let mut documents = 0;
    for (key, text) in data {
        let Ok(text) = std::str::from_utf8(text.as_ref()) else {
            found.tell(key, None, None, None, Problem::NotUtf8);
            continue;
        };
        let text = split::normalized(text);
        for (index, document) in split::documents(&text).into_iter().enumerate() {
            documents += 1;
            found.read(key, index + 1, &document);
            if documents > MOST || found.objects > MOST {
                return Err(Invalid::of(found.resource, Problem::TooMany).into());
            }
        }
    }
    match Problems::from_all(found.problems) {
        Some(problems) => Err(problems),
        None => Ok(found.manifests),
    }
}

/// What was found in a `ConfigMap` or Secret.
struct Found {
    resource: ResourceReference,
    /// How many there are, whether they can be used or not.
    objects: usize,
    manifests: Vec<Manifest>,
    problems: Vec<Invalid>,
}

impl Found {
    /// Takes the objects of one document.
    fn read(&mut self, key: &str, number: usize, document: &split::Document<'_>) {
        let visible = self.resource.kind == ResourceKind::ConfigMap;
        let tree = match document::read(document.text, visible) {
            Ok(tree) => tree,
            Err((line, problem)) => {
                let line = line.map_or(document.content, |line| document.line + line - 1);
                return self.tell(key, Some(number), None, Some(line), problem);
            }
        };
        let objects = object::unfold(tree);
        self.objects += objects.len();
        for (item, object) in objects {
            let line = item.is_none().then_some(document.content);
            match object {
                Ok(object) => {
                    for problem in object::problems(&object, visible) {
                        self.tell(key, Some(number), item, line, problem);
                    }
                    let ResourceReference { kind, ref name } = self.resource;
                    let place =
                        Place { kind, name: name.clone(), key: key.to_owned(), document: number, item };
                    self.manifests.push(Manifest { place, object });
                }
                Err(problem) => self.tell(key, Some(number), item, line, problem),
            }
        }
    }

    fn tell(
        &mut self,
        key: &str,
        document: Option<usize>,
        item: Option<usize>,
        line: Option<usize>,
        problem: Problem,
    ) {
        let resource = self.resource.clone();
        let key = Some(key.to_owned());
        self.problems.push(Invalid { resource, key, document, item, line, problem });
    }
}

/// Cluster API's digest of a `ConfigMap` or Secret: of its values in the order of their keys, and of nothing else.
pub fn hash<Text: AsRef<[u8]>>(data: &BTreeMap<String, Text>) -> String {
    let mut hasher = Sha256::new();
    for text in data.values() {
        hasher.update(text.as_ref());
    }
    format!("sha256:{}", hexadecimal(&hasher.finalize()))
}
