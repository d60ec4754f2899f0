//! What may be done.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::Finding;

const AREA: &str = "permissions";

/// Who needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// A person who types `capt`.
    Person,
    /// The manager.
    Manager,
}

/// A question that was put to the API server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// What is to be done.
    pub verb: String,
    /// With objects of this group.
    pub group: String,
    /// And of this resource.
    pub resource: String,
    /// Whether it may be done.
    pub allowed: bool,
}

/// What may be done.
#[derive(Clone, Debug)]
pub struct PermissionFacts {
    /// Who asks.
    pub user: String,
    /// As whom.
    pub whose: Whose,
    /// All questions, or why they could not be put.
    pub asked: Result<Vec<Asked>, String>,
}

impl PermissionFacts {
    /// Judges them.
    pub fn judge(&self) -> Finding {
        let Self { user, whose, asked } = self;
        let asked = match asked {
            Ok(asked) => asked,
            Err(reason) => {
                return Finding::warning(
                    AREA,
                    format!("what {user} may do cannot be asked: {reason}"),
                    "see `kubectl auth can-i --list`",
                );
            }
        };
        let mut missing: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for one in asked.iter().filter(|one| !one.allowed) {
            let resource = if one.group.is_empty() {
                one.resource.clone()
            } else {
                format!("{}.{}", one.resource, one.group)
            };
            missing.entry(resource).or_default().insert(&one.verb);
        }
        if missing.is_empty() {
            let what = match whose {
                Whose::Person => "the verbs of capt need",
                Whose::Manager => "the manager needs",
            };
            return Finding::good(AREA, format!("{user} may do all {} things that {what}", asked.len()));
        }
        let list: Vec<String> = missing
            .iter()
            .map(|(resource, verbs)| {
                format!("{} {resource}", verbs.iter().copied().collect::<Vec<_>>().join("/"))
            })
            .collect();
        let (message, fix) = match whose {
            Whose::Person => (format!("{user} may not: {}", list.join(", ")), grant(user, &missing)),
            Whose::Manager => (
                format!("the manager ({user}) may not: {}", list.join(", ")),
                "kubectl apply --server-side -f config/rbac, of the same version as the manager".to_owned(),
            ),
        };
        Finding::bad(AREA, message, fix)
    }
}

/// What somebody who may everything has to type.
fn grant(user: &str, missing: &BTreeMap<String, BTreeSet<&str>>) -> String {
    let verbs: BTreeSet<&str> = missing.values().flatten().copied().collect();
    let verbs = verbs.into_iter().collect::<Vec<_>>().join(",");
    let resources = missing.keys().map(String::as_str).collect::<Vec<_>>().join(",");
    let role = format!("capt-{}", plain(user));
    format!(
        "let an administrator type: kubectl create clusterrole {role} --verb={verbs} --resource={resources} && kubectl create clusterrolebinding {role} --clusterrole={role} --user={user}"
    )
}

/// A name as part of the name of an object.
fn plain(user: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    let name: String = user.chars().map(letter).collect();
    name.trim_matches('-').chars().take(40).collect()
}
