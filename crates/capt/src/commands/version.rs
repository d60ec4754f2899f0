//! `capt version`.

use std::collections::BTreeMap;

use capt_local::Catalog;
use serde::Serialize;

use crate::printer::Printer;

const VERSION: &str = env!("CARGO_PKG_VERSION");
const PARTS: [&str; 4] = ["etcd", "kube-apiserver", "kube-controller-manager", "tofu"];

#[derive(Serialize)]
struct Versions {
    /// Of this binary.
    version: &'static str,
    /// Of the parts that `capt up` fetches or builds when they are not there.
    parts: BTreeMap<&'static str, String>,
}

pub(crate) fn run(printer: Printer) -> anyhow::Result<()> {
    let catalog = Catalog::embedded()?;
    let parts = PARTS.into_iter().filter_map(|name| Some((name, catalog.get(name)?.version.clone())));
    let versions = Versions { version: VERSION, parts: parts.collect() };
    printer.value(&versions, &format!("capt {VERSION}"))
}
