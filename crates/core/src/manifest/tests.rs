mod accepted;
mod keys;
mod lists;
mod order;
mod refused;
mod robust;
mod secrets;
mod split;

use super::*;

/// The manifests of a `ConfigMap` with one key.
fn read(text: impl AsRef<[u8]>) -> Result<Vec<Manifest>, Problems> {
    parse(ResourceKind::ConfigMap, "flux", &BTreeMap::from([("flux.yaml".to_owned(), text)]))
}

/// The objects of a `ConfigMap` with one key.
fn objects(text: impl AsRef<[u8]>) -> Vec<Value> {
    read(text).unwrap().into_iter().map(|manifest| manifest.object).collect()
}

/// What is wrong with a text, each thing after the place that all of them share.
fn sentences(text: impl AsRef<[u8]>) -> Vec<String> {
    let problems = read(text).unwrap_err();
    let place = "ConfigMap `flux`, key `flux.yaml`, ";
    let after = |invalid: &Invalid| invalid.to_string().strip_prefix(place).unwrap().to_owned();
    problems.all().iter().map(after).collect()
}

/// A `ConfigMap` of this name.
fn named(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n")
}

/// Manifests with the number of the document as their place.
fn manifests(objects: impl IntoIterator<Item = Value>) -> Vec<Manifest> {
    let numbered = (1..).zip(objects);
    let manifest = |(document, object)| Manifest {
        place: Place {
            kind: ResourceKind::ConfigMap,
            name: "flux".to_owned(),
            key: "flux.yaml".to_owned(),
            document,
            item: None,
        },
        object,
    };
    numbered.map(manifest).collect()
}
