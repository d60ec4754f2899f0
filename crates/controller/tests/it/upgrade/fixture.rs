//! What a version left behind, in files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use capt_terraform::Version;
use capt_testkit::TestCluster;
use jiff::Timestamp;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::{Api, ResourceExt};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a version left behind.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fixture {
    /// Of which CAPT.
    pub(super) version: String,
    /// When.
    pub(super) taken_at: Timestamp,
    /// What ran Terraform.
    pub(super) engine: Version,
    /// In this order owners come before what they own.
    pub(super) objects: Vec<DynamicObject>,
    #[serde(skip)]
    pub(super) crds: Vec<CustomResourceDefinition>,
}

pub(super) fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/upgrade")
}

impl Fixture {
    /// Those of all versions.
    pub(super) fn all() -> Vec<Self> {
        let mut found: Vec<PathBuf> = fs::read_dir(directory())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir())
            .collect();
        found.sort();
        assert!(!found.is_empty(), "`cargo xtask fixture upgrade` writes one");
        found.iter().map(|path| Self::read(path)).collect()
    }

    pub(super) fn is_of_this_version(&self) -> bool {
        self.version == env!("CARGO_PKG_VERSION")
    }

    fn read(path: &Path) -> Self {
        let text = |name: &str| fs::read_to_string(path.join(name)).unwrap();
        let fixture: Self = serde_json::from_str(&text("objects.json")).unwrap();
        Self { crds: serde_json::from_str(&text("crds.json")).unwrap(), ..fixture }
    }

    pub(super) fn write(&self) {
        let path = directory().join(format!("v{}", self.version));
        fs::create_dir_all(&path).unwrap();
        let put = |name: &str, text: String| fs::write(path.join(name), text + "\n").unwrap();
        put("objects.json", serde_json::to_string_pretty(self).unwrap());
        put("crds.json", serde_json::to_string(&self.crds).unwrap());
    }

    /// What objects there are, and what is on them, without values: those differ from run to run.
    pub(super) fn shape(&self) -> BTreeMap<String, Value> {
        let shape = |object: &DynamicObject| {
            let keys = |map: &BTreeMap<String, String>| map.keys().cloned().collect::<Vec<_>>();
            let data = object.data.get("data").and_then(Value::as_object);
            let owners = object.owner_references().iter().map(|owner| (&owner.kind, &owner.name));
            json!({
                "labels": keys(object.labels()),
                "annotations": keys(object.annotations()),
                "finalizers": object.finalizers(),
                "owners": owners.collect::<Vec<_>>(),
                "data": data.map(|data| data.keys().cloned().collect::<Vec<_>>()),
            })
        };
        self.objects.iter().map(|object| (key(object), shape(object))).collect()
    }

    /// How many objects there are of each kind that a driver looks after and that are in order.
    pub(super) fn kinds(&self) -> BTreeMap<&'static str, usize> {
        let mut kinds = BTreeMap::new();
        for kind in ["Workspace", "WorkspaceTemplateApply", "CAPTCluster", "CAPTControlPlane"] {
            let count =
                self.objects.iter().filter(|object| object.types.as_ref().unwrap().kind == kind).count();
            assert!(count > 0, "{}: there is no {kind}", self.version);
            kinds.insert(kind, count);
        }
        kinds
    }
}

/// How an object is called in messages.
pub(super) fn key(object: &DynamicObject) -> String {
    let kind = &object.types.as_ref().unwrap().kind;
    format!("{kind} {}/{}", object.namespace().unwrap_or_default(), object.name_any())
}

/// The name of an object's kind in URLs.
pub(super) fn plural(object: &DynamicObject) -> String {
    resource(object).plural
}

fn resource(object: &DynamicObject) -> ApiResource {
    let types = object.types.as_ref().unwrap();
    let (group, version) = types.api_version.split_once('/').unwrap_or(("", &types.api_version));
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &types.kind))
}

/// Where an object is found.
pub(super) fn api(cluster: &TestCluster, object: &DynamicObject) -> Api<DynamicObject> {
    let resource = resource(object);
    match object.namespace() {
        Some(namespace) => Api::namespaced_with(cluster.client(), &namespace, &resource),
        None => Api::all_with(cluster.client(), &resource),
    }
}
