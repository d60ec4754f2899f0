//! What finding depends on, gathered once, so that nothing below reads the environment by itself.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// Variables that name a directory with ready binaries, the first before the second.
const DIRECTORIES: [&str; 2] = ["CAPT_ASSETS", "KUBEBUILDER_ASSETS"];

/// Where to look, what is allowed.
#[derive(Debug, Clone)]
pub struct Environment {
    /// Variables that may name a directory with ready binaries, in order, with what they are set to.
    pub directories: Vec<(&'static str, Option<PathBuf>)>,
    /// The search path.
    pub path: Option<OsString>,
    /// Where what was downloaded or built is kept.
    pub cache: Option<PathBuf>,
    /// Whether nothing may be downloaded.
    pub offline: bool,
    /// The Go command.
    pub go: PathBuf,
    /// What binaries must be made for.
    pub platform: Platform,
}

impl Environment {
    /// As the variables of this process say.
    pub fn of_process() -> Self {
        let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let cache = variable("XDG_CACHE_HOME")
            .map(PathBuf::from)
            // The specification of that variable says that relative paths are to be ignored.
            .filter(|path| path.is_absolute())
            .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".cache")));
        Self {
            directories: DIRECTORIES.map(|name| (name, variable(name).map(PathBuf::from))).to_vec(),
            path: variable("PATH"),
            cache: cache.map(|directory| directory.join("capt")),
            offline: variable("CAPT_OFFLINE").is_some_and(|value| value != "0"),
            go: PathBuf::from("go"),
            platform: Platform::current(),
        }
    }
}

/// A system and an architecture, by the names that Go and Kubernetes use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Platform {
    /// For example `linux`.
    pub system: String,
    /// For example `amd64`.
    pub architecture: String,
}

impl Platform {
    /// What this binary was made for.
    pub fn current() -> Self {
        let system = match env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        let architecture = match env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        };
        Self { system: system.to_owned(), architecture: architecture.to_owned() }
    }
}

impl std::fmt::Display for Platform {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}-{}", self.system, self.architecture)
    }
}
