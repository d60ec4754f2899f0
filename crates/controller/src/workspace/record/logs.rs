//! The logs of runs, beside the record: one key for each, so that a new one needs no look at the others.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::sync::Arc;

use capt_core::workspace::run_log::{RunLog, Shelf, Stored};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use k8s_openapi::ByteString;

use super::Changes;
use crate::error::Error;
use crate::workspace::place::kept::aside;

/// What is unpacked is not larger than this.
const LARGEST: u64 = 4 << 20;

/// The logs in a Secret, and how much room all else takes.
pub(super) fn divide(data: Option<&BTreeMap<String, ByteString>>) -> (Shelf, BTreeMap<String, usize>) {
    let (mut stored, mut sizes) = (Vec::new(), BTreeMap::new());
    for (key, value) in data.into_iter().flatten() {
        match Stored::parse(key, value.0.len()) {
            Some(run) => stored.push(run),
            None => drop(sizes.insert(key.clone(), value.0.len())),
        }
    }
    (Shelf::new(stored), sizes)
}

/// Puts logs on the shelf: the keys that are to be written, and those that leave, for them or for what else needs the room.
pub(super) async fn shelve(logs: &[Arc<RunLog>], shelf: &mut Shelf, room: usize) -> Result<Changes, Error> {
    let mut changes = Changes::new();
    for log in logs {
        let packed = Arc::clone(log);
        let packed = aside(move || pack(&packed)).await?;
        let new = shelf.add(log.quiet, packed.len());
        changes.insert(new.key(), Some(packed));
    }
    changes.extend(shelf.trim(room).iter().map(|gone| (gone.key(), None)));
    Ok(changes)
}

/// The logs in a Secret, oldest first, by their numbers.
pub(super) fn read(data: BTreeMap<String, ByteString>) -> Vec<(u64, RunLog)> {
    let logs = data.into_iter().filter_map(|(key, value)| {
        let stored = Stored::parse(&key, value.0.len())?;
        Some((stored.number, unpack(&value.0)?))
    });
    let mut logs: Vec<(u64, RunLog)> = logs.collect();
    logs.sort_by_key(|(number, _)| *number);
    logs
}

fn pack(log: &RunLog) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let text = serde_json::to_vec(log).unwrap_or_default();
    // Writing to memory cannot fail.
    let _ = encoder.write_all(&text);
    encoder.finish().unwrap_or_default()
}

fn unpack(packed: &[u8]) -> Option<RunLog> {
    let mut text = Vec::new();
    GzDecoder::new(packed).take(LARGEST).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}
