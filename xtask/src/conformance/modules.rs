//! The real owners' CRDs, out of their Go modules.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::{env, fs};

use anyhow::{Context, bail, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde::Deserialize;

use super::go::{PAUSES, is_busy};
use crate::repository::root;

/// What `conformance.toml` says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pins {
    module: Vec<Module>,
    /// Kinds that the chart writes.
    monitoring: Module,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Module {
    path: String,
    version: String,
    sum: String,
    crds: Vec<PathBuf>,
}

/// The part of `go mod download -json` that matters.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Downloaded {
    dir: Option<PathBuf>,
    sum: Option<String>,
    error: Option<String>,
}

impl Pins {
    pub(super) fn read() -> anyhow::Result<Self> {
        let path = root().join("xtask/conformance.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("reading {}", path.display()))
    }
}

/// A module as it was fetched.
pub(super) struct Fetched {
    pub(super) version: String,
    pub(super) directory: PathBuf,
}

impl Pins {
    /// Fetches one of the modules.
    pub(super) fn fetch(&self, path: &str) -> anyhow::Result<Fetched> {
        let module = self.module.iter().find(|module| module.path == path);
        let module = module.with_context(|| format!("conformance.toml pins no {path}"))?;
        Ok(Fetched { version: module.version.clone(), directory: fetch(module)? })
    }
}

/// The CRDs of all modules, without the conversions, which need a webhook that does not run here.
pub(super) fn crds(pins: &Pins) -> anyhow::Result<Vec<CustomResourceDefinition>> {
    let mut crds = Vec::new();
    for module in &pins.module {
        crds.extend(crds_of(module)?);
    }
    Ok(crds)
}

/// The CRDs of the Prometheus operator that the chart needs.
pub(super) fn monitoring(pins: &Pins) -> anyhow::Result<Vec<CustomResourceDefinition>> {
    crds_of(&pins.monitoring)
}

fn crds_of(module: &Module) -> anyhow::Result<Vec<CustomResourceDefinition>> {
    let directory = fetch(module)?;
    module.crds.iter().map(|file| read(&directory.join(file))).collect()
}

/// A CRD without its conversion.
pub(super) fn read(path: &Path) -> anyhow::Result<CustomResourceDefinition> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let crd = serde_saphyr::from_str(&text);
    let mut crd: CustomResourceDefinition = crd.with_context(|| format!("reading {}", path.display()))?;
    crd.spec.conversion = None;
    Ok(crd)
}

/// The directory of a module whose checksum is the pinned one.
fn fetch(module: &Module) -> anyhow::Result<PathBuf> {
    let name = format!("{}@{}", module.path, module.version);
    println!("fetching {name}");
    let mut pauses = PAUSES.into_iter();
    loop {
        let downloaded = download(module, &name)?;
        match downloaded {
            Downloaded { dir: Some(directory), sum: Some(sum), error: None } => {
                ensure!(sum == module.sum, "{name} has the checksum {sum}, but {} is pinned", module.sum);
                return Ok(directory);
            }
            Downloaded { error, .. } => {
                let error = error.unwrap_or_else(|| "no directory and no checksum".to_owned());
                let Some(pause) = pauses.next().filter(|_| is_busy(&error)) else {
                    bail!("fetching {name}: {error}")
                };
                sleep(pause);
            }
        }
    }
}

fn download(module: &Module, name: &str) -> anyhow::Result<Downloaded> {
    let output = Command::new("go")
        .args(["mod", "download", "-json", name])
        // Outside of any module, so that nobody's go.mod has a say.
        .current_dir(env::temp_dir())
        .env("GOFLAGS", "-mod=mod")
        .env("GOWORK", "off")
        // The pin takes the place of the public checksum database.
        .env("GONOSUMDB", &module.path)
        .output()
        .context("running go, which conformance needs to fetch other people's CRDs")?;
    serde_json::from_slice(&output.stdout)
        .with_context(|| format!("go mod download {name}: {}", String::from_utf8_lossy(&output.stderr)))
}
