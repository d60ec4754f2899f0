//! What other programs printed.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use anyhow::{Context, ensure};

/// The most that is read, in bytes: enough to tell what to leave out of all of Flux.
const LARGEST: u64 = 16 * 1024 * 1024;

/// How standard input is written.
const STANDARD_INPUT: &str = "-";

/// The text of a file, or of standard input, that is to have what a program prints.
pub(super) fn read(path: &Path, program: &str) -> anyhow::Result<String> {
    let mut content = Vec::new();
    let is_input = path == Path::new(STANDARD_INPUT);
    let name = if is_input { "standard input".to_owned() } else { path.display().to_string() };
    let read = if is_input {
        io::stdin().lock().take(LARGEST + 1).read_to_end(&mut content)
    } else {
        File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut content))
    };
    read.with_context(|| format!("reading what {program} printed from {name}"))?;
    ensure!(content.len() as u64 <= LARGEST, "{name} is larger than 16 MiB: give what {program} prints");
    String::from_utf8(content)
        .with_context(|| format!("{name} is not UTF-8 text: give what {program} prints"))
}
