//! What is to be done, for programs and for people.

mod words;

use std::collections::BTreeMap;

use capt_core::cause::sentence;
use capt_core::migration::{Edit, Inline, Which, inline, plan_edit};
use kube::ResourceExt;
use serde::Serialize;
use similar::{Algorithm, TextDiff};

use super::survey::{Standing, Subject, Survey};
use super::{FIELD_MANAGER, Request, named};

/// What is to be done, or was done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Plan {
    pub(super) outcome: Outcome,
    /// The releases that were asked for.
    asked_for: String,
    /// The namespace in which templates were looked for.
    #[serde(skip)]
    namespace: String,
    /// The template, as `namespace/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<String>,
    /// What changes in the template's module.
    #[serde(skip_serializing_if = "String::is_empty")]
    diff: String,
    /// The resources that leave the module.
    removed: Vec<String>,
    /// The outputs that the module gets.
    added_outputs: Vec<String>,
    applies: Vec<Use>,
    /// What has to be changed before anything can be done.
    pub(super) in_the_way: Vec<String>,
    /// What else there is to know.
    remarks: Vec<String>,
    /// What is left to do for the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) left: Vec<String>,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Outcome {
    /// It is only shown.
    Planned,
    /// It is done.
    Done,
    /// All of it was done before, or there is nothing of the kind.
    NothingToDo,
}

/// What is done with a use of the template.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Use {
    /// The apply, as `namespace/name`.
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<String>,
    /// The Secret with its state, as `namespace/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// The addresses that leave the state.
    leaving: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
    /// The labels that the Cluster gets.
    labels: BTreeMap<String, String>,
}

impl Plan {
    /// No template has the releases.
    pub(super) fn nothing(request: &Request) -> Self {
        Self {
            outcome: Outcome::NothingToDo,
            asked_for: named(&request.which.releases),
            namespace: request.namespace.clone(),
            template: None,
            diff: String::new(),
            removed: Vec::new(),
            added_outputs: Vec::new(),
            applies: Vec::new(),
            in_the_way: Vec::new(),
            remarks: Vec::new(),
            left: Vec::new(),
        }
    }

    pub(super) fn of(survey: &Survey, request: &Request) -> Self {
        let mut plan = Self { template: Some(survey.template_name()), ..Self::nothing(request) };
        plan.look_at_template(survey, request);
        for subject in &survey.subjects {
            plan.look_at(subject, request);
        }
        plan.look_at_others(survey, request);
        let begun = survey.subjects.iter().any(|subject| subject.mark.is_some());
        let leaving = plan.applies.iter().any(|user| !user.leaving.is_empty() || !user.labels.is_empty());
        if begun || leaving || !plan.diff.is_empty() || !plan.in_the_way.is_empty() {
            plan.outcome = Outcome::Planned;
        }
        plan
    }

    fn look_at_template(&mut self, survey: &Survey, request: &Request) {
        let name = survey.template_name();
        if survey.template.metadata.deletion_timestamp.is_some() {
            self.in_the_way.push(format!("WorkspaceTemplate `{name}` is being deleted"));
        }
        let (which, remark) = which(survey, request);
        self.remarks.extend(remark);
        let edit = match edit(survey, &which) {
            Ok(edit) => edit,
            Err(problem) => return self.in_the_way.push(problem),
        };
        if edit.changes() {
            let title = format!("without {}", named(&request.which.releases));
            // Blocks resemble each other: what is unique in them tells which is which.
            self.diff = TextDiff::configure()
                .algorithm(Algorithm::Patience)
                .diff_lines(old(survey), &edit.text)
                .unified_diff()
                .header(&name, &format!("{name}, {title}"))
                .to_string();
            self.remarks.extend(written_by(survey));
        }
        self.remarks.extend(edit.remarks);
        self.removed = edit.removed;
        self.added_outputs = edit.added_outputs;
    }

