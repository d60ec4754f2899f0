//! Checksums as projects publish them.

use std::fmt::Write as _;
use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

/// The checksum in a published text: the only word of it, or the word before the file's name in a list.
pub(crate) fn published(text: &str, file_name: &str) -> Option<String> {
    let of_line = |line: &str| {
        let mut words = line.split_whitespace();
        let digest = words.next().filter(|word| word.len() == 64)?;
        // The star marks a file that was read as binary.
        let named = words.next().map(|name| name.trim_start_matches('*') == file_name);
        Some((digest.to_ascii_lowercase(), named))
    };
    let lines: Vec<_> = text.lines().filter_map(of_line).collect();
    match lines.as_slice() {
        [(digest, None)] => Some(digest.clone()),
        lines => lines.iter().find(|(_, named)| *named == Some(true)).map(|(digest, _)| digest.clone()),
    }
}

/// Which end of a copy failed.
#[derive(Debug)]
pub(crate) enum CopyError {
    Read(io::Error),
    Write(io::Error),
}

/// Copies and sums up at once; `told` hears of every piece.
pub(crate) fn copy(
    source: &mut impl Read,
    target: &mut impl Write,
    told: impl Fn(u64),
) -> Result<String, CopyError> {
    let mut sum = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(CopyError::Read(error)),
        };
        let piece = &buffer[..length];
        sum.update(piece);
        target.write_all(piece).map_err(CopyError::Write)?;
        told(length as u64);
    }
    let mut text = String::with_capacity(64);
    for byte in sum.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const ONE: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const TWO: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[rstest]
    #[case::alone(format!("{ONE}\n"), Some(ONE))]
    #[case::in_a_list(format!("{TWO}  other\n{ONE}  etcd.tar.gz\n"), Some(ONE))]
    #[case::read_as_binary(format!("{ONE} *etcd.tar.gz"), Some(ONE))]
    #[case::of_another_file(format!("{ONE}  other"), None)]
    #[case::two_without_names(format!("{ONE}\n{TWO}\n"), None)]
    #[case::a_page_that_is_no_checksum("<html>not found</html>".to_owned(), None)]
    #[case::empty(String::new(), None)]
    fn the_published_checksum_is_read(#[case] text: String, #[case] expected: Option<&str>) {
        assert_eq!(published(&text, "etcd.tar.gz").as_deref(), expected);
    }

    #[test]
    fn the_copy_is_summed_up() {
        let mut target = Vec::new();

        let sum = copy(&mut &b"abc"[..], &mut target, |_| {}).unwrap();

        assert_eq!((sum.as_str(), target.as_slice()), (ONE, &b"abc"[..]));
    }
}
