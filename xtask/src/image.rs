//! `cargo xtask image`: the image of the manager, from Debian's packages and two binaries, without a daemon.

mod binaries;
mod program;
mod recipe;
mod system;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, ensure};
use capt_local::Platform;
use clap::Args;

use crate::repository::root;

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The capt to put in; built for release and without libraries by default
    #[arg(long, value_name = "FILE")]
    capt: Option<PathBuf>,
    /// A file of apt sources, for packages of one day; those of today by default
    #[arg(long, value_name = "FILE")]
    sources: Option<PathBuf>,
    /// The name of the image; capt and the version by default
    #[arg(long, value_name = "NAME")]
    tag: Option<String>,
    /// Where the archive and what is in it go; target/image by default
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    ensure!(cfg!(target_os = "linux"), "an image can be built on Linux only");
    let epoch = epoch()?;
    // What is missing is told before anything is built.
    for name in ["mmdebstrap", "buildah"] {
        program::run(Command::new(name).arg("--version"))?;
    }
    let sources = arguments.sources.as_deref().map(existing).transpose()?;
    let platform = Platform::current();
    let out = arguments.out.clone().unwrap_or_else(|| root().join("target/image"));
    let context = out.join(platform.to_string());
    fs::create_dir_all(&context).with_context(|| format!("making {}", context.display()))?;
    let context = existing(&context)?;

    place(&binaries::capt(arguments.capt.as_deref())?, &context.join("capt"))?;
    place(&binaries::tofu()?, &context.join("tofu"))?;
    println!("installing Debian's packages, which takes a minute");
    let system = context.join("system.tar");
    system::make(&system, sources.as_deref(), &epoch)?;
    let packages = out.join(format!("packages-{platform}.txt"));
    fs::write(&packages, system::packages(&system)?)
        .with_context(|| format!("writing {}", packages.display()))?;

    let tag = arguments.tag.clone().unwrap_or_else(|| format!("capt:v{VERSION}"));
    recipe::build(&context, &tag, &epoch)?;
    recipe::try_out(&tag)?;
    let archive = out.join(format!("capt-{platform}.oci.tar"));
    let digest = recipe::archive(&tag, &archive)?;
    for path in [&archive, &packages] {
        println!("{}", path.display());
    }
    println!("{tag}@{digest}, {} MiB", fs::metadata(&archive)?.len() >> 20);
    Ok(())
}

/// Copies a file, unless it is there already: a copy onto itself would empty it.
fn place(from: &Path, to: &Path) -> anyhow::Result<()> {
    let from = existing(from)?;
    if from != to {
        fs::copy(&from, to).with_context(|| format!("copying {}", from.display()))?;
    }
    Ok(())
}

/// Seconds since 1970 that every file in the image is said to be from: those of the commit, unless told otherwise.
fn epoch() -> anyhow::Result<String> {
    let told = env::var("SOURCE_DATE_EPOCH").ok().filter(|text| !text.is_empty());
    let text = match told {
        Some(text) => text,
        None => program::answer(git().args(["log", "-1", "--format=%ct"]))?,
    };
    let seconds: u64 = text
        .trim()
        .parse()
        .with_context(|| format!("SOURCE_DATE_EPOCH: {text:?} is no number of seconds"))?;
    Ok(seconds.to_string())
}

fn git() -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(root());
    command
}

fn existing(path: &Path) -> anyhow::Result<PathBuf> {
    fs::canonicalize(path).with_context(|| format!("looking for {}", path.display()))
}

/// A path as an argument of a program that takes text only.
fn text(path: &Path) -> anyhow::Result<&str> {
    path.to_str().with_context(|| format!("{} is no text", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_in_place_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let [file, link] = ["capt", "link"].map(|name| directory.path().join(name));
        fs::write(&file, "content").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();

        place(&link, &fs::canonicalize(&file).unwrap()).unwrap();

        assert_eq!(fs::read_to_string(&file).unwrap(), "content");
    }

    #[test]
    fn the_image_and_the_chart_agree_on_the_user() {
        let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();

        assert!(read("Containerfile").contains("USER 65532:65532\n"));
        assert!(read("charts/capt/values.yaml").contains("userId: 65532\n"));
        assert!(system::HOOKS.iter().any(|hook| hook.contains("capt:x:65532:65532:")));
    }
}
