//! A plan for programs and for people.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use capt_controller::by_hand::Shown;
use capt_core::terraform_state::HIDDEN;
use capt_core::tie::ApplyKey;
use capt_terraform::{Action, AttributeChange, Change, FailedImport, Plan, REDACTED};
use serde::Serialize;

use crate::commands::target::Subject;

const ADDED: Style = AnsiColor::Green.on_default();
const CHANGED: Style = AnsiColor::Yellow.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const PLAIN: Style = Style::new();

/// Where a plan comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Source {
    /// It waits for approval.
    Waiting,
    /// The last look at reality found it.
    Drift,
    /// It was made for this.
    Fresh,
    /// It was made for this, of what manifests on disk would make of the Workspace.
    Manifests,
}

/// The plan of a Workspace.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlanView {
    pub(crate) workspace: String,
    /// The apply of the Workspace, as `namespace/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    apply: Option<String>,
    source: Source,
    /// What CAPT says about it.
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
    pub(crate) hash: String,
    /// Resources that are made, those that are replaced among them.
    add: usize,
    change: usize,
    /// Resources that are destroyed, those that are replaced among them.
    destroy: usize,
    /// Resources that are taken into the state as they are.
    #[serde(skip_serializing_if = "is_zero")]
    import: usize,
    /// Resources that only get another address.
    #[serde(rename = "move", skip_serializing_if = "is_zero")]
    moved: usize,
    /// Resources that are dropped from the state and stay.
    #[serde(skip_serializing_if = "is_zero")]
    forget: usize,
    /// Whether applying the plan changes anything.
    #[serde(skip)]
    changes: bool,
    #[serde(flatten)]
    plan: Option<PlanTree>,
    /// The plan in CAPT's words, where it is too long to be told otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// What a plan would do.
#[derive(Clone, Debug, Serialize)]
struct PlanTree {
    changes: Vec<Change>,
    outputs: Vec<capt_terraform::OutputChange>,
    /// What else Terraform says of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<String>,
    /// Resources that somebody changed outside of Terraform.
    drift: Vec<String>,
    /// What an interrupted run has made, and what it does not take in.
    #[serde(rename = "notImported", skip_serializing_if = "Vec::is_empty")]
    not_imported: Vec<FailedImport>,
    warnings: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl PlanView {
    pub(super) fn new(subject: &Subject, source: Source, message: &str, shown: Shown) -> Self {
        let apply = subject.apply.as_ref().map(|apply| ApplyKey::of(apply).to_string());
        Self::of(subject.name(), apply, source, message, shown)
    }

    fn of(workspace: String, apply: Option<String>, source: Source, message: &str, shown: Shown) -> Self {
        let Shown { hash, text, plan } = shown;
        let count = |action| plan.as_ref().map_or(0, |plan| plan.count(action));
        let any = |holds: fn(&Change) -> bool| {
            plan.as_ref().map_or(0, |plan| plan.changes.iter().filter(|change| holds(change)).count())
        };
        let imported = any(|change| change.imported.is_some());
        let moved = any(|change| change.moved_from.is_some());
        let (replaced, text) = (count(Action::Replace), plan.is_none().then_some(text));
        Self {
            workspace,
            apply,
            source,
            message: message.to_owned(),
            hash,
            add: count(Action::Create) + replaced,
            change: count(Action::Update),
            destroy: count(Action::Delete) + replaced,
            import: imported,
            moved,
            forget: count(Action::Forget),
            changes: plan.as_ref().is_none_or(|plan| !plan.is_empty()),
            plan: plan.map(PlanTree::of),
            text,
        }
    }

    /// Whether something would change.
    pub(crate) fn changes(&self) -> bool {
        self.changes
    }

    /// The same for people.
    pub(crate) fn sentences(&self) -> String {
        let Self { workspace, source, message, hash, .. } = self;
        let short = hash.get(..16).unwrap_or(hash);
        let mut text = match source {
            Source::Waiting if message.is_empty() => {
                format!("Workspace `{workspace}`: plan {short} waits for approval")
            }
            Source::Waiting => format!("Workspace `{workspace}`: {}", reason(message)),
            Source::Drift => format!("Workspace `{workspace}`: the last look at reality found differences"),
            Source::Fresh if self.changes() => format!("Workspace `{workspace}`: plan {short}, just made"),
            Source::Fresh => format!("Workspace `{workspace}`: plan just made"),
            Source::Manifests => format!("Workspace `{workspace}`: plan of what these manifests make of it"),
        };
        text.push('\n');
        text.push_str(&self.body());
        text
    }

    /// The resources that would be added, changed and destroyed.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        (self.add, self.change, self.destroy)
    }

