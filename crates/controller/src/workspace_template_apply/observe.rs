//! Sees everything that the decision about an apply rests on.

use capt_api::names::{Reason, annotation};
use capt_api::{Workspace, WorkspaceTemplate, WorkspaceTemplateApply};
use capt_core::apply::Blocked;
use capt_core::apply::decide::{Found, Observed, Verdict, WorkspaceFacts, needs_spec};
use capt_core::apply::render::{self, Inputs, Rendered};
use capt_core::apply::variables::{self, BuiltIns};
use capt_core::condition::cut;
use capt_core::graph;
use capt_core::standing::{Standing, cluster_name, standing};
use capt_core::tie::{self, ApplyKey};
use capt_core::workspace::handover::made::{self, Work};
use kube::ResourceExt;

use super::secret_file::{self, SecretFile};
use super::sources::{Findings, Sources};
use crate::context::Context;
use crate::error::Error;
use crate::index::{Dependency, Dependent, Name, Notes};
use crate::metrics::Kind;
use crate::stop::Stop;
use crate::store::Held;

/// What was seen, and what acting on it needs beside the decision.
pub(super) struct Seen {
    pub(super) observed: Observed,
    pub(super) template_generation: Option<i64>,
    pub(super) secret_file: Option<SecretFile>,
}

/// Sees what there is, and notes it so that a change brings the apply up again.
pub(super) async fn observe(apply: &WorkspaceTemplateApply, context: &Context) -> Result<Seen, Error> {
    let key = ApplyKey::of(apply);
    let notes = context.index.note(Dependent::Apply(key.clone()));
    if let Some(cluster) = cluster_name(&apply.metadata) {
        notes.on(Dependency::Cluster(Name::new(&key.namespace, cluster)));
    }
    let name = tie::workspace_name(apply);
    notes.on(Dependency::Workspace(name.clone()));
    let cluster = context.cluster_of(&apply.metadata);
    let workspace = workspace_facts(&name, context);
    let bare = |observed| Ok(Seen { observed, template_generation: None, secret_file: None });
    match standing(&apply.metadata, cluster.as_deref()) {
        Standing::ExternallyManaged => bare(Observed::ExternallyManaged),
        Standing::Paused(pause) => bare(Observed::Paused(pause)),
        Standing::Moved => bare(Observed::Moved {
            workspace: workspace.filter(|workspace| tie::is_of(&workspace.metadata, apply)),
        }),
        // While a control plane starts, a kind may not be served yet: what is not seen then is not gone.
        Standing::Deleting if !context.workspaces.is_certain() && is_noted(apply) => {
            Err(Error::NotListed { kind: Kind::Workspace, what: format!("Workspace `{name}`") })
        }
        Standing::Deleting => {
            let workspace = workspace.filter(|workspace| tie::is_of(&workspace.metadata, apply));
            let dependents =
                workspace.as_ref().map(|workspace| dependents(apply, workspace.name(), context, &notes));
            let state = if workspace.is_none() { state_now(apply, context).await? } else { None };
            bare(Observed::Deleting { workspace, dependents: dependents.unwrap_or_default(), state })
        }
        Standing::Active => {
            let (workspace, found) = match workspace {
                Some(workspace) if needs_spec(apply, &workspace) => {
                    let found = found(&name, context).await?;
                    (found.is_some().then_some(workspace), found)
                }
                workspace => (workspace, None),
            };
            let exists = workspace.as_ref().is_some_and(|workspace| {
                tie::is_of(&workspace.metadata, apply) || tie::may_adopt(apply, workspace.name())
            });
            let alone = context.terraform.is_none().then(|| made::obstacle(&apply.metadata)).flatten();
            let sources = Sources { apply, namespace: &key.namespace, context, notes: &notes };
            let (rendered, template_generation, secret_file) = match rendered(&sources, &name, exists).await {
                Ok((rendered, generation, file)) => (Ok(rendered), generation, file),
                Err(Stop::Blocked(blocked)) => (Err(blocked), None, None),
                Err(Stop::Failed(error)) => return Err(error),
            };
            let rendered = match alone {
                Some(blocked) if workspace.is_none() => Err(blocked),
                _ => rendered,
            };
            let observed = Observed::Active { workspace, found, rendered };
            Ok(Seen { observed, template_generation, secret_file })
        }
    }
}

