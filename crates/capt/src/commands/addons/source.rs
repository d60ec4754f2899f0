//! What other programs printed.

use std::path::Path;

use anyhow::{Context, ensure};

use crate::input;

/// The most that is read, in bytes: enough to tell what to leave out of all of Flux.
const LARGEST: u64 = 16 * 1024 * 1024;

/// The text of a file, or of standard input, that is to have what a program prints.
pub(super) fn read(path: &Path, program: &str) -> anyhow::Result<String> {
    let name = input::name(path);
    let content = input::read(path, LARGEST + 1)
        .with_context(|| format!("reading what {program} printed from {name}"))?;
    ensure!(content.len() as u64 <= LARGEST, "{name} is larger than 16 MiB: give what {program} prints");
    String::from_utf8(content)
        .with_context(|| format!("{name} is not UTF-8 text: give what {program} prints"))
}
