//! Every command block of README, book and examples, as a reader types it.
//!
//! A block ```` ```sh ```` is run for real, in order, in a copy of the checkout and beside a `capt demo` of its own home. One that
//! needs something that a test has not says so (```` ```sh needs=cloud ````); its commands are still parsed by the real programs.

mod block;
mod site;

use std::fs;
use std::path::{Path, PathBuf};

use block::{Block, Need, blocks};
use site::{Rehearsal, Site};

/// The pages that people read from the beginning.
const FIRST: [&str; 2] = ["README.md", "docs/src/quick-start.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The first pages, then the others in the order of their names.
fn pages() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for directory in ["docs/src", "examples"] {
        collect(&root().join(directory), &mut found);
    }
    found.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    found.sort();
    let first = FIRST.map(|path| root().join(path));
    found.retain(|path| !first.contains(path));
    first.into_iter().chain(found).collect()
}

fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { collect(&path, found) } else { found.push(path) }
    }
}

/// The blocks of each page that has any, under the name that a reader knows it by.
fn all() -> Vec<(String, Vec<Block>)> {
    let named = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let found = blocks(&fs::read_to_string(&path).unwrap()).map_err(|why| format!("{name}: {why}"));
        (name, found.unwrap())
    };
    pages().into_iter().map(named).filter(|(_, blocks)| !blocks.is_empty()).collect()
}

#[test]
fn commands_run_as_they_are_written() {
    let site = Site::open();
    let mut count = 0;
    for (page, blocks) in all() {
        let runs: Vec<&Block> = blocks.iter().filter(|block| block.need.is_none()).collect();
        count += runs.len();
        site.run(&page, &runs);
    }
    assert!(count >= 12, "only {count} blocks are run");
}

#[test]
fn commands_that_need_more_than_a_test_has_are_at_least_understood() {
    let rehearsal = Rehearsal::open();
    let mut count = 0;
    for (page, blocks) in all() {
        for block in blocks.iter().filter(|block| block.need.is_some()) {
            rehearsal.run(&page, block);
            count += 1;
        }
    }
    assert!(count > 0);
}

#[test]
fn a_rehearsal_notices_what_is_wrong() {
    let rehearsal = Rehearsal::open();
    for (text, right) in [
        ("capt describe cluster NAME --watch\n", true),
        ("capt describe cluster NAME --wacth\n", false),
        ("kubectl get secret -n team-a a -o json | jq '{data}' > state.json\n", true),
        ("kubectl get secret --nmespace team-a\n", false),
        ("cargo run -- demo\n", true),
        ("cargo run -- dmeo\n", false),
        ("cargo xtask dist --out x\n", true),
        ("cargo xtask dits\n", false),
        ("kubectl apply -f examples/eks\n", true),
        ("kubectl apply -f examples/ekz\n", false),
        ("frobnicate --all\n", false),
    ] {
        let block = Block { line: 1, need: Some(Need::Cluster), text: text.to_owned() };
        assert_eq!(rehearsal.output(&block).status.success(), right, "{text}");
    }
}
