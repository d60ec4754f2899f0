//! The entries of the three lists: whose they are, and what becomes of them.

use capt_api::names::KUBECONFIG_EXTENSION;
use serde_json::{Map, Value, json};

use super::{Origin, Refused, Wish};
use crate::kubeconfig::problem::shown;

/// One of the three lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Cluster,
    User,
    Context,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Context, Self::Cluster, Self::User];

    /// The field of the kubeconfig.
    pub(super) const fn list(self) -> &'static str {
        match self {
            Self::Cluster => "clusters",
            Self::User => "users",
            Self::Context => "contexts",
        }
    }

    /// The field of an entry beside its name.
    pub(super) const fn content(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::User => "user",
            Self::Context => "context",
        }
    }

    /// Fields that a cluster's own kubeconfig has a say in, also where it leaves them out.
    const fn said(self) -> &'static [&'static str] {
        match self {
            Self::Cluster => &[
                "server",
                "certificate-authority",
                "certificate-authority-data",
                "insecure-skip-tls-verify",
                "tls-server-name",
            ],
            Self::User => &[],
            Self::Context => &["cluster", "user"],
        }
    }

    /// What an entry becomes: what the cluster's kubeconfig says, beside what the person added. Credentials are never mixed.
    pub(super) fn merged(
        self,
        before: Map<String, Value>,
        new: Map<String, Value>,
        wish: Wish<'_>,
    ) -> Map<String, Value> {
        let extensions = extensions(before.get("extensions"), wish.origin);
        let mut merged = match self {
            Self::User => Map::new(),
            Self::Cluster | Self::Context => before,
        };
        merged.retain(|field, _| !self.said().contains(&field.as_str()));
        for (field, value) in new {
            let of_person = self == Self::Context && merged.contains_key(&field);
            if !of_person {
                merged.insert(field, value);
            }
        }
        if self == Self::Context {
            for field in ["cluster", "user"] {
                merged.insert(field.to_owned(), json!(wish.context));
            }
        }
        merged.insert("extensions".to_owned(), extensions);
        merged
    }
}

/// The extensions of others, and ours.
fn extensions(before: Option<&Value>, origin: &Origin) -> Value {
    let mut all: Vec<Value> = before.and_then(Value::as_array).cloned().unwrap_or_default();
    let ours = json!({ "name": KUBECONFIG_EXTENSION, "extension": mark(origin) });
    match all.iter_mut().find(|extension| name_of(extension) == Some(KUBECONFIG_EXTENSION)) {
        Some(present) => *present = ours,
        None => all.push(ours),
    }
    Value::Array(all)
}

fn mark(origin: &Origin) -> Value {
    let Origin { management, namespace, cluster } = origin;
    json!({ "managementCluster": management, "namespace": namespace, "cluster": cluster })
}

pub(super) fn name_of(entry: &Value) -> Option<&str> {
    entry.get("name")?.as_str()
}

/// The entry of this name.
pub(super) fn find<'tree>(tree: &'tree Value, kind: Kind, name: &str) -> Option<&'tree Value> {
    tree.get(kind.list())?.as_array()?.iter().find(|entry| name_of(entry) == Some(name))
}

/// Refuses to put in what would take the place of somebody else's entries.
pub(super) fn refuse_taken(
    tree: &Value,
    incoming: &Value,
    cluster_name: &str,
    wish: Wish<'_>,
) -> Result<(), Refused> {
    let name = wish.context;
    let marked = |kind: Kind| {
        let extensions = find(tree, kind, name)?.get(kind.content())?.get("extensions")?.as_array()?;
        let ours = extensions.iter().find(|extension| name_of(extension) == Some(KUBECONFIG_EXTENSION))?;
        Some(ours.get("extension") == Some(&mark(wish.origin)))
    };
    // Whoever put in the same cluster by hand means this one.
    let same_server = server(tree, name).is_some() && server(tree, name) == server(incoming, cluster_name);
    let leads_here = |field: &str| {
        let context = find(tree, Kind::Context, name).and_then(|entry| entry.get("context"));
        context.is_some_and(|context| context.get(field).and_then(Value::as_str) == Some(name))
    };
    let taken = Kind::ALL.into_iter().find(|kind| {
        let same = same_server
            && match kind {
                Kind::Cluster => true,
                Kind::Context => leads_here("cluster"),
                Kind::User => leads_here("cluster") && leads_here("user"),
            };
        find(tree, *kind, name).is_some() && !marked(*kind).unwrap_or(same)
    });
    match taken {
        None => Ok(()),
        Some(kind) => {
            Err(Refused::Taken { kind: kind.content(), name: shown(name), server: address(tree, kind, name) })
        }
    }
}

fn server<'tree>(tree: &'tree Value, cluster: &str) -> Option<&'tree str> {
    find(tree, Kind::Cluster, cluster)?.get("cluster")?.get("server")?.as_str()
}

/// Where an entry leads to, as far as it does.
fn address(tree: &Value, kind: Kind, name: &str) -> String {
    let cluster = match kind {
        Kind::Cluster => Some(name),
        Kind::Context => {
            find(tree, kind, name).and_then(|entry| entry.get("context")?.get("cluster")?.as_str())
        }
        Kind::User => None,
    };
    cluster
        .and_then(|cluster| server(tree, cluster))
        .map(|server| format!(", which leads to {}", shown(server)))
        .unwrap_or_default()
}