    fn look_at(&mut self, subject: &Subject, request: &Request) {
        let Subject { key, apply: _, workspace, cluster, mark, secret, inventory, .. } = subject;
        if subject.standing == Standing::Leaving {
            self.remarks.push(format!("WorkspaceTemplateApply `{key}` is being deleted and is left alone"));
            return;
        }
        self.in_the_way.extend(subject.obstacles.iter().cloned());
        for address in &inventory.nested {
            self.remarks.push(format!(
                "WorkspaceTemplateApply `{key}`: {address} stays with Terraform, since it is declared in a module inside the template's"
            ));
        }
        let has_release =
            !inventory.releases.is_empty() || mark.as_ref().is_some_and(|mark| !mark.addresses.is_empty());
        let labels = match cluster {
            Some(cluster) if has_release => self.labels(cluster, request),
            _ => BTreeMap::new(),
        };
        if has_release && cluster.is_none() {
            self.remarks.push(format!(
                "WorkspaceTemplateApply `{key}` belongs to no Cluster: nothing gets the label"
            ));
        }
        let run = workspace.as_ref().and_then(|it| it.status.as_ref()?.engine.as_ref()?.run.as_ref());
        if run.is_some() {
            self.remarks.push(format!("Workspace of `{key}`: a run goes on, and is waited for"));
        }
        self.applies.push(Use {
            name: key.to_string(),
            workspace: workspace.as_ref().map(ResourceExt::name_any),
            state: secret.clone(),
            leaving: inventory.releases.clone(),
            cluster: cluster.as_ref().map(ResourceExt::name_any),
            labels,
        });
    }

    /// The labels that a Cluster lacks. One that has another value is its user's word.
    fn labels(&mut self, cluster: &capt_api::Cluster, request: &Request) -> BTreeMap<String, String> {
        let mut lacking = BTreeMap::new();
        for (key, value) in &request.labels {
            match cluster.labels().get(key) {
                Some(there) if there == value => {}
                Some(there) => self.in_the_way.push(format!(
                    "Cluster `{}` has the label {key}={there}, not {key}={value}: change it, or name another with --label",
                    cluster.name_any()
                )),
                None => drop(lacking.insert(key.clone(), value.clone())),
            }
        }
        lacking
    }

    /// A template is changed for all that use it: whose release stays in the state, its release is uninstalled.
    fn look_at_others(&mut self, survey: &Survey, request: &Request) {
        if request.applies.is_empty() {
            return;
        }
        for subject in survey.subjects.iter().filter(|subject| subject.standing == Standing::Present) {
            let meant =
                subject.key.namespace == request.namespace && request.applies.contains(&subject.key.name);
            if !meant {
                self.in_the_way.push(format!(
                    "WorkspaceTemplateApply `{}` uses WorkspaceTemplate `{}` too: leave --apply out, or give it a template of its own",
                    subject.key,
                    survey.template_name()
                ));
            }
        }
    }
}

/// What is taken out of the template: the provider not where a state needs it.
pub(super) fn which(survey: &Survey, request: &Request) -> (Which, Option<String>) {
    let mut which = request.which.clone();
    let needing = survey.subjects.iter().find_map(|subject| {
        let Subject { inventory, .. } = subject;
        inventory.others.iter().chain(&inventory.nested).next().map(|address| (&subject.key, address))
    });
    match needing {
        Some((key, address)) if which.drop_provider => {
            which.drop_provider = false;
            let remark =
                format!("provider \"helm\" stays: the state of `{key}` has {address}, which needs it");
            (which, Some(remark))
        }
        _ => (which, None),
    }
}

/// The template's module, edited; what is in the way, in words.
fn edit(survey: &Survey, which: &Which) -> Result<Edit, String> {
    let name = survey.template_name();
    match inline(&survey.template.spec.template.spec) {
        Inline::Hcl(text) => plan_edit(text, which)
            .map_err(|problem| format!("WorkspaceTemplate `{name}`: {}", sentence(&problem))),
        Inline::Json => Err(format!(
            "WorkspaceTemplate `{name}`: its module is in JSON, which cannot be edited here: write it in Terraform's own language (inlineFormat: HCL) first"
        )),
        Inline::Elsewhere => Err(format!(
            "WorkspaceTemplate `{name}`: its module is not in the template (source: Inline), but comes from elsewhere: take the releases out there, with `removed` blocks that say `destroy = false`"
        )),
    }
}

fn old(survey: &Survey) -> &str {
    match inline(&survey.template.spec.template.spec) {
        Inline::Hcl(text) => text,
        Inline::Json | Inline::Elsewhere => "",
    }
}

/// Whoever wrote the template may write it again as it was.
fn written_by(survey: &Survey) -> Option<String> {
    let entries = survey.template.managed_fields().iter();
    let writers: Vec<&str> = entries
        .filter(|entry| entry.subresource.as_deref().unwrap_or_default().is_empty())
        .filter(|entry| entry.fields_v1.as_ref().is_some_and(|fields| fields.0.get("f:spec").is_some()))
        .filter_map(|entry| entry.manager.as_deref())
        .filter(|manager| *manager != FIELD_MANAGER)
        .collect();
    (!writers.is_empty()).then(|| {
        format!(
            "WorkspaceTemplate `{}` was written by {}: change it there too, or the release comes back into the template",
            survey.template_name(),
            writers.join(", ")
        )
    })
}
