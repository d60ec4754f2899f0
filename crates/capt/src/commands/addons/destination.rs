//! Where a stack is written to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use capt_core::ready_made::Stack;

/// Writes a stack into one file, or into the files of a directory. What is there already and different is left alone.
pub(super) fn write(path: &Path, stack: &Stack) -> anyhow::Result<Vec<PathBuf>> {
    let is_directory = path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/");
    let files: Vec<(PathBuf, String)> = if is_directory {
        fs::create_dir_all(path).with_context(|| format!("making the directory {}", path.display()))?;
        stack.files.iter().map(|file| (path.join(file.name), file.text.clone())).collect()
    } else {
        vec![(path.to_owned(), stack.stream())]
    };
    for (path, text) in &files {
        match fs::read(path) {
            Ok(found) if found == text.as_bytes() => {}
            Ok(_) => bail!(
                "{} is there already, with something else in it: remove it, or write elsewhere",
                path.display()
            ),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("looking at {}", path.display())),
        }
    }
    for (path, text) in &files {
        fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}
