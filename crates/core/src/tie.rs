//! The tie between an apply and its Workspace.
//!
//! A namespaced object cannot own a cluster-scoped one, so the tie is made of labels and annotations on the Workspace and
//! of an annotation with its name on the apply. All of it can be made again after a restore or a move.

use std::collections::BTreeMap;
use std::fmt;

use capt_api::WorkspaceTemplateApply;
use capt_api::names::{APPLY_SUFFIX, MANAGED_BY_CAPT, STATE_SUFFIX, annotation, label};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::digest::short_digest;
use crate::name::is_object_name;

/// The longest value of a label.
const LONGEST_LABEL: usize = 63;
/// Leaves room for a suffix in the name of the Workspace and for what its state is called.
const LONGEST_BASE: usize = 200;

/// Names an apply.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApplyKey {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl ApplyKey {
    /// Names this apply.
    pub fn of(apply: &WorkspaceTemplateApply) -> Self {
        Self {
            namespace: apply.metadata.namespace.clone().unwrap_or_default(),
            name: apply.metadata.name.clone().unwrap_or_default(),
        }
    }

    /// Reads what [`fmt::Display`] writes.
    fn parse(text: &str) -> Option<Self> {
        let (namespace, name) = text.split_once('/')?;
        Some(Self { namespace: namespace.to_owned(), name: name.to_owned() })
    }

    /// The name of the Workspace if nobody else has it.
    pub fn workspace_name(&self) -> String {
        let base = self.name.strip_suffix(APPLY_SUFFIX).filter(|base| !base.is_empty()).unwrap_or(&self.name);
        if base.len() <= LONGEST_BASE { base.to_owned() } else { self.suffixed(base) }
    }

    /// The name of the Workspace if another apply has the plain one.
    pub fn alternative_workspace_name(&self) -> String {
        self.suffixed(self.name.strip_suffix(APPLY_SUFFIX).unwrap_or(&self.name))
    }

    fn suffixed(&self, base: &str) -> String {
        let mut base = base.to_owned();
        base.truncate(LONGEST_BASE);
        let base = base.trim_end_matches(['-', '.']);
        format!("{base}-{}", short_digest([self.namespace.as_str(), &self.name], 8))
    }
}

impl fmt::Display for ApplyKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.namespace, self.name)
    }
}

/// Whose a Workspace is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Belongs {
    /// The apply's that asks.
    ToUs,
    /// Another apply's.
    ToApply(ApplyKey),
    /// Nobody's that we know.
    ToNobody,
}

/// Whose the Workspace with this metadata is. A uid that changed (restore, move) does not matter.
pub fn belongs(workspace: &ObjectMeta, us: &ApplyKey) -> Belongs {
    match apply_of(workspace) {
        Some(key) if key == *us => Belongs::ToUs,
        Some(key) => Belongs::ToApply(key),
        None => Belongs::ToNobody,
    }
}

/// Whether a Workspace is that of the apply: by its own word, or by the status of the apply where nobody else claims it, as the
/// earlier Go implementation left it. What only an annotation of the apply names may be about to be taken over, but is not its own
/// yet.
pub fn is_of(workspace: &ObjectMeta, apply: &WorkspaceTemplateApply) -> bool {
    match belongs(workspace, &ApplyKey::of(apply)) {
        Belongs::ToUs => true,
        Belongs::ToApply(_) => false,
        Belongs::ToNobody => {
            workspace.name.is_some() && reported_workspace_name(apply) == workspace.name.as_deref()
        }
    }
}

/// Whether a Workspace was last written for this apply as it was before a move or a restore, with another uid. Labels get lost:
/// without one nothing is known.
pub fn is_of_former(workspace: &ObjectMeta, apply: &WorkspaceTemplateApply) -> bool {
    let known = workspace.labels.as_ref().and_then(|labels| labels.get(label::APPLY_UID));
    known.is_some_and(|known| !known.is_empty() && Some(known) != apply.metadata.uid.as_ref())
}

