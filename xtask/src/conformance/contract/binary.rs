//! The real Cluster API core: its program, built once and kept in the cache of parts, and its CRDs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, ensure};
use capt_api::names::label;
use capt_local::Environment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;

use super::super::go;
use super::super::modules::{Pins, read};

const MODULE: &str = "sigs.k8s.io/cluster-api";
const PACKAGE: &str = "sigs.k8s.io/cluster-api/core";
const PART: &str = "cluster-api";
const NAME: &str = "cluster-api-core";

/// What is needed to run Cluster API.
pub(crate) struct ClusterApi {
    pub(super) program: PathBuf,
    pub(super) crds: Vec<CustomResourceDefinition>,
}

impl ClusterApi {
    /// Fetches what is pinned; building the program takes minutes the first time.
    pub(crate) fn obtain(pins: &Pins) -> anyhow::Result<Self> {
        let module = pins.fetch(MODULE)?;
        let pinned = go::pin(PART, MODULE)?;
        ensure!(
            pinned == module.version,
            "conformance.toml pins Cluster API {}, but parts/{PART} pins {pinned}",
            module.version
        );
        let crds = crds(&module.directory.join("core/config/crd/bases"))?;
        Ok(Self { program: program(&module.version)?, crds })
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

fn program(version: &str) -> anyhow::Result<PathBuf> {
    let environment = Environment::of_process();
    let cache = environment.cache.context("neither XDG_CACHE_HOME nor HOME is set")?;
    let number = version.trim_start_matches('v');
    let directory = cache.join("parts").join(format!("{NAME}-{number}-{}", environment.platform));
    let program = directory.join(NAME);
    fs::create_dir_all(&directory).with_context(|| format!("making {}", directory.display()))?;
    let turn = File::create(directory.join("lock"))?;
    turn.lock().context("waiting for another build of Cluster API")?;
    if !program.exists() {
        println!("building Cluster API {version} with go (takes minutes the first time)");
        let started = Instant::now();
        let unfinished = directory.join("unfinished");
        go::build(PART, PACKAGE, &ldflags(number), &unfinished)?;
        // A file at its final path is complete.
        fs::rename(&unfinished, &program)?;
        println!("built Cluster API {version} in {} s", started.elapsed().as_secs());
    }
    Ok(program)
}

/// A core that does not know its version refuses to start.
fn ldflags(number: &str) -> String {
    let mut parts = number.split('.');
    let (major, minor) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let variables =
        [("gitVersion", format!("v{number}")), ("gitMajor", major.into()), ("gitMinor", minor.into())];
    let set = variables.map(|(name, value)| format!("-X {MODULE}/version.{name}={value}"));
    format!("-s -w {}", set.join(" "))
}
