//! The real kubectl, for commands as users type them.

use std::io;
use std::path::PathBuf;

use capt_local::{Catalog, Environment, Finder, Progress};

const CATALOG: &str = include_str!("../../../parts/testing.toml");

/// The one in `PATH`, or one that is got like the other parts: on a new machine that takes minutes.
pub fn obtain() -> io::Result<PathBuf> {
    let catalog = Catalog::parse(CATALOG).map_err(io::Error::other)?;
    let finder = Finder::new(catalog, Environment::of_process());
    finder.find("kubectl", &Progress::stderr()).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_of_the_version_of_the_api_server() {
        let version = |catalog: Catalog, name: &str| catalog.get(name).unwrap().version.clone();
        let of_tests = version(Catalog::parse(CATALOG).unwrap(), "kubectl");
        assert_eq!(of_tests, version(Catalog::embedded().unwrap(), "kube-apiserver"));
    }
}
