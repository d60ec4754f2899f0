//! Documents with the place of everything in them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{Location, Spanned};

use super::position::Position;

/// A value and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) at: Position,
    pub(super) content: Content,
}

/// What is at a place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    /// A text, a number, a truth value or nothing.
    Scalar(Value),
    List(Vec<Node>),
    Mapping(Vec<Field>),
}

/// A key of a mapping with what it has.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) key: String,
    pub(super) at: Position,
    pub(super) node: Node,
}

/// One step from a value to something in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'path> {
    Key(&'path str),
    Index(usize),
}

impl Node {
    /// The same without places.
    pub(super) fn value(&self) -> Value {
        match &self.content {
            Content::Scalar(value) => value.clone(),
            Content::List(items) => items.iter().map(Self::value).collect(),
            Content::Mapping(fields) => Value::Object(
                fields.iter().map(|field| (field.key.clone(), field.node.value())).collect::<Map<_, _>>(),
            ),
        }
    }

    /// The fields of a mapping; none where it is something else.
    pub(super) fn fields(&self) -> &[Field] {
        match &self.content {
            Content::Mapping(fields) => fields,
            Content::Scalar(_) | Content::List(_) => &[],
        }
    }

    /// A field of a mapping that is more than `null`.
    pub(super) fn field(&self, key: &str) -> Option<&Field> {
        self.fields().iter().find(|field| field.key == key && !field.node.is_null())
    }

    pub(super) fn is_null(&self) -> bool {
        self.content == Content::Scalar(Value::Null)
    }

    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(Value::String(text)) => Some(text),
            Content::Scalar(_) | Content::List(_) | Content::Mapping(_) => None,
        }
    }

    /// What a path leads to.
    pub(super) fn get(&self, path: &[Step<'_>]) -> Option<&Self> {
        path.iter().try_fold(self, |node, step| node.step(*step).map(|(_, inner)| inner))
    }

    /// The place of what a path leads to, or of as much of it as there is: where a text or the like begins, and the key of
    /// everything else that has one.
    pub(super) fn place(&self, path: &[Step<'_>]) -> Position {
        let mut place = self.at;
        let mut node = self;
        for step in path {
            let Some((at, inner)) = node.step(*step) else { return place };
            (place, node) = (at, inner);
        }
        match node.content {
            Content::Scalar(_) if !node.is_null() => node.at,
            Content::Scalar(_) | Content::List(_) | Content::Mapping(_) => place,
        }
    }

    /// Every text at or below a path, with its own path.
    pub(super) fn texts(&self, below: &str) -> Vec<(String, &Self)> {
        let mut found = Vec::new();
        if let Some(start) = self.get(&steps(below)) {
            start.collect_texts(below.to_owned(), &mut found);
        }
        found
    }

    fn collect_texts<'node>(&'node self, path: String, found: &mut Vec<(String, &'node Self)>) {
        match &self.content {
            Content::Scalar(Value::String(_)) => found.push((path, self)),
            Content::Scalar(_) => {}
            Content::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.collect_texts(format!("{path}[{index}]"), found);
                }
            }
            Content::Mapping(fields) => {
                for field in fields {
                    let inner =
                        if path.is_empty() { field.key.clone() } else { format!("{path}.{}", field.key) };
                    field.node.collect_texts(inner, found);
                }
            }
        }
    }

    fn step(&self, step: Step<'_>) -> Option<(Position, &Self)> {
        match (step, &self.content) {
            (Step::Key(key), Content::Mapping(fields)) => {
                fields.iter().find(|field| field.key == key).map(|field| (field.at, &field.node))
            }
            (Step::Index(index), Content::List(items)) => items.get(index).map(|item| (item.at, item)),
            _ => None,
        }
    }
}

/// Takes a path such as `spec.valuesFrom[2].targetPath` apart. Keys in it have no dots.
pub(super) fn steps(path: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let mut pieces = part.split('[');
        steps.extend(pieces.next().filter(|key| !key.is_empty()).map(Step::Key));
        steps.extend(pieces.filter_map(|piece| piece.trim_end_matches(']').parse().ok()).map(Step::Index));
    }
    steps
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value: content, referenced, .. } = Spanned::<Content>::deserialize(deserializer)?;
        Ok(Self { at: position(referenced), content })
    }
}

pub(super) fn position(location: Location) -> Position {
    let number = |number: u64| usize::try_from(number).unwrap_or(1).max(1);
    Position { line: number(location.line()), column: number(location.column()) }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Content, E> {
        Ok(Content::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Content, E> {
        Ok(Content::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Content, D::Error> {
        Content::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Content, E> {
        Ok(Content::Scalar(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Content, E> {
        Ok(Content::Scalar(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Content, E> {
        Ok(Content::Scalar(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Content, E> {
        Ok(Content::Scalar(Number::from_f64(value).map_or(Value::Null, Value::Number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Content, E> {
        Ok(Content::Scalar(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Content, E> {
        Ok(Content::Scalar(Value::String(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Content, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Content::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut mapping: A) -> Result<Content, A::Error> {
        let mut fields = Vec::new();
        while let Some(Spanned { value: key, referenced, .. }) = mapping.next_key::<Spanned<String>>()? {
            fields.push(Field { key, at: position(referenced), node: mapping.next_value()? });
        }
        Ok(Content::Mapping(fields))
    }
}
