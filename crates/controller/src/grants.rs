//! Whether references that lead to another namespace are granted.

use capt_api::flux::{Bucket, GitRepository, OciRepository, SourceKind};
use capt_api::names::Reason;
use capt_core::apply::Blocked;
use capt_core::grant::{self, Reference, Target, TargetKind};
use capt_core::name::{is_namespace_name, is_object_name};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;

use crate::context::Context;
use crate::error::Error;
use crate::index::{Dependency, Dependent, Name, Notes};
use crate::stop::Stop;

/// Looks for grants to objects of one namespace, and notes where it looks.
pub(crate) struct Grants<'reconcile> {
    pub(crate) namespace: &'reconcile str,
    pub(crate) context: &'reconcile Context,
    pub(crate) notes: &'reconcile Notes<'reconcile, Dependent>,
}

impl Grants<'_> {
    /// Refuses references that lead to another namespace and are not granted.
    pub(crate) async fn permit(&self, reference: &Reference) -> Result<(), Stop> {
        let Target { kind, namespace, name } = &reference.target;
        if !is_object_name(name) || !is_namespace_name(namespace) {
            let message = format!("{}: `{namespace}/{name}` cannot be the name of a {kind}", reference.field);
            return Err(Blocked::new(Reason::VariableInvalid, message).into());
        }
        if namespace == self.namespace || self.context.options.allow_cross_namespace_references {
            return Ok(());
        }
        self.notes.on(Dependency::Namespace(namespace.clone()));
        let namespaces = Api::<Namespace>::all(self.context.client.clone());
        let granted = granted(&namespaces, namespace, self.namespace).await?
            || self.granted_by(&reference.target).await?;
        if granted {
            return Ok(());
        }
        Err(Blocked::new(Reason::ReferenceNotGranted, grant::refusal(reference, self.namespace)).into())
    }

    /// Whether the object itself grants it.
    async fn granted_by(&self, target: &Target) -> Result<bool, Error> {
        let Target { kind, namespace, name } = target;
        match kind {
            TargetKind::Secret => {
                self.notes.on(Dependency::Secret(Name::new(namespace, name)));
                granted(&self.api::<Secret>(namespace), name, self.namespace).await
            }
            TargetKind::ConfigMap => {
                self.notes.on(Dependency::ConfigMap(Name::new(namespace, name)));
                granted(&self.api::<ConfigMap>(namespace), name, self.namespace).await
            }
            TargetKind::Workspace => Ok(self.context.workspaces.get(None, name).is_some_and(|workspace| {
                grant::grants(workspace.metadata.annotations.as_ref(), self.namespace)
            })),
            TargetKind::FluxSource(kind) => {
                self.notes.on(flux_source(*kind, namespace, name));
                match kind {
                    SourceKind::GitRepository => {
                        granted(&self.api::<GitRepository>(namespace), name, self.namespace).await
                    }
                    SourceKind::OciRepository => {
                        granted(&self.api::<OciRepository>(namespace), name, self.namespace).await
                    }
                    SourceKind::Bucket => granted(&self.api::<Bucket>(namespace), name, self.namespace).await,
                }
            }
        }
    }

    fn api<K>(&self, namespace: &str) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.context.client.clone(), namespace)
    }
}

/// What an object that uses a source of Flux depends on.
pub(crate) fn flux_source(kind: SourceKind, namespace: &str, name: &str) -> Dependency {
    Dependency::FluxSource(kind, Name::new(namespace, name))
}

async fn granted<K>(api: &Api<K>, name: &str, namespace: &str) -> Result<bool, Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    let doing = format!("reading the grants of {} `{name}`", K::kind(&()));
    match api.get_metadata_opt(name).await.map_err(Error::api(doing)) {
        Ok(found) => {
            Ok(found.is_some_and(|object| grant::grants(object.metadata.annotations.as_ref(), namespace)))
        }
        // A manager that may look at some namespaces only cannot see grants elsewhere: there are none for it.
        Err(error) if error.is_forbidden() => Ok(false),
        Err(error) => Err(error),
    }
}