/// The apply that a Workspace is derived from. The annotation counts, unless somebody else says that he manages the Workspace
/// now: labels are for people and selectors, and get lost.
pub fn apply_of(workspace: &ObjectMeta) -> Option<ApplyKey> {
    let manager = workspace.labels.as_ref().and_then(|labels| labels.get(label::MANAGED_BY));
    let key = ApplyKey::parse(workspace.annotations.as_ref()?.get(annotation::APPLY)?)?;
    manager.is_none_or(|manager| manager == MANAGED_BY_CAPT).then_some(key)
}

/// Labels of everything that is derived from an apply.
pub fn labels(key: &ApplyKey, uid: &str, cluster: Option<&str>) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::from([
        (label::MANAGED_BY.to_owned(), MANAGED_BY_CAPT.to_owned()),
        (label::APPLY_NAMESPACE.to_owned(), key.namespace.clone()),
        (label::APPLY_NAME.to_owned(), label_value(&key.name)),
        (label::APPLY_UID.to_owned(), uid.to_owned()),
    ]);
    if let Some(cluster) = cluster {
        labels.insert(label::CLUSTER_NAME.to_owned(), label_value(cluster));
    }
    labels
}

/// A name as a label's value: long ones are cut and made unique again.
pub fn label_value(name: &str) -> String {
    if name.len() <= LONGEST_LABEL {
        return name.to_owned();
    }
    let digest = short_digest([name], 10);
    let head = name[..LONGEST_LABEL - digest.len() - 1].trim_end_matches(['-', '.', '_']);
    format!("{head}-{digest}")
}

/// The name of an apply's Workspace: as it is noted on the apply, else as the status of earlier versions says, else as the
/// user wishes, else as its own name makes it. What cannot be a name is passed over.
pub fn workspace_name(apply: &WorkspaceTemplateApply) -> String {
    let noted = noted_name(apply, annotation::WORKSPACE_NAME);
    let known = noted
        .or_else(|| reported_workspace_name(apply))
        .or_else(|| noted_name(apply, annotation::ADOPT_WORKSPACE));
    known.map_or_else(|| ApplyKey::of(apply).workspace_name(), ToOwned::to_owned)
}

/// The name that what is kept of an apply's Workspace goes by: the one that the Workspace had when it was made. It is not the
/// Workspace's own where that had to take another name in the cluster it was moved to.
pub fn kept_name(apply: &WorkspaceTemplateApply) -> String {
    noted_name(apply, annotation::KEPT_AS).map_or_else(|| workspace_name(apply), ToOwned::to_owned)
}

/// The name of the Secret with the state of a Terraform workspace.
pub fn state_secret(terraform_workspace: &str) -> String {
    format!("tfstate-{terraform_workspace}-{STATE_SUFFIX}")
}

/// The Terraform workspace whose state an apply has on record, in its own namespace.
pub fn noted_terraform_workspace(apply: &WorkspaceTemplateApply) -> Option<&str> {
    let (namespace, secret) = apply.metadata.annotations.as_ref()?.get(annotation::STATE)?.split_once('/')?;
    let name = secret.strip_prefix("tfstate-")?.strip_suffix(STATE_SUFFIX)?.strip_suffix('-')?;
    (apply.metadata.namespace.as_deref() == Some(namespace) && is_object_name(secret)).then_some(name)
}

/// Whether an apply may take over the Workspace of this name, which is nobody's: its status says that it was its own, or the
/// user wishes it. That CAPT noted the name is no reason: it does so before the Workspace is made.
pub fn may_adopt(apply: &WorkspaceTemplateApply, name: &str) -> bool {
    reported_workspace_name(apply) == Some(name) || is_wished(apply, name)
}

