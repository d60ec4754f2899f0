//! Outputs as the content of a Secret.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use capt_terraform::Outputs;
use k8s_openapi::ByteString;
use sha2::{Digest as _, Sha256};

/// The content of a Secret.
pub(super) type Data = BTreeMap<String, ByteString>;

/// The longest key of a Secret.
const LONGEST_KEY: usize = 253;

/// The outputs as the content of a Secret, and the names of those that cannot be in it.
pub(super) fn of(outputs: &Outputs) -> (Data, Vec<String>) {
    let mut data = Data::new();
    let mut skipped = Vec::new();
    for (name, output) in outputs {
        if is_key(name) {
            data.insert(name.clone(), ByteString(output.secret_bytes().expose().to_vec()));
        } else {
            skipped.push(name.clone());
        }
    }
    (data, skipped)
}

/// What the API server takes as a key of a Secret.
fn is_key(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=LONGEST_KEY).contains(&name.len())
        && name.bytes().all(legal)
        && name != "."
        && !name.starts_with("..")
}

/// Names the content of a Secret. Every key and value is preceded by its length, so that no two contents feed the same bytes.
pub(super) fn digest(data: &Data) -> String {
    let mut hasher = Sha256::new();
    for (key, value) in data {
        for bytes in [key.as_bytes(), &value.0] {
            hasher.update((bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        }
    }
    hasher.finalize().iter().fold("sha256:".to_owned(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("cluster_endpoint", true)]
    #[case::upper_case("CLUSTER-1", true)]
    #[case::umlaut("größe", false)]
    #[case::empty("", false)]
    #[case::dot(".", false)]
    #[case::dots("..x", false)]
    #[case::slash("a/b", false)]
    fn keys_are_told_from_other_names(#[case] name: &str, #[case] expected: bool) {
        assert_eq!(is_key(name), expected);
    }

    #[test]
    fn the_longest_key_is_one_and_the_next_is_not() {
        assert!(is_key(&"a".repeat(253)));
        assert!(!is_key(&"a".repeat(254)));
    }

    #[test]
    fn different_contents_have_different_digests() {
        let data = |entries: &[(&str, &str)]| -> Data {
            entries
                .iter()
                .map(|(key, value)| ((*key).to_owned(), ByteString(value.as_bytes().to_vec())))
                .collect()
        };
        let all = [
            data(&[]),
            data(&[("a", "")]),
            data(&[("a", "b")]),
            data(&[("ab", "")]),
            data(&[("a", ""), ("b", "")]),
        ];
        let digests: std::collections::BTreeSet<_> = all.iter().map(digest).collect();
        assert_eq!(digests.len(), all.len());
    }
}
