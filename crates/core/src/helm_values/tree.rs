//! Values that are shared.
//!
//! In Flux a mapping or list that was put somewhere is still the same one elsewhere, and setting something in it is
//! seen in both places. So they lie in one heap here, and nodes only point to them.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Map, Number, Value};

/// How many entries the heap may have in all. An index can make a list of 65,536, and a value of 1 MiB can hold tens of
/// thousands of indexes.
const MOST: usize = 1_000_000;
/// How deep mappings and lists may be in each other.
pub(super) const DEEPEST: usize = 100;
/// Up to here every whole number is one that a float can be.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// More than anybody means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// Too many entries.
    #[error("more than 1,000,000 entries")]
    Large,
    /// Too deep.
    #[error("mappings and lists more than 100 deep")]
    Deep,
}

/// A mapping in the heap.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct MapId(usize);

/// A list in the heap.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ListId(usize);

/// A value. Without `Debug`, since it may be secret.
#[derive(Clone, PartialEq)]
pub(super) enum Node {
    Null,
    Truth(bool),
    /// Only what is set by a path.
    Integer(i64),
    /// Every number of a file and of `spec.values`.
    Float(f64),
    Text(Rc<str>),
    Map(MapId),
    List(ListId),
}

/// All mappings and lists.
#[derive(Default)]
pub(super) struct Heap {
    maps: Vec<BTreeMap<Rc<str>, Node>>,
    lists: Vec<Vec<Node>>,
    entries: usize,
}

impl Heap {
    fn spend(&mut self, entries: usize) -> Result<(), Limit> {
        self.entries = self.entries.saturating_add(entries);
        if self.entries > MOST { Err(Limit::Large) } else { Ok(()) }
    }

    pub(super) fn new_map(&mut self) -> Result<MapId, Limit> {
        self.copy_of(None)
    }

    /// A mapping of its own with the same entries.
    pub(super) fn copy_of(&mut self, map: Option<MapId>) -> Result<MapId, Limit> {
        let entries = map.map(|map| self.map(map).clone()).unwrap_or_default();
        self.spend(entries.len() + 1)?;
        self.maps.push(entries);
        Ok(MapId(self.maps.len() - 1))
    }

    pub(super) fn map(&self, MapId(index): MapId) -> &BTreeMap<Rc<str>, Node> {
        &self.maps[index]
    }

    pub(super) fn get(&self, map: MapId, key: &str) -> Option<Node> {
        self.map(map).get(key).cloned()
    }

    pub(super) fn insert(&mut self, MapId(index): MapId, key: &str, node: Node) -> Result<(), Limit> {
        self.spend(1)?;
        self.maps[index].insert(key.into(), node);
        Ok(())
    }

    pub(super) fn new_list(&mut self, items: Vec<Node>) -> Result<ListId, Limit> {
        self.spend(items.len() + 1)?;
        self.lists.push(items);
        Ok(ListId(self.lists.len() - 1))
    }

    pub(super) fn list(&self, ListId(index): ListId) -> &[Node] {
        &self.lists[index]
    }

    pub(super) fn item(&self, list: ListId, index: usize) -> Option<Node> {
        self.list(list).get(index).cloned()
    }

    /// The list with this item. One that is long enough is changed for all who share it, a shorter one is replaced.
    pub(super) fn put(&mut self, list: ListId, index: usize, node: Node) -> Result<ListId, Limit> {
        if let Some(item) = self.lists[list.0].get_mut(index) {
            *item = node;
            return Ok(list);
        }
        let mut items = self.list(list).to_vec();
        items.resize(index, Node::Null);
        items.push(node);
        self.new_list(items)
    }

    /// Takes a tree in. All its numbers are floats afterwards, as they are in Flux.
    pub(super) fn take(&mut self, value: &Value) -> Result<Node, Limit> {
        self.take_at(value, 0)
    }

    fn take_at(&mut self, value: &Value, depth: usize) -> Result<Node, Limit> {
        if depth > DEEPEST {
            return Err(Limit::Deep);
        }
        Ok(match value {
            Value::Null => Node::Null,
            Value::Bool(truth) => Node::Truth(*truth),
            Value::Number(number) => Node::Float(number.as_f64().unwrap_or_default()),
            Value::String(text) => Node::Text(text.as_str().into()),
            Value::Array(items) => {
                let items: Result<Vec<Node>, Limit> =
                    items.iter().map(|item| self.take_at(item, depth + 1)).collect();
                Node::List(self.new_list(items?)?)
            }
            Value::Object(entries) => {
                let map = self.new_map()?;
                for (key, value) in entries {
                    let node = self.take_at(value, depth + 1)?;
                    self.insert(map, key, node)?;
                }
                Node::Map(map)
            }
        })
    }

    /// The tree as it is now, with numbers as JSON writes them: `2` and not `2.0`.
    pub(super) fn give(&self, node: &Node) -> Value {
        match node {
            Node::Null => Value::Null,
            Node::Truth(truth) => Value::Bool(*truth),
            Node::Integer(number) => Value::Number(Number::from(*number)),
            Node::Float(number) => written(*number),
            Node::Text(text) => Value::String(text.as_ref().to_owned()),
            Node::Map(map) => {
                let entries = self.map(*map).iter();
                let entries = entries.map(|(key, node)| (key.as_ref().to_owned(), self.give(node)));
                Value::Object(entries.collect::<Map<String, Value>>())
            }
            Node::List(list) => Value::Array(self.list(*list).iter().map(|node| self.give(node)).collect()),
        }
    }
}

fn written(number: f64) -> Value {
    let negative_zero = number == 0.0 && number.is_sign_negative();
    let exact = number.fract() == 0.0 && number.abs() <= LARGEST_EXACT && !negative_zero;
    match format!("{number:.0}").parse::<i64>() {
        Ok(integer) if exact => Value::Number(Number::from(integer)),
        _ => Number::from_f64(number).map_or(Value::Null, Value::Number),
    }
}
