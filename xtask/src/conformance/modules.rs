//! The real owners' CRDs, out of their Go modules.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;
use std::{env, fs};

use anyhow::{Context, bail, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde::Deserialize;

use crate::repository::root;

/// How long to wait before asking again, when the module proxy is busy.
const PAUSES: [Duration; 4] =
    [Duration::from_secs(2), Duration::from_secs(5), Duration::from_secs(15), Duration::from_secs(30)];

/// What `conformance.toml` says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pins {
    module: Vec<Module>,
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

/// The CRDs of all modules, without the conversions, which need a webhook that does not run here.
pub(super) fn crds(pins: &Pins) -> anyhow::Result<Vec<CustomResourceDefinition>> {
    let mut crds = Vec::new();
    for module in &pins.module {
        let directory = fetch(module)?;
        for file in &module.crds {
            let mut crd = read(&directory.join(file))?;
            crd.spec.conversion = None;
            crds.push(crd);
        }
    }
    Ok(crds)
}

fn read(path: &Path) -> anyhow::Result<CustomResourceDefinition> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    serde_saphyr::from_str(&text).with_context(|| format!("reading {}", path.display()))
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
                let Some(pause) = pauses.next().filter(|_| error.contains("429")) else {
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
