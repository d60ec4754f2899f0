//! From YAML to a tree, with keys as Flux has them: `yes: 1` has the key `true`, and `0x10: 1` the key `16`.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A tree of YAML. Without `Debug`, since it may be secret.
pub(super) struct Document(pub(super) Value);

impl<'de> Deserialize<'de> for Document {
    fn deserialize<From: Deserializer<'de>>(from: From) -> Result<Self, From::Error> {
        from.deserialize_any(Tree).map(Self)
    }
}

struct Tree;

impl<'de> Visitor<'de> for Tree {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<Problem: Error>(self) -> Result<Value, Problem> {
        Ok(Value::Null)
    }

    fn visit_bool<Problem: Error>(self, truth: bool) -> Result<Value, Problem> {
        Ok(Value::Bool(truth))
    }

    fn visit_i64<Problem: Error>(self, number: i64) -> Result<Value, Problem> {
        Ok(Value::Number(Number::from(number)))
    }

    fn visit_u64<Problem: Error>(self, number: u64) -> Result<Value, Problem> {
        Ok(Value::Number(Number::from(number)))
    }

    fn visit_f64<Problem: Error>(self, number: f64) -> Result<Value, Problem> {
        Number::from_f64(number).map(Value::Number).ok_or_else(|| Problem::custom("a number without an end"))
    }

    fn visit_str<Problem: Error>(self, text: &str) -> Result<Value, Problem> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<From: SeqAccess<'de>>(self, mut from: From) -> Result<Value, From::Error> {
        let mut items = Vec::new();
        while let Some(Document(item)) = from.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<From: MapAccess<'de>>(self, mut from: From) -> Result<Value, From::Error> {
        let mut entries = Map::new();
        while let Some(Document(key)) = from.next_key()? {
            let Document(value) = from.next_value()?;
            entries.insert(written(key).ok_or_else(|| From::Error::custom("a key that is no text"))?, value);
        }
        Ok(Value::Object(entries))
    }
}

/// The key as a text. Flux refuses what has nothing of one.
fn written(key: Value) -> Option<String> {
    match key {
        Value::String(text) => Some(text),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
