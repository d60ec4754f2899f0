//! Which kinds a cluster serves: asked for one group and version at a time, and remembered.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use capt_core::name::{is_namespace_name, is_object_name};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;
use kube::core::GroupVersion;
use kube::discovery::{ApiResource, Scope};

use super::{Failure, Talk};

/// Which kinds a cluster serves, by API version.
#[derive(Debug, Default)]
pub(crate) struct Kinds(Mutex<HashMap<String, Vec<Served>>>);

#[derive(Clone, Debug)]
struct Served {
    kind: String,
    plural: String,
    namespaced: bool,
}

impl Kinds {
    /// How objects of a kind are reached; `None` where the cluster does not serve it. What is not known is asked for once.
    pub(super) async fn resolve(
        &self,
        talk: &Talk<'_>,
        api_version: &str,
        kind: &str,
    ) -> Result<Option<(ApiResource, Scope)>, Failure> {
        if let Some(known) = self.get(api_version, kind) {
            return Ok(Some(known));
        }
        let Some(version) = version_of(api_version) else { return Ok(None) };
        let client = talk.client();
        let listed = if version.group.is_empty() {
            talk.ask(client.list_core_api_resources(&version.version)).await
        } else {
            talk.ask(client.list_api_group_resources(api_version)).await
        };
        match listed {
            Ok(listed) => self.put(api_version, served(listed)),
            Err(Failure::Refused(status)) if status.code == 404 => self.forget(api_version),
            Err(failure) => return Err(failure),
        }
        Ok(self.get(api_version, kind))
    }

    /// Takes from a definition that is established what it serves: the cluster's own list of kinds lags behind.
    pub(super) fn learn(&self, definition: &CustomResourceDefinition) {
        let spec = &definition.spec;
        let learnt = Served {
            kind: spec.names.kind.clone(),
            plural: spec.names.plural.clone(),
            namespaced: spec.scope == "Namespaced",
        };
        let mut known = self.lock();
        for version in spec.versions.iter().filter(|version| version.served) {
            let served = known.entry(format!("{}/{}", spec.group, version.name)).or_default();
            served.retain(|other| other.kind != learnt.kind);
            served.push(learnt.clone());
        }
    }

    /// Forgets a group and version that turned out to be another than remembered.
    pub(super) fn forget(&self, api_version: &str) {
        self.lock().remove(api_version);
    }

    fn put(&self, api_version: &str, served: Vec<Served>) {
        self.lock().insert(api_version.to_owned(), served);
    }

    fn get(&self, api_version: &str, kind: &str) -> Option<(ApiResource, Scope)> {
        let version = version_of(api_version)?;
        let known = self.lock();
        let served = known.get(api_version)?.iter().find(|served| served.kind == kind)?;
        let resource = ApiResource {
            group: version.group,
            version: version.version,
            api_version: api_version.to_owned(),
            kind: served.kind.clone(),
            plural: served.plural.clone(),
        };
        Some((resource, if served.namespaced { Scope::Namespaced } else { Scope::Cluster }))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Vec<Served>>> {
        // The map is changed by single calls that cannot panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Group and version, where they can stand in a URL.
fn version_of(api_version: &str) -> Option<GroupVersion> {
    let version: GroupVersion = api_version.parse().ok()?;
    let group_is_safe = version.group.is_empty() || is_object_name(&version.group);
    (group_is_safe && is_namespace_name(&version.version)).then_some(version)
}

fn served(listed: APIResourceList) -> Vec<Served> {
    let is_whole = |name: &str| !name.contains('/');
    let resources = listed.resources.into_iter().filter(|resource| is_whole(&resource.name));
    resources
        .map(|resource| Served {
            kind: resource.kind,
            plural: resource.name,
            namespaced: resource.namespaced,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::core("v1", true)]
    #[case::group("apps/v1", true)]
    #[case::long_group("source.toolkit.fluxcd.io/v1beta2", true)]
    #[case::empty("", false)]
    #[case::path("../../api/v1", false)]
    #[case::query("apps/v1?watch=1", false)]
    #[case::upper_case("Apps/v1", false)]
    fn what_could_lead_anywhere_is_no_version(#[case] api_version: &str, #[case] usable: bool) {
        assert_eq!(version_of(api_version).is_some(), usable);
    }
}
