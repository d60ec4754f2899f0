//! Objects out of files, and back into text.

use serde_json::Value;

use super::variables::finish;
use crate::repository::objects_in;

/// Every object of a file, or of every file below a directory.
pub(super) fn read(path: &str) -> anyhow::Result<Vec<Value>> {
    Ok(objects_in(path)?.into_iter().map(|(_, object)| object).collect())
}

/// The objects as clusterctl has to get them.
pub(super) fn write(objects: &[Value]) -> anyhow::Result<String> {
    Ok(finish(&plain(objects)?))
}

/// The objects as kubectl has to get them.
pub(super) fn plain(objects: &[Value]) -> anyhow::Result<String> {
    let mut text = String::new();
    for object in objects {
        text += "---\n";
        text += &serde_saphyr::to_string(object)?;
    }
    Ok(text)
}
