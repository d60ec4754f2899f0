//! What an apply has begun and finished, beside the record: it counts for as long as the end of that apply is not on record.

use std::io::{Read as _, Write as _};

use capt_terraform::Calls;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// What is unpacked is not larger than this.
const LARGEST: u64 = 4 << 20;

/// Packs calls into so much room. Where they do not fit, the oldest finished ones are only counted: calls in flight are few, and
/// nothing else names them.
pub(super) fn pack(calls: &Calls, room: usize) -> Vec<u8> {
    let mut calls = calls.clone();
    loop {
        let packed = packed(&calls);
        if packed.len() <= room || calls.finished.is_empty() {
            return packed;
        }
        let half = calls.finished.len().div_ceil(2);
        calls.finished.drain(..half);
        calls.more_finished += half as u64;
    }
}

fn packed(calls: &Calls) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let text = serde_json::to_vec(calls).unwrap_or_default();
    // Writing to memory cannot fail.
    let _ = encoder.write_all(&text);
    encoder.finish().unwrap_or_default()
}

/// Reads what was packed; nothing where it cannot be read.
pub(super) fn unpack(packed: &[u8]) -> Option<Calls> {
    let mut text = Vec::new();
    GzDecoder::new(packed).take(LARGEST).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use capt_terraform::{BegunCall, FinishedCall};
    use k8s_openapi::jiff::Timestamp;

    use super::*;

    fn calls(finished: usize) -> Calls {
        let call = |index: usize| FinishedCall {
            address: format!("aws_vpc.v{index}"),
            resource_type: "aws_vpc".to_owned(),
            action: "create".to_owned(),
            id_key: Some("id".to_owned()),
            id_value: Some(format!("vpc-{}", index * 7919)),
            at: Timestamp::UNIX_EPOCH,
        };
        let begun = BegunCall {
            address: "aws_vpc.begun".to_owned(),
            resource_type: "aws_vpc".to_owned(),
            action: "create".to_owned(),
            at: Timestamp::UNIX_EPOCH,
            id_value: None,
            failed: false,
        };
        Calls { begun: vec![begun], finished: (0..finished).map(call).collect(), more_finished: 0 }
    }

    #[test]
    fn what_does_not_fit_is_counted_and_what_is_in_flight_stays() {
        assert_eq!(unpack(&pack(&calls(100), 1 << 20)), Some(calls(100)));
        let small = unpack(&pack(&calls(1000), 2000)).unwrap();
        assert_eq!(small.begun, calls(0).begun);
        assert_eq!(small.finished.len() as u64 + small.more_finished, 1000);
        assert_eq!(small.finished.last(), calls(1000).finished.last());
        assert_eq!(unpack(&pack(&calls(10), 0)).unwrap().begun, calls(0).begun);
    }

    #[test]
    fn what_is_broken_is_nothing() {
        assert_eq!(unpack(b""), None);
        assert_eq!(unpack(b"not gzip"), None);
        assert_eq!(unpack(&pack(&calls(1), 1 << 20)[..10]), None);
    }
}
