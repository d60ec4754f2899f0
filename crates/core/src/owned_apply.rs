//! The `WorkspaceTemplateApply` that a network or a control plane makes for itself.
//!
//! It is owned by its maker, so that garbage collection and `clusterctl move` find it, and it can be made again at any time.

use std::collections::BTreeMap;

use capt_api::WorkspaceTemplateApply;
use capt_api::names::{MANAGED_BY_CAPT, annotation, label};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use serde_json::{Value, json};

use crate::digest::digest;
use crate::owned_state::{self, Made};
use crate::standing::api_group;
use crate::tie::label_value;

/// The network or control plane that an apply, or a Secret, belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its API version.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// What was made for its apply.
    pub made: Option<Made>,
}

impl Owner {
    /// Makes an owner of an object.
    pub fn of<K: Resource<DynamicType = ()>>(object: &K) -> Self {
        let metadata = object.meta();
        Self {
            api_version: K::api_version(&()).into_owned(),
            kind: K::kind(&()).into_owned(),
            namespace: metadata.namespace.clone().unwrap_or_default(),
            name: metadata.name.clone().unwrap_or_default(),
            uid: metadata.uid.clone().unwrap_or_default(),
            made: owned_state::remembered(metadata),
        }
    }

    /// The reference that says so. Nobody's deletion is held up by it.
    pub fn reference(&self) -> Value {
        json!({
            "apiVersion": self.api_version,
            "kind": self.kind,
            "name": self.name,
            "uid": self.uid,
            "controller": true,
        })
    }
}

/// Whose an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Belongs {
    /// Ours.
    ToUs,
    /// Ours, but it names an owner that no longer exists, as after a restore or a move.
    ToOurPast,
    /// Somebody else's, named as `Kind name`.
    ToOther(String),
    /// Nobody's that we know.
    ToNobody,
}

/// Whose the object with this metadata is.
pub fn belongs(metadata: &ObjectMeta, owner: &Owner) -> Belongs {
    let owners: Vec<_> = metadata.owner_references.iter().flatten().collect();
    let same = owners.iter().find(|reference| {
        reference.kind == owner.kind
            && reference.name == owner.name
            && api_group(&reference.api_version) == api_group(&owner.api_version)
    });
    let other = owners.iter().find(|reference| reference.controller == Some(true));
    match (same, other) {
        (Some(same), _) if same.uid == owner.uid => Belongs::ToUs,
        (Some(_), _) => Belongs::ToOurPast,
        (None, Some(other)) => Belongs::ToOther(format!("{} {}", other.kind, other.name)),
        (None, None) => Belongs::ToNobody,
    }
}

/// An apply as it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Its name.
    pub name: String,
    /// The Cluster that it belongs to.
    pub cluster: Option<String>,
    /// Its spec, as far as its maker has a say.
    pub spec: Value,
}

impl Wanted {
    /// The object that is applied: to `present`, or as a new one.
    ///
    /// A new one knows what was made for the one that was lost. What is known of that is repeated ever after, or it would be
    /// taken away; whoever noted something else meanwhile is not overruled.
    pub fn object(&self, owner: &Owner, present: Option<&WorkspaceTemplateApply>) -> Value {
        let mut labels = BTreeMap::from([(label::MANAGED_BY.to_owned(), MANAGED_BY_CAPT.to_owned())]);
        if let Some(cluster) = &self.cluster {
            labels.insert(label::CLUSTER_NAME.to_owned(), label_value(cluster));
        }
        let mut object = json!({
            "apiVersion": WorkspaceTemplateApply::api_version(&()),
            "kind": WorkspaceTemplateApply::kind(&()),
            "metadata": {
                "name": self.name,
                "labels": labels,
                "annotations": { annotation::WANTED_DIGEST: digest(&self.spec) },
                "ownerReferences": [owner.reference()],
            },
            "spec": self.spec,
        });
        let metadata = &mut object["metadata"];
        match present {
            None => {
                if let Some((key, value)) = owner.made.as_ref().map(Made::annotation) {
                    metadata["annotations"][key] = json!(value);
                }
            }
            Some(present) => {
                metadata["uid"] = json!(present.metadata.uid);
                for (key, value) in present.metadata.annotations.iter().flatten() {
                    if [annotation::STATE, annotation::MADE_BY].contains(&key.as_str()) {
                        metadata["annotations"][key] = json!(value);
                        metadata["resourceVersion"] = json!(present.metadata.resource_version);
                    }
                }
            }
        }
        object
    }

    /// Whether an apply is as it should be. What others added is left alone; what they changed is not.
    pub fn is_met_by(&self, apply: &WorkspaceTemplateApply, owner: &Owner) -> bool {
        let noted = apply.metadata.annotations.as_ref().and_then(|all| all.get(annotation::WANTED_DIGEST));
        let label = |key: &str| apply.metadata.labels.as_ref()?.get(key).cloned();
        belongs(&apply.metadata, owner) == Belongs::ToUs
            && noted == Some(&digest(&self.spec))
            && self
                .cluster
                .as_ref()
                .is_none_or(|cluster| label(label::CLUSTER_NAME) == Some(label_value(cluster)))
            && contains(&json!(apply.spec), &self.spec)
    }
}

