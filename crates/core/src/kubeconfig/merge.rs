//! Putting the kubeconfig of one cluster into the kubeconfig of a person, without touching anything else in it.

mod entry;
mod faithful;
mod refused;
mod write;

use secrecy::SecretString;
use serde_json::{Map, Value, json};

pub use refused::Refused;

use super::document;
use super::node::Node;
use super::problem::{Invalid, Problem};
use entry::{Kind, name_of};

/// More than this is no kubeconfig of a person.
pub const LARGEST: usize = 16 * 1024 * 1024;

/// Whose entries are put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The management cluster's address.
    pub management: String,
    /// The namespace of the Cluster.
    pub namespace: String,
    /// The name of the Cluster.
    pub cluster: String,
}

/// What is to be put in.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'facts> {
    /// The kubeconfig of the cluster.
    pub content: &'facts [u8],
    /// What context, cluster and user are to be called.
    pub context: &'facts str,
    /// Whose they are.
    pub origin: &'facts Origin,
    /// Leave `current-context` as it is.
    pub keep_context: bool,
}

/// What came of it.
#[derive(Debug)]
pub enum Merged {
    /// It is all there already.
    Unchanged,
    /// The new text of the whole file.
    Changed(SecretString),
}

/// Puts the entries of a cluster into the text of a kubeconfig, or makes one. Other entries, and fields that nobody here knows,
/// stay as they are. What cannot be kept as it is, is refused.
pub fn merge(existing: Option<&str>, wish: Wish<'_>) -> Result<Merged, Refused> {
    super::parse(wish.content)?;
    let incoming = document::read(wish.content)?;
    let before = existing.map(read).transpose().map_err(Refused::Existing)?.flatten();
    let mut after =
        before.clone().unwrap_or_else(|| json!({ "apiVersion": "v1", "kind": "Config", "preferences": {} }));
    put(&mut after, &incoming, wish)?;
    if before.as_ref() == Some(&after) {
        return Ok(Merged::Unchanged);
    }
    Ok(Merged::Changed(SecretString::from(write::document(&after))))
}

/// The tree of a person's kubeconfig; none where there is nothing in it.
fn read(text: &str) -> Result<Option<Value>, Invalid> {
    if text.len() > LARGEST {
        return Err(Invalid::document(Problem::TooLarge));
    }
    let tree = match document::tree(text) {
        Ok(Value::Null) | Err(Problem::Empty) => return Ok(None),
        Ok(tree) => tree,
        Err(problem) => return Err(Invalid::document(problem)),
    };
    document::check_kind(&tree)?;
    faithful::check(&tree)?;
    // The three lists have to be lists of mappings.
    document::lists(&Node::root(&tree))?;
    Ok(Some(tree))
}

fn put(tree: &mut Value, incoming: &Value, wish: Wish<'_>) -> Result<(), Refused> {
    let root = Node::root(incoming);
    let lists = document::lists(&root)?;
    let context = lists.current_context(&root)?;
    let (cluster_name, _) = lists.cluster_of(&context)?;
    let (user_name, _) = lists.user_of(&context)?;
    let context_name = root.field("current-context")?.text()?.unwrap_or_default();
    let names = [(Kind::Cluster, cluster_name), (Kind::User, user_name), (Kind::Context, context_name)];
    entry::refuse_taken(tree, incoming, cluster_name, wish)?;
    let Value::Object(fields) = tree else {
        return Err(Refused::Existing(Invalid::document(Problem::PlainText)));
    };
    for (kind, name) in names {
        let found = entry::find(incoming, kind, name).and_then(|entry| entry.get(kind.content())).cloned();
        put_entry(fields, kind, found.and_then(into_object).unwrap_or_default(), wish);
    }
    if !wish.keep_context {
        fields.insert("current-context".to_owned(), json!(wish.context));
    }
    for (field, value) in [("apiVersion", "v1"), ("kind", "Config")] {
        fields.entry(field).or_insert_with(|| json!(value));
    }
    Ok(())
}

fn put_entry(fields: &mut Map<String, Value>, kind: Kind, content: Map<String, Value>, wish: Wish<'_>) {
    let list = fields.entry(kind.list()).or_insert(Value::Null);
    if list.is_null() {
        *list = json!([]);
    }
    // Whether it is a list was looked at before.
    let Value::Array(entries) = list else { return };
    let place = entries.iter().position(|entry| name_of(entry) == Some(wish.context));
    let before = place.and_then(|place| entries.get(place)).and_then(|entry| entry.get(kind.content()));
    let before = before.cloned().and_then(into_object).unwrap_or_default();
    let content = kind.merged(before, content, wish);
    match place.and_then(|place| entries.get_mut(place)) {
        Some(Value::Object(entry)) => {
            entry.insert(kind.content().to_owned(), Value::Object(content));
        }
        Some(_) | None => entries.push(json!({ "name": wish.context, kind.content(): content })),
    }
}

fn into_object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(fields) => Some(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

#[cfg(test)]
mod tests;
