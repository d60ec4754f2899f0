//! The pins: which parts there are, in which version, and where they come from. All of it is data in `parts/`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::environment::Platform;

const EMBEDDED: &str = include_str!("../../../parts/parts.toml");

/// A Go module of ours that pins other people's commands, carried in the binary so that no checkout is needed.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) name: &'static str,
    pub(crate) files: &'static [(&'static str, &'static str)],
}

/// One line for each directory under `parts/`.
static MODULES: &[Module] = &[module_of_kubernetes(), module_of_opentofu()];

const fn module_of_kubernetes() -> Module {
    Module {
        name: "kubernetes",
        files: &[
            ("go.mod", include_str!("../../../parts/kubernetes/go.mod")),
            ("go.sum", include_str!("../../../parts/kubernetes/go.sum")),
            ("tools.go", include_str!("../../../parts/kubernetes/tools.go")),
        ],
    }
}

const fn module_of_opentofu() -> Module {
    Module {
        name: "opentofu",
        files: &[
            ("go.mod", include_str!("../../../parts/opentofu/go.mod")),
            ("go.sum", include_str!("../../../parts/opentofu/go.sum")),
            ("tools.go", include_str!("../../../parts/opentofu/tools.go")),
        ],
    }
}

/// Why a list of parts is not usable.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The text is not understood.
    #[error("reading the list of parts")]
    Syntax(#[from] toml::de::Error),
    /// A part's module is not carried in this binary.
    #[error("part {part} is built from module {module}, which is not here")]
    UnknownModule {
        /// Which part.
        part: String,
        /// Which module.
        module: String,
    },
}

/// All parts that are known.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalog {
    part: Vec<Part>,
}

/// One binary, pinned.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The name of the executable.
    pub name: String,
    /// Its version, without a leading `v`.
    pub version: String,
    /// The official download, if there is one.
    pub download: Option<Download>,
    /// How it is built, if it can be.
    pub go: Option<GoBuild>,
}

/// An official download. Every text may hold the placeholders `{version}`, `{os}` and `{arch}`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Download {
    /// Where the file is.
    pub url: String,
    /// The path of the executable in the file, when that is a `.tar.gz`.
    pub member: Option<String>,
    /// Where the checksum is: alone, or in a list by file name.
    pub checksums: Option<String>,
    /// Checksums written here, by `os-arch`; they go before the ones that would be downloaded.
    #[serde(default)]
    pub sha256: BTreeMap<String, String>,
    /// For which systems there is such a file.
    pub systems: Vec<String>,
}

/// A build from a pinned Go module.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoBuild {
    /// Which directory of `parts/` pins it.
    pub module: String,
    /// Which package is the command.
    pub package: String,
    /// What the linker is told; `{version}` is replaced.
    pub ldflags: Vec<String>,
}

impl Catalog {
    /// The parts that this binary was made with.
    pub fn embedded() -> Result<Self, CatalogError> {
        Self::parse(EMBEDDED)
    }

    /// Reads a list of parts.
    pub fn parse(text: &str) -> Result<Self, CatalogError> {
        let catalog: Self = toml::from_str(text)?;
        for part in &catalog.part {
            if let Some(go) = &part.go
                && module(&go.module).is_none()
            {
                return Err(CatalogError::UnknownModule {
                    part: part.name.clone(),
                    module: go.module.clone(),
                });
            }
        }
        Ok(catalog)
    }

    /// The part with this name.
    pub fn get(&self, name: &str) -> Option<&Part> {
        self.part.iter().find(|part| part.name == name)
    }
}

impl Part {
    /// Replaces the placeholders.
    pub(crate) fn fill(&self, template: &str, platform: &Platform) -> String {
        template
            .replace("{version}", &self.version)
            .replace("{os}", &platform.system)
            .replace("{arch}", &platform.architecture)
    }
}

pub(crate) fn module(name: &str) -> Option<&'static Module> {
    MODULES.iter().find(|module| module.name == name)
}

impl Module {
    /// The least version of Go that can build it.
    pub(crate) fn go_version(&self) -> Option<&'static str> {
        let (_, text) = self.files.iter().find(|(name, _)| *name == "go.mod")?;
        text.lines().find_map(|line| line.strip_prefix("go ")).map(str::trim)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::etcd("etcd")]
    #[case::api_server("kube-apiserver")]
    #[case::controller_manager("kube-controller-manager")]
    #[case::tofu("tofu")]
    fn a_part_is_pinned_where_its_module_pins_it(#[case] name: &str) {
        let catalog = Catalog::embedded().unwrap();
        let part = catalog.get(name).unwrap();
        let go = part.go.as_ref().unwrap();
        let (_, text) = module(&go.module).unwrap().files[0];

        let pin = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("require ").or(Some(line.trim())))
            .filter_map(|line| line.split_once(' '))
            .find(|(path, _)| go.package == *path || go.package.starts_with(&format!("{path}/")))
            .map(|(_, version)| version.split(' ').next().unwrap());

        assert_eq!(pin, Some(format!("v{}", part.version).as_str()));
    }

    #[test]
    fn placeholders_are_replaced() {
        let catalog = Catalog::embedded().unwrap();
        let platform = Platform { system: "linux".into(), architecture: "arm64".into() };
        let part = catalog.get("kube-apiserver").unwrap();

        let url = part.fill(&part.download.as_ref().unwrap().url, &platform);

        assert_eq!(url, format!("https://dl.k8s.io/v{}/bin/linux/arm64/kube-apiserver", part.version));
    }

    #[test]
    fn a_module_that_is_not_carried_is_refused() {
        let text = "[[part]]\nname = \"x\"\nversion = \"1\"\n[part.go]\nmodule = \"y\"\npackage = \"z\"\nldflags = []";

        assert!(matches!(Catalog::parse(text), Err(CatalogError::UnknownModule { .. })));
    }

    #[test]
    fn a_misspelt_field_is_refused() {
        let text = "[[part]]\nname = \"x\"\nversion = \"1\"\ndownlaod = {}";

        assert!(matches!(Catalog::parse(text), Err(CatalogError::Syntax(_))));
    }
}
