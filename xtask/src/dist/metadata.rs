//! `metadata.yaml`: which contract each series of releases follows.

use std::fs;

use anyhow::{Context, ensure};
use serde::Deserialize;

use super::Version;
use crate::repository::root;

const FILE: &str = "metadata.yaml";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    release_series: Vec<Series>,
}

#[derive(Debug, Deserialize)]
struct Series {
    major: u64,
    minor: u64,
}

/// The file, which has to know the series of the release: clusterctl refuses a version without one.
pub(super) fn read(version: &Version) -> anyhow::Result<String> {
    let text = fs::read_to_string(root().join(FILE)).with_context(|| format!("reading {FILE}"))?;
    let metadata: Metadata = serde_saphyr::from_str(&text).with_context(|| format!("reading {FILE}"))?;
    let Version { major, minor, .. } = version;
    let is_known =
        metadata.release_series.iter().any(|series| (series.major, series.minor) == (*major, *minor));
    ensure!(
        is_known,
        "{FILE} has no release series {major}.{minor}, which {version} is of: add it with its contract"
    );
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_of_this_version_has_a_contract() {
        assert!(read(&Version::of_this()).is_ok());
    }

    #[test]
    fn a_version_of_a_series_that_is_not_in_the_file_is_refused() {
        let error = read(&"v99.0.0".parse().unwrap()).unwrap_err();

        assert!(error.to_string().contains("no release series 99.0"), "{error}");
    }
}
