//! Official downloads: fetched quickly or given up quickly, and never used before the checksum is right.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use flate2::read::GzDecoder;
use tempfile::TempDir;

use crate::Progress;
use crate::catalog::{Download, Part};
use crate::checksum::{self, CopyError};
use crate::environment::Platform;

const RESOLVE_WITHIN: Duration = Duration::from_secs(5);
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
const STALL: Duration = Duration::from_secs(15);
const AT_MOST: Duration = Duration::from_secs(30 * 60);

/// Why a download was not used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DownloadError {
    #[error("there is no official download for {0}")]
    NoneForPlatform(Platform),
    #[error("{host} was not reached before: {reason}")]
    HostGivenUp { host: String, reason: String },
    #[error("{url}: {reason}")]
    Fetch { url: String, reason: String },
    #[error("{url} holds no checksum of {file}")]
    NoChecksum { url: String, file: String },
    #[error("{url} has the checksum {actual}, but {expected} is published: not used")]
    WrongChecksum { url: String, expected: String, actual: String },
    #[error("{url} holds no file {member}")]
    NoMember { url: String, member: String },
    #[error("unpacking {url}: {source}")]
    Unpack { url: String, source: io::Error },
    #[error("writing what was downloaded")]
    Write(#[source] io::Error),
}

/// Fetches parts, and remembers which hosts cannot be reached.
#[derive(Debug)]
pub(crate) struct Downloader {
    agent: ureq::Agent,
    given_up: Mutex<HashMap<String, String>>,
}

impl Downloader {
    pub(crate) fn new() -> Self {
        let configuration = ureq::Agent::config_builder()
            .timeout_resolve(Some(RESOLVE_WITHIN))
            .timeout_connect(Some(CONNECT_WITHIN))
            .timeout_recv_response(Some(ANSWER_WITHIN))
            .timeout_per_read(Some(STALL))
            .timeout_global(Some(AT_MOST))
            .build();
        Self { agent: configuration.into(), given_up: Mutex::default() }
    }

    /// Fetches the executable into `scratch` and answers with its path there.
    pub(crate) fn fetch(
        &self,
        part: &Part,
        download: &Download,
        platform: &Platform,
        scratch: &TempDir,
        progress: &Progress,
    ) -> Result<PathBuf, DownloadError> {
        if !download.systems.contains(&platform.system) {
            return Err(DownloadError::NoneForPlatform(platform.clone()));
        }
        let url = part.fill(&download.url, platform);
        let expected = self.expected(part, download, platform, &url)?;
        let file = scratch.path().join("download");
        let actual =
            self.save(&url, &file, &format!("downloading {} {}", part.name, part.version), progress)?;
        if actual != expected {
            return Err(DownloadError::WrongChecksum { url, expected, actual });
        }
        match &download.member {
            None => Ok(file),
            Some(member) => {
                unpack(&file, &url, part.fill(member, platform), &scratch.path().join(&part.name))
            }
        }
    }

    fn expected(
        &self,
        part: &Part,
        download: &Download,
        platform: &Platform,
        url: &str,
    ) -> Result<String, DownloadError> {
        if let Some(pinned) = download.sha256.get(&platform.to_string()) {
            return Ok(pinned.to_ascii_lowercase());
        }
        let file = url.rsplit('/').next().unwrap_or(url).to_owned();
        let Some(list) = &download.checksums else {
            return Err(DownloadError::NoChecksum { url: url.to_owned(), file });
        };
        let list = part.fill(list, platform);
        let mut response = self.get(&list)?;
        let text = response.body_mut().read_to_string().map_err(|error| failed(&list, &error))?;
        checksum::published(&text, &file).ok_or(DownloadError::NoChecksum { url: list, file })
    }

    fn save(
        &self,
        url: &str,
        file: &Path,
        message: &str,
        progress: &Progress,
    ) -> Result<String, DownloadError> {
        let mut response = self.get(url)?;
        let task = progress.transfer(message, response.body().content_length());
        let mut target = File::create(file).map_err(DownloadError::Write)?;
        let mut body = response.body_mut().as_reader();
        checksum::copy(&mut body, &mut target, |bytes| task.advance(bytes)).map_err(|error| match error {
            CopyError::Read(error) => DownloadError::Fetch { url: url.to_owned(), reason: error.to_string() },
            CopyError::Write(error) => DownloadError::Write(error),
        })
    }

    fn get(&self, url: &str) -> Result<ureq::http::Response<ureq::Body>, DownloadError> {
        let host = url.split('/').nth(2).unwrap_or(url).to_owned();
        let mut given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reason) = given_up.get(&host) {
            return Err(DownloadError::HostGivenUp { host, reason: reason.clone() });
        }
        self.agent.get(url).call().map_err(|error| {
            // A host that answers, whatever it says, can be asked for the next part.
            if !matches!(error, ureq::Error::StatusCode(_)) {
                given_up.insert(host, plain(&error));
            }
            failed(url, &error)
        })
    }
}

fn failed(url: &str, error: &ureq::Error) -> DownloadError {
    DownloadError::Fetch { url: url.to_owned(), reason: plain(error) }
}

/// The same in words that help somebody who knows nothing of our HTTP client.
fn plain(error: &ureq::Error) -> String {
    match error {
        ureq::Error::HostNotFound => "the host is not known".to_owned(),
        ureq::Error::Timeout(_) => "no answer in time".to_owned(),
        ureq::Error::StatusCode(code) => format!("the server answered with status {code}"),
        ureq::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

fn unpack(archive: &Path, url: &str, member: String, target: &Path) -> Result<PathBuf, DownloadError> {
    let broken = |source| DownloadError::Unpack { url: url.to_owned(), source };
    let mut archive = tar::Archive::new(GzDecoder::new(File::open(archive).map_err(broken)?));
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        let found = entry.header().entry_type().is_file()
            && entry.path().is_ok_and(|path| path == Path::new(&member));
        if found {
            let mut file = File::create(target).map_err(DownloadError::Write)?;
            return match checksum::copy(&mut entry, &mut file, |_| {}) {
                Ok(_) => Ok(target.to_owned()),
                Err(CopyError::Read(error)) => Err(broken(error)),
                Err(CopyError::Write(error)) => Err(DownloadError::Write(error)),
            };
        }
    }
    Err(DownloadError::NoMember { url: url.to_owned(), member })
}
