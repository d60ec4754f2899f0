//! Lines of text that become lines of the log.

use std::io::{self, Write};
use std::mem;

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
