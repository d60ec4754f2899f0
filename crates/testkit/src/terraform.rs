//! OpenTofu or Terraform to test and measure with.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use capt_local::{Catalog, Environment, Finder, Progress};

/// The binary that is named, one in `PATH`, or OpenTofu, got like the other parts: on a new machine that takes minutes.
pub fn obtain(named: Option<&Path>) -> io::Result<PathBuf> {
    capt_terraform::find(named, env::var_os("PATH").as_deref()).or_else(|_| obtain_opentofu())
}

/// The binary to test with: the one that `CAPT_TERRAFORM` names, or else as [`obtain`] has it.
pub fn binary() -> PathBuf {
    static BINARY: LazyLock<PathBuf> = LazyLock::new(|| {
        let named = env::var_os("CAPT_TERRAFORM").map(PathBuf::from);
        obtain(named.as_deref()).unwrap_or_else(|error| panic!("{error}"))
    });
    BINARY.clone()
}

/// OpenTofu, got like the other parts: on a new machine that takes minutes.
pub fn opentofu() -> PathBuf {
    static BINARY: LazyLock<PathBuf> =
        LazyLock::new(|| obtain_opentofu().unwrap_or_else(|error| panic!("{error}")));
    BINARY.clone()
}

/// The same for programs that are no tests.
pub fn obtain_opentofu() -> io::Result<PathBuf> {
    let catalog = Catalog::embedded().map_err(io::Error::other)?;
    Finder::new(catalog, Environment::of_process())
        .find("tofu", &Progress::stderr())
        .map_err(io::Error::other)
}