/// Whether everything of `part` is in `whole` with the same value.
fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            // What is empty is left out where it is read.
            let is_empty =
                |part: &Value| matches!(part, Value::Null) || *part == json!([]) || *part == json!({});
            part.iter().all(|(key, part)| {
                whole.get(key).map_or_else(|| is_empty(part), |whole| contains(whole, part))
            })
        }
        (Value::Array(whole), Value::Array(part)) => {
            part.iter().all(|part| whole.iter().any(|whole| contains(whole, part)))
        }
        (whole, part) => whole == part,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn owner() -> Owner {
        Owner {
            api_version: "controlplane.cluster.x-k8s.io/v1beta1".to_owned(),
            kind: "CAPTControlPlane".to_owned(),
            namespace: "a".to_owned(),
            name: "demo".to_owned(),
            uid: "1".to_owned(),
            made: None,
        }
    }

    fn wanted(variables: &Value) -> Wanted {
        let spec = json!({ "templateRef": { "name": "t" }, "variables": variables });
        Wanted { name: "demo-apply".to_owned(), cluster: Some("demo".to_owned()), spec }
    }

    #[test]
    fn nothing_to_be_taken_from_others_is_met_by_nothing() {
        let mut wanted = wanted(&json!({ "region": "r" }));
        wanted.spec["variablesFrom"] = json!([]);
        assert!(wanted.is_met_by(&apply(wanted.object(&owner(), None)), &owner()));
    }

    fn apply(object: Value) -> WorkspaceTemplateApply {
        serde_json::from_value(object).unwrap()
    }

    #[test]
    fn what_was_applied_meets_what_is_wanted() {
        let wanted = wanted(&json!({ "region": "r" }));
        let mut object = wanted.object(&owner(), None);
        assert!(wanted.is_met_by(&apply(object.clone()), &owner()));
        object["spec"]["variables"]["theirs"] = json!("1");
        assert!(wanted.is_met_by(&apply(object.clone()), &owner()), "additions of others are left alone");
        object["spec"]["variables"]["region"] = json!("elsewhere");
        assert!(!wanted.is_met_by(&apply(object), &owner()), "changes of others are not");
    }

    #[test]
    fn what_is_no_longer_wanted_is_noticed() {
        let object = wanted(&json!({ "region": "r", "gone": "1" })).object(&owner(), None);
        assert!(!wanted(&json!({ "region": "r" })).is_met_by(&apply(object), &owner()));
    }

    #[test]
    fn an_apply_that_was_lost_is_made_again_with_its_state() {
        let wanted = wanted(&json!({}));
        let remembering = Owner { made: Some(Made::State("a/tfstate-demo-capt".to_owned())), ..owner() };
        let object = wanted.object(&remembering, None);
        assert_eq!(object["metadata"]["annotations"][annotation::STATE], "a/tfstate-demo-capt");
        assert_eq!(wanted.object(&owner(), None)["metadata"]["annotations"].get(annotation::STATE), None);
    }

    #[test]
    fn an_apply_that_was_lost_knows_what_crossplane_has_made_for_it_and_goes_on_knowing() {
        let wanted = wanted(&json!({}));
        let remembering = Owner { made: Some(Made::ByCrossplane), ..owner() };
        let object = wanted.object(&remembering, None);
        assert_eq!(object["metadata"]["annotations"][annotation::MADE_BY], "crossplane");
        let again = wanted.object(&owner(), Some(&apply(object)));
        assert_eq!(again["metadata"]["annotations"][annotation::MADE_BY], "crossplane");
    }

    #[test]
    fn what_an_apply_knows_of_its_state_stays_as_it_is() {
        let wanted = wanted(&json!({}));
        let remembering = Owner { made: Some(Made::State("a/before".to_owned())), ..owner() };
        let mut present = apply(wanted.object(&owner(), None));
        present.metadata.resource_version = Some("7".to_owned());
        let object = wanted.object(&remembering, Some(&present));
        assert_eq!(object["metadata"]["annotations"].get(annotation::STATE), None, "nothing is made up");
        assert_eq!(object["metadata"].get("resourceVersion"), None);
        present
            .metadata
            .annotations
            .get_or_insert_default()
            .insert(annotation::STATE.to_owned(), "b/now".to_owned());
        let object = wanted.object(&remembering, Some(&present));
        assert_eq!(object["metadata"]["annotations"][annotation::STATE], "b/now");
        assert_eq!(
            object["metadata"]["resourceVersion"], "7",
            "a note that was changed meanwhile is not overruled"
        );
    }

    #[rstest]
    #[case::ours("controlplane.cluster.x-k8s.io/v1beta1", "CAPTControlPlane", "demo", "1", Belongs::ToUs)]
    #[case::of_another_version(
        "controlplane.cluster.x-k8s.io/v1alpha1",
        "CAPTControlPlane",
        "demo",
        "1",
        Belongs::ToUs
    )]
    #[case::restored(
        "controlplane.cluster.x-k8s.io/v1beta1",
        "CAPTControlPlane",
        "demo",
        "old",
        Belongs::ToOurPast
    )]
    #[case::of_another_name(
        "controlplane.cluster.x-k8s.io/v1beta1",
        "CAPTControlPlane",
        "other",
        "1",
        Belongs::ToOther("CAPTControlPlane other".to_owned())
    )]
    #[case::of_another_kind("example.com/v1", "Thing", "demo", "1", Belongs::ToOther("Thing demo".to_owned()))]
    fn owners_are_found_by_kind_and_name(
        #[case] api_version: &str,
        #[case] kind: &str,
        #[case] name: &str,
        #[case] uid: &str,
        #[case] expected: Belongs,
    ) {
        let reference = json!({
            "apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": true,
        });
        let metadata: ObjectMeta = serde_json::from_value(json!({ "ownerReferences": [reference] })).unwrap();
        assert_eq!(belongs(&metadata, &owner()), expected);
    }

    #[test]
    fn what_has_no_owner_is_nobodys() {
        assert_eq!(belongs(&ObjectMeta::default(), &owner()), Belongs::ToNobody);
    }
}
