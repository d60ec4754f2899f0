//! What the binaries say they are, wherever they were found.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

/// The versions of the parts that write data. Empty where a binary does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// For example `1.34.4`.
    pub kubernetes: String,
    /// For example `3.6.4`.
    pub etcd: String,
}

impl Versions {
    /// Asks the binaries.
    pub(super) fn of(kube_apiserver: &Path, etcd: &Path) -> Self {
        Self { kubernetes: ask(kube_apiserver), etcd: ask(etcd) }
    }
}

fn ask(program: &Path) -> String {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    output.map(|output| read(&String::from_utf8_lossy(&output.stdout))).unwrap_or_default()
}

/// The last word of the first line, in which a version may begin with a `v`.
fn read(text: &str) -> String {
    let word = text.lines().next().and_then(|line| line.split_whitespace().last()).unwrap_or_default();
    let version = word.trim_start_matches('v');
    if version.starts_with(|letter: char| letter.is_ascii_digit()) {
        version.to_owned()
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::kubernetes("Kubernetes v1.34.4\n", "1.34.4")]
    #[case::etcd("etcd Version: 3.6.4\nGit SHA: abc\nGo Version: go1.26.8\n", "3.6.4")]
    #[case::a_build_of_ones_own("Kubernetes v1.36.0-beta.1+abc", "1.36.0-beta.1+abc")]
    #[case::something_else("usage: kube-apiserver", "")]
    #[case::nothing("", "")]
    fn the_version_is_the_last_word_of_the_first_line(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(read(text), expected);
    }
}
