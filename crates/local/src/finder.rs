//! Getting a part, whatever it takes.
//!
//! In this order: a directory that the user named, the search path, the cache, the official download, a build with
//! Go. A step that cannot work says why and the next one is taken.

mod missing;
mod probe;
mod versions;

use std::env;
use std::fmt::{self, Write as _};
use std::path::PathBuf;

use crate::Progress;
use crate::cache::{Cache, CacheError, Filling};
use crate::catalog::{Catalog, CatalogError, Module, Part, module};
use crate::download::{DownloadError, Downloader};
use crate::environment::Environment;
use crate::go::{Go, GoError};

pub use missing::Missing;
pub use versions::Versions;

/// The names of the executables of a control plane.
const NAMES: [&str; 3] = ["etcd", "kube-apiserver", "kube-controller-manager"];

/// The executables of a control plane.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The store.
    pub etcd: PathBuf,
    /// The API server.
    pub kube_apiserver: PathBuf,
    /// Garbage collection, deletion of namespaces.
    pub kube_controller_manager: PathBuf,
    /// What they say they are.
    pub versions: Versions,
}

impl Parts {
    /// Finds all three, as the variables of this process say.
    pub fn find(progress: &Progress) -> Result<Self, FindError> {
        Self::find_beside(&[], progress)
    }

    /// As [`Self::find`]. Where that fails, the error names these parts too, which have not been looked for yet.
    pub fn find_beside(others: &[&str], progress: &Progress) -> Result<Self, FindError> {
        let finder = Finder::new(Catalog::embedded()?, Environment::of_process());
        let [etcd, kube_apiserver, kube_controller_manager] = finder.find_all(NAMES, others, progress)?;
        let versions = Versions::of(&kube_apiserver, &etcd);
        Ok(Self { etcd, kube_apiserver, kube_controller_manager, versions })
    }
}

/// Why a part was not found.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// There is no such part.
    #[error("no part is called {0}")]
    Unknown(String),
    /// The list of parts is broken.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// What was fetched could not be kept.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Every step failed, for one or several.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// Every step failed.
    #[error("{}", listing(name, version, attempts, advice))]
    Nowhere {
        /// Which part.
        name: String,
        /// Which version was wanted.
        version: String,
        /// What was tried, in order.
        attempts: Vec<Attempt>,
        /// What a person can do.
        advice: String,
    },
}

/// A step that did not work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Which step.
    pub step: String,
    /// Why not.
    pub reason: String,
}

impl fmt::Display for Attempt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A reason of several lines stays under its step.
        write!(formatter, "{}: {}", self.step, self.reason.replace('\n', "\n    "))
    }
}

fn listing(name: &str, version: &str, attempts: &[Attempt], advice: &str) -> String {
    let mut text = format!("{name} {version} was not found, and could not be downloaded or built:\n");
    for attempt in attempts {
        let _ = writeln!(text, "  {attempt}");
    }
    text + advice
}

/// Finds parts; keep one for several parts, because it remembers what cannot be reached.
#[derive(Debug)]
pub struct Finder {
    catalog: Catalog,
    environment: Environment,
    downloader: Downloader,
    go: Go,
}

impl Finder {
    /// A finder of the parts of `catalog`.
    pub fn new(catalog: Catalog, environment: Environment) -> Self {
        let go = Go::new(&environment.go, &environment.platform);
        Self { catalog, environment, downloader: Downloader::new(), go }
    }

    /// The path of the part's executable; the cache is filled when it is nowhere else.
    pub fn find(&self, name: &str, progress: &Progress) -> Result<PathBuf, FindError> {
        let part = self.part(name)?;
        let mut attempts = Vec::new();
        if let Some(path) = self.in_named_directory(part, progress, &mut attempts) {
            return Ok(path);
        }
        if let Some(path) = self.in_search_path(part, &mut attempts) {
            return Ok(path);
        }
        if let Some(path) = self.in_cache(part, progress, &mut attempts)? {
            return Ok(path);
        }
        let (name, version) = (part.name.clone(), part.version.clone());
        Err(FindError::Nowhere { name, version, attempts, advice: advice(part) })
    }

    /// The paths of several; when some are nowhere, the error names all of them, and the others.
    fn find_all<const COUNT: usize>(
        &self,
        names: [&str; COUNT],
        others: &[&str],
        progress: &Progress,
    ) -> Result<[PathBuf; COUNT], FindError> {
        let mut missing = Missing::new(&self.environment.platform);
        let mut paths = std::array::from_fn(|_| PathBuf::new());
        for (name, path) in names.iter().zip(&mut paths) {
            match self.find(name, progress) {
                Ok(found) => *path = found,
                Err(FindError::Nowhere { attempts, .. }) => missing.add(self.part(name)?, attempts),
                Err(error) => return Err(error),
            }
        }
        if missing.is_empty() {
            return Ok(paths);
        }
        for name in others {
            missing.add(self.part(name)?, Vec::new());
        }
        Err(missing.into())
    }

    fn part(&self, name: &str) -> Result<&Part, FindError> {
        self.catalog.get(name).ok_or_else(|| FindError::Unknown(name.to_owned()))
    }

