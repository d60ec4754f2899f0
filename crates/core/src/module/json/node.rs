//! JSON that keeps keys which come more than once.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

/// A JSON value, as far as it matters here.
#[derive(Debug)]
pub(super) enum Node {
    Object(Vec<(String, Node)>),
    List(Vec<Node>),
    Text(String),
    Flag(bool),
    /// A number or `null`.
    Other,
}

impl Node {
    /// The blocks of a type with one name each, wherever Terraform looks for them.
    pub(super) fn blocks(&self, kind: &str) -> impl Iterator<Item = (&str, &Self)> {
        self.objects()
            .flatten()
            .filter(move |(key, _)| key == kind)
            .flat_map(|(_, named)| named.objects().flatten())
            // This key is how a comment is written.
            .filter(|(name, _)| name != "//")
            .map(|(name, body)| (name.as_str(), body))
    }

    /// The value of a key.
    pub(super) fn field(&self, key: &str) -> Option<&Self> {
        self.objects().flatten().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The object that this is, or the objects in the list that this is.
    fn objects(&self) -> impl Iterator<Item = &[(String, Self)]> {
        let items = if let Self::List(items) = self { items.as_slice() } else { std::slice::from_ref(self) };
        items.iter().filter_map(|item| match item {
            Self::Object(fields) => Some(fields.as_slice()),
            Self::List(_) | Self::Text(_) | Self::Flag(_) | Self::Other => None,
        })
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Node::Object(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Node, E> {
        Ok(Node::Flag(flag))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Other)
    }
}
