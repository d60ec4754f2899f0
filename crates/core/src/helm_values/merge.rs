//! Laying mappings over each other.

use super::tree::{Heap, Limit, MapId, Node};

/// A new mapping: what is in `over`, and what of `under` it does not replace.
///
/// Only where both have a mapping is a new one made of them; everything else is shared with where it came from.
pub(super) fn merged(heap: &mut Heap, under: MapId, over: MapId) -> Result<MapId, Limit> {
    let result = heap.copy_of(Some(under))?;
    let entries: Vec<_> = heap.map(over).iter().map(|(key, node)| (key.clone(), node.clone())).collect();
    for (key, node) in entries {
        let node = match (heap.get(result, &key), node) {
            (Some(Node::Map(below)), Node::Map(above)) => Node::Map(merged(heap, below, above)?),
            (_, node) => node,
        };
        heap.insert(result, &key, node)?;
    }
    Ok(result)
}
