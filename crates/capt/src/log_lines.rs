//! Lines of text that become lines of the log, and those that are read back.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::mem;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// How much of the log of a process that ended is shown.
const SHOWN: usize = 12;

/// Logs every whole line that is written to it.
#[derive(Debug, Default)]
pub(crate) struct LogLines(Vec<u8>);

impl Write for LogLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            match byte {
                b'\n' => tracing::info!("{}", String::from_utf8_lossy(&mem::take(&mut self.0))),
                byte => self.0.push(*byte),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The last lines of a log, if there are any.
pub(crate) fn last_lines(log: &Path) -> Option<String> {
    let content = fs::read(log).ok()?;
    let content = String::from_utf8_lossy(&content);
    let lines: Vec<&str> = content.lines().collect();
    let last = lines[lines.len().saturating_sub(SHOWN)..].join("\n");
    (!last.is_empty()).then_some(last)
}

/// A new log that only its owner can read. That of the run before this one is kept, no more.
pub(crate) fn begin(log: &Path) -> io::Result<File> {
    match fs::rename(log, log.with_extension("log.previous")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().create_new(true).append(true).mode(0o600).open(log)
}
