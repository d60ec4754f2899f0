//! What may be done with an object at all: pause, moves, deletion and who looks after it.
//!
//! Every driver asks this first, so that no driver can forget one of the rules. Pause is looked at before deletion: during
//! `clusterctl move` objects are deleted while they are paused, and whoever honours the deletion destroys a live cluster.

use capt_api::Cluster;
use capt_api::names::{annotation, group, label};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// What may be done with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing, not even a status: somebody else looks after it.
    ExternallyManaged,
    /// It lives on in another management cluster: let go of it, destroy nothing.
    Moved,
    /// Nothing but telling so.
    Paused(Pause),
    /// It is to be taken down.
    Deleting,
    /// It is to be kept in line.
    Active,
}

/// Who paused an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// `Cluster.spec.paused`.
    pub cluster: bool,
    /// The object's own annotation.
    pub annotation: bool,
    /// `clusterctl move` is about to delete it, because it lives on elsewhere.
    pub moving: bool,
}

impl Pause {
    /// The sentence for the `Paused` condition, as Cluster API words it.
    pub fn message(self, kind: &str) -> String {
        let causes = [
            self.cluster.then(|| "Cluster spec.paused is set to true".to_owned()),
            self.annotation.then(|| format!("{kind} has the {} annotation", annotation::PAUSED)),
            self.moving.then(|| {
                format!(
                    "{kind} has the {} annotation: it lives on in another cluster, and what it knew of its state is gone here (if it does not live on, restore it from a backup; without the annotation it would begin anew)",
                    annotation::DELETE_FOR_MOVE
                )
            }),
        ];
        causes.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// What may be done with the object that has this metadata and belongs to this Cluster.
pub fn standing(metadata: &ObjectMeta, cluster: Option<&Cluster>) -> Standing {
    let has =
        |key: &str| metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(key));
    let deleting = metadata.deletion_timestamp.is_some();
    let pause = Pause {
        cluster: cluster.and_then(|cluster| cluster.spec.paused).unwrap_or(false),
        annotation: has(annotation::PAUSED),
        // All other annotations are gone by now, and what it owns, too: it does not know its own state any more.
        moving: has(annotation::DELETE_FOR_MOVE),
    };
    match pause {
        _ if has(annotation::MANAGED_BY) => Standing::ExternallyManaged,
        Pause { moving: true, .. } if deleting => Standing::Moved,
        Pause { cluster: false, annotation: false, moving: false } if deleting => Standing::Deleting,
        Pause { cluster: false, annotation: false, moving: false } => Standing::Active,
        pause => Standing::Paused(pause),
    }
}

/// The name of the Cluster that an object belongs to: its owner of that kind, or else Cluster API's label.
///
/// The owner's `controller` flag is not looked at (Cluster API sets it only for topologies), nor its API version.
pub fn cluster_name(metadata: &ObjectMeta) -> Option<&str> {
    let owners = metadata.owner_references.iter().flatten();
    let owner = owners
        .filter(|owner| owner.kind == "Cluster" && api_group(&owner.api_version) == group::CLUSTER)
        .map(|owner| owner.name.as_str())
        .next();
    let labelled = || metadata.labels.as_ref()?.get(label::CLUSTER_NAME).map(String::as_str);
    owner.or_else(labelled).filter(|name| !name.is_empty())
}

/// The group of an API version; empty for the core group.
pub fn api_group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
    use k8s_openapi::jiff::Timestamp;
    use rstest::rstest;

    use super::*;

    fn metadata(annotations: &[&str], deleting: bool) -> ObjectMeta {
        ObjectMeta {
            annotations: Some(annotations.iter().map(|key| ((*key).to_owned(), String::new())).collect()),
            deletion_timestamp: deleting.then_some(Time(Timestamp::UNIX_EPOCH)),
            ..ObjectMeta::default()
        }
    }

    fn cluster(paused: bool) -> Cluster {
        Cluster::new("c", capt_api::capi::ClusterSpec { paused: Some(paused), ..Default::default() })
    }

    const BY_CLUSTER: Pause = Pause { cluster: true, annotation: false, moving: false };
    const BY_MOVE: Pause = Pause { cluster: false, annotation: false, moving: true };
    const BY_ANNOTATION: Pause = Pause { cluster: false, annotation: true, moving: false };

    #[rstest]
    #[case::nothing_special(&[], false, false, Standing::Active)]
    #[case::deleted(&[], true, false, Standing::Deleting)]
    #[case::paused_by_its_cluster(&[], false, true, Standing::Paused(BY_CLUSTER))]
    #[case::paused_by_annotation(&[annotation::PAUSED], false, false, Standing::Paused(BY_ANNOTATION))]
    #[case::pause_comes_before_deletion(&[annotation::PAUSED], true, false, Standing::Paused(BY_ANNOTATION))]
    #[case::cluster_pause_comes_before_deletion(&[], true, true, Standing::Paused(BY_CLUSTER))]
    #[case::moved_while_paused(&[annotation::DELETE_FOR_MOVE], true, true, Standing::Moved)]
    #[case::marked_for_move_but_alive(&[annotation::DELETE_FOR_MOVE], false, false, Standing::Paused(BY_MOVE))]
    #[case::managed_by_others(&[annotation::MANAGED_BY, annotation::PAUSED], true, true, Standing::ExternallyManaged)]
    fn rules_hold(
        #[case] annotations: &[&str],
        #[case] deleting: bool,
        #[case] paused: bool,
        #[case] expected: Standing,
    ) {
        assert_eq!(standing(&metadata(annotations, deleting), Some(&cluster(paused))), expected);
    }

    #[test]
    fn an_object_without_a_cluster_is_not_paused() {
        assert_eq!(standing(&ObjectMeta::default(), None), Standing::Active);
    }

    #[rstest]
    #[case::by_group_and_kind("cluster.x-k8s.io/v1beta2", "Cluster", Some("mine"))]
    #[case::of_any_version("cluster.x-k8s.io/v1beta1", "Cluster", Some("mine"))]
    #[case::not_of_another_group("example.com/v1", "Cluster", None)]
    #[case::not_of_another_kind("cluster.x-k8s.io/v1beta2", "ClusterClass", None)]
    #[case::not_of_the_core_group("v1", "Cluster", None)]
    fn owners_are_found_by_group_and_kind(
        #[case] api_version: &str,
        #[case] kind: &str,
        #[case] expected: Option<&str>,
    ) {
        let owner = OwnerReference {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            name: "mine".to_owned(),
            controller: Some(false),
            ..OwnerReference::default()
        };
        let metadata = ObjectMeta { owner_references: Some(vec![owner]), ..ObjectMeta::default() };
        assert_eq!(cluster_name(&metadata), expected);
    }

    #[test]
    fn the_label_names_the_cluster_where_no_owner_does() {
        let labels = [(label::CLUSTER_NAME.to_owned(), "mine".to_owned())].into();
        assert_eq!(cluster_name(&ObjectMeta { labels: Some(labels), ..ObjectMeta::default() }), Some("mine"));
    }

    #[test]
    fn the_pause_message_names_every_cause() {
        let both = Pause { cluster: true, annotation: true, moving: false };
        assert_eq!(
            both.message("WorkspaceTemplateApply"),
            "Cluster spec.paused is set to true, WorkspaceTemplateApply has the cluster.x-k8s.io/paused annotation"
        );
    }
}
