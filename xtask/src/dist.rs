//! `cargo xtask dist`: what a release has for clusterctl, from `config/`, `examples/` and `metadata.yaml`.

mod checksums;
mod components;
mod flavors;
mod manifest;
mod metadata;
mod variables;
mod version;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use crate::repository::root;

pub(crate) use version::Version;

/// Files by their names.
pub(crate) type Files = BTreeMap<String, String>;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Where the files go; target/dist by default
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The version of the release, as vX.Y.Z; that of the binary by default
    #[arg(long)]
    version: Option<Version>,
    /// The image of the manager, with its tag or digest; that of config/manager with the version as its tag by default
    #[arg(long)]
    image: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { out, version, image } = arguments;
    let directory = out.clone().unwrap_or_else(|| root().join("target/dist"));
    let version = version.clone().unwrap_or_else(Version::of_this);
    let files = files(&version, image.as_deref())?;
    write(&directory, &files)?;
    for name in files.keys() {
        println!("{}", directory.join(name).display());
    }
    Ok(())
}

/// All files of a release.
pub(crate) fn files(version: &Version, image: Option<&str>) -> anyhow::Result<Files> {
    let mut files = Files::new();
    files.insert("metadata.yaml".to_owned(), metadata::read(version)?);
    components::add(&mut files, version, image)?;
    flavors::add(&mut files)?;
    let sums = checksums::of(&files);
    files.insert(checksums::FILE.to_owned(), sums);
    Ok(files)
}

/// Writes the files, and takes away what an earlier release had beside them.
pub(crate) fn write(directory: &Path, files: &Files) -> anyhow::Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    checksums::remove_stale(directory, files)?;
    for (name, content) in files {
        let path = directory.join(name);
        fs::write(&path, content).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_clusterctl_looks_for_is_there() {
        let files = files(&Version::of_this(), None).unwrap();

        for name in [
            "metadata.yaml",
            "infrastructure-components.yaml",
            "control-plane-components.yaml",
            "cluster-template.yaml",
            "cluster-template-eks.yaml",
            "cluster-template-eks-existing-vpc.yaml",
            "cluster-template-eks-topology.yaml",
            "cluster-template-eks-existing-vpc-topology.yaml",
            "cluster-template-local.yaml",
            "clusterclass-eks.yaml",
            "terraform-kinds.yaml",
            "checksums.txt",
        ] {
            assert!(files.contains_key(name), "{name}");
        }
    }

    #[test]
    fn the_same_release_is_made_twice() {
        let make = || files(&Version::of_this(), None).unwrap();

        assert_eq!(make(), make());
    }

    #[test]
    fn what_an_earlier_release_had_goes_and_what_is_not_ours_stays() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let file = |name: &str| (name.to_owned(), "old".to_owned());
        let mut earlier = Files::from([file("a.yaml"), file("b.yaml")]);
        let sums = checksums::of(&earlier);
        earlier.insert("checksums.txt".to_owned(), sums);
        write(directory.path(), &earlier).unwrap();
        fs::write(at("notes.txt"), "mine").unwrap();

        write(directory.path(), &Files::from([("a.yaml".to_owned(), "new".to_owned())])).unwrap();

        assert_eq!(fs::read_to_string(at("a.yaml")).unwrap(), "new");
        assert!(!at("b.yaml").exists());
        assert!(at("notes.txt").exists());
    }
}
