//! Programs of others that take minutes to build: built once, and kept in the cache of parts.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use capt_local::Environment;

use super::go;

/// A program of others.
pub(super) struct Tool {
    /// What it is called.
    pub(super) name: &'static str,
    /// The module of `parts/` that pins it.
    pub(super) part: &'static str,
    /// The module that its version is of.
    pub(super) module: &'static str,
    /// The package that it is made of.
    pub(super) package: &'static str,
    /// The linker's flags, by its version without the `v`.
    pub(super) ldflags: fn(&str) -> String,
}

impl Tool {
    /// Where it is, in the version that is pinned.
    pub(super) fn obtain(&self) -> anyhow::Result<PathBuf> {
        let Self { name, part, module, package, ldflags } = self;
        let version = go::pin(part, module)?;
        let number = version.trim_start_matches('v');
        let environment = Environment::of_process();
        let cache = environment.cache.context("neither XDG_CACHE_HOME nor HOME is set")?;
        let directory = cache.join("parts").join(format!("{name}-{number}-{}", environment.platform));
        let program = directory.join(name);
        fs::create_dir_all(&directory).with_context(|| format!("making {}", directory.display()))?;
        let turn = File::create(directory.join("lock"))?;
        turn.lock().with_context(|| format!("waiting for another build of {name}"))?;
        if !program.exists() {
            println!("building {name} {version} with go (takes minutes the first time)");
            let started = Instant::now();
            let unfinished = directory.join("unfinished");
            go::build(part, package, &ldflags(number), &unfinished)?;
            // A file at its final path is complete.
            fs::rename(&unfinished, &program)?;
            println!("built {name} {version} in {} s", started.elapsed().as_secs());
        }
        Ok(program)
    }
}
