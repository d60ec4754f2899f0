//! Taking over a Workspace that somebody else made.
//!
//! It is never changed by that. Whoever made it may have left template and variables behind for years, so what they give today is
//! no word on what runs: where it is the same in meaning the Workspace is tied to the apply; where not it is tied as it is, and
//! the difference is told and waits for approval, whatever `updatePolicy` says.

use capt_api::WorkspaceTemplateApply;
use capt_api::names::{Reason, annotation};
use capt_api::workspace_template_apply::UpdatePolicy;
use serde_json::Value;

use super::{Found, Mode, Record, Step, WorkspaceFacts, is_approved, is_tied, noted, record};
use crate::apply::Blocked;
use crate::apply::difference::differences;
use crate::apply::render::Rendered;
use crate::digest::digest;

/// The most differences that are named.
const MOST_NAMED: usize = 8;

/// Takes over a Workspace that is nobody's, or keeps one as it was when it was taken over, until the difference is approved or
/// gone.
pub(super) fn adopt(
    apply: &WorkspaceTemplateApply,
    workspace: &WorkspaceFacts,
    found: Option<&Found>,
    rendered: Rendered,
    mode: Mode,
) -> Step {
    let name = workspace.name();
    let Some(found) = found else { return unseen(name) };
    let (found, pending, paths) = match judge(apply, &found.spec, rendered) {
        Judged::Same(rendered) | Judged::Approved(rendered) => return Step::Write { mode, rendered },
        Judged::Differs { found, pending, paths } => (found, pending, paths),
    };
    let is_new = matches!(mode, Mode::Adopt { .. });
    // It is on record first that the Workspace is as others made it: nothing that comes after may forget it.
    if is_new && noted(apply, annotation::FOUND_DIGEST) != Some(found.digest.as_str()) {
        return Step::Claim(Record { found: Some(found.digest), ..record(apply, name.to_owned()) });
    }
    let blocked = differs(apply, name, &pending, &paths);
    if is_new || !is_tied(apply, workspace) || workspace.is_frozen() {
        Step::TakeOver { mode, found, pending, blocked }
    } else {
        Step::HoldChange { pending, blocked }
    }
}

/// A Workspace that was taken over as it was is gone, or was left behind by a move: template and variables do not give it back.
pub(super) fn lost(apply: &WorkspaceTemplateApply, rendered: Rendered) -> Step {
    if may_change(apply, &rendered) {
        return Step::Write { mode: Mode::Create, rendered };
    }
    let name = crate::tie::workspace_name(apply);
    let message = format!(
        "Workspace `{name}` had another spec than template and variables give when it was taken over, and is gone: {}",
        how_to_approve(apply, &rendered.digest)
    );
    Step::HoldChange { pending: rendered.digest, blocked: Blocked::new(reason(apply), message) }
}

/// A Workspace beside what template and variables give.
enum Judged {
    /// It is the same in meaning; what is written is what is there.
    Same(Rendered),
    /// It differs, and the user has approved it.
    Approved(Rendered),
    /// It differs.
    Differs { found: Rendered, pending: String, paths: Vec<String> },
}

fn judge(apply: &WorkspaceTemplateApply, found: &Value, rendered: Rendered) -> Judged {
    let paths = differences(found, &rendered.spec);
    if paths.is_empty() {
        return Judged::Same(Rendered { spec: found.clone(), ..rendered });
    }
    if may_change(apply, &rendered) {
        return Judged::Approved(rendered);
    }
    let pending = rendered.digest.clone();
    Judged::Differs {
        found: Rendered { spec: found.clone(), digest: digest(found), ..rendered },
        pending,
        paths,
    }
}

fn may_change(apply: &WorkspaceTemplateApply, rendered: &Rendered) -> bool {
    apply.spec.update_policy != UpdatePolicy::Pinned && is_approved(apply, rendered)
}

fn reason(apply: &WorkspaceTemplateApply) -> Reason {
    match apply.spec.update_policy {
        UpdatePolicy::Automatic | UpdatePolicy::Approve => Reason::ApprovalRequired,
        UpdatePolicy::Pinned => Reason::Pinned,
    }
}

fn how_to_approve(apply: &WorkspaceTemplateApply, digest: &str) -> String {
    match apply.spec.update_policy {
        UpdatePolicy::Automatic | UpdatePolicy::Approve => {
            format!("to carry that over, annotate this apply with {}={digest}", annotation::APPROVE)
        }
        UpdatePolicy::Pinned => {
            "spec.updatePolicy is Pinned; set it to Approve to be able to carry that over".to_owned()
        }
    }
}

fn differs(apply: &WorkspaceTemplateApply, name: &str, digest: &str, paths: &[String]) -> Blocked {
    let (named, more) = paths.split_at(paths.len().min(MOST_NAMED));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    let message = format!(
        "Workspace `{name}` is taken over as it is, and template and variables would change its {}{more}: {}",
        named.join(", "),
        how_to_approve(apply, digest)
    );
    Blocked::new(reason(apply), message)
}

/// It was there and could not be read a moment later.
fn unseen(name: &str) -> Step {
    let message = format!("Workspace `{name}` is going; it is made again when it is gone");
    Step::Hold(Blocked::new(Reason::WorkspaceMissing, message))
}
