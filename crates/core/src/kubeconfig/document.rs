//! From bytes to the entries that the current context leads to.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use serde_saphyr::Error;
use serde_saphyr::budget::BudgetBreach;

use super::node::Node;
use super::problem::{Invalid, Problem, shown};
use crate::yaml::without_aliases;

/// What a Secret can hold.
const LARGEST: usize = 1_048_576;

/// Reads the document as a mapping that says it is a kubeconfig.
pub(super) fn read(content: &[u8]) -> Result<Value, Invalid> {
    if content.len() > LARGEST {
        return Err(Invalid::document(Problem::TooLarge));
    }
    let text = std::str::from_utf8(content).map_err(|_| Invalid::document(Problem::NotUtf8))?;
    if is_base64(text) {
        return Err(Invalid::document(Problem::Base64));
    }
    let tree = tree(text).map_err(Invalid::document)?;
    check_kind(&tree)?;
    Ok(tree)
}

/// Whether a text is base64 of a document, packed or not. A plain word can be base64 of something, but not of this.
fn is_base64(text: &str) -> bool {
    let compact: String = text.split_ascii_whitespace().collect();
    let packed = |bytes: &[u8]| bytes.starts_with(&[0x1f, 0x8b]);
    BASE64_STANDARD.decode(compact).is_ok_and(|bytes| packed(&bytes) || bytes.contains(&b':'))
}

/// The tree of a text.
pub(super) fn tree(text: &str) -> Result<Value, Problem> {
    if text.trim().is_empty() {
        return Err(Problem::Empty);
    }
    serde_saphyr::from_str_with_options(text, without_aliases()).or_else(|error| match problem(&error) {
        // JSON may have tabs where YAML must not.
        unreadable @ Problem::NotYaml { .. } if text.trim_start().starts_with('{') => {
            serde_json::from_str(text).map_err(|_| unreadable)
        }
        problem => Err(problem),
    })
}

/// The error's own text quotes the document, and is dropped.
fn problem(error: &Error) -> Problem {
    let line = error.location().map_or(1, |location| location.line());
    match error.without_snippet() {
        Error::Budget {
            breach: BudgetBreach::Aliases { .. } | BudgetBreach::AliasAnchorRatio { .. },
            ..
        } => Problem::Alias,
        Error::Budget { .. } => Problem::TooComplex,
        Error::MultipleDocuments { .. } => Problem::SeveralDocuments,
        Error::DuplicateMappingKey { .. } => Problem::DuplicateKey { line },
        _ => Problem::NotYaml { line },
    }
}

/// Looks whether a tree says that it is a kubeconfig.
pub(super) fn check_kind(tree: &Value) -> Result<(), Invalid> {
    let fields = match tree {
        Value::Object(fields) => fields,
        Value::Null => return Err(Invalid::document(Problem::Empty)),
        Value::Array(_) => return Err(Invalid::document(Problem::List)),
        Value::String(text) if text.contains("clusters") => {
            return Err(Invalid::document(Problem::QuotedText));
        }
        Value::String(_) | Value::Number(_) | Value::Bool(_) => {
            return Err(Invalid::document(Problem::PlainText));
        }
    };
    let root = Node::root(tree);
    // Clients take both for given where they are missing.
    if let Some(kind) = root.field("kind")?.text()?.filter(|kind| *kind != "Config") {
        return Err(Invalid::document(Problem::OtherKind { kind: shown(kind) }));
    }
    let version = root.field("apiVersion")?;
    if version.text()?.is_some_and(|version| version != "v1") {
        return Err(version.invalid(Problem::OtherVersion));
    }
    let known = ["clusters", "contexts", "users", "current-context"];
    if known.iter().any(|field| fields.contains_key(*field)) {
        Ok(())
    } else {
        Err(Invalid::document(Problem::NotKubeconfig))
    }
}

type Entries<'tree> = BTreeMap<&'tree str, Node<'tree>>;

/// The three lists of a kubeconfig.
pub(super) struct Lists<'tree> {
    clusters: Entries<'tree>,
    contexts: Entries<'tree>,
    users: Entries<'tree>,
}

/// Reads the three lists.
pub(super) fn lists<'tree>(root: &Node<'tree>) -> Result<Lists<'tree>, Invalid> {
    Ok(Lists {
        clusters: entries(root, "clusters", "cluster")?,
        contexts: entries(root, "contexts", "context")?,
        users: entries(root, "users", "user")?,
    })
}

fn entries<'tree>(root: &Node<'tree>, list: &str, content: &str) -> Result<Entries<'tree>, Invalid> {
    let mut entries = Entries::new();
    let list = root.field(list)?;
    for entry in list.items()? {
        // Nothing can lead to an entry without a name.
        let Some(name) = entry.field("name")?.text()? else { continue };
        let entry = entry.renamed(list.path_of(name));
        if entries.insert(name, entry.field(content)?).is_some() {
            return Err(entry.invalid(Problem::DuplicateName));
        }
    }
    Ok(entries)
}

impl<'tree> Lists<'tree> {
    /// The context to use.
    pub(super) fn current_context(&self, root: &Node<'tree>) -> Result<Node<'tree>, Invalid> {
        let unknown = |name| Problem::UnknownContext { name };
        let field = root.field("current-context")?;
        Ok(named(&self.contexts, &field, Problem::NoCurrentContext, unknown)?.1)
    }

    /// The cluster of a context, with its name.
    pub(super) fn cluster_of(&self, context: &Node<'tree>) -> Result<(&'tree str, Node<'tree>), Invalid> {
        let unknown = |name| Problem::UnknownCluster { name };
        named(&self.clusters, &context.field("cluster")?, Problem::NoCluster, unknown)
    }

    /// The user of a context, with its name.
    pub(super) fn user_of(&self, context: &Node<'tree>) -> Result<(&'tree str, Node<'tree>), Invalid> {
        let unknown = |name| Problem::UnknownUser { name };
        named(&self.users, &context.field("user")?, Problem::NoUser, unknown)
    }
}

/// The entry that a field names.
fn named<'tree>(
    entries: &Entries<'tree>,
    field: &Node<'tree>,
    missing: Problem,
    unknown: impl Fn(String) -> Problem,
) -> Result<(&'tree str, Node<'tree>), Invalid> {
    let name = field.text()?.ok_or_else(|| field.invalid(missing))?;
    let entry = entries.get(name).ok_or_else(|| field.invalid(unknown(shown(name))))?;
    Ok((name, entry.clone()))
}
