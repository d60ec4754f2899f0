//! Follows a file that a process writes to.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A line longer than this is cut: a provisioner may print without end.
const LONGEST: usize = 1024 * 1024;

/// The place up to which a file was read.
#[derive(Debug)]
pub(crate) struct Tail {
    path: PathBuf,
    offset: u64,
    unfinished: Vec<u8>,
}

impl Tail {
    pub(crate) fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), offset: 0, unfinished: Vec::new() }
    }

    /// The whole lines that came since the last call. A file that is not there yet has none.
    pub(crate) fn lines(&mut self) -> io::Result<Vec<String>> {
        if self.has_nothing_new() {
            return Ok(Vec::new());
        }
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        file.seek(SeekFrom::Start(self.offset))?;
        let mut lines = Vec::new();
        let mut chunk = vec![0; 64 * 1024];
        loop {
            let length = file.read(&mut chunk)?;
            if length == 0 {
                return Ok(lines);
            }
            self.offset += length as u64;
            for part in chunk[..length].split_inclusive(|byte| *byte == b'\n') {
                let room = LONGEST.saturating_sub(self.unfinished.len());
                self.unfinished.extend_from_slice(&part[..part.len().min(room)]);
                if part.ends_with(b"\n") {
                    lines.extend(self.rest());
                }
            }
        }
    }

    fn has_nothing_new(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|found| found.len() == self.offset)
    }

    /// What stands behind the last line break, once the writer is gone.
    pub(crate) fn rest(&mut self) -> Option<String> {
        let bytes = std::mem::take(&mut self.unfinished);
        let line = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        (!line.is_empty()).then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn half_a_line_waits_for_its_other_half() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let mut tail = Tail::of(&path);
        assert_eq!(tail.lines().unwrap(), Vec::<String>::new());

        let mut file = File::create(&path).unwrap();
        file.write_all(b"one\ntw").unwrap();
        assert_eq!(tail.lines().unwrap(), ["one"]);
        file.write_all(b"o\nthree").unwrap();
        assert_eq!(tail.lines().unwrap(), ["two"]);
        assert_eq!(tail.rest().as_deref(), Some("three"));
    }
}
