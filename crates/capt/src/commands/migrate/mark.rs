//! What is noted on an apply while it is worked on.

use capt_api::WorkspaceTemplateApply;
use capt_api::names::annotation;
use kube::ResourceExt;
use serde::{Deserialize, Serialize};

/// What was begun on an apply. It is there from the pause until the pause is lifted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Mark {
    /// The template, as `namespace/name`.
    pub(super) template: String,
    /// Whether the apply is paused by us, and not by its user.
    pub(super) paused: bool,
    /// Whether its Workspace is paused by us, and not by its user.
    pub(super) workspace_paused: bool,
    /// What leaves the state, or has left it.
    pub(super) addresses: Vec<String>,
}

impl Mark {
    /// What is noted on an apply; an error where that cannot be read.
    pub(super) fn of(apply: &WorkspaceTemplateApply) -> Result<Option<Self>, serde_json::Error> {
        let noted = apply.annotations().get(annotation::MIGRATION);
        noted.map(|noted| serde_json::from_str(noted)).transpose()
    }

    /// The same, to be noted.
    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Notes more addresses, and answers whether there were any.
    pub(super) fn add(&mut self, addresses: &[String]) -> bool {
        let before = self.addresses.len();
        for address in addresses {
            if !self.addresses.contains(address) {
                self.addresses.push(address.clone());
            }
        }
        self.addresses.len() > before
    }
}

/// Whether an apply is paused by its annotation.
pub(super) fn is_paused(apply: &WorkspaceTemplateApply) -> bool {
    apply.annotations().contains_key(annotation::PAUSED)
}

/// Whether a Workspace is paused by its annotation.
pub(super) fn is_workspace_paused(workspace: &capt_api::Workspace) -> bool {
    workspace.annotations().get(annotation::CROSSPLANE_PAUSED).is_some_and(|value| value == "true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_noted_once() {
        let mut mark = Mark::default();
        assert!(mark.add(&["a".to_owned(), "b".to_owned()]));
        assert!(!mark.add(&["b".to_owned()]));
        assert_eq!(mark.addresses, ["a", "b"]);
    }

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        let mark = Mark { paused: true, addresses: vec!["a[\"b\"]".to_owned()], ..Mark::default() };
        assert_eq!(serde_json::from_str::<Mark>(&mark.text()).unwrap(), mark);
    }
}
