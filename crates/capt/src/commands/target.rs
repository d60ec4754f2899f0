//! The Workspaces that somebody means.

use anyhow::{Context as _, bail, ensure};
use capt_api::names::condition;
use capt_api::{Cluster, Workspace, WorkspaceTemplateApply};
use capt_controller::by_hand::StateOf;
use capt_core::name::{is_namespace_name, is_object_name};
use capt_core::near::nearest;
use capt_core::standing::cluster_name;
use capt_core::tie::{self, ApplyKey, Belongs};
use capt_core::workspace::standing::{Origin, Standing, standing as workspace_standing};
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};
use serde::de::DeserializeOwned;

use super::HOME_NAMESPACE;
use crate::cli::{TargetArguments, TargetKind};
use crate::connection;

/// A Workspace, or an apply that has none yet.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) workspace: Option<Workspace>,
    pub(crate) apply: Option<WorkspaceTemplateApply>,
    cluster: Option<Cluster>,
}

/// Finds what is meant, and the way there.
pub(crate) async fn find(target: TargetArguments) -> anyhow::Result<(Client, Vec<Subject>)> {
    let TargetArguments { kind, name, place } = target;
    let client = connection::find_for_person(&place.connection).await?.client;
    let namespace = namespace_of(place.namespace, &client)?;
    let subjects = subjects(&client, kind, &name, &namespace).await?;
    Ok((client, subjects))
}

/// The only Workspace that is meant.
pub(crate) async fn find_one(target: TargetArguments) -> anyhow::Result<(Client, Subject)> {
    let name = target.name.clone();
    let (client, mut subjects) = find(target).await?;
    let names: Vec<String> = subjects.iter().map(Subject::name).collect();
    match (subjects.pop(), subjects.is_empty()) {
        (Some(subject), true) => Ok((client, subject)),
        _ => bail!("Cluster `{name}` has several Workspaces: name one of them: {}", names.join(", ")),
    }
}

/// The namespace that is meant.
pub(crate) fn namespace_of(named: Option<String>, client: &Client) -> anyhow::Result<String> {
    let namespace = named.unwrap_or_else(|| client.default_namespace().to_owned());
    ensure!(
        is_namespace_name(&namespace),
        "`{namespace}` is no name of a namespace: write one with --namespace"
    );
    Ok(namespace)
}

/// What is meant by a kind and a name; at least one.
pub(crate) async fn subjects(
    client: &Client,
    kind: TargetKind,
    name: &str,
    namespace: &str,
) -> anyhow::Result<Vec<Subject>> {
    match kind {
        TargetKind::Workspace => {
            let workspaces: Api<Workspace> = Api::all(client.clone());
            let workspace = read(&workspaces, "Workspace", name, None).await?;
            Ok(vec![Subject::of_workspace(client, workspace).await?])
        }
        TargetKind::Apply => {
            let applies: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), namespace);
            let apply = read(&applies, "WorkspaceTemplateApply", name, Some(namespace)).await?;
            Ok(vec![Subject::of_apply(client, apply).await?])
        }
        TargetKind::Cluster => of_cluster(client, name, namespace).await,
    }
}

async fn of_cluster(client: &Client, name: &str, namespace: &str) -> anyhow::Result<Vec<Subject>> {
    let applies: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), namespace);
    let listed = applies.list(&ListParams::default()).await.context(
        "listing WorkspaceTemplateApplies; if the kind is missing, `capt crds | kubectl apply --server-side -f -` installs it",
    )?;
    let mut found: Vec<WorkspaceTemplateApply> =
        listed.into_iter().filter(|apply| cluster_name(&apply.metadata) == Some(name)).collect();
    if found.is_empty() {
        let clusters: Api<Cluster> = Api::namespaced(client.clone(), namespace);
        read(&clusters, "Cluster", name, Some(namespace)).await?;
        bail!(
            "nothing of Cluster `{name}` is made by Terraform, or CAPT has not come to it yet: see whether a manager runs (`capt manager`, `capt up`)"
        );
    }
    found.sort_by_key(|apply| (apply.creation_timestamp().map(|time| time.0), apply.name_any()));
    let mut subjects = Vec::new();
    for apply in found {
        subjects.push(Subject::of_apply(client, apply).await?);
    }
    Ok(subjects)
}

/// Reads an object; one that is not there is told with the name that may have been meant.
async fn read<K>(api: &Api<K>, kind: &str, name: &str, namespace: Option<&str>) -> anyhow::Result<K>
where
    K: kube::Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    if let Some(found) = api.get_opt(name).await.with_context(|| format!("reading {kind} `{name}`"))? {
        return Ok(found);
    }
    // It need not be allowed; the suggestion is a courtesy.
    let others = api.list_metadata(&ListParams::default()).await.map(|list| list.items).unwrap_or_default();
    let names: Vec<String> = others.iter().map(ResourceExt::name_any).collect();
    let place = namespace.map(|namespace| format!(" in the namespace {namespace}")).unwrap_or_default();
    let hint = match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!(": did you mean `{near}`?"),
        None if names.is_empty() => String::new(),
        None => format!(": there are {}", some(&names)),
    };
    bail!("there is no {kind} `{name}`{place}{hint}")
}