/// Whether the user wishes the apply to have the Workspace of this name and no other.
pub fn is_wished(apply: &WorkspaceTemplateApply, name: &str) -> bool {
    noted_name(apply, annotation::ADOPT_WORKSPACE) == Some(name)
}

fn noted_name<'apply>(apply: &'apply WorkspaceTemplateApply, key: &str) -> Option<&'apply str> {
    apply.metadata.annotations.as_ref()?.get(key).map(String::as_str).filter(|name| is_object_name(name))
}

/// The name of an apply's Workspace as its status has it: only those who wrote the Workspace write that.
pub fn reported_workspace_name(apply: &WorkspaceTemplateApply) -> Option<&str> {
    apply.status.as_ref()?.workspace_name.as_deref().filter(|name| is_object_name(name))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn key(name: &str) -> ApplyKey {
        ApplyKey { namespace: "team-a".to_owned(), name: name.to_owned() }
    }

    #[rstest]
    #[case::suffix_is_dropped("demo-eks-controlplane-apply", "demo-eks-controlplane")]
    #[case::no_suffix("demo-vpc", "demo-vpc")]
    #[case::only_one_suffix("demo-apply-apply", "demo-apply")]
    #[case::nothing_but_a_suffix("-apply", "-apply")]
    fn the_workspace_has_the_name_of_the_apply(#[case] apply: &str, #[case] expected: &str) {
        assert_eq!(key(apply).workspace_name(), expected);
    }

    #[test]
    fn the_alternative_name_is_stable_and_tells_namespaces_apart() {
        let other = ApplyKey { namespace: "team-b".to_owned(), ..key("demo-apply") };
        assert_eq!(
            key("demo-apply").alternative_workspace_name(),
            key("demo-apply").alternative_workspace_name()
        );
        assert_ne!(key("demo-apply").alternative_workspace_name(), other.alternative_workspace_name());
        assert!(other.alternative_workspace_name().starts_with("demo-"));
    }

    #[rstest]
    #[case::longest_name(253)]
    #[case::just_too_long(64)]
    fn long_names_become_valid_labels_and_stay_apart(#[case] length: usize) {
        let (one, other) = ("a".repeat(length), format!("{}b", "a".repeat(length - 1)));
        assert!(label_value(&one).len() <= LONGEST_LABEL);
        assert_ne!(label_value(&one), label_value(&other));
    }

    #[test]
    fn long_names_leave_room_for_what_the_state_is_called() {
        assert!(key(&"a".repeat(253)).workspace_name().len() < 220);
        assert!(key(&"a".repeat(253)).alternative_workspace_name().len() < 220);
    }

    #[rstest]
    #[case::annotated(Some("a"), Some("b"), "a")]
    #[case::reported(None, Some("b"), "b")]
    #[case::an_empty_annotation_hides_nothing(Some(""), Some("b"), "b")]
    #[case::a_path_is_no_name(Some("../x"), None, "demo")]
    #[case::nothing_on_record(None, None, "demo")]
    fn the_recorded_name_counts(
        #[case] annotated: Option<&str>,
        #[case] reported: Option<&str>,
        #[case] expected: &str,
    ) {
        let mut apply: WorkspaceTemplateApply = serde_json::from_value(serde_json::json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
            "metadata": { "name": "demo-apply", "namespace": "a" },
            "spec": { "templateRef": { "name": "t" } },
            "status": { "workspaceName": reported },
        }))
        .unwrap();
        apply.metadata.annotations =
            annotated.map(|name| [(annotation::WORKSPACE_NAME.to_owned(), name.to_owned())].into());
        assert_eq!(workspace_name(&apply), expected);
    }

    #[rstest]
    #[case::noted("team-a/tfstate-demo-capt", Some("demo"))]
    #[case::with_hyphens("team-a/tfstate-demo-eks-capt", Some("demo-eks"))]
    #[case::of_another_namespace("team-b/tfstate-demo-capt", None)]
    #[case::of_somebody_else("team-a/tfstate-demo-other", None)]
    #[case::nothing_between("team-a/tfstate-capt", None)]
    #[case::a_path("team-a/tfstate-../x-capt", None)]
    #[case::no_namespace("tfstate-demo-capt", None)]
    fn the_terraform_workspace_is_the_one_on_record(#[case] note: &str, #[case] expected: Option<&str>) {
        let mut apply = WorkspaceTemplateApply::new(
            "demo-apply",
            serde_json::from_value(serde_json::json!({ "templateRef": { "name": "t" } })).unwrap(),
        );
        apply.metadata.namespace = Some("team-a".to_owned());
        apply.metadata.annotations = Some([(annotation::STATE.to_owned(), note.to_owned())].into());
        assert_eq!(noted_terraform_workspace(&apply), expected);
        assert!(expected.is_none_or(|name| note.ends_with(&state_secret(name))));
    }

    #[test]
    fn a_noted_name_is_no_right_but_a_wish_is() {
        let mut apply = WorkspaceTemplateApply::new(
            "demo-apply",
            serde_json::from_value(serde_json::json!({ "templateRef": { "name": "t" } })).unwrap(),
        );
        apply.metadata.annotations = Some([(annotation::WORKSPACE_NAME.to_owned(), "x".to_owned())].into());
        assert!(!may_adopt(&apply, "x"));
        apply.metadata.annotations = Some([(annotation::ADOPT_WORKSPACE.to_owned(), "x".to_owned())].into());
        assert!(may_adopt(&apply, "x") && is_wished(&apply, "x"));
        assert_eq!(workspace_name(&apply), "x");
        assert!(!may_adopt(&apply, "y"));
    }

    #[rstest]
    #[case::of_this_one(Some("uid-2"), false)]
    #[case::of_the_one_before_a_move(Some("uid-1"), true)]
    #[case::lost(None, false)]
    #[case::empty(Some(""), false)]
    fn a_label_tells_whether_the_workspace_is_of_the_apply_before_a_move(
        #[case] uid: Option<&str>,
        #[case] expected: bool,
    ) {
        let mut apply = WorkspaceTemplateApply::new(
            "demo-apply",
            serde_json::from_value(serde_json::json!({ "templateRef": { "name": "t" } })).unwrap(),
        );
        apply.metadata.uid = Some("uid-2".to_owned());
        let labels = uid.map(|uid| [(label::APPLY_UID.to_owned(), uid.to_owned())].into());
        assert_eq!(is_of_former(&ObjectMeta { labels, ..ObjectMeta::default() }, &apply), expected);
    }

    fn workspace(managed_by: &str, apply: &str) -> ObjectMeta {
        ObjectMeta {
            labels: Some([(label::MANAGED_BY.to_owned(), managed_by.to_owned())].into()),
            annotations: Some([(annotation::APPLY.to_owned(), apply.to_owned())].into()),
            ..ObjectMeta::default()
        }
    }

    #[rstest]
    #[case::ours(workspace("capt", "team-a/demo-apply"), Belongs::ToUs)]
    #[case::of_another_namespace(workspace("capt", "team-b/demo-apply"),
        Belongs::ToApply(ApplyKey { namespace: "team-b".to_owned(), name: "demo-apply".to_owned() }))]
    #[case::ours_without_its_labels(ObjectMeta { labels: None, ..workspace("capt", "team-a/demo-apply") }, Belongs::ToUs)]
    #[case::managed_by_somebody_else_now(workspace("helm", "team-a/demo-apply"), Belongs::ToNobody)]
    #[case::garbled(workspace("capt", "demo-apply"), Belongs::ToNobody)]
    #[case::bare(ObjectMeta::default(), Belongs::ToNobody)]
    fn a_workspace_belongs_to_the_apply_it_names(#[case] workspace: ObjectMeta, #[case] expected: Belongs) {
        assert_eq!(belongs(&workspace, &key("demo-apply")), expected);
    }
}
