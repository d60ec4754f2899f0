//! Writes a backup.

use std::fs::File;
use std::io::{self, Write};
use std::iter;
use std::path::{Path, PathBuf};

use age::secrecy::SecretString;
use age::stream::StreamWriter;
use anyhow::{Context as _, bail};
use capt_core::archive::{End, Line};
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::NamedTempFile;

/// How much work a guess at the passphrase is: a second or so, and 256 MiB.
const WORK: u8 = 18;

/// A backup that is being written. Dropped before its end, nothing of it is left.
pub(crate) struct Sealing {
    path: PathBuf,
    force: bool,
    file: NamedTempFile,
    writer: GzEncoder<StreamWriter<File>>,
    lines: usize,
}

impl Sealing {
    /// Begins a backup. What is at its place stays there until the backup is whole.
    pub(crate) fn begin(path: &Path, force: bool, passphrase: SecretString) -> anyhow::Result<Self> {
        let shown = path.display();
        if !force && path.symlink_metadata().is_ok() {
            bail!("{shown} is there already: write another name, or --force to replace it");
        }
        let directory = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        // Readable by its owner alone from the start.
        let file =
            NamedTempFile::new_in(directory).with_context(|| format!("making a file beside {shown}"))?;
        let mut recipient = age::scrypt::Recipient::new(passphrase);
        recipient.set_work_factor(WORK);
        let encryptor = age::Encryptor::with_recipients(iter::once(&recipient as &dyn age::Recipient))
            .with_context(|| format!("encrypting {shown}"))?;
        let output = file.as_file().try_clone().with_context(|| format!("writing {shown}"))?;
        let stream = encryptor.wrap_output(output).with_context(|| format!("encrypting {shown}"))?;
        let writer = GzEncoder::new(stream, Compression::default());
        Ok(Self { path: path.to_owned(), force, file, writer, lines: 0 })
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: &Line) -> anyhow::Result<()> {
        let written = self.put(line);
        written.with_context(|| format!("writing {}", self.path.display()))
    }

    /// Ends the backup and puts it in its place; answers with its size.
    pub(crate) fn finish(mut self) -> anyhow::Result<u64> {
        let lines = self.lines;
        self.line(&Line::End(End { lines }))?;
        let Self { path, force, file, writer, .. } = self;
        let doing = || format!("writing {}", path.display());
        let stream = writer.finish().with_context(doing)?;
        let output = stream.finish().with_context(doing)?;
        output.sync_all().with_context(doing)?;
        let size = output.metadata().with_context(doing)?.len();
        let placed = if force { file.persist(&path) } else { file.persist_noclobber(&path) };
        placed.map_err(|error| error.error).with_context(doing)?;
        Ok(size)
    }

    fn put(&mut self, line: &Line) -> io::Result<()> {
        serde_json::to_writer(&mut self.writer, line)?;
        self.writer.write_all(b"\n")?;
        self.lines += 1;
        Ok(())
    }
}