/// A few names in a sentence.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

impl Subject {
    async fn of_apply(client: &Client, apply: WorkspaceTemplateApply) -> anyhow::Result<Self> {
        let workspace = workspace_of(client, &apply).await?;
        Ok(Self { cluster: cluster_of(client, &apply).await?, workspace, apply: Some(apply) })
    }

    /// A Workspace with its apply and its Cluster.
    pub(crate) async fn of_workspace(client: &Client, workspace: Workspace) -> anyhow::Result<Self> {
        let key = tie::apply_of(&workspace.metadata)
            .filter(|key| is_namespace_name(&key.namespace) && is_object_name(&key.name));
        let Some(key) = key else {
            return Ok(Self { workspace: Some(workspace), apply: None, cluster: None });
        };
        let applies: Api<WorkspaceTemplateApply> = Api::namespaced(client.clone(), &key.namespace);
        let doing = || format!("reading WorkspaceTemplateApply `{key}`");
        let apply = applies.get_opt(&key.name).await.with_context(doing)?;
        let cluster = match &apply {
            Some(apply) => cluster_of(client, apply).await?,
            None => None,
        };
        Ok(Self { workspace: Some(workspace), apply, cluster })
    }

    /// The Workspace's name, or the one that it will have.
    pub(crate) fn name(&self) -> String {
        match (&self.workspace, &self.apply) {
            (Some(workspace), _) => workspace.name_any(),
            (None, Some(apply)) => tie::workspace_name(apply),
            (None, None) => String::new(),
        }
    }

    /// The Workspace; an error that says why there is none.
    pub(crate) fn workspace(&self) -> anyhow::Result<&Workspace> {
        self.workspace.as_ref().with_context(|| {
            let conditions =
                self.apply.iter().flat_map(|apply| apply.status.iter().flat_map(|status| &status.conditions));
            let why = conditions
                .filter(|told| told.type_ == condition::READY && told.status != "True")
                .map(|told| format!(": {}", told.message))
                .next();
            format!("Workspace `{}` is not there yet{}", self.name(), why.unwrap_or_default())
        })
    }

    /// What is kept of the Workspace.
    pub(crate) fn kept(&self, client: &Client) -> anyhow::Result<StateOf> {
        let workspace = self.workspace()?;
        Ok(match &self.apply {
            Some(apply) => StateOf::new(client, workspace, apply),
            None => StateOf::of_nobody(client, workspace, HOME_NAMESPACE),
        })
    }

    /// Why CAPT leaves the Workspace alone at present.
    pub(crate) fn is_left_alone(&self) -> Option<String> {
        let workspace = self.workspace.as_ref()?;
        let origin = match (&self.apply, tie::apply_of(&workspace.metadata)) {
            (Some(apply), _) => Origin::of(&workspace.metadata, apply, self.cluster.as_ref()),
            (None, Some(apply)) => Origin::Gone { apply, moved: false },
            (None, None) => Origin::Nobody,
        };
        match workspace_standing(&workspace.metadata, &origin) {
            Standing::Active => None,
            Standing::Deleting => Some("it is being deleted".to_owned()),
            Standing::Paused => Some("it is paused by its annotation crossplane.io/paused".to_owned()),
            Standing::Frozen(freeze) | Standing::Abandoned(freeze) | Standing::LeftBehind(freeze) => {
                Some(freeze.to_string())
            }
            Standing::NotOurs => Some("somebody else looks after it".to_owned()),
        }
    }
}

/// The Workspace of an apply, if it has made one.
pub(crate) async fn workspace_of(
    client: &Client,
    apply: &WorkspaceTemplateApply,
) -> anyhow::Result<Option<Workspace>> {
    let (key, name) = (ApplyKey::of(apply), tie::workspace_name(apply));
    let workspaces: Api<Workspace> = Api::all(client.clone());
    let found = workspaces.get_opt(&name).await.with_context(|| format!("reading Workspace `{name}`"))?;
    Ok(found.filter(|found| tie::belongs(&found.metadata, &key) == Belongs::ToUs))
}

/// The Cluster that an apply belongs to.
pub(crate) async fn cluster_of(
    client: &Client,
    apply: &WorkspaceTemplateApply,
) -> anyhow::Result<Option<Cluster>> {
    let namespace = apply.namespace().unwrap_or_default();
    let Some(name) = cluster_name(&apply.metadata).filter(|name| is_object_name(name)) else {
        return Ok(None);
    };
    let clusters: Api<Cluster> = Api::namespaced(client.clone(), &namespace);
    clusters.get_opt(name).await.with_context(|| format!("reading Cluster `{namespace}/{name}`"))
}
