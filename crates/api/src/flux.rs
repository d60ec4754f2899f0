//! The few fields of Flux's sources that CAPT reads, and how a Workspace names one.
//!
//! Their CRDs are Flux's own: CAPT never installs them.

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use serde::{Deserialize, Serialize};

/// Of a `GitRepository`'s spec CAPT looks at nothing.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "source.toolkit.fluxcd.io",
    version = "v1",
    kind = "GitRepository",
    namespaced,
    schema = "disabled",
    status = "SourceStatus",
    doc = "A git repository that Flux keeps an archive of.",
    derive = "PartialEq"
)]
pub struct GitRepositorySpec {}

/// Of an `OCIRepository`'s spec CAPT looks at nothing.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "source.toolkit.fluxcd.io",
    version = "v1",
    kind = "OCIRepository",
    root = "OciRepository",
    namespaced,
    schema = "disabled",
    status = "SourceStatus",
    doc = "A repository of a container registry that Flux keeps an archive of.",
    derive = "PartialEq"
)]
pub struct OciRepositorySpec {}

/// Of a Bucket's spec CAPT looks at nothing.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "source.toolkit.fluxcd.io",
    version = "v1",
    kind = "Bucket",
    namespaced,
    schema = "disabled",
    status = "SourceStatus",
    doc = "A bucket of an object store that Flux keeps an archive of.",
    derive = "PartialEq"
)]
pub struct BucketSpec {}

/// What Flux tells of a source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceStatus {
    /// The last archive that Flux made. It stays when a later attempt fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Artifact>,
    /// Ready among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// An archive of a source, as a gzip-compressed tar file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Where it is served.
    pub url: String,
    /// What it was made of, for example a branch and a commit.
    #[serde(default)]
    pub revision: String,
    /// The digest of the file, for example `sha256:…`.
    #[serde(default)]
    pub digest: String,
    /// When it was made.
    #[serde(default)]
    pub last_update_time: String,
}

/// A kind of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// A git repository.
    GitRepository,
    /// A repository of a container registry.
    OciRepository,
    /// A bucket of an object store.
    Bucket,
}

impl SourceKind {
    const ALL: [Self; 3] = [Self::GitRepository, Self::OciRepository, Self::Bucket];

    /// The kind as it is written in manifests.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::GitRepository => "GitRepository",
            Self::OciRepository => "OCIRepository",
            Self::Bucket => "Bucket",
        }
    }
}

impl fmt::Display for SourceKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A source as a Workspace with `source: Flux` names it in `module`: `GitRepository::namespace/name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceAddress {
    /// The kind.
    pub kind: SourceKind,
    /// The namespace; may be anything but empty.
    pub namespace: String,
    /// The name; may be anything but empty.
    pub name: String,
}

impl SourceAddress {
    /// Reads the module of a Workspace. `None` when it is not written in this way.
    pub fn parse(module: &str) -> Option<Self> {
        let (kind, object) = module.split_once("::")?;
        let kind = SourceKind::ALL.into_iter().find(|known| known.as_str() == kind)?;
        let (namespace, name) = object.split_once('/')?;
        let plain = !namespace.is_empty() && !name.is_empty() && !name.contains('/');
        plain.then(|| Self { kind, namespace: namespace.to_owned(), name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use kube::Resource;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::empty("")]
    #[case::no_kind("flux-system/modules")]
    #[case::another_kind("HelmRepository::flux-system/modules")]
    #[case::kind_in_other_letters("gitrepository::flux-system/modules")]
    #[case::no_namespace("GitRepository::modules")]
    #[case::empty_namespace("GitRepository::/modules")]
    #[case::empty_name("GitRepository::flux-system/")]
    #[case::a_path("GitRepository::flux-system/modules/vpc")]
    #[case::one_colon("GitRepository:flux-system/modules")]
    #[case::space_before(" GitRepository::flux-system/modules")]
    fn what_names_no_source_is_not_read(#[case] module: &str) {
        assert_eq!(SourceAddress::parse(module), None);
    }

    #[rstest]
    #[case("GitRepository::a/b", SourceKind::GitRepository)]
    #[case("OCIRepository::a/b", SourceKind::OciRepository)]
    #[case("Bucket::a/b", SourceKind::Bucket)]
    fn a_module_names_a_source(#[case] module: &str, #[case] kind: SourceKind) {
        let expected = SourceAddress { kind, namespace: "a".to_owned(), name: "b".to_owned() };
        assert_eq!(SourceAddress::parse(module), Some(expected));
    }

    #[test]
    fn kinds_are_asked_for_under_flux_s_own_names() {
        let names = [
            (GitRepository::kind(&()), GitRepository::plural(&())),
            (OciRepository::kind(&()), OciRepository::plural(&())),
            (Bucket::kind(&()), Bucket::plural(&())),
        ];
        let expected = [
            ("GitRepository", "gitrepositories"),
            ("OCIRepository", "ocirepositories"),
            ("Bucket", "buckets"),
        ];
        assert_eq!(names.each_ref().map(|(kind, plural)| (kind.as_ref(), plural.as_ref())), expected);
    }

    #[test]
    fn a_source_is_read_whatever_else_flux_says_of_it() {
        let source: GitRepository = serde_json::from_value(json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
            "metadata": { "name": "modules", "namespace": "flux-system" },
            "spec": { "url": "https://example.org/modules.git", "interval": "1m", "ref": { "branch": "main" } },
            "status": {
                "observedGeneration": 3,
                "artifact": {
                    "url": "http://source-controller.flux-system.svc/x.tar.gz", "revision": "main@sha1:1",
                    "digest": "sha256:2", "lastUpdateTime": "2026-01-01T00:00:00Z", "size": 7, "path": "x.tar.gz",
                    "metadata": { "a": "b" },
                },
                "conditions": [{
                    "type": "Ready", "status": "False", "reason": "GitOperationFailed", "message": "no such host",
                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                }],
            },
        }))
        .unwrap();
        let status = source.status.unwrap();
        assert_eq!(status.artifact.unwrap().digest, "sha256:2");
        assert_eq!(status.conditions[0].message, "no such host");
    }
}
