//! Outputs, with every number as exact as Terraform wrote it.

mod number;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::secret::Secret;

pub(crate) use number::strings;

/// The outputs of a module by name. One that is null is not among them.
pub type Outputs = BTreeMap<String, Output>;

/// One output. Its value is hidden, sensitive or not: whoever prints it asks for [`Output::status_value`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Whether the module calls it sensitive.
    pub sensitive: bool,
    /// The value as compact JSON text.
    json: Secret,
}

impl Output {
    /// An output from its JSON text. Numbers keep their digits.
    pub fn new(sensitive: bool, json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<&RawValue>(json)?;
        Ok(Self { sensitive, json: Secret::new(number::compact(json)) })
    }

    /// What the connection Secret holds: a string as it is, everything else as compact JSON.
    pub fn secret_bytes(&self) -> Secret {
        match serde_json::from_slice::<String>(self.json.expose()) {
            Ok(text) => Secret::new(text),
            Err(_) => self.json.clone(),
        }
    }

    /// What the status shows: nothing of a sensitive output, nor of one that is nested too deep for any API, and numbers
    /// that neither int64 nor float64 can hold as text.
    pub fn status_value(&self) -> Option<Value> {
        if self.sensitive {
            return None;
        }
        let text = std::str::from_utf8(self.json.expose()).ok()?;
        serde_json::from_str(&number::storable(text)).ok()
    }

    /// The values that must not be printed: the whole and each string in it.
    pub(crate) fn hidden_values(&self) -> Vec<Vec<u8>> {
        if !self.sensitive {
            return Vec::new();
        }
        let mut found = vec![self.secret_bytes().expose().to_vec()];
        if let Ok(text) = std::str::from_utf8(self.json.expose()) {
            found.extend(strings(text).into_iter().map(String::into_bytes));
        }
        found
    }
}

/// Reads the text of `output -json`.
pub(crate) fn parse(text: &str) -> Result<Outputs, serde_json::Error> {
    #[derive(Deserialize)]
    struct Written<'text> {
        sensitive: bool,
        #[serde(borrow)]
        value: &'text RawValue,
    }
    let written: BTreeMap<String, Written<'_>> = serde_json::from_str(text)?;
    written.into_iter().map(|(name, it)| Ok((name, Output::new(it.sensitive, it.value.get())?))).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::string(r#""a\u003cb\nc""#, "a<b\nc", json!("a<b\nc"))]
    #[case::looks_like_a_number(r#""007""#, "007", json!("007"))]
    #[case::integer("7", "7", json!(7))]
    #[case::largest("9223372036854775807", "9223372036854775807", json!(9_223_372_036_854_775_807_i64))]
    #[case::too_large("12345678901234567890", "12345678901234567890", json!("12345678901234567890"))]
    #[case::beyond_all("1e400", "1e400", json!("1e400"))]
    #[case::fraction("1.5", "1.5", json!(1.5))]
    #[case::many_digits("0.1234567890123456789", "0.1234567890123456789", json!("0.1234567890123456789"))]
    #[case::object("{ \"a\" : [ 1 , null, \"x y\" ] }", r#"{"a":[1,null,"x y"]}"#, json!({"a": [1, null, "x y"]}))]
    #[case::nested("{\"a\":{\"b\":12345678901234567890}}", r#"{"a":{"b":12345678901234567890}}"#, json!({"a": {"b": "12345678901234567890"}}))]
    #[case::binary(r#""\u0000\u0001ÿ""#, "\u{0}\u{1}ÿ", json!("\u{0}\u{1}ÿ"))]
    fn a_value_is_exact_in_the_secret_and_storable_in_the_status(
        #[case] json: &str,
        #[case] secret: &str,
        #[case] status: Value,
    ) {
        let output = Output::new(false, json).unwrap();

        assert_eq!(output.secret_bytes().expose(), secret.as_bytes());
        assert_eq!(output.status_value(), Some(status));
    }

    #[test]
    fn every_string_of_a_sensitive_output_is_hidden_however_deep() {
        let json = "[".repeat(300) + r#"{"key":"hunter\"22"}"# + &"]".repeat(300);
        let output = Output::new(true, &json).unwrap();

        assert!(output.hidden_values().contains(&b"hunter\"22".to_vec()));
        assert!(!output.hidden_values().contains(&b"key".to_vec()));
        assert_eq!(output.secret_bytes().expose(), json.as_bytes());
        assert_eq!(Output::new(false, &json).unwrap().status_value(), None);
    }

    #[test]
    fn a_sensitive_output_is_not_in_the_status_nor_in_debug() {
        let outputs = parse(r#"{"password":{"sensitive":true,"type":"string","value":"hunter22"}}"#).unwrap();

        assert_eq!(outputs["password"].status_value(), None);
        assert_eq!(outputs["password"].secret_bytes().expose(), b"hunter22");
        assert!(!format!("{outputs:?}").contains("hunter22"));
    }
}
