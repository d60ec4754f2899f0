//! Files, directories and standard input.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use capt_core::validation::{File, Finding, OtherTool, Position, Severity, other_tools};

use crate::input;

/// The most that is read of a file, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;

/// How many files there may be, and how deep directories may be in each other.
const MOST: usize = 10_000;
const DEEPEST: usize = 64;

/// A file that was read, or why its content is of no use.
pub(crate) struct Read {
    name: String,
    content: Result<String, &'static str>,
    other_tool: Option<OtherTool>,
}

impl Read {
    /// The name of the file, for people.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The other tool that reads the file; `None` where it holds manifests.
    pub(crate) fn other_tool(&self) -> Option<OtherTool> {
        self.other_tool
    }

    /// The file, if it can be looked at.
    pub(crate) fn as_file(&self) -> Option<File<'_>> {
        self.content.as_deref().ok().map(|text| File { name: &self.name, text })
    }

    /// What is wrong with the whole of it.
    pub(crate) fn problem(&self) -> Option<Finding> {
        self.content.as_ref().err().map(|message| Finding {
            file: self.name.clone(),
            position: Position { line: 1, column: 1 },
            severity: Severity::Error,
            message: (*message).to_owned(),
            excerpt: None,
        })
    }
}

/// Reads everything that is named, each file once, in order.
pub(crate) fn read(named: &[PathBuf]) -> anyhow::Result<Vec<Read>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in named {
        if !input::is_standard(path) && path.is_dir() {
            let before = paths.len();
            collect(path, 0, &mut paths).with_context(|| format!("reading {}", path.display()))?;
            ensure!(paths.len() > before, "{} has no *.yaml, *.yml or *.json in it", path.display());
        } else {
            paths.push(path.clone());
        }
    }
    let mut seen = BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    ensure!(paths.len() <= MOST, "there are more than {MOST} files: name fewer directories");
    let mut read = paths.iter().map(|path| read_one(path)).collect::<anyhow::Result<Vec<_>>>()?;
    sort_out(&mut read);
    Ok(read)
}

/// Finds what other tools read. A file that cannot be read at all is nobody's.
fn sort_out(read: &mut [Read]) {
    let texts: Vec<File<'_>> = read.iter().filter_map(Read::as_file).collect();
    let tools = other_tools(&texts);
    for (one, tool) in read.iter_mut().filter(|one| one.content.is_ok()).zip(tools) {
        one.other_tool = tool;
    }
}

/// The files of a directory in the order of their names. What begins with a dot, and directories behind links, are left out.
fn collect(directory: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if depth > DEEPEST || paths.len() > MOST {
        bail!("there are too many files or directories in each other: name fewer of them");
    }
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if entry.file_type()?.is_dir() {
            collect(&path, depth + 1, paths)?;
        } else if is_manifest(&path) && path.is_file() {
            paths.push(path);
        }
    }
    Ok(())
}

fn is_manifest(path: &Path) -> bool {
    // What it says of other files counts.
    path.file_name().is_some_and(|name| name == "Kustomization")
        || path
            .extension()
            .is_some_and(|end| ["yaml", "yml", "json"].iter().any(|known| end.eq_ignore_ascii_case(known)))
}

fn read_one(path: &Path) -> anyhow::Result<Read> {
    let name = input::name(path);
    let content = input::read(path, LARGEST + 1).with_context(|| format!("reading {name}"))?;
    let content = if content.len() as u64 > LARGEST {
        Err("this is larger than 16 MiB; split it")
    } else {
        String::from_utf8(content).map_err(|_| "this is not UTF-8 text; write manifests as YAML or JSON")
    };
    Ok(Read { name, content, other_tool: None })
}

#[cfg(test)]
mod tests;
