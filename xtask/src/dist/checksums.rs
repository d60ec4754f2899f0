//! SHA-256 of each file, in the form that `sha256sum --check` reads.

use std::fmt::Write as _;
use std::path::{Component, Path};
use std::{fs, io};

use anyhow::Context;
use sha2::{Digest, Sha256};

use super::Files;

pub(super) const FILE: &str = "checksums.txt";

pub(super) fn of(files: &Files) -> String {
    let line = |(name, content): (&String, &String)| format!("{}  {name}\n", hexadecimal(content.as_bytes()));
    files.iter().map(line).collect()
}

/// Removes the files that the checksums in a directory name and that are not made any more.
pub(super) fn remove_stale(directory: &Path, files: &Files) -> anyhow::Result<()> {
    let sums = match fs::read_to_string(directory.join(FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        sums => sums.with_context(|| format!("reading {}", directory.join(FILE).display()))?,
    };
    let names = sums.lines().filter_map(|line| Some(line.split_once("  ")?.1));
    for name in names.filter(|name| is_name(name) && !files.contains_key(*name)) {
        match fs::remove_file(directory.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed.with_context(|| format!("removing {}", directory.join(name).display()))?,
        }
    }
    Ok(())
}

/// Whether it is the name of a file in this directory, and no way out of it.
fn is_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
}

fn hexadecimal(content: &[u8]) -> String {
    Sha256::digest(content).iter().fold(String::new(), |mut text, byte| {
        // Writing to a String does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn a_line_is_what_sha256sum_prints() {
        let files = Files::from([("a.yaml".to_owned(), String::new())]);

        assert_eq!(of(&files), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a.yaml\n");
    }

    #[rstest]
    #[case::a_name("a.yaml", true)]
    #[case::elsewhere("../a.yaml", false)]
    #[case::from_the_root("/a.yaml", false)]
    #[case::deeper("a/b.yaml", false)]
    #[case::the_directory(".", false)]
    #[case::nothing("", false)]
    fn only_files_of_the_directory_are_ever_removed(#[case] name: &str, #[case] expected: bool) {
        assert_eq!(is_name(name), expected);
    }
}
