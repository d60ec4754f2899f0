//! Reads what is in a state, as far as the engine has to know it.

use std::collections::BTreeMap;
use std::io::{BufReader, Read};

use flate2::Compression;
use flate2::bufread::{GzDecoder, GzEncoder};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

/// A state that is larger than this is not read.
const LARGEST: u64 = 64 << 20;

/// What is in a state.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    /// Whether it is known that nothing is in it.
    pub(super) empty: bool,
    pub(super) serial: Option<u64>,
    pub(super) lineage: Option<String>,
    /// Where it ends, if it could be read.
    pub(super) end: Option<usize>,
}

/// A state as Terraform writes it. One that OpenTofu has encrypted has neither resources nor outputs.
#[derive(Deserialize)]
struct Written {
    serial: Option<u64>,
    lineage: Option<String>,
    resources: Option<Vec<IgnoredAny>>,
    #[expect(clippy::zero_sized_map_values, reason = "read from an object, of which only the size counts")]
    outputs: Option<BTreeMap<String, IgnoredAny>>,
}

/// Reads a compressed state. What cannot be read is not empty: nobody may take it for one that needs no destroy.
pub(super) fn read(compressed: &[u8]) -> Content {
    let mut decoder = GzDecoder::new(compressed);
    let written = parse(Read::by_ref(&mut decoder).take(LARGEST));
    let Ok(Written { serial, lineage, resources, outputs }) = written else { return Content::default() };
    Content {
        empty: resources.is_some_and(|resources| resources.is_empty())
            && outputs.is_some_and(|outputs| outputs.is_empty()),
        serial,
        lineage,
        end: Some(compressed.len() - decoder.into_inner().len()),
    }
}

/// A compressed state in which there is nothing, as every version of Terraform reads it.
pub(super) fn nothing(lineage: &str) -> Vec<u8> {
    let state = json!({
        "version": 4,
        "terraform_version": "1.0.0",
        "serial": 0,
        "lineage": lineage,
        "outputs": {},
        "resources": [],
    });
    let text = state.to_string();
    let mut packed = Vec::new();
    let mut encoder = GzEncoder::new(text.as_bytes(), Compression::default());
    // Reading from memory cannot fail.
    let _ = encoder.read_to_end(&mut packed);
    packed
}

fn parse(text: impl Read) -> Result<Written, serde_json::Error> {
    // Piece by piece, so that a large state, or one that only claims to be small, needs no memory.
    let mut deserializer = serde_json::Deserializer::from_reader(BufReader::new(text));
    let written = Written::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use rstest::rstest;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[rstest]
    #[case::empty(
        r#"{"version":4,"serial":0,"lineage":"l","outputs":{},"resources":[],"check_results":null}"#,
        true
    )]
    #[case::a_resource(
        r#"{"version":4,"serial":3,"lineage":"l","outputs":{},"resources":[{"type":"x"}]}"#,
        false
    )]
    #[case::only_outputs(
        r#"{"version":4,"serial":3,"lineage":"l","outputs":{"a":{}},"resources":[]}"#,
        false
    )]
    #[case::of_an_old_version(r#"{"version":3,"serial":3,"lineage":"l","modules":[]}"#, false)]
    #[case::encrypted(
        r#"{"serial":3,"lineage":"l","meta":{},"encrypted_data":"YQ==","encryption_version":"v0"}"#,
        false
    )]
    fn only_a_state_without_anything_is_empty(#[case] text: &str, #[case] empty: bool) {
        let compressed = gzip(text.as_bytes());
        let content = read(&compressed);
        assert_eq!((content.empty, content.lineage.as_deref()), (empty, Some("l")));
        assert_eq!(content.end, Some(compressed.len()));
    }

    #[rstest]
    #[case::nothing(Vec::new())]
    #[case::no_gzip(b"\x00\xff{}".to_vec())]
    #[case::no_json(gzip(b"resources"))]
    #[case::cut_off({ let mut cut = gzip(br#"{"outputs":{},"resources":[]}"#); cut.truncate(20); cut })]
    #[case::a_checksum_that_is_wrong({ let mut bad = gzip(br#"{"outputs":{},"resources":[]}"#); let at = bad.len() - 6; bad[at] ^= 1; bad })]
    #[case::two_trees(gzip(br#"{"outputs":{},"resources":[]}{}"#))]
    #[case::a_list(gzip(b"[]"))]
    #[case::a_serial_below_zero(gzip(br#"{"serial":-1,"outputs":{},"resources":[]}"#))]
    #[case::nested_without_end(gzip(&b"[".repeat(1 << 20)))]
    #[case::a_bomb(gzip(&vec![b' '; 80 << 20]))]
    fn what_cannot_be_read_is_not_empty(#[case] compressed: Vec<u8>) {
        assert_eq!(read(&compressed), Content::default());
    }

    #[test]
    fn what_follows_a_state_is_told_from_it() {
        let state = gzip(br#"{"serial":1,"lineage":"l","outputs":{},"resources":[]}"#);
        let followed = [state.as_slice(), b"what was there before"].concat();
        let content = read(&followed);
        assert!(content.empty);
        assert_eq!(content.end, Some(state.len()));
    }
}
