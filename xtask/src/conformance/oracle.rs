//! Programs of others that answer the same questions as our code.

use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use serde::Serialize;

use super::go;

/// Builds the program of a module of `parts/` and asks it about every case, in one process. Each case is a line of JSON,
/// and so is each answer a line.
pub(super) fn ask<Case: Serialize>(module: &str, cases: &[Case]) -> anyhow::Result<Vec<String>> {
    let directory = tempfile::tempdir()?;
    let program = directory.path().join(module);
    go::build(module, ".", "", &program)?;
    let mut child = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut lines = String::new();
    for case in cases {
        lines.push_str(&serde_json::to_string(case)?);
        lines.push('\n');
    }
    let mut input = child.stdin.take().context("a process without a standard input")?;
    // On a thread of its own: whoever writes all before reading anything may wait for ever.
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output()?;
    let written = writer.join().ok().context("the thread that writes the cases panicked")?;
    ensure!(output.status.success(), "{} ended with {}", program.display(), output.status);
    written.context("writing the cases")?;
    let answers: Vec<String> = String::from_utf8(output.stdout)?.lines().map(str::to_owned).collect();
    ensure!(answers.len() == cases.len(), "{} cases got {} answers", cases.len(), answers.len());
    Ok(answers)
}
