//! What an add-on brings to a cluster: manifests, rendered where that is asked for, and values.

use std::collections::{BTreeMap, BTreeSet};

use capt_api::addon_stack::Addon;
use capt_api::names::Reason;
use capt_api::resource_set::ResourceReference;
use capt_api::{AddonStack, Cluster, ClusterResourceSet};
use capt_core::addon::decide::Content;
use capt_core::addon::route::{Route, route};
use capt_core::addon::scrutiny::{Beside, Scrutiny, scrutinize};
use capt_core::addon::sets::Now;
use capt_core::apply::Blocked;
use capt_core::control_plane::names;
use capt_core::digest::{digest, short_digest};
use capt_core::helm_values::check;
use capt_core::manifest::render::{Inputs, render, variables};
use capt_core::manifest::{Manifest, duplicates, order};
use capt_core::tie;
use capt_core::values::{self, Wanted, releases};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, ResourceExt};
use serde_json::json;

use super::observe::{connection_secret, control_plane_name};
use crate::context::Context;
use crate::error::Error;
use crate::index::Name;
use crate::resources::{Loaded, Resource};

/// Everything that is to be brought.
pub(super) struct Whole {
    /// What names it.
    pub(super) content: Content,
    /// The objects, in the order in which they are brought.
    pub(super) manifests: Vec<Manifest>,
    /// The Secrets with values.
    pub(super) values: Vec<Wanted>,
}

/// What content is made of in one cluster.
pub(super) struct Sources<'sources> {
    pub(super) stack: &'sources AddonStack,
    pub(super) cluster: &'sources Cluster,
    pub(super) sets: &'sources [&'sources ClusterResourceSet],
    pub(super) context: &'sources Context,
    /// The outputs of the cluster's module, once they were read.
    outputs: Outputs,
}

/// The outputs of a cluster's module.
enum Outputs {
    Unread,
    Missing,
    There(BTreeMap<String, Vec<u8>>),
}

type Answer<T> = Result<Result<T, Blocked>, Error>;

