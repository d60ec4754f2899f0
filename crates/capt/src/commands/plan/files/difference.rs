//! What would change in a Workspace, for programs and for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use capt_api::crossplane::WorkspaceSpec;
use capt_core::apply::readable::{readable, variables};
use serde::Serialize;
use serde_json::Value;
use similar::{Algorithm, TextDiff};

use crate::commands::plan::PlanView;

/// What manifests would change.
#[derive(Serialize)]
pub(super) struct Differences {
    pub(super) workspaces: Vec<Difference>,
    /// What leads to no Workspace, or cannot be told.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) skipped: Vec<String>,
}

/// What would change in a Workspace.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Difference {
    pub(super) workspace: String,
    /// The apply, as `namespace/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) apply: Option<String>,
    pub(super) change: Change,
    /// The values of its variables, where it is made.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) variables: BTreeMap<String, Value>,
    /// A unified diff of the Workspace's spec.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) diff: String,
    /// What Terraform would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plan: Option<PlanView>,
    /// What else there is to know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) remarks: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Change {
    /// The Workspace is made.
    Create,
    /// Its spec changes.
    Update,
    /// It stays as it is.
    None,
}

impl Difference {
    /// How one spec differs from the other.
    pub(super) fn between(
        workspace: &str,
        apply: Option<String>,
        before: Option<&WorkspaceSpec>,
        after: &WorkspaceSpec,
    ) -> Self {
        let (old, new) = readable(before, after);
        let change = match before {
            None => Change::Create,
            Some(_) if old == new => Change::None,
            Some(_) => Change::Update,
        };
        let diff = TextDiff::configure().algorithm(Algorithm::Patience).diff_lines(&old, &new);
        let header =
            (format!("Workspace {workspace}"), format!("Workspace {workspace}, as these manifests make it"));
        Self {
            workspace: workspace.to_owned(),
            apply,
            change,
            variables: if change == Change::Create { variables(after) } else { BTreeMap::new() },
            diff: match change {
                Change::None => String::new(),
                Change::Create | Change::Update => {
                    diff.unified_diff().header(&header.0, &header.1).to_string()
                }
            },
            plan: None,
            remarks: Vec::new(),
        }
    }

    fn sentences(&self) -> String {
        let Self { workspace, apply, change, variables, diff, plan, remarks } = self;
        let whose = apply.as_ref().map(|apply| format!(" of WorkspaceTemplateApply `{apply}`"));
        let what = match change {
            Change::Create => "is made",
            Change::Update => "changes",
            Change::None => "stays as it is",
        };
        let mut text = format!("Workspace `{workspace}`{} {what}\n", whose.unwrap_or_default());
        // Writing to a String cannot fail.
        match change {
            Change::Create => {
                for (name, value) in variables {
                    let _ = writeln!(text, "  {name} = {value}");
                }
            }
            Change::Update => text.push_str(diff),
            Change::None => {}
        }
        if let Some(plan) = plan {
            let _ = write!(text, "\nTerraform, by its state as it is now:\n{}\n", plan.body());
        }
        for remark in remarks {
            let _ = writeln!(text, "- {remark}");
        }
        text.trim_end().to_owned()
    }
}

impl Differences {
    /// Whether anything would change.
    pub(super) fn changes(&self) -> bool {
        self.workspaces.iter().any(|difference| difference.change != Change::None)
    }

    pub(super) fn sentences(&self) -> String {
        let mut texts: Vec<String> = self.workspaces.iter().map(Difference::sentences).collect();
        if !self.skipped.is_empty() {
            texts.push(format!("not looked at:\n- {}", self.skipped.join("\n- ")));
        }
        texts.push(self.summary());
        texts.join("\n\n")
    }

    fn summary(&self) -> String {
        let count = |change| self.workspaces.iter().filter(|it| it.change == change).count();
        let plans = self.workspaces.iter().filter_map(|it| it.plan.as_ref());
        let (add, change, destroy) = plans
            .clone()
            .map(PlanView::counts)
            .fold((0, 0, 0), |all, one| (all.0 + one.0, all.1 + one.1, all.2 + one.2));
        let mut text = format!(
            "Workspaces: {} to make, {} to change, {} as they are.",
            count(Change::Create),
            count(Change::Update),
            count(Change::None)
        );
        if plans.count() > 0 {
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                " In those that change: {add} to add, {change} to change, {destroy} to destroy."
            );
        }
        text.push_str(" Nothing was applied.");
        text
    }
}
