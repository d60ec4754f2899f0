//! Manifests as they are sent to a cluster.

use capt_api::names::annotation;
use capt_core::manifest::{ObjectKey, strip};
use capt_core::name::is_namespace_name;
use kube::Resource as _;
use kube::core::{DynamicObject, Request};
use kube::discovery::{ApiResource, Scope};
use serde_json::{Map, Value, json};

use crate::workload::DEFAULT_NAMESPACE;

/// What the API server takes as a name, whatever the kind.
const LONGEST_NAME: usize = 253;

/// Where an object is in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Location {
    /// As the cluster has it: with a namespace if its kind has one, and without if not.
    pub(super) key: ObjectKey,
    resource: ApiResource,
}

impl Location {
    pub(super) fn new(key: &ObjectKey, resource: ApiResource, scope: &Scope) -> Self {
        let namespace = match scope {
            Scope::Namespaced => Some(key.namespace.clone().unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned())),
            Scope::Cluster => None,
        };
        Self { key: ObjectKey { namespace, ..key.clone() }, resource }
    }

    /// Requests about objects of this kind, there.
    pub(super) fn request(&self) -> Request {
        Request::new(DynamicObject::url_path(&self.resource, self.key.namespace.as_deref()))
    }

    /// The plural, as it is in URLs and answers.
    pub(super) fn plural(&self) -> &str {
        &self.resource.plural
    }
}

/// Tells why an object cannot be reached by its name. Names become parts of URLs as they are.
pub(super) fn check(key: &ObjectKey) -> Result<(), String> {
    // Most kinds take less, but roles and their bindings take nearly everything.
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte);
    let is_name = |name: &str| {
        !name.is_empty()
            && name.len() <= LONGEST_NAME
            && name.bytes().all(legal)
            && name != "."
            && name != ".."
    };
    if !is_name(&key.name) {
        return Err("has a name that no object can have: correct metadata.name".to_owned());
    }
    match &key.namespace {
        Some(namespace) if !is_namespace_name(namespace) => {
            Err("has a namespace that no namespace can be called: correct metadata.namespace".to_owned())
        }
        _ => Ok(()),
    }
}

/// The object as it is applied: with our claim, in its namespace, without what only a cluster can say.
pub(super) fn applied(object: &Value, location: &Location, claim: Option<&str>) -> Value {
    let mut object = object.clone();
    strip(&mut object);
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.insert("name".to_owned(), json!(location.key.name));
        match &location.key.namespace {
            Some(namespace) => metadata.insert("namespace".to_owned(), json!(namespace)),
            None => metadata.remove("namespace"),
        };
        put_claim(metadata, claim);
    }
    object
}

fn put_claim(metadata: &mut Map<String, Value>, claim: Option<&str>) {
    if !metadata.get("annotations").is_some_and(Value::is_object) {
        metadata.insert("annotations".to_owned(), json!({}));
    }
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    match claim {
        Some(claim) => annotations.insert(annotation::ADDON.to_owned(), json!(claim)),
        None => annotations.remove(annotation::ADDON),
    };
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
}

/// Whether two keys are of one object, whatever the version of its kind.
pub(super) fn is_same(one: &ObjectKey, other: &ObjectKey) -> bool {
    identity(one) == identity(other)
}

/// What makes an object the same: its group, kind, namespace and name.
pub(super) fn identity(key: &ObjectKey) -> (&str, &str, &str, &str) {
    (key.group(), &key.kind, key.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE), &key.name)
}

pub(super) fn is_namespace(key: &ObjectKey) -> bool {
    key.kind == "Namespace" && key.api_version == "v1"
}

pub(super) fn is_definition(key: &ObjectKey) -> bool {
    key.kind == "CustomResourceDefinition" && key.group() == "apiextensions.k8s.io"
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn key(api_version: &str, namespace: Option<&str>, name: &str) -> ObjectKey {
        ObjectKey {
            api_version: api_version.to_owned(),
            kind: "ConfigMap".to_owned(),
            namespace: namespace.map(ToOwned::to_owned),
            name: name.to_owned(),
        }
    }

    #[rstest]
    #[case::plain(Some("a"), "x", true)]
    #[case::of_a_role(None, "cert-manager-controller-approve:cert-manager-io", true)]
    #[case::empty(None, "", false)]
    #[case::path(None, "../../secrets/x", false)]
    #[case::dots(None, "..", false)]
    #[case::query(None, "x?force=true", false)]
    #[case::escape(None, "x%2f", false)]
    #[case::placeholder(None, "${NAME}", false)]
    #[case::namespace_that_is_a_path(Some("../kube-system"), "x", false)]
    #[case::namespace_that_is_empty(Some(""), "x", false)]
    fn names_that_could_lead_anywhere_are_refused(
        #[case] namespace: Option<&str>,
        #[case] name: &str,
        #[case] usable: bool,
    ) {
        assert_eq!(check(&key("v1", namespace, name)).is_ok(), usable);
    }

    #[test]
    fn what_only_a_cluster_can_say_is_left_out() {
        let resource = ApiResource::erase::<k8s_openapi::api::core::v1::ConfigMap>(&());
        let location = Location::new(&key("v1", None, "x"), resource, &Scope::Namespaced);
        let read = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": { "a": "b" },
            "metadata": {
                "name": "x", "uid": "1", "resourceVersion": "2", "generation": 3, "managedFields": [{}],
                "creationTimestamp": null, "annotations": null, "labels": { "c": "d" },
            },
        });
        let wanted = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": { "a": "b" },
            "metadata": {
                "name": "x", "namespace": "default", "labels": { "c": "d" },
                "annotations": { "capt.cluster.x-k8s.io/addon": "n/c/s/a" },
            },
        });
        assert_eq!(applied(&read, &location, Some("n/c/s/a")), wanted);
        let mut unclaimed = wanted.clone();
        unclaimed["metadata"].as_object_mut().unwrap().remove("annotations");
        assert_eq!(applied(&wanted, &location, None), unclaimed, "nobody claims what is not his");
    }

    #[test]
    fn an_object_stays_the_same_in_another_version_of_its_kind() {
        assert!(is_same(&key("g/v1", Some("a"), "x"), &key("g/v1beta1", Some("a"), "x")));
        assert!(is_same(&key("v1", None, "x"), &key("v1", Some("default"), "x")));
        assert!(!is_same(&key("g/v1", Some("a"), "x"), &key("h/v1", Some("a"), "x")));
        assert!(!is_same(&key("g/v1", Some("a"), "x"), &key("g/v1", Some("b"), "x")));
    }
}
