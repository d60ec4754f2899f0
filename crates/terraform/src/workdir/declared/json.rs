//! Finds a backend in Terraform's JSON syntax.
//!
//! An object may stand for a block, a list of objects for several, and a key may come more than once. Values that are
//! not looked into stay text, so that neither their depth nor the size of their numbers matters.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Lists in lists in lists: nobody writes that.
const DEEPEST: usize = 4;

/// The kind of the last backend that is declared.
pub(super) fn backend(text: &[u8]) -> Option<String> {
    let root = Fields::read(std::str::from_utf8(text).ok()?);
    let settings = root.of("terraform");
    let backends = settings.of("backend").0.into_iter().map(|(kind, _)| kind).filter(|kind| kind != "//");
    let clouds = settings.0.iter().filter(|(key, _)| key == "cloud").map(|(key, _)| key.clone());
    backends.chain(clouds).last()
}

/// The fields of an object, or of all objects in a list.
struct Fields<'text>(Vec<(String, &'text RawValue)>);

impl<'text> Fields<'text> {
    /// None where the text is something else, or broken.
    fn read(text: &'text str) -> Self {
        let mut fields = Vec::new();
        let mut open = vec![(text, 0)];
        while let Some((text, depth)) = open.pop() {
            if depth < DEEPEST && text.trim_ascii_start().starts_with('[') {
                let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
                open.extend(items.into_iter().rev().map(|item| (item.get(), depth + 1)));
            } else if let Ok(Self(found)) = serde_json::from_str(text) {
                fields.extend(found);
            }
        }
        Self(fields)
    }

    /// The fields of the values of a key.
    fn of(&self, key: &str) -> Self {
        let values = self.0.iter().filter(|(name, _)| name == key);
        Self(values.flat_map(|(_, value)| Self::read(value.get()).0).collect())
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Fields(fields))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::object(r#"{"terraform":{"backend":{"s3":{"bucket":"a"}}}}"#, Some("s3"))]
    #[case::lists(r#"[{"terraform":[{"required_version":">= 1"},{"backend":[{"s3":{}}]}]}]"#, Some("s3"))]
    #[case::keys_that_come_twice(r#"{"terraform":{"backend":{"s3":{}}},"terraform":{}}"#, Some("s3"))]
    #[case::cloud(r#"{"terraform":{"cloud":{"organization":"a"}}}"#, Some("cloud"))]
    #[case::a_huge_number_elsewhere(
        r#"{"locals":{"a":1e4000},"terraform":{"backend":{"s3":{}}}}"#,
        Some("s3")
    )]
    #[case::a_comment(r#"{"terraform":{"backend":{"//":"s3"}}}"#, None)]
    #[case::no_object(r#"{"terraform":"backend"}"#, None)]
    #[case::another_place(r#"{"locals":{"backend":{"s3":{}}}}"#, None)]
    #[case::broken(r#"{"terraform":{"backend":{"s3":{}"#, None)]
    fn a_declaration_is_found_and_nothing_else_is(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(backend(text.as_bytes()).as_deref(), expected);
    }

    #[test]
    fn hostile_text_comes_to_an_end() {
        let deep = "[".repeat(300_000) + &"]".repeat(300_000);

        assert_eq!(backend(deep.as_bytes()), None);
        let beside = format!(r#"{{"locals":{deep},"terraform":{{"backend":{{"s3":{{}}}}}}}}"#);
        assert_eq!(backend(beside.as_bytes()).as_deref(), Some("s3"));
        assert_eq!(backend(&[0xff; 9]), None);
    }
}
