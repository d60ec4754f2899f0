//! The version of Flux: from the labels of its objects, or from the images of its controllers.

use serde_json::Value;

use super::super::product::Product;
use super::super::table::{Flux, Table};
use super::super::version::Version;
use super::doubt::{Doubt, name};
use super::{Sighting, label};
use crate::manifest::{Manifest, ObjectKey};

const PART_OF: &str = "app.kubernetes.io/part-of";
const VERSION: &str = "app.kubernetes.io/version";
const FLUX: &str = "flux";
/// The part of the name of every image of Flux that mirrors keep.
const ORGANISATION: &str = "fluxcd";

/// Every place that tells a version of Flux. The first of each version is enough.
pub(super) fn sightings(table: &Table, manifests: &[Manifest], doubts: &mut Vec<Doubt>) -> Vec<Sighting> {
    let mut found = by_label(manifests, doubts);
    if found.is_empty() {
        found = by_image(table, manifests, doubts);
    }
    found
}

fn by_label(manifests: &[Manifest], doubts: &mut Vec<Doubt>) -> Vec<Sighting> {
    let mut found = Vec::new();
    let mut unread: Option<Doubt> = None;
    for manifest in manifests.iter().filter(|manifest| is_of_flux(&manifest.object)) {
        let Some(text) = label(&manifest.object, VERSION) else { continue };
        if let Ok(version) = Version::parse(text) {
            add(&mut found, version, || name(manifest));
        } else if unread.is_none() {
            // All objects have the same label: one of them is told.
            let field = format!("the label {VERSION}");
            let why = "does not tell the version of Flux";
            unread = Some(Doubt::unread(Product::Flux, manifest, &field, text, why));
        }
    }
    doubts.extend(unread);
    found
}

fn by_image(table: &Table, manifests: &[Manifest], doubts: &mut Vec<Doubt>) -> Vec<Sighting> {
    let mut found = Vec::new();
    for manifest in manifests.iter().filter(|manifest| is_deployment(manifest)) {
        for image in images(&manifest.object) {
            let Some((controller, tag)) = parts(image, is_of_flux(&manifest.object)) else { continue };
            let of: fn(&Flux) -> Version = match controller {
                "source-controller" => |row| row.source_controller,
                "helm-controller" => |row| row.helm_controller,
                _ => continue,
            };
            let tag = tag.and_then(|tag| Version::parse(tag).ok());
            let row = tag.and_then(|tag| table.flux.iter().find(|row| of(row).minor() == tag.minor()));
            match row {
                Some(row) => add(&mut found, Version::of(row.minor), || name(manifest)),
                None => doubts.push(Doubt::unread(
                    Product::Flux,
                    manifest,
                    "the image",
                    image,
                    "is of no version of Flux that the table knows: give its objects the label app.kubernetes.io/version",
                )),
            }
        }
    }
    found
}

fn add(found: &mut Vec<Sighting>, version: Version, by: impl FnOnce() -> String) {
    if !found.iter().any(|one| one.version == version) {
        found.push(Sighting { version, by: by() });
    }
}

fn is_of_flux(object: &Value) -> bool {
    label(object, PART_OF) == Some(FLUX)
}

fn is_deployment(manifest: &Manifest) -> bool {
    let ObjectKey { api_version, kind, .. } = manifest.key();
    kind == "Deployment" && api_version.starts_with("apps/")
}

fn images(object: &Value) -> impl Iterator<Item = &str> {
    let containers = object.pointer("/spec/template/spec/containers").and_then(Value::as_array);
    containers.into_iter().flatten().filter_map(|container| container["image"].as_str())
}

/// The name and the tag of an image, if it is one of Flux's.
fn parts(image: &str, is_of_flux: bool) -> Option<(&str, Option<&str>)> {
    let image = image.split('@').next()?;
    let (place, last) = image.rsplit_once('/').unwrap_or(("", image));
    let is_of_flux = is_of_flux || place.split('/').any(|part| part == ORGANISATION);
    let (name, tag) = last.split_once(':').map_or((last, None), |(name, tag)| (name, Some(tag)));
    is_of_flux.then_some((name, tag))
}