    /// What the plan would do, for people.
    pub(crate) fn body(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        match (&self.plan, &self.text) {
            (Some(plan), _) => {
                plan.write(&mut text);
                if self.changes() {
                    let Self { add, change, destroy, import, moved, forget, .. } = self;
                    let _ = write!(text, "\nPlan: {add} to add, {change} to change, {destroy} to destroy");
                    let others = [(import, "import"), (moved, "move"), (forget, "forget")];
                    for (count, word) in others.into_iter().filter(|(count, _)| **count > 0) {
                        let _ = write!(text, ", {count} to {word}");
                    }
                } else {
                    text.push_str("\nNothing to change: the infrastructure is as it should be");
                }
            }
            (None, told) => text.push_str(told.as_deref().unwrap_or_default()),
        }
        text
    }
}

/// Of what CAPT says about a plan that waits, why it waits: how to read and to approve it is known here.
fn reason(message: &str) -> &str {
    let end = [". To read it:", ". To apply it:", ". To destroy by it:"]
        .iter()
        .filter_map(|mark| message.find(mark))
        .min();
    end.map_or(message, |end| &message[..end])
}

impl PlanTree {
    fn of(plan: Plan) -> Self {
        let Plan {
            changes,
            outputs,
            others,
            drift,
            warnings,
            hash: _,
            destroy: _,
            applicable: _,
            elsewhere: _,
            not_imported,
        } = plan;
        let told = |text: String| text.replace(REDACTED, HIDDEN);
        let attribute = |it: AttributeChange| AttributeChange {
            before: told(it.before),
            after: told(it.after),
            name: it.name,
        };
        let changes = changes.into_iter().map(|change| Change {
            attributes: change.attributes.into_iter().map(attribute).collect(),
            ..change
        });
        Self {
            changes: changes.collect(),
            outputs,
            others,
            drift,
            not_imported,
            warnings: warnings.iter().map(ToString::to_string).collect(),
        }
    }

    fn write(&self, text: &mut String) {
        let Self { changes, outputs, others, drift, not_imported, warnings } = self;
        // Writing to a String cannot fail.
        for change in changes {
            let (sign, style) = sign(change.action);
            let remark = change.remark();
            let _ = write!(text, "\n{style}{sign:>3}{style:#} {}{remark}", change.address);
            for attribute in change.attributes.iter().filter(|_| change.action != Action::Delete) {
                let _ = write!(text, "\n      {}", line(change.action, attribute));
            }
        }
        for output in outputs {
            let (sign, style) = sign(output.action);
            let hidden = if output.sensitive { format!(" {HIDDEN}") } else { String::new() };
            let _ = write!(text, "\n{style}{sign:>3}{style:#} output {}{hidden}", output.name);
        }
        for other in others {
            let _ = write!(text, "\n    also {other}");
        }
        if !changes.is_empty() || !outputs.is_empty() || !others.is_empty() {
            text.push('\n');
        }
        if !drift.is_empty() {
            let _ = write!(text, "\nchanged outside of Terraform: {}\n", drift.join(", "));
        }
        for FailedImport { address, why } in not_imported {
            let _ = write!(text, "\nmade by an interrupted run and not imported: {address} ({why})\n");
        }
        for warning in warnings {
            let _ = write!(text, "\nwarning: {warning}\n");
        }
    }
}

fn line(action: Action, attribute: &AttributeChange) -> String {
    let AttributeChange { name, before, after } = attribute;
    match action {
        Action::Create | Action::Read => format!("{name}: {after}"),
        _ => format!("{name}: {before} → {after}"),
    }
}

fn sign(action: Action) -> (&'static str, Style) {
    match action {
        Action::Create => ("+", ADDED),
        Action::Update => ("~", CHANGED),
        Action::Replace => ("-/+", REMOVED),
        Action::Delete => ("-", REMOVED),
        Action::Read => ("<=", PLAIN),
        Action::Forget => ("#", PLAIN),
        Action::Import => ("<-", CHANGED),
        Action::Move => ("->", CHANGED),
        Action::Unknown => ("?", REMOVED),
    }
}

#[cfg(test)]
mod tests;
