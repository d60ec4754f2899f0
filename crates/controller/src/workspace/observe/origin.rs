//! Where a Workspace comes from.

use capt_api::names::{annotation, label};
use capt_api::{Workspace, WorkspaceTemplateApply};
use capt_core::name::{is_namespace_name, is_object_name};
use capt_core::standing::cluster_name;
use capt_core::tie::{self, ApplyKey};
use capt_core::workspace::standing::Origin;
use kube::{Api, ResourceExt};

use crate::context::Context;
use crate::error::Error;
use crate::index::{Dependency, Dependent, Name, Notes};
use crate::store::Held;
use crate::workspace::place::Owner;

/// Where a Workspace comes from, and whether this manager looks after it.
pub(in crate::workspace) struct Source {
    pub(in crate::workspace) origin: Origin,
    pub(in crate::workspace) ours: bool,
    pub(in crate::workspace) apply: Option<Held<WorkspaceTemplateApply>>,
    key: Option<ApplyKey>,
    /// The uid of the apply as the Workspace has it, for one that is gone.
    uid: String,
}

impl Source {
    /// The apply as owner of what is kept.
    pub(in crate::workspace) fn owner(&self) -> Option<Owner> {
        let key = self.key.clone()?;
        let uid = self.apply.as_ref().and_then(|apply| apply.uid()).unwrap_or_else(|| self.uid.clone());
        Some(Owner { key, uid })
    }

    /// An annotation of the apply, or of a Workspace that has none.
    pub(in crate::workspace) fn noted(&self, key: &str, workspace: &Workspace) -> Option<String> {
        match (&self.key, &self.apply) {
            (Some(_), Some(apply)) => apply.annotations().get(key).cloned(),
            (Some(_), None) => None,
            (None, _) => workspace.annotations().get(key).cloned(),
        }
    }
}

/// Finds where a Workspace comes from.
pub(in crate::workspace) async fn find(
    workspace: &Workspace,
    context: &Context,
    notes: &Notes<'_, Dependent>,
) -> Result<Source, Error> {
    let options = &context.options;
    let Some(key) = tie::apply_of(&workspace.metadata) else {
        let labelled = workspace.labels().get(label::WATCH_FILTER);
        let ours = options.namespace.is_none()
            && options.watch_filter.as_ref().is_none_or(|wanted| labelled == Some(wanted));
        return Ok(Source { origin: Origin::Nobody, ours, apply: None, key: None, uid: String::new() });
    };
    notes.on(Dependency::Apply(Name::new(&key.namespace, &key.name)));
    let uid = workspace.labels().get(label::APPLY_UID).cloned().unwrap_or_default();
    let apply = context.applies.get(Some(&key.namespace), &key.name);
    let origin = match &apply {
        Some(apply) if tie::workspace_name(apply) != workspace.name_any() => {
            let kept_as = workspace.annotations().get(annotation::KEPT_AS).cloned();
            let keeps = tie::kept_name(apply) == kept_as.unwrap_or_else(|| workspace.name_any());
            Origin::Superseded { apply: key.clone(), by: tie::workspace_name(apply), keeps }
        }
        Some(apply) => {
            if let Some(cluster) = cluster_name(&apply.metadata) {
                notes.on(Dependency::Cluster(Name::new(&key.namespace, cluster)));
            }
            let cluster = context.cluster_of(&apply.metadata);
            Origin::of(&workspace.metadata, apply, cluster.as_deref())
        }
        None if is_gone(&key, context).await? => {
            Origin::Gone { moved: context.moved.contains(&key, &uid), apply: key.clone() }
        }
        None => Origin::Unseen(key.clone()),
    };
    Ok(Source { origin, ours: true, apply, key: Some(key), uid })
}

/// Whether an apply that is not in the store does not exist, as far as this manager may know.
async fn is_gone(key: &ApplyKey, context: &Context) -> Result<bool, Error> {
    let theirs = context.options.namespace.as_ref().is_some_and(|namespace| *namespace != key.namespace);
    let nameable = is_object_name(&key.name) && is_namespace_name(&key.namespace);
    // While a control plane starts, a kind may not be served yet: what is not found then is not gone.
    if theirs || !nameable || !context.applies.is_listed() {
        return Ok(false);
    }
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(context.client.clone(), &key.namespace);
    let doing = format!("looking for WorkspaceTemplateApply `{key}`");
    match applies.get_metadata_opt(&key.name).await.map_err(Error::api(doing)) {
        Ok(found) => Ok(found.is_none()),
        Err(error) if error.is_forbidden() => Ok(false),
        Err(error) => Err(error),
    }
}