    /// The part where it is already: in a named directory, in the search path or in the cache. Nothing is fetched.
    pub fn at_hand(&self, name: &str) -> Option<PathBuf> {
        let part = self.catalog.get(name)?;
        let attempts = &mut Vec::new();
        self.in_named_directory(part, &Progress::silent(), attempts)
            .or_else(|| self.in_search_path(part, attempts))
            .or_else(|| self.cached(name))
    }

    /// The part in the cache, if it is there. Nothing is fetched.
    pub fn cached(&self, name: &str) -> Option<PathBuf> {
        let part = self.catalog.get(name)?;
        let path = Cache::at(self.environment.cache.as_ref()?).path_of(part, &self.environment.platform);
        probe::is_executable(&path).is_ok().then_some(path)
    }

    fn in_named_directory(
        &self,
        part: &Part,
        progress: &Progress,
        attempts: &mut Vec<Attempt>,
    ) -> Option<PathBuf> {
        for (variable, directory) in &self.environment.directories {
            let Some(directory) = directory else {
                note(attempts, *variable, "not set");
                continue;
            };
            let path = directory.join(&part.name);
            match probe::is_runnable(&path) {
                Ok(()) => return Some(path),
                Err(reason) => {
                    // The user meant this one to be used, so going on without it is not done silently.
                    progress.say(&format!("{variable}: {} is not used: {reason}", path.display()));
                    note(attempts, format!("{variable} ({})", path.display()), reason);
                }
            }
        }
        None
    }

    fn in_search_path(&self, part: &Part, attempts: &mut Vec<Attempt>) -> Option<PathBuf> {
        let path = self.environment.path.clone().unwrap_or_default();
        let before = attempts.len();
        for directory in env::split_paths(&path).filter(|directory| directory.is_absolute()) {
            let candidate = directory.join(&part.name);
            match probe::is_runnable(&candidate) {
                Ok(()) => return Some(candidate),
                Err(probe::Unusable::Missing) => {}
                Err(reason) => note(attempts, format!("PATH ({})", candidate.display()), reason),
            }
        }
        if attempts.len() == before {
            note(attempts, "PATH", "not in any of its directories");
        }
        None
    }

    fn in_cache(
        &self,
        part: &Part,
        progress: &Progress,
        attempts: &mut Vec<Attempt>,
    ) -> Result<Option<PathBuf>, CacheError> {
        let Some(root) = &self.environment.cache else {
            note(attempts, "cache", "neither XDG_CACHE_HOME nor HOME is set");
            return Ok(None);
        };
        let cache = Cache::at(root);
        let path = cache.path_of(part, &self.environment.platform);
        if probe::is_executable(&path).is_ok() {
            return Ok(Some(path));
        }
        let filling = cache.fill(progress)?;
        // Whoever filled the cache before us may have been after the same part.
        if probe::is_executable(&path).is_ok() {
            return Ok(Some(path));
        }
        note(attempts, format!("cache ({})", cache.root().display()), "not there yet");
        if let Some(path) = self.by_download(part, &filling, progress, attempts)? {
            return Ok(Some(path));
        }
        self.by_build(part, &filling, progress, attempts)
    }

    fn by_download(
        &self,
        part: &Part,
        filling: &Filling<'_>,
        progress: &Progress,
        attempts: &mut Vec<Attempt>,
    ) -> Result<Option<PathBuf>, CacheError> {
        let Some(download) = &part.download else {
            note(attempts, "download", "there is no official download");
            return Ok(None);
        };
        if self.environment.offline {
            note(attempts, "download", "not tried, because CAPT_OFFLINE is set");
            return Ok(None);
        }
        let scratch = filling.scratch()?;
        let platform = &self.environment.platform;
        match self.downloader.fetch(part, download, platform, &scratch, progress) {
            Ok(made) => filling.install(&made, part, platform).map(Some),
            Err(DownloadError::Write(source)) => Err(filling.failed(source)),
            Err(reason) => {
                // Where a build follows, it is said why: it takes much longer.
                if part.go.as_ref().is_some_and(|build| self.go.can_build(build)) {
                    progress.say(&format!("{} was not downloaded: {reason}", part.name));
                }
                note(attempts, "download", reason);
                Ok(None)
            }
        }
    }

    fn by_build(
        &self,
        part: &Part,
        filling: &Filling<'_>,
        progress: &Progress,
        attempts: &mut Vec<Attempt>,
    ) -> Result<Option<PathBuf>, CacheError> {
        let Some(build) = &part.go else {
            note(attempts, "go build", "it is not written in Go");
            return Ok(None);
        };
        let scratch = filling.scratch()?;
        match self.go.build(part, build, &scratch, progress) {
            Ok(made) => filling.install(&made, part, &self.environment.platform).map(Some),
            Err(GoError::Write(source)) => Err(filling.failed(source)),
            Err(reason) => {
                note(attempts, "go build", reason);
                Ok(None)
            }
        }
    }
}

fn note(attempts: &mut Vec<Attempt>, step: impl Into<String>, reason: impl fmt::Display) {
    attempts.push(Attempt { step: step.into(), reason: reason.to_string() });
}

fn advice(part: &Part) -> String {
    let go = part.go.as_ref().and_then(|build| module(&build.module)).and_then(Module::go_version);
    let install = go.map(|version| format!("install Go {version} or newer, or ")).unwrap_or_default();
    format!("{install}put {} into a directory and set CAPT_ASSETS to that directory", part.name)
}
