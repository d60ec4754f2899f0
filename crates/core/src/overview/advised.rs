//! What to do about a node, with the names of this cluster in it.

use capt_api::names::Reason;

use super::node::Node;
use crate::advice::{self, Advice};

/// The kinds whose words are CAPT's, or are told by CAPT. Others use the same words for things of their own.
const OURS: [&str; 9] = [
    "Cluster",
    "CAPTCluster",
    "CAPTControlPlane",
    "WorkspaceTemplateApply",
    "Workspace",
    "Secret",
    "Endpoint",
    "AddonStackBinding",
    "Addon",
];

/// What the reason of a node means, if that is known, and what to do about it.
pub(super) fn of(node: &Node, cluster: &str) -> (String, String) {
    let ours = OURS.contains(&node.kind.as_str());
    match Reason::find(&node.reason).filter(|_| ours) {
        Some(reason) => {
            let Advice { meaning, action, .. } = advice::of(reason);
            (meaning.to_owned(), filled(action, node, cluster))
        }
        None if ours => {
            let action = "see whether the controllers run (`capt manager` or `capt up`), and what they log";
            (String::new(), action.to_owned())
        }
        None => {
            let Node { kind, name, .. } = node;
            let kind = kind.to_lowercase();
            let action = format!(
                "it is another provider's: see what that says, with `kubectl describe {kind} {name}`"
            );
            (String::new(), action)
        }
    }
}

/// Commands with the names in them, where it is clear which are meant.
fn filled(action: &str, node: &Node, cluster: &str) -> String {
    let mut text = action.to_owned();
    for command in ["cluster NAME", "capt kubeconfig NAME"] {
        text = text.replace(command, &command.replace("NAME", cluster));
    }
    text = text.replace("KIND NAME", &format!("{} {}", node.kind.to_lowercase(), node.name));
    if node.kind == "Workspace" {
        for command in
            ["workspace NAME", "logs NAME", "logs -f NAME", "plan NAME", "approve NAME", "restore NAME"]
        {
            text = text.replace(command, &command.replace("NAME", &node.name));
        }
    }
    text
}
