//! What to see to before an upgrade.

use super::super::product::Versions;
use super::super::table::{Flux, Table};

/// The versions in which a kind is served.
type Served = fn(&Flux) -> &[String];

/// What to see to before a step from one state to the next.
pub(super) fn notes(table: &Table, before: &Versions, after: &Versions) -> Vec<String> {
    let rows = [before, after].map(|state| state.flux.and_then(|version| table.flux(version).ok()));
    let [Some(before), Some(after)] = rows else { return Vec::new() };
    let kinds: [(&str, Served); 2] =
        [("HelmRelease", |row| &row.helm_release), ("OCIRepository", |row| &row.oci_repository)];
    let mut notes = Vec::new();
    for (kind, served) in kinds {
        let gone: Vec<_> = served(before).iter().filter(|version| !served(after).contains(version)).collect();
        if let ([first, more @ ..], Some(stays)) = (gone.as_slice(), served(after).first()) {
            let gone = more.iter().fold((*first).clone(), |text, version| format!("{text} or {version}"));
            let flux = after.minor;
            notes.push(format!("Flux {flux} serves no {kind} {gone} any more: write {stays} before"));
        }
    }
    if before.helm.major() != after.helm.major() {
        let [old, new] = [before, after].map(|row| row.helm.major());
        notes.push(format!("charts are installed by Helm {new} from then on, and no longer by Helm {old}"));
    }
    notes
}
