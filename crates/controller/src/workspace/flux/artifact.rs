//! Archives that Flux serves, kept by their digest. None is used before its digest is right.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};
use tempfile::Builder;
use ureq::http::Uri;

const CONNECT_WITHIN: Duration = Duration::from_secs(10);
const STALL: Duration = Duration::from_secs(30);
const AT_MOST: Duration = Duration::from_secs(5 * 60);

/// Modules are small; what is larger is something else.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Begins the names of files that are not complete.
const INCOMPLETE: &str = ".incomplete-";

/// Why an archive cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ArtifactError {
    /// What the digest is does not say how to check it.
    #[error(
        "its digest `{digest}` is not one of sha256: let Flux's source controller use --artifact-digest-algo=sha256"
    )]
    Digest {
        /// As Flux gave it.
        digest: String,
    },
    /// The address is not one that we ask.
    #[error("its address is not one of http or https")]
    Address,
    /// It did not come.
    #[error("it could not be fetched from `{host}`: {reason}")]
    Fetch {
        /// Who was asked.
        host: String,
        /// What happened.
        reason: String,
    },
    /// There is no end to it.
    #[error("`{host}` sent more than {largest} bytes, which no module has")]
    TooLarge {
        /// Who was asked.
        host: String,
        /// How much is taken.
        largest: u64,
    },
    /// It is not what Flux made.
    #[error("what `{host}` sent has another digest than Flux says")]
    OtherContent {
        /// Who was asked.
        host: String,
    },
    /// This machine is at fault.
    #[error("keeping it in `{}`", path.display())]
    Keep {
        /// Where.
        path: PathBuf,
        /// What happened.
        #[source]
        source: io::Error,
    },
}

/// Where archives are kept.
#[derive(Debug)]
pub(super) struct Store {
    directory: PathBuf,
    largest: u64,
}

impl Store {
    pub(super) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), largest: LARGEST }
    }

    /// The archive with this digest: as it is kept, or else from this address. Blocks.
    pub(super) fn fetch(&self, url: &str, digest: &str) -> Result<PathBuf, ArtifactError> {
        let expected =
            hexadecimal(digest).ok_or_else(|| ArtifactError::Digest { digest: digest.to_owned() })?;
        let path = self.directory.join(format!("{expected}.tar.gz"));
        if is_kept(&path, expected).map_err(|source| self.keeping(source))? {
            return Ok(path);
        }
        let host = host(url).ok_or(ArtifactError::Address)?;
        self.download(url, host, expected, &path)?;
        Ok(path)
    }

    fn download(&self, url: &str, host: String, expected: &str, path: &Path) -> Result<(), ArtifactError> {
        let keeping = |source| self.keeping(source);
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory).map_err(keeping)?;
        // Readable by its owner alone, and removed again unless it is complete.
        let mut file = Builder::new().prefix(INCOMPLETE).tempfile_in(&self.directory).map_err(keeping)?;
        let failed =
            |reason: &ureq::Error| ArtifactError::Fetch { host: host.clone(), reason: plain(reason) };
        let mut response = agent().get(url).call().map_err(|error| failed(&error))?;
        // One byte more tells that there is more.
        let mut body = response.body_mut().as_reader().take(self.largest + 1);
        let (actual, length) = copy(&mut body, &mut file).map_err(|error| match error {
            CopyError::Read(error) => failed(&error.into()),
            CopyError::Write(error) => keeping(error),
        })?;
        if length > self.largest {
            return Err(ArtifactError::TooLarge { host, largest: self.largest });
        }
        if actual != expected {
            return Err(ArtifactError::OtherContent { host });
        }
        file.persist(path).map(drop).map_err(|error| keeping(error.error))
    }

    fn keeping(&self, source: io::Error) -> ArtifactError {
        ArtifactError::Keep { path: self.directory.clone(), source }
    }
}

/// Removes all archives but these, and what was never completed.
pub(in crate::workspace) fn prune(artifacts: &Path, keep: &BTreeSet<PathBuf>) -> io::Result<()> {
    let entries = match fs::read_dir(artifacts) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    for entry in entries {
        let path = entry?.path();
        if keep.contains(&path) || is_arriving(&path) {
            continue;
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Whether somebody may still be writing it: nobody takes longer than a download may.
fn is_arriving(path: &Path) -> bool {
    let incomplete =
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(INCOMPLETE.as_bytes()));
    let age = || fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?.elapsed().ok();
    incomplete && age().is_none_or(|age| age < 2 * AT_MOST)
}

/// The digits of a digest that can be checked. They become a file's name.
fn hexadecimal(digest: &str) -> Option<&str> {
    let digits = digest.strip_prefix("sha256:")?;
    let legal = digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    (legal && digits.len() == 64).then_some(digits)
}

/// The host of an address that we ask. The rest of an address may hold a password.
fn host(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    let asked = matches!(uri.scheme_str(), Some("http" | "https"));
    uri.host().filter(|host| asked && !host.is_empty()).map(ToOwned::to_owned)
}

/// Whether the archive is there and as it should be. If so, its age begins anew: it tells for how long nobody used it.
fn is_kept(path: &Path, expected: &str) -> io::Result<bool> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        other => other?,
    };
    match copy(&mut file, &mut io::sink()) {
        Ok((actual, _)) if actual == expected => file.set_modified(SystemTime::now()).map(|()| true),
        Ok(_) => Ok(false),
        Err(CopyError::Read(error) | CopyError::Write(error)) => Err(error),
    }
}

fn agent() -> ureq::Agent {
    let configuration = ureq::Agent::config_builder()
        // Flux serves its archives inside the cluster.
        .proxy(None)
        .max_redirects(3)
        .timeout_connect(Some(CONNECT_WITHIN))
        .timeout_recv_response(Some(STALL))
        .timeout_per_read(Some(STALL))
        .timeout_global(Some(AT_MOST))
        .build();
    configuration.into()
}

/// The same in words that help somebody who knows nothing of our HTTP client, and without the address.
fn plain(error: &ureq::Error) -> String {
    match error {
        ureq::Error::HostNotFound => "the host is not known".to_owned(),
        ureq::Error::Timeout(_) => "no answer in time".to_owned(),
        ureq::Error::StatusCode(code) => format!("the server answered with status {code}"),
        ureq::Error::TooManyRedirects | ureq::Error::RedirectFailed | ureq::Error::BadUri(_) => {
            "the server sent us to an address that is not asked".to_owned()
        }
        ureq::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

/// Which side of a copy failed.
enum CopyError {
    Read(io::Error),
    Write(io::Error),
}

/// Copies everything; the answer is the digest and the length.
fn copy(from: &mut impl Read, to: &mut impl Write) -> Result<(String, u64), CopyError> {
    let mut hasher = Sha256::new();
    let mut length = 0;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(CopyError::Read(error)),
        };
        hasher.update(&buffer[..count]);
        to.write_all(&buffer[..count]).map_err(CopyError::Write)?;
        length += count as u64;
    }
    let digits = hasher.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    });
    Ok((digits, length))
}

#[cfg(test)]
mod tests;