impl<'sources> Sources<'sources> {
    pub(super) fn new(
        stack: &'sources AddonStack,
        cluster: &'sources Cluster,
        sets: &'sources [&'sources ClusterResourceSet],
        context: &'sources Context,
    ) -> Self {
        Self { stack, cluster, sets, context, outputs: Outputs::Unread }
    }

    /// Names everything that content is made of, so that it is made only when one of them has changed.
    pub(super) async fn fingerprint(&self, addon: &Addon, route: &Route) -> Result<String, Error> {
        let mut texts = vec![
            self.stack.uid().unwrap_or_default(),
            self.stack.metadata.generation.unwrap_or_default().to_string(),
            self.cluster.uid().unwrap_or_default(),
            format!("{route:?} {:?}", self.cluster.spec.control_plane_endpoint),
        ];
        let secret = Name::new(self.namespace(), self.connection_secret());
        texts.push(format!("{:?}", self.context.secrets.get(&secret)));
        texts.push(self.kubernetes().unwrap_or_default());
        let mut resources = self.resources(addon, route);
        resources.extend(self.resources_of_others(addon));
        for resource in resources {
            texts.push(match &*self.load(&resource).await? {
                Loaded::Missing => "missing".to_owned(),
                Loaded::WrongType(type_) => type_.clone(),
                Loaded::There(found) => format!("{:?} {}", found.uid, found.hash),
            });
        }
        Ok(short_digest(texts.iter().map(String::as_str), 32))
    }

    /// What is in a resource now, for comparison with what was brought.
    pub(super) async fn now(&self, resource: &ResourceReference) -> Result<Option<Now>, Error> {
        Ok(match &*self.load(resource).await? {
            Loaded::There(found) => Some(Now { hash: found.hash.clone(), flux: holds_flux(found) }),
            Loaded::Missing | Loaded::WrongType(_) => None,
        })
    }

    /// Everything that is to be brought.
    pub(super) async fn whole(&mut self, addon: &Addon, route: &Route) -> Answer<Whole> {
        let mut manifests = Vec::new();
        for resource in self.resources(addon, route) {
            match self.manifests(&resource).await? {
                Ok(found) => manifests.extend(self.rendered(addon, &resource, found).await?),
                Err(blocked) => return Ok(Err(blocked)),
            }
        }
        let manifests = match manifests.into_iter().collect::<Result<Vec<_>, Blocked>>() {
            Ok(manifests) => manifests,
            Err(blocked) => return Ok(Err(blocked)),
        };
        // Sets of the user may each bring the Namespace that they need: what we do not bring is not ours to refuse.
        let ours = !matches!(route, Route::Theirs { .. });
        if let Some(twice) = duplicates(&manifests).first().filter(|_| ours) {
            return Ok(Err(Blocked::new(Reason::ManifestInvalid, twice.to_string())));
        }
        let manifests = order(manifests);
        let values = match self.values(addon, &manifests).await? {
            Ok(values) => values,
            Err(blocked) => return Ok(Err(blocked)),
        };
        let direct = matches!(route, Route::Direct).then(|| {
            let objects: Vec<_> = manifests.iter().map(|manifest| &manifest.object).collect();
            digest(&json!(objects))
        });
        let content = Content {
            manifests: direct,
            values: values.iter().map(|values| values.digest.clone()).collect(),
            remark: String::new(),
        };
        Ok(Ok(Whole { content, manifests, values }))
    }

    /// Looks at what would be brought, beside everything else that the stack brings.
    pub(super) async fn scrutiny(&self, addon: &Addon, manifests: &[Manifest]) -> Result<Scrutiny, Error> {
        let others = self.manifests_of_others(addon).await?;
        let values: Vec<_> = self.stack.spec.addons.iter().flat_map(|addon| addon.values.clone()).collect();
        let names: BTreeSet<String> = match &self.outputs {
            Outputs::There(outputs) => outputs.keys().cloned().collect(),
            Outputs::Unread | Outputs::Missing => BTreeSet::new(),
        };
        let kubernetes = self.kubernetes();
        let beside = Beside {
            others: &others,
            values: &values,
            default_name: &self.connection_secret(),
            outputs: match &self.outputs {
                Outputs::There(_) => check::Outputs::Names(&names),
                Outputs::Unread | Outputs::Missing => check::Outputs::Unknown,
            },
            kubernetes: kubernetes.as_deref(),
            policy: self.stack.spec.compatibility,
        };
        Ok(scrutinize(manifests, &beside))
    }

    /// The version of Kubernetes that runs, or is asked for.
    fn kubernetes(&self) -> Option<String> {
        let name = control_plane_name(self.cluster)?;
        let control_plane = self.context.control_planes.get(Some(&self.namespace()), name)?;
        let running = control_plane.status.as_ref().and_then(|status| status.version.clone());
        Some(running.unwrap_or_else(|| control_plane.spec.version.clone()))
    }

    /// The `ConfigMaps` and Secrets that hold an add-on, whoever brings it.
    pub(super) fn resources(&self, addon: &Addon, route: &Route) -> Vec<ResourceReference> {
        match route {
            Route::Direct | Route::Ours { .. } | Route::Nothing | Route::Missing { .. } => {
                let named = addon.resources.iter();
                named.map(|one| ResourceReference { kind: one.kind, name: one.name.clone() }).collect()
            }
            Route::Theirs { sets } => {
                let of_route = self.sets.iter().filter(|set| sets.contains(&set.name_any()));
                let mut all: Vec<_> = of_route.flat_map(|set| set.spec.resources.clone()).collect();
                let mut seen = std::collections::BTreeSet::new();
                all.retain(|resource| seen.insert(resource.clone()));
                all
            }
        }
    }

    async fn manifests(&self, resource: &ResourceReference) -> Answer<Vec<Manifest>> {
        let described = format!("{} `{}`", resource.kind.as_str(), resource.name);
        Ok(match &*self.load(resource).await? {
            Loaded::Missing => Err(Blocked::new(
                Reason::ResourceMissing,
                format!("{described} does not exist in namespace `{}`", self.namespace()),
            )),
            Loaded::WrongType(type_) => Err(Blocked::new(
                Reason::WrongSecretType,
                format!(
                    "{described} has the type `{type_}`: Secrets with manifests have the type `{}`",
                    capt_api::names::RESOURCE_SET_SECRET_TYPE
                ),
            )),
            Loaded::There(Resource { manifests: Err(problems), .. }) => {
                Err(Blocked::new(Reason::ManifestInvalid, problems.to_string()))
            }
            Loaded::There(Resource { manifests: Ok(found), .. }) => Ok(found.clone()),
        })
    }

    /// The manifests of a resource, rendered if that is asked for.
    async fn rendered(
        &mut self,
        addon: &Addon,
        resource: &ResourceReference,
        manifests: Vec<Manifest>,
    ) -> Result<Vec<Result<Manifest, Blocked>>, Error> {
        let asked = addon
            .resources
            .iter()
            .any(|one| one.render && one.kind == resource.kind && one.name == resource.name);
        if !asked {
            return Ok(manifests.into_iter().map(Ok).collect());
        }
        let endpoint = self.cluster.spec.control_plane_endpoint.as_ref();
        let endpoint = endpoint.filter(|endpoint| !endpoint.host.is_empty());
        let endpoint = endpoint.map(|endpoint| format!("https://{}:{}", endpoint.host, endpoint.port));
        let workspace = self.workspace_name();
        let outputs = self.outputs().await?;
        let texts: BTreeMap<String, String> = outputs
            .into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key.clone(), String::from_utf8(value.clone()).ok()?)))
            .collect();
        let inputs = Inputs {
            cluster_name: &self.cluster.name_any(),
            namespace: &self.namespace(),
            workspace_name: workspace.as_deref(),
            endpoint: endpoint.as_deref(),
            outputs: &texts,
        };
        Ok(match render(&manifests, &variables(&inputs)) {
            Ok(rendered) => rendered.into_iter().map(Ok).collect(),
            Err(unrendered) if unrendered.missing.is_empty() => {
                vec![Err(Blocked::new(Reason::ManifestInvalid, unrendered.to_string()))]
            }
            Err(unrendered) => vec![Err(Blocked::new(Reason::OutputMissing, unrendered.to_string()))],
        })
    }

    async fn values(&mut self, addon: &Addon, manifests: &[Manifest]) -> Answer<Vec<Wanted>> {
        if addon.values.is_empty() {
            return Ok(Ok(Vec::new()));
        }
        let name = self.connection_secret();
        let salt = self.cluster.uid().unwrap_or_default();
        let own = releases(manifests);
        let mut all = own.clone();
        // How a value is written depends on everybody who reads it.
        all.extend(releases(&self.manifests_of_others(addon).await?));
        let Some(outputs) = self.outputs().await? else {
            let message =
                format!("Secret `{name}` with the outputs of the cluster's module does not exist yet");
            return Ok(Err(Blocked::new(Reason::WaitingForConnectionSecret, message)));
        };
        let wanted = addon.values.iter().map(|values| {
            let mut wanted = values::wanted(values, &name, outputs, &all, &salt)?;
            // Whoever comes later is not waited for.
            wanted.consumers.retain(|key| own.iter().any(|release| release.key() == *key));
            Ok(wanted)
        });
        let wanted: Result<Vec<_>, values::Problem> = wanted.collect();
        Ok(wanted.map_err(|problem| Blocked::new(problem.reason(), problem.to_string())))
    }

    /// What the other add-ons of the stack bring, as it is written.
    async fn manifests_of_others(&self, addon: &Addon) -> Result<Vec<Manifest>, Error> {
        let mut found = Vec::new();
        for resource in self.resources_of_others(addon) {
            // What is wrong with it is told where it is brought.
            found.extend(self.manifests(&resource).await?.unwrap_or_default());
        }
        Ok(found)
    }

    fn resources_of_others(&self, addon: &Addon) -> Vec<ResourceReference> {
        let others = self.stack.spec.addons.iter().filter(|other| other.name != addon.name);
        let name = self.stack.name_any();
        others
            .flat_map(|other| self.resources(other, &route(&name, other, self.sets.iter().copied())))
            .collect()
    }

    /// The outputs of the cluster's module; `None` where there are none yet.
    async fn outputs(&mut self) -> Result<Option<&BTreeMap<String, Vec<u8>>>, Error> {
        if matches!(self.outputs, Outputs::Unread) {
            let name = self.connection_secret();
            let secrets: Api<Secret> = Api::namespaced(self.context.client.clone(), &self.namespace());
            let found = match self.context.secrets.get(&Name::new(self.namespace(), &name)) {
                Some(_) => secrets
                    .get_opt(&name)
                    .await
                    .map_err(Error::api(format!("reading Secret `{}/{name}`", self.namespace())))?,
                None => None,
            };
            self.outputs = match found {
                None => Outputs::Missing,
                Some(secret) => {
                    let data = secret.data.unwrap_or_default().into_iter();
                    Outputs::There(data.map(|(key, value)| (key, value.0)).collect())
                }
            };
        }
        Ok(match &self.outputs {
            Outputs::There(outputs) => Some(outputs),
            Outputs::Unread | Outputs::Missing => None,
        })
    }

    fn connection_secret(&self) -> String {
        connection_secret(self.cluster, self.context)
    }

    fn workspace_name(&self) -> Option<String> {
        let namespace = self.namespace();
        let name = control_plane_name(self.cluster)?;
        let control_plane = self.context.control_planes.get(Some(&namespace), name)?;
        let apply = self.context.applies.get(Some(&namespace), &names::apply(&control_plane))?;
        Some(tie::workspace_name(&apply))
    }

    fn namespace(&self) -> String {
        self.stack.namespace().unwrap_or_default()
    }

    async fn load(&self, resource: &ResourceReference) -> Result<std::sync::Arc<Loaded>, Error> {
        let name = Name::new(self.namespace(), &resource.name);
        self.context.resources.get(resource.kind, &name, self.context).await
    }
}

/// Whether a resource holds objects of Flux.
fn holds_flux(resource: &Resource) -> bool {
    let manifests = resource.manifests.as_deref().unwrap_or_default();
    manifests.iter().any(|manifest| manifest.key().group().ends_with(".toolkit.fluxcd.io"))
}
