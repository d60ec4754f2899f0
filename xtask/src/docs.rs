//! `cargo xtask docs`: every link of the documentation is followed, and the book is built.

mod links;
mod page;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use mdbook_driver::MDBook;

use crate::repository::{files_under, root};
use links::Library;
use page::Page;

/// Where the book is.
const BOOK: &str = "docs";

/// Where its pages are.
pub(crate) const PAGES: &str = "docs/src";

/// Directories with pages of their own.
const DIRECTORIES: [&str; 5] = [".ci", "crates", "examples", "parts", "xtask"];

pub(crate) fn run() -> anyhow::Result<()> {
    let pages = pages()?;
    let exists = |path: &std::path::Path| root().join(path).exists();
    let problems = Library { pages: &pages, book: PAGES.as_ref(), exists: &exists }.problems();
    if !problems.is_empty() {
        bail!("these links lead nowhere:\n  {}", problems.join("\n  "));
    }
    let links: usize = pages.values().map(|page| page.links.len()).sum();
    println!("{links} links in {} pages lead somewhere", pages.len());
    build()
}

/// Every page of the repository, by its path from the root.
fn pages() -> anyhow::Result<BTreeMap<PathBuf, Page>> {
    let mut paths = Vec::new();
    for directory in DIRECTORIES.into_iter().chain([PAGES]) {
        paths.extend(files_under(directory)?);
    }
    for entry in fs::read_dir(root()).context("listing the root of the repository")? {
        paths.push(PathBuf::from(entry?.file_name()));
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(root().join(&path));
        let text = text.with_context(|| format!("reading {}", path.display()))?;
        Ok((path, Page::read(&text)))
    };
    paths.into_iter().map(read).collect()
}

fn build() -> anyhow::Result<()> {
    let mut book = MDBook::load(root().join(BOOK)).context("reading the book")?;
    let target = root().join("target/book");
    book.config.build.build_dir.clone_from(&target);
    book.build().context("building the book")?;
    let first = target.join("index.html");
    ensure!(first.exists(), "the book has no {}", first.display());
    println!("{}", first.display());
    Ok(())
}
