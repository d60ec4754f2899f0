//! The executables on this machine.

use super::finding::Finding;

const AREA: &str = "parts";

/// An executable that is looked for on this machine.
#[derive(Clone, Debug)]
pub struct PartFacts {
    /// What it is called.
    pub name: String,
    /// Where it is, if it is there.
    pub path: Option<String>,
    /// Which version it tells.
    pub version: Option<String>,
}

impl PartFacts {
    /// Judges it. One that is missing is got when it is needed, and is needed by `capt up` only.
    pub fn judge(&self) -> Finding {
        let Self { name, path, version } = self;
        match (path, version) {
            (Some(path), Some(version)) => Finding::good(AREA, format!("{name} {version} ({path})")),
            (Some(path), None) => Finding::warning(
                AREA,
                format!("{name} is there ({path}), but does not say which version it is"),
                format!(
                    "see what `{path} --version` says; take it out of PATH or CAPT_ASSETS if it is not {name}"
                ),
            ),
            (None, _) => Finding::warning(
                AREA,
                format!("{name} is not on this machine"),
                "`capt up` gets it; without a network, put it into a directory and name that in CAPT_ASSETS",
            ),
        }
    }
}
