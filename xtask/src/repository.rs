//! Where things are in the repository.

use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::Context;
use capt_api::WorkspaceTemplateApply;
use serde_json::Value;

/// The directory that everything generated lies in.
pub(crate) const CONFIG: &str = "config";

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Every file under a directory, by its path from the root; none when the directory is missing.
pub(crate) fn files_under(directory: &str) -> anyhow::Result<Vec<PathBuf>> {
    let root = root();
    let mut files = Vec::new();
    let mut directories = vec![root.join(directory)];
    while let Some(directory) = directories.pop() {
        let entries = match fs::read_dir(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.with_context(|| format!("listing {}", directory.display()))?,
        };
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                directories.push(path);
            } else {
                files.push(path.strip_prefix(&root)?.to_owned());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Every object of every example, with the file it is in.
pub(crate) fn examples() -> anyhow::Result<Vec<(PathBuf, Value)>> {
    objects_in("examples")
}

/// Every object of a file, or of every YAML file below a directory, with the file it is in.
pub(crate) fn objects_in(path: &str) -> anyhow::Result<Vec<(PathBuf, Value)>> {
    let mut objects = Vec::new();
    let files = if root().join(path).is_dir() { files_under(path)? } else { vec![path.into()] };
    for file in files.into_iter().filter(|file| file.extension().is_some_and(|extension| extension == "yaml"))
    {
        let text =
            fs::read_to_string(root().join(&file)).with_context(|| format!("reading {}", file.display()))?;
        let documents: Vec<Value> =
            serde_saphyr::from_multiple(&text).with_context(|| format!("reading {}", file.display()))?;
        objects.extend(documents.into_iter().map(|object| (file.clone(), object)));
    }
    Ok(objects)
}

/// Whether an apply needs nothing but its template.
pub(crate) fn waits_for_nothing(apply: &WorkspaceTemplateApply) -> bool {
    let spec = &apply.spec;
    spec.variables_from.is_empty() && spec.wait_for_secrets.is_empty() && spec.wait_for_workspaces.is_empty()
}
