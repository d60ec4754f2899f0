//! What of a state is not shown.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// What stands where a secret stood.
pub const HIDDEN: &str = "(sensitive)";

/// Providers do not always say what is sensitive, and a state does not always repeat it: these names tell.
const WORDS: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "private_key",
    "credential",
    "kubeconfig",
    "access_key",
    "client_key",
    "api_key",
    "user_data",
];

/// Whether a name tells that its value is a secret. What ends in these is the name of a secret, or when it ends.
pub fn tells_of_a_secret(name: &str) -> bool {
    const NAMES: [&str; 6] = ["_name", "_arn", "_id", "_namespace", "_expiration", "_wo_version"];
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word)) && !NAMES.iter().any(|end| name.ends_with(end))
}

/// Which attributes a state calls sensitive.
pub(super) enum Marks {
    /// All of them: what is said cannot be understood.
    All,
    /// These, by their names.
    These(Vec<String>),
}

#[derive(Deserialize)]
struct Step {
    #[serde(default)]
    value: Value,
}

impl Marks {
    /// Reads the paths that a state has: `[[{"type":"get_attr","value":"password"}]]`. The first step of each counts.
    pub(super) fn of(paths: Option<&RawValue>) -> Self {
        let Some(paths) = paths else { return Self::These(Vec::new()) };
        let Ok(paths) = serde_json::from_str::<Option<Vec<Vec<Step>>>>(paths.get()) else { return Self::All };
        let names: Option<Vec<String>> = paths
            .unwrap_or_default()
            .iter()
            .map(|path| path.first().and_then(|step| step.value.as_str()).map(ToOwned::to_owned))
            .collect();
        names.map_or(Self::All, Self::These)
    }

    pub(super) fn hide(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::These(names) => names.iter().any(|marked| marked == name),
        }
    }
}

/// A value as it is shown, and the texts in it that are hidden.
pub(super) fn shown(name: &str, value: Value, hidden: bool, secrets: &mut Vec<String>) -> Value {
    if !is_something(&value) {
        return value;
    }
    if hidden || tells_of_a_secret(name) {
        texts(&value, secrets);
        return Value::from(HIDDEN);
    }
    match value {
        Value::Array(items) => items.into_iter().map(|item| shown(name, item, false, secrets)).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, field)| {
                let field = shown(&name, field, false, secrets);
                (name, field)
            })
            .collect(),
        plain => plain,
    }
}

/// Whether there is anything to hide. A switch is no secret, whatever it is called.
fn is_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Number(_) => true,
    }
}

/// The texts in a value that is hidden as a whole.
pub(super) fn texts(value: &Value, secrets: &mut Vec<String>) {
    match value {
        Value::String(text) => secrets.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, secrets)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, secrets)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