/// Whether a Workspace was made, or was about to be.
fn is_noted(apply: &WorkspaceTemplateApply) -> bool {
    let annotations = apply.metadata.annotations.as_ref();
    annotations.is_some_and(|annotations| annotations.contains_key(annotation::WORKSPACE_NAME))
}

/// The state that is noted on an apply. The note goes a moment before the Workspace does, so what was seen of it may be older.
async fn state_now(apply: &WorkspaceTemplateApply, context: &Context) -> Result<Option<String>, Error> {
    if !apply.annotations().contains_key(annotation::STATE) {
        return Ok(None);
    }
    let key = ApplyKey::of(apply);
    let applies: kube::Api<WorkspaceTemplateApply> =
        kube::Api::namespaced(context.client.clone(), &key.namespace);
    let doing = format!("reading WorkspaceTemplateApply `{key}`");
    let now = applies.get_metadata_opt(&key.name).await.map_err(Error::api(doing))?;
    Ok(now.and_then(|now| now.annotations().get(annotation::STATE).cloned()))
}

type RenderedParts = (Rendered, Option<i64>, Option<SecretFile>);

/// What the Workspace should be. Waits hold up only its making: what runs is not held up by what it once waited for.
async fn rendered(sources: &Sources<'_>, workspace_name: &str, exists: bool) -> Result<RenderedParts, Stop> {
    let Sources { apply, namespace, context, notes } = *sources;
    if !context.workspaces.is_listed() {
        let message =
            "kind Workspace (tf.upbound.io/v1beta1) is not installed, or its listing is not complete yet";
        return Err(Blocked::new(Reason::WorkspaceKindMissing, message).into());
    }
    if let Some(invalid) = context.workspaces.unreadable(None, workspace_name) {
        let message =
            format!("Workspace `{workspace_name}` is there but cannot be read: {}", cut(&invalid.error, 300));
        return Err(Blocked::new(Reason::Unreadable, message).into());
    }
    let template = template(apply, namespace, context, notes)?;
    if !exists {
        sources.await_needs().await?;
    }
    let Findings { sourced, versions } = sources.variables().await?;
    let variables = variables::collect(apply, sourced)?;
    let cluster = cluster_name(&apply.metadata);
    // As it was when the Workspace had its first name: another one would change what is there.
    let kept_name = tie::kept_name(apply);
    let built_ins = BuiltIns { workspace: &kept_name, cluster, namespace };
    let inputs = Inputs { apply, template: &template, variables: &variables, built_ins };
    let prepared = render::prepare(inputs)?;
    let secret_file = match prepared.secret_file(&variables)? {
        Some(content) => Some(secret_file::choose(sources, content, &versions).await?),
        None => None,
    };
    let rendered = prepared.finish(inputs, secret_file.as_ref().map(|file| file.name.as_str()))?;
    let grants = sources.grants();
    for reference in &rendered.references {
        grants.permit(reference).await?;
    }
    Ok((rendered, template.metadata.generation, secret_file))
}

fn template(
    apply: &WorkspaceTemplateApply,
    namespace: &str,
    context: &Context,
    notes: &Notes<'_, Dependent>,
) -> Result<Held<WorkspaceTemplate>, Blocked> {
    let reference = &apply.spec.template_ref;
    let namespace =
        reference.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or(namespace);
    notes.on(Dependency::Template(Name::new(namespace, &reference.name)));
    context.templates.get(Some(namespace), &reference.name).ok_or_else(|| {
        let watched = context.options.namespace.as_deref().filter(|watched| *watched != namespace);
        let hint = watched.map_or_else(String::new, |watched| {
            format!(" (this manager looks at namespace `{watched}` only)")
        });
        Blocked::new(
            Reason::TemplateNotFound,
            format!(
                "spec.templateRef: WorkspaceTemplate `{namespace}/{}` does not exist or cannot be read{hint}",
                reference.name
            ),
        )
    })
}

