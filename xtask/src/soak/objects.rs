//! What is written while the home lives: templates and applies, made from those of the examples.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::Context;
use capt_api::names::label;
use capt_api::{Workspace, WorkspaceTemplate, WorkspaceTemplateApply};
use kube::api::{Api, ListParams, PostParams};
use kube::{Client, ResourceExt};
use serde::de::DeserializeOwned;

use crate::repository::{examples, waits_for_nothing};

/// How many applies one round tries to write.
const APPLIES_PER_ROUND: u32 = 20;

/// An object that the API server has acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    Template(String),
    Apply(String),
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Template(name) => write!(formatter, "WorkspaceTemplate {name}"),
            Self::Apply(name) => write!(formatter, "WorkspaceTemplateApply {name}"),
        }
    }
}

/// The kinds that the soak works with.
pub(super) struct Objects {
    templates: Api<WorkspaceTemplate>,
    applies: Api<WorkspaceTemplateApply>,
    workspaces: Api<Workspace>,
}

impl Objects {
    pub(super) fn of(client: Client) -> Self {
        Self {
            templates: Api::default_namespaced(client.clone()),
            applies: Api::default_namespaced(client.clone()),
            workspaces: Api::all(client),
        }
    }

    /// Those of the names that the API server does not know any more.
    pub(super) async fn missing(&self, names: &[Name]) -> anyhow::Result<Vec<Name>> {
        let everything = ListParams::default();
        let templates = self.templates.list_metadata(&everything).await?;
        let applies = self.applies.list_metadata(&everything).await?;
        let present: BTreeSet<Name> = templates
            .iter()
            .map(|template| Name::Template(template.name_any()))
            .chain(applies.iter().map(|apply| Name::Apply(apply.name_any())))
            .collect();
        Ok(names.iter().filter(|name| !present.contains(name)).cloned().collect())
    }

    /// The applies that no Workspace was made of.
    pub(super) async fn applies_without_workspace(&self) -> anyhow::Result<Vec<String>> {
        let everything = ListParams::default();
        let workspaces = self.workspaces.list_metadata(&everything).await?;
        let made: BTreeSet<&String> =
            workspaces.iter().filter_map(|workspace| workspace.labels().get(label::APPLY_UID)).collect();
        let applies = self.applies.list_metadata(&everything).await?;
        let without = applies.iter().filter(|apply| apply.uid().is_none_or(|uid| !made.contains(&uid)));
        Ok(without.map(ResourceExt::name_any).collect())
    }
}

/// What the objects of a round are made from.
pub(super) struct Prototypes {
    template: WorkspaceTemplate,
    apply: WorkspaceTemplateApply,
}

impl Prototypes {
    /// The first template of the examples whose apply waits for nothing, and that apply.
    pub(super) fn of_examples() -> anyhow::Result<Self> {
        let apply = example("WorkspaceTemplateApply", waits_for_nothing)?;
        let template = example("WorkspaceTemplate", |template: &WorkspaceTemplate| {
            template.name_any() == apply.spec.template_ref.name
        })?;
        Ok(Self { template, apply })
    }

    /// Writes a template and applies of it, until all are there or the API server is gone.
    pub(super) async fn write(&self, objects: &Objects, round: u32, acknowledged: &mut Vec<Name>) {
        let (mut template, mut apply) = (self.template.clone(), self.apply.clone());
        let parameters = PostParams::default();
        template.metadata.name = Some(format!("template-{round}"));
        // Errors are what a server that is being killed answers; what counts is what it acknowledged.
        if objects.templates.create(&parameters, &template).await.is_ok() {
            acknowledged.push(Name::Template(template.name_any()));
        }
        apply.spec.template_ref.name = template.name_any();
        for number in 0..APPLIES_PER_ROUND {
            apply.metadata.name = Some(format!("round-{round}-{number}-apply"));
            if objects.applies.create(&parameters, &apply).await.is_ok() {
                acknowledged.push(Name::Apply(apply.name_any()));
            }
        }
    }
}

fn example<K: DeserializeOwned>(kind: &str, wanted: impl Fn(&K) -> bool) -> anyhow::Result<K> {
    examples()?
        .into_iter()
        .filter(|(_, object)| object["kind"] == kind)
        .filter_map(|(_, object)| serde_json::from_value(object).ok())
        .find(wanted)
        .with_context(|| format!("no example has such a {kind}"))
}
