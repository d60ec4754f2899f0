//! OpenTofu or Terraform: the one that is named, the one that is there, or the one that we get.

use std::env;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use capt_local::{Catalog, Environment, Finder, Progress};

use super::directory::in_a_pod;
use crate::cli::EngineArguments;
use crate::thread::in_thread;

/// The part that we get where there is nothing.
pub(crate) const PART: &str = "tofu";

const ADVICE: &str = "there is no Terraform to run Workspaces with: name OpenTofu or Terraform with --terraform-binary, or \
                      leave Workspaces to Crossplane with --engine=crossplane";

/// The binary that the flag names, or else one that is on this machine. Nothing is fetched.
pub(crate) fn at_hand(arguments: &EngineArguments) -> anyhow::Result<Option<PathBuf>> {
    match &arguments.terraform_binary {
        Some(path) => named(path).map(Some),
        None => Ok(in_search_path(&Environment::of_process()).or_else(|| finder().ok()?.cached(PART))),
    }
}

/// The binary that is at hand, or else OpenTofu, downloaded or built.
pub(crate) async fn obtain(arguments: &EngineArguments, progress: Progress) -> anyhow::Result<PathBuf> {
    match at_hand(arguments)? {
        Some(path) => Ok(path),
        None => in_thread(move || fetch(&progress)).await?,
    }
}

/// OpenTofu, downloaded or built.
pub(crate) fn fetch(progress: &Progress) -> anyhow::Result<PathBuf> {
    finder()?.find(PART, progress).context(ADVICE)
}

/// As [`obtain`], but a pod, which would begin anew after every restart, gets nothing.
pub(crate) async fn obtain_outside_pods(
    arguments: &EngineArguments,
    progress: Progress,
) -> anyhow::Result<PathBuf> {
    if in_a_pod() {
        return at_hand(arguments)?.context(ADVICE);
    }
    obtain(arguments, progress).await
}

fn named(path: &Path) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(path).with_context(|| format!("finding {}", path.display()))?;
    let metadata = path
        .metadata()
        .with_context(|| format!("--terraform-binary names {}, which cannot be read", path.display()))?;
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        bail!("--terraform-binary names {}, which is not an executable file", path.display());
    }
    Ok(path)
}

/// `tofu` before `terraform`, in directories of parts before those of programs.
fn in_search_path(environment: &Environment) -> Option<PathBuf> {
    // Commands work elsewhere, where a relative path would lead astray.
    let named = environment.directories.iter().filter_map(|(_, directory)| directory.as_ref());
    let parts = named.filter_map(|directory| std::path::absolute(directory).ok()).collect();
    let programs = environment.path.iter().flat_map(env::split_paths);
    let programs = programs.filter(|directory| directory.is_absolute()).collect();
    [parts, programs].into_iter().find_map(|directories: Vec<PathBuf>| {
        let path = env::join_paths(directories).ok()?;
        capt_terraform::find(None, Some(&path)).ok()
    })
}

fn finder() -> anyhow::Result<Finder> {
    Ok(Finder::new(Catalog::embedded()?, Environment::of_process()))
}