/// Applies whose Workspaces use ours, as far as those Workspaces exist. Of those that we use ourselves, round a circle, none
/// is waited for: somebody has to go first.
fn dependents(
    apply: &WorkspaceTemplateApply,
    workspace: &str,
    context: &Context,
    notes: &Notes<'_, Dependent>,
) -> Vec<ApplyKey> {
    let us = ApplyKey::of(apply);
    let mut found = Vec::new();
    for other in context.applies.all() {
        let key = ApplyKey::of(&other);
        let uses = || graph::needs(&other, &context.applies).iter().any(|need| need.workspace == workspace);
        if key == us || !uses() || graph::path(apply, &key, &context.applies).is_some() {
            continue;
        }
        let its_workspace = tie::workspace_name(&other);
        notes.on(Dependency::Apply(Name::new(&key.namespace, &key.name)));
        notes.on(Dependency::Workspace(its_workspace.clone()));
        if workspace_facts(&its_workspace, context)
            .is_some_and(|workspace| tie::is_of(&workspace.metadata, &other))
        {
            found.push(key);
        }
    }
    found.sort_unstable();
    found
}

/// A Workspace's spec as it is, with what this version of CAPT does not know; nothing if the Workspace has gone meanwhile.
async fn found(name: &str, context: &Context) -> Result<Option<Found>, Error> {
    let resource = kube::api::ApiResource::erase::<Workspace>(&());
    let workspaces: kube::Api<kube::api::DynamicObject> =
        kube::Api::all_with(context.client.clone(), &resource);
    let doing = format!("reading Workspace `{name}`");
    let found = workspaces.get_opt(name).await.map_err(Error::api(doing))?;
    Ok(found.map(|mut found| Found {
        spec: found.data["spec"].take(),
        resource_version: found.metadata.resource_version,
    }))
}

/// What is known of the Workspace of this name. Of one that cannot be read that is its metadata: it is there all the same.
pub(super) fn workspace_facts(name: &str, context: &Context) -> Option<WorkspaceFacts> {
    let unreadable = || {
        let metadata = context.workspaces.unreadable(None, name)?.metadata;
        Some(WorkspaceFacts { metadata, ..WorkspaceFacts::default() })
    };
    let readable = |workspace: Held<Workspace>| {
        let crossplane = work(&workspace, context);
        WorkspaceFacts { crossplane, ..facts(&workspace) }
    };
    context.workspaces.get(None, name).map(readable).or_else(unreadable)
}

/// What Crossplane does with a Workspace. As long as nobody knows who runs it, that is nothing.
fn work(workspace: &Workspace, context: &Context) -> Work {
    let Some(terraform) = &context.terraform else { return made::work(workspace, None) };
    match terraform.serves() {
        Some(serves) => made::work(workspace, Some(serves)),
        None => Work::Nothing,
    }
}

/// What counts of a Workspace.
pub(crate) fn facts(workspace: &Workspace) -> WorkspaceFacts {
    let verdict = |type_: &str| {
        let conditions = &workspace.status.as_ref()?.conditions;
        let condition = conditions.iter().find(|condition| condition.type_ == type_)?;
        Some(Verdict {
            holds: condition.status == "True",
            reason: condition.reason.clone(),
            message: condition.message.clone().unwrap_or_default(),
        })
    };
    WorkspaceFacts {
        metadata: workspace.metadata.clone(),
        ready: verdict(capt_api::names::condition::READY),
        synced: verdict(capt_api::names::condition::SYNCED),
        crossplane: Work::Nothing,
    }
}
