//! The kinds that CAPT knows, and how each is written.

use std::sync::LazyLock;

use capt_api::crd::{Foreign, foreign, own};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps,
};

use super::near::nearest;

/// A kind with its schemas.
pub(super) struct Definition {
    pub(super) group: String,
    pub(super) kind: String,
    /// It is CAPT's own, and nobody else's.
    own: bool,
    versions: Vec<(String, JSONSchemaProps)>,
}

/// What is known of the kind of an object.
pub(super) enum Known {
    /// It is written so.
    Schema(&'static Definition, &'static JSONSchemaProps),
    /// It is to be written in another way.
    Wrong {
        /// The field that is wrong.
        field: &'static str,
        /// What to tell.
        message: String,
        /// Somebody else may take it.
        perhaps: bool,
    },
    /// It is somebody else's.
    Nothing,
}

static ALL: LazyLock<Vec<Definition>> = LazyLock::new(|| {
    let others = [Foreign::Terraform, Foreign::ClusterApi].into_iter().flat_map(foreign);
    own()
        .into_iter()
        .map(|crd| definition(crd, true))
        .chain(others.map(|crd| definition(crd, false)))
        .collect()
});

fn definition(crd: CustomResourceDefinition, own: bool) -> Definition {
    let versions = crd.spec.versions.into_iter().filter(|version| version.served);
    let schemas = versions.filter_map(|version| Some((version.name, version.schema?.open_api_v3_schema?)));
    Definition { group: crd.spec.group, kind: crd.spec.names.kind, own, versions: schemas.collect() }
}

impl Definition {
    /// The version to write.
    fn api_version(&self) -> String {
        let version = self.versions.first().map_or("", |(version, _)| version.as_str());
        format!("{}/{version}", self.group)
    }
}

/// What is known of a kind in a group and version.
pub(super) fn known(api_version: &str, kind: &str) -> Known {
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    let same_kind = || ALL.iter().filter(|definition| definition.kind == kind);
    if let Some(definition) = same_kind().find(|definition| definition.group == group) {
        return match definition.versions.iter().find(|(name, _)| name == version) {
            Some((_, schema)) => Known::Schema(definition, schema),
            None => Known::Wrong {
                field: "apiVersion",
                message: format!(
                    "`{api_version}` is not a version of {kind} that CAPT knows; write `apiVersion: {}`",
                    definition.api_version()
                ),
                perhaps: !definition.own,
            },
        };
    }
    if let Some(definition) = same_kind().find(|definition| definition.own) {
        let message = format!(
            "{kind} does not belong to `{api_version}`; write `apiVersion: {}`",
            definition.api_version()
        );
        return Known::Wrong { field: "apiVersion", message, perhaps: false };
    }
    let of_group = ALL.iter().filter(|definition| definition.group == group);
    match nearest_kind(kind, of_group.map(|definition| definition.kind.as_str())) {
        Some(near) => Known::Wrong {
            field: "kind",
            message: format!("`{kind}` is no kind of {group}; write `kind: {near}`"),
            perhaps: false,
        },
        None => Known::Nothing,
    }
}

/// Others have kinds of similar names in the same groups, so only what can hardly be meant otherwise counts.
fn nearest_kind<'kinds>(kind: &str, known: impl Iterator<Item = &'kinds str>) -> Option<&'kinds str> {
    nearest(kind, known).filter(|near| strsim::osa_distance(&kind.to_lowercase(), &near.to_lowercase()) <= 2)
}

#[cfg(test)]
pub(super) fn all_schemas() -> impl Iterator<Item = &'static JSONSchemaProps> {
    ALL.iter().flat_map(|definition| definition.versions.iter().map(|(_, schema)| schema))
}
