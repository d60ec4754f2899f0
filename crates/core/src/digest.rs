//! Digests of JSON trees and of texts: equal trees have equal digests, whatever the order of their keys.
//!
//! Statuses, annotations and names hold digests. All of them are SHA-256 of bytes that are defined here, on every machine and
//! with every compiler: `std`'s hashes promise neither.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The digest of a tree, as `sha256:` and 64 hexadecimal digits.
pub fn digest(tree: &Value) -> String {
    let mut hasher = Sha256::new();
    feed(tree, &mut hasher);
    format!("sha256:{}", hexadecimal(&hasher.finalize()))
}

/// The first `digits` hexadecimal digits of the digest of some texts, each kept apart from the next.
pub fn short_digest<'text>(texts: impl IntoIterator<Item = &'text str>, digits: usize) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        feed_text(text, &mut hasher);
    }
    let mut hex = hexadecimal(&hasher.finalize());
    hex.truncate(digits);
    hex
}

/// A number for a text: to tell texts apart in memory, or to spread what would happen at once.
pub fn number(text: &str) -> u64 {
    let digest = Sha256::digest(text);
    digest.iter().take(size_of::<u64>()).fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

/// Bytes as people read them.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Every value is preceded by its type and length, so that no two trees feed the same bytes.
fn feed(tree: &Value, hasher: &mut Sha256) {
    match tree {
        Value::Null => hasher.update(b"n"),
        Value::Bool(value) => hasher.update(if *value { b"t" } else { b"f" }),
        Value::Number(number) => {
            hasher.update(b"d");
            feed_text(&number.to_string(), hasher);
        }
        Value::String(text) => {
            hasher.update(b"s");
            feed_text(text, hasher);
        }
        Value::Array(items) => {
            hasher.update(b"a");
            feed_length(items.len(), hasher);
            for item in items {
                feed(item, hasher);
            }
        }
        Value::Object(fields) => {
            hasher.update(b"o");
            feed_length(fields.len(), hasher);
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            for (key, value) in sorted {
                feed_text(key, hasher);
                feed(value, hasher);
            }
        }
    }
}

fn feed_text(text: &str, hasher: &mut Sha256) {
    feed_length(text.len(), hasher);
    hasher.update(text.as_bytes());
}

/// A length has 8 bytes, also on a machine whose own have 4.
fn feed_length(length: usize, hasher: &mut Sha256) {
    hasher.update(u64::try_from(length).unwrap_or(u64::MAX).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_keys_does_not_matter() {
        let one: Value = serde_json::from_str(r#"{"a":1,"b":[true,null]}"#).unwrap();
        let other: Value = serde_json::from_str(r#"{"b":[true,null],"a":1}"#).unwrap();
        assert_eq!(digest(&one), digest(&other));
    }

    #[test]
    fn different_trees_have_different_digests() {
        let trees = [
            json!(null),
            json!("n"),
            json!([]),
            json!({}),
            json!(["a", "b"]),
            json!(["ab"]),
            json!([["a"], "b"]),
        ];
        let digests: std::collections::BTreeSet<_> = trees.iter().map(digest).collect();
        assert_eq!(digests.len(), trees.len());
    }

    /// They are in statuses, annotations and names: whatever changes one of them breaks what earlier versions have written.
    #[test]
    fn digests_never_change() {
        let tree = json!({ "b": [true, null, 1.5], "a": { "text": "é", "empty": [] } });
        assert_eq!(digest(&tree), "sha256:fba615c27c60c19240fe6258a1406b9d8450adaff2653485d7360d4e006a406d");
        assert_eq!(
            short_digest(["ab", "c"], 64),
            "43ee655579de01ca739b3f95c1c2d3f46d353b2c0df818064ea594506cdb2617"
        );
        assert_eq!(number("default/demo"), 200_630_546_973_108_638);
    }

    #[test]
    fn short_digests_keep_texts_apart() {
        assert_ne!(short_digest(["ab", "c"], 8), short_digest(["a", "bc"], 8));
        assert_eq!(short_digest(["ab", "c"], 8).len(), 8);
    }
}
