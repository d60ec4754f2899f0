//! Finds OpenTofu or Terraform and asks which one it is.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Which of the two tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// OpenTofu.
    OpenTofu,
    /// Terraform.
    Terraform,
}

impl fmt::Display for Tool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::OpenTofu => "OpenTofu",
            Self::Terraform => "Terraform",
        })
    }
}

/// The tool and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Which tool.
    pub tool: Tool,
    /// For example `1.11.4`.
    pub version: String,
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.tool, self.version)
    }
}

/// Why there is no binary to use.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// Nothing was found.
    #[error("neither `tofu` nor `terraform` was found: install OpenTofu, or name the binary")]
    NotFound,
    /// It could not be started.
    #[error("starting `{path}` to read its version")]
    Start {
        /// The binary.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It said something else.
    #[error("`{path}` is neither OpenTofu nor Terraform: `version` ended with {exit} and told no version")]
    NoVersion {
        /// The binary.
        path: PathBuf,
        /// How it ended.
        exit: String,
    },
}

/// The binary: the one that is named, or `tofu` before `terraform` in the given search path.
pub fn find(named: Option<&Path>, search_path: Option<&OsStr>) -> Result<PathBuf, BinaryError> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let directories: Vec<PathBuf> =
        search_path.map(|path| env::split_paths(path).collect()).unwrap_or_default();
    ["tofu", "terraform"]
        .iter()
        .flat_map(|name| directories.iter().map(move |directory| directory.join(name)))
        .find(|candidate| is_executable(candidate))
        .ok_or(BinaryError::NotFound)
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Reads what `version` printed: its JSON form does not say which of the two tools it is.
pub(crate) fn parse_version(text: &str) -> Option<Version> {
    text.lines().find_map(|line| {
        let (tool, version) = line.split_once(" v")?;
        let tool = match tool {
            "OpenTofu" => Tool::OpenTofu,
            "Terraform" => Tool::Terraform,
            _ => return None,
        };
        Some(Version { tool, version: version.trim().to_owned() })
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn tofu_comes_before_terraform_wherever_they_are() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (directory, name) in [(&first, "terraform"), (&second, "tofu")] {
            let path = directory.path().join(name);
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = env::join_paths([first.path(), second.path()]).unwrap();

        assert_eq!(find(None, Some(&path)).unwrap(), second.path().join("tofu"));
        assert_eq!(find(Some(Path::new("/x/y")), Some(&path)).unwrap(), Path::new("/x/y"));
        assert!(matches!(find(None, None), Err(BinaryError::NotFound)));
    }

    #[test]
    fn each_tool_is_told_by_its_own_name() {
        let version = |text: &str| parse_version(text).map(|version| version.to_string());

        assert_eq!(version("Terraform v1.11.4\non linux_amd64\n").as_deref(), Some("Terraform 1.11.4"));
        assert_eq!(version("OpenTofu v1.12.0\non linux_amd64\n").as_deref(), Some("OpenTofu 1.12.0"));
        assert_eq!(version("busybox v1.36\n"), None);
    }
}
