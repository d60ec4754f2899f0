//! Reads a backup, of which everything may be wrong.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::iter;
use std::path::Path;

use age::DecryptError;
use age::secrecy::SecretString;
use anyhow::{Context as _, anyhow, bail};
use capt_core::archive::{Item, LONGEST_LINE, Reading};
use flate2::read::GzDecoder;

/// More work than anybody asks for: a file could ask for hours.
const MOST_WORK: u8 = 20;
/// More than a home has; a small file could become anything.
const LARGEST: u64 = 16 << 30;

/// Reads a backup from its beginning to its end.
pub(crate) fn open(
    path: &Path,
    passphrase: SecretString,
    mut take: impl FnMut(Item) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let shown = path.display();
    let mut lines = decrypt(path, passphrase)?;
    let mut reading = Reading::default();
    let mut left = LARGEST;
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = next(&mut lines, &mut line).map_err(|error| broken(path, error))?;
        if read == 0 {
            break;
        }
        left = left.checked_sub(read).ok_or_else(|| {
            anyhow!("{shown} holds more than {} GiB: it is no backup of capt", LARGEST >> 30)
        })?;
        let item = reading.take(&line).map_err(|problem| anyhow!("{shown} cannot be used: {problem}"))?;
        take(item)?;
    }
    reading.finish().map_err(|problem| anyhow!("{shown} cannot be used: {problem}"))
}

fn decrypt(path: &Path, passphrase: SecretString) -> anyhow::Result<impl BufRead + use<>> {
    let shown = path.display().to_string();
    let file = File::open(path).with_context(|| format!("opening {shown}"))?;
    let decryptor = match age::Decryptor::new_buffered(BufReader::new(file)) {
        Ok(decryptor) if decryptor.is_scrypt() => decryptor,
        Ok(_) => bail!("{shown} is encrypted for a key, not with a passphrase: it is no backup of capt"),
        Err(DecryptError::Io(error)) if error.kind() != io::ErrorKind::UnexpectedEof => {
            return Err(error).with_context(|| format!("reading {shown}"));
        }
        Err(_) => bail!("{shown} is not a backup of capt: it does not begin like a file of age"),
    };
    let mut identity = age::scrypt::Identity::new(passphrase);
    identity.set_max_work_factor(MOST_WORK);
    let stream =
        decryptor.decrypt(iter::once(&identity as &dyn age::Identity)).map_err(|error| match error {
            DecryptError::ExcessiveWork { .. } => {
                anyhow!("{shown} asks for more work than any backup of capt: it may be a trap")
            }
            DecryptError::InvalidMac => anyhow!("{shown} is damaged: its beginning was changed"),
            DecryptError::Io(error) => anyhow::Error::new(error).context(format!("reading {shown}")),
            _ => anyhow!("the passphrase is not that of {shown}"),
        })?;
    Ok(BufReader::with_capacity(1 << 16, GzDecoder::new(stream)))
}

/// Reads a line that is not too long; answers with how much was read.
fn next(lines: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<u64> {
    let read = lines.by_ref().take(LONGEST_LINE as u64 + 1).read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if read > LONGEST_LINE {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a line of it is too long"));
    }
    Ok(read as u64)
}

/// What went wrong while reading, without what was read.
fn broken(path: &Path, error: io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            anyhow!("{} is damaged or not whole: take another copy of it", path.display())
        }
        _ => anyhow::Error::new(error).context(format!("reading {}", path.display())),
    }
}
