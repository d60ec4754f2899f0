//! The values that a chart gets.

use std::borrow::Cow;

use capt_api::resource_set::ResourceKind;
use serde_json::Value;

use super::effect::{decoded, line};
use super::file;
use super::merge::merged;
use super::problem::Problem;
use super::reference::Reference;
use super::set::set;
use super::tree::{Heap, MapId, Node};

/// The values that Flux hands to the chart.
///
/// `inline` is `spec.values`, and `find` gives what a key of an object in the release's namespace holds. Numbers are as
/// JSON writes them. What comes out may be as secret as what goes in.
pub fn preview<'content>(
    inline: &Value,
    references: &[Reference],
    find: impl Fn(ResourceKind, &str, &str) -> Option<Cow<'content, [u8]>>,
) -> Result<Value, Problem> {
    let mut heap = Heap::default();
    // Flux passes over what is no mapping.
    let inline = match heap.take(inline)? {
        Node::Map(map) => map,
        _ => heap.new_map()?,
    };
    let mut result = heap.new_map()?;
    for reference in references {
        let Reference { kind, name, key, optional, .. } = reference;
        result = match find(*kind, name, key) {
            Some(content) => with(&mut heap, result, inline, reference, &content)?,
            None if *optional => result,
            None => return Err(Problem::Missing { kind: *kind, name: name.clone(), key: key.clone() }),
        };
    }
    let result = merged(&mut heap, result, inline)?;
    Ok(heap.give(&Node::Map(result)))
}

fn with(
    heap: &mut Heap,
    result: MapId,
    inline: MapId,
    reference: &Reference,
    content: &[u8],
) -> Result<MapId, Problem> {
    let Reference { kind, name, key, target_path, literal, .. } = reference;
    let (kind, name, key) = (*kind, name.clone(), key.clone());
    let Some(target_path) = target_path else {
        let values = file::read(content).map_err(|flaw| Problem::File { kind, name, key, flaw })?;
        return match heap.take(&values)? {
            Node::Map(values) => Ok(merged(heap, result, values)?),
            _ => Ok(result),
        };
    };
    // What is inline is laid over before each path is set, and becomes part of the result: where the path leads into a
    // mapping that only `spec.values` has, the value is set in `spec.values` itself, and wins in the end.
    let result = merged(heap, result, inline)?;
    let (line, reading) = line(target_path, &decoded(content), *literal);
    match set(heap, result, &line, reading) {
        Ok(()) => Ok(result),
        Err(flaw) => Err(Problem::Path { kind, name, key, target_path: target_path.clone(), flaw }),
    }
}
