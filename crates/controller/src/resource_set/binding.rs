//! Writes to bindings. Several sets write to one, so that each write carries the version that it was decided on, and is
//! decided anew when somebody else was faster.

use capt_api::names::RESOURCE_SET_FIELD_MANAGER;
use capt_api::resource_set::{ClusterResourceSetBindingSpec, ResourceBinding};
use capt_api::{Cluster, ClusterResourceSet, ClusterResourceSetBinding};
use capt_core::resource_set::binding::{self, Edit};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::{Api, ResourceExt};
use serde_json::json;
use tracing::{debug, info};

use crate::context::Context;
use crate::error::Error;
use crate::index::Name;
use crate::store::key_of;

/// How often a write is decided anew.
const ATTEMPTS: usize = 8;

/// Writes down what a set has brought to a Cluster.
pub(super) async fn put(
    set: &ClusterResourceSet,
    cluster: &Cluster,
    entries: &[ResourceBinding],
    context: &Context,
) -> Result<(), Error> {
    let desk = Desk::new(key_of(&cluster.metadata), context);
    if let Some(former) = desk.known().filter(|found| !binding::is_of(found, cluster)) {
        // It speaks of an earlier Cluster of this name. Whoever was faster has made a new one.
        match desk.delete(&former).await {
            Err(error) if !error.is_conflict() => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    desk.edit(|present| {
        let present = present.filter(|found| binding::is_of(found, cluster));
        binding::put(present, set, entries)
    })
    .await
}

/// Takes a set out of a binding.
pub(super) async fn forget(set: &ClusterResourceSet, name: &str, context: &Context) -> Result<(), Error> {
    let desk = Desk::new(Name::new(key_of(&set.metadata).namespace, name), context);
    desk.edit(|present| present.map_or(Edit::Nothing, |present| binding::forget(present, set))).await
}

/// Deletes the binding of a Cluster that is gone.
pub(super) async fn delete(set: &ClusterResourceSet, name: &str, context: &Context) -> Result<(), Error> {
    let desk = Desk::new(Name::new(key_of(&set.metadata).namespace, name), context);
    match desk.known() {
        Some(known) => desk.delete(&known).await,
        None => Ok(()),
    }
}

/// Where one binding is written.
struct Desk<'context> {
    name: Name,
    context: &'context Context,
    bindings: Api<ClusterResourceSetBinding>,
}

impl<'context> Desk<'context> {
    fn new(name: Name, context: &'context Context) -> Self {
        let bindings = Api::namespaced(context.client.clone(), &name.namespace);
        Self { name, context, bindings }
    }

    fn known(&self) -> Option<ClusterResourceSetBinding> {
        let known = self.context.resource_set_bindings.get(Some(&self.name.namespace), &self.name.name);
        known.map(|known| (*known).clone())
    }

    /// Writes what is decided about the binding as it is.
    async fn edit(&self, decide: impl Fn(Option<&ClusterResourceSetBinding>) -> Edit) -> Result<(), Error> {
        let mut present = self.known();
        let mut left = ATTEMPTS;
        loop {
            let edit = decide(present.as_ref());
            if edit == Edit::Nothing || !self.context.cluster_serving.is_ours() {
                return Ok(());
            }
            left -= 1;
            match self.carry_out(edit, present.as_ref()).await {
                Err(error) if left == 0 || !error.is_conflict() => return Err(error),
                Ok(false) | Err(_) if left > 0 => {}
                Ok(_) | Err(_) => return Ok(()),
            }
            debug!(binding = self.name.name, "somebody else wrote to the binding in between; looking again");
            let read = self.bindings.get_opt(&self.name.name).await;
            present = read.map_err(Error::api(self.doing("reading")))?;
        }
    }

    /// Makes one write. Answers `false` where the binding is not there any more.
    async fn carry_out(
        &self,
        edit: Edit,
        present: Option<&ClusterResourceSetBinding>,
    ) -> Result<bool, Error> {
        let name = &self.name.name;
        let written = match (edit, present) {
            (Edit::Nothing, _) | (Edit::Delete, None) => return Ok(true),
            (Edit::Delete, Some(present)) => {
                self.delete(present).await?;
                return Ok(true);
            }
            (Edit::Write { owners, bindings }, None) => {
                let spec = ClusterResourceSetBindingSpec { cluster_name: name.clone(), bindings };
                let mut binding = ClusterResourceSetBinding::new(name, spec);
                binding.metadata.owner_references = Some(owners);
                let manager = Some(RESOURCE_SET_FIELD_MANAGER.to_owned());
                let parameters = PostParams { field_manager: manager, ..PostParams::default() };
                Some(
                    self.bindings
                        .create(&parameters, &binding)
                        .await
                        .map_err(Error::api(self.doing("making")))?,
                )
            }
            (Edit::Write { owners, bindings }, Some(present)) => {
                let patch = json!({
                    "metadata": { "resourceVersion": present.resource_version(), "ownerReferences": owners },
                    "spec": { "clusterName": name, "bindings": bindings },
                });
                let manager = Some(RESOURCE_SET_FIELD_MANAGER.to_owned());
                let parameters = PatchParams { field_manager: manager, ..PatchParams::default() };
                let patched = self.bindings.patch(name, &parameters, &Patch::Merge(patch)).await;
                Error::unless_gone(patched.map_err(Error::api(self.doing("writing"))))?
            }
        };
        let is_there = written.is_some();
        if let Some(written) = written {
            self.context.resource_set_bindings.remember(written);
        }
        Ok(is_there)
    }

    /// Deletes the binding as it was seen.
    async fn delete(&self, present: &ClusterResourceSetBinding) -> Result<(), Error> {
        if !self.context.cluster_serving.is_ours() {
            return Ok(());
        }
        let preconditions =
            Preconditions { uid: present.uid(), resource_version: present.resource_version() };
        let parameters = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
        let deleted = self.bindings.delete(&self.name.name, &parameters).await;
        Error::unless_gone(deleted.map_err(Error::api(self.doing("deleting"))))?;
        info!(binding = self.name.name, "deleted the binding");
        Ok(())
    }

    fn doing(&self, verb: &str) -> String {
        format!("{verb} ClusterResourceSetBinding `{}/{}`", self.name.namespace, self.name.name)
    }
}
