//! The real Cluster API: its programs, built once and kept in the cache of parts, and its CRDs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use capt_api::names::label;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;

use super::super::go;
use super::super::modules::{Fetched, Pins, read};
use super::super::tool::Tool;

const MODULE: &str = "sigs.k8s.io/cluster-api";
const PART: &str = "cluster-api";
const CORE: Tool = Tool {
    name: "cluster-api-core",
    part: PART,
    module: MODULE,
    package: "sigs.k8s.io/cluster-api/core",
    ldflags,
};
const CLUSTERCTL: Tool =
    Tool { name: "clusterctl", package: "sigs.k8s.io/cluster-api/cmd/clusterctl", ..CORE };

/// What is needed to run Cluster API.
pub(crate) struct ClusterApi {
    pub(in crate::conformance) program: PathBuf,
    pub(in crate::conformance) crds: Vec<CustomResourceDefinition>,
    /// The file that its webhooks are configured by.
    pub(super) webhooks: PathBuf,
    /// Where all of it comes from.
    pub(in crate::conformance) module: Fetched,
}

impl ClusterApi {
    /// Fetches what is pinned; building the program takes minutes the first time.
    pub(in crate::conformance) fn obtain(pins: &Pins) -> anyhow::Result<Self> {
        let module = pins.fetch(MODULE)?;
        let pinned = go::pin(PART, MODULE)?;
        ensure!(
            pinned == module.version,
            "conformance.toml pins Cluster API {}, but parts/{PART} pins {pinned}",
            module.version
        );
        let crds = crds(&module.directory.join("core/config/crd/bases"))?;
        let webhooks = module.directory.join("core/config/webhook/manifests.yaml");
        Ok(Self { program: CORE.obtain()?, crds, webhooks, module })
    }

    /// The program for whoever installs it.
    pub(crate) fn clusterctl() -> anyhow::Result<PathBuf> {
        CLUSTERCTL.obtain()
    }
}

/// As clusterctl installs them, but for the conversion, which needs a webhook that nobody can reach here.
fn crds(directory: &Path) -> anyhow::Result<Vec<CustomResourceDefinition>> {
    let mut crds = Vec::new();
    for entry in fs::read_dir(directory).with_context(|| format!("listing {}", directory.display()))? {
        let mut crd = read(&entry?.path())?;
        let labels = [
            (label::CONTRACT_V1BETA1, "v1beta1"),
            (label::CONTRACT_V1BETA2, "v1beta2"),
            (label::PROVIDER, "cluster-api"),
        ];
        crd.labels_mut().extend(labels.map(|(key, value)| (key.to_owned(), value.to_owned())));
        crds.push(crd);
    }
    Ok(crds)
}

/// What does not know its version refuses to work.
fn ldflags(number: &str) -> String {
    let mut parts = number.split('.');
    let (major, minor) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let variables =
        [("gitVersion", format!("v{number}")), ("gitMajor", major.into()), ("gitMinor", minor.into())];
    let set = variables.map(|(name, value)| format!("-X {MODULE}/version.{name}={value}"));
    format!("-s -w {}", set.join(" "))
}
