//! The sentence about the resources of a set in its clusters.

use std::collections::HashMap;

use capt_api::ClusterResourceSet;
use capt_api::names::{RESOURCE_SET_SECRET_TYPE, Reason};
use capt_api::resource_set::{ResourceReference, Strategy};

use crate::condition::{Statement, Truth};
use crate::resource_set::decide::{Plan, Step, Word};
use crate::resource_set::observed::{Content, Resource};

/// How many things are told in full, and how many clusters are named.
const TOLD: usize = 3;

/// What is said about a set.
pub(super) fn statement(set: &ClusterResourceSet, step: &Step) -> Statement {
    match step {
        Step::Hold(blocked) => blocked.into(),
        Step::Serve(plan) => of_plan(set, plan),
        Step::Claim => {
            Statement::new(Truth::False, Reason::Delivering, "about to be brought to its Clusters")
        }
        Step::Leave | Step::Pause(_) | Step::LetGo | Step::AwaitDeliveries | Step::Finish { .. } => {
            Statement::new(Truth::False, Reason::Deleting, "this ClusterResourceSet is being deleted")
        }
    }
}

fn of_plan(set: &ClusterResourceSet, plan: &Plan) -> Statement {
    let resources = plan.resources.iter().enumerate();
    let resources = resources.filter(|(place, _)| is_asked_for(*place, set, plan));
    let mut lines: Vec<Line<'_>> = resources.filter_map(|(_, resource)| of_resource(resource)).collect();
    lines.extend(of_clusters(plan));
    let names: Vec<_> = plan.clusters.iter().map(|judged| judged.cluster.as_str()).collect();
    match lines.first() {
        Some(first) => Statement::new(Truth::False, first.reason, sentence(&lines)),
        None if names.is_empty() => {
            let namespace = set.metadata.namespace.as_deref().unwrap_or_default();
            let message =
                format!("no Cluster in the namespace `{namespace}` has the labels of spec.clusterSelector");
            Statement::new(Truth::False, Reason::NoClusters, message)
        }
        None => {
            Statement::new(Truth::True, Reason::Applied, format!("everything is in {}", clusters(&names)))
        }
    }
}

/// Whether somebody lacks a resource, if it cannot be brought. What was brought and is to be brought only once is not needed
/// any more.
fn is_asked_for(place: usize, set: &ClusterResourceSet, plan: &Plan) -> bool {
    set.spec.strategy == Strategy::Reconcile
        || plan.clusters.is_empty()
        || plan.clusters.iter().any(|judged| judged.lacking.contains(&place))
}

/// One thing to tell.
struct Line<'plan> {
    reason: Reason,
    message: String,
    /// The clusters that it is about; none where it is about a resource.
    clusters: Vec<&'plan str>,
}

fn of_resource<'plan>(resource: &Resource) -> Option<Line<'plan>> {
    let ResourceReference { kind, name } = &resource.reference;
    let kind = kind.as_str();
    let (reason, message) = match &resource.content {
        Content::Manifests { .. } => return None,
        Content::Missing => (
            Reason::ResourceMissing,
            format!("{kind} `{name}` does not exist: make it, and it is brought at once"),
        ),
        Content::WrongType(found) => (
            Reason::WrongSecretType,
            format!(
                "Secret `{name}` is of the type `{found}`, and only Secrets of the type \
                 `{RESOURCE_SET_SECRET_TYPE}` are brought: delete it and make it again with that type"
            ),
        ),
        Content::Invalid { problem, .. } => (Reason::ManifestInvalid, problem.clone()),
    };
    Some(Line { reason, message, clusters: Vec::new() })
}

/// What is told of clusters, the worst first. Clusters of which the same is to be told are told together.
fn of_clusters(plan: &Plan) -> Vec<Line<'_>> {
    let mut ranked: Vec<_> = plan
        .clusters
        .iter()
        .filter_map(|judged| Some((told(&judged.word)?, judged.cluster.as_str())))
        .collect();
    ranked.sort_by_key(|((rank, _, _), _)| *rank);
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut places = HashMap::new();
    for ((_, reason, message), cluster) in ranked {
        let place = *places.entry((reason, message)).or_insert_with(|| {
            lines.push(Line { reason, message: message.to_owned(), clusters: Vec::new() });
            lines.len() - 1
        });
        if let Some(line) = lines.get_mut(place) {
            line.clusters.push(cluster);
        }
    }
    lines
}

/// What is told of a cluster, and how bad it is.
fn told(word: &Word) -> Option<(u8, Reason, &str)> {
    match word {
        Word::Applied => None,
        Word::Troubled(trouble) => Some((0, trouble.reason, &trouble.message)),
        Word::Delivering => Some((1, Reason::Delivering, "on its way")),
        Word::Waiting(what) => Some((2, Reason::WaitingForCredentials, what)),
        Word::Paused => Some((3, Reason::Paused, "gets nothing while it is paused")),
    }
}

/// The first few in full, the others counted.
fn sentence(lines: &[Line<'_>]) -> String {
    let full = lines.iter().take(TOLD).map(|line| match line.clusters.as_slice() {
        [] => line.message.clone(),
        names => format!("{}: {}", clusters(names), line.message),
    });
    let more: usize = lines.iter().skip(TOLD).map(|line| line.clusters.len().max(1)).sum();
    let rest = (more > 0).then(|| format!("and {more} more"));
    full.chain(rest).collect::<Vec<_>>().join("; ")
}

fn clusters(names: &[&str]) -> String {
    let word = if names.len() == 1 { "Cluster" } else { "Clusters" };
    let first = names.iter().take(TOLD).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(TOLD) {
        0 => format!("{word} {first}"),
        more => format!("{word} {first} and {more} more"),
    }
}
