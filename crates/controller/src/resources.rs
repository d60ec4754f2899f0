//! `ConfigMaps` and Secrets with manifests: read once, kept until they change.
//!
//! A fleet takes the same few of them. Their changes are known from the watches of metadata, so that nothing is read twice.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use capt_api::names::RESOURCE_SET_SECRET_TYPE;
use capt_api::resource_set::ResourceKind;
use capt_core::manifest::{self, Manifest, Problems};
use capt_core::name::is_object_name;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Api;

use crate::context::Context;
use crate::error::Error;
use crate::index::{Dependency, Name};

/// More than so many are not kept: whoever takes so many reads them again.
const MOST: usize = 512;

type Key = (ResourceKind, Name);

/// What is in a `ConfigMap` or Secret.
type Data = BTreeMap<String, Vec<u8>>;

/// What is kept.
#[derive(Default)]
pub(crate) struct Resources(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    known: HashMap<Key, Arc<Loaded>>,
    /// Counts changes: what was read before one of them is not kept.
    changes: u64,
}

/// What was found.
pub(crate) enum Loaded {
    /// There is no such object.
    Missing,
    /// The Secret has another type.
    WrongType(String),
    /// It is there.
    There(Resource),
}

/// A `ConfigMap` or Secret with manifests.
pub(crate) struct Resource {
    /// Cluster API's hash of it.
    pub(crate) hash: String,
    /// Its uid.
    pub(crate) uid: Option<String>,
    /// The objects, or what is wrong with them.
    pub(crate) manifests: Result<Vec<Manifest>, Problems>,
}

impl Resources {
    /// A resource, from memory or from the API server. What is looked at must have been noted before.
    pub(crate) async fn get(
        &self,
        kind: ResourceKind,
        name: &Name,
        context: &Context,
    ) -> Result<Arc<Loaded>, Error> {
        let key = (kind, name.clone());
        let changes = {
            let kept = self.lock();
            if let Some(known) = kept.known.get(&key) {
                return Ok(Arc::clone(known));
            }
            kept.changes
        };
        let loaded = Arc::new(load(kind, name, context).await?);
        let mut kept = self.lock();
        if kept.changes == changes {
            if kept.known.len() >= MOST {
                kept.known.clear();
            }
            kept.known.insert(key, Arc::clone(&loaded));
        }
        Ok(loaded)
    }

    /// Something has changed, perhaps one of these.
    pub(crate) fn changed(&self, dependency: &Dependency) {
        let key = match dependency {
            Dependency::ConfigMap(name) => (ResourceKind::ConfigMap, name.clone()),
            Dependency::Secret(name) => (ResourceKind::Secret, name.clone()),
            _ => return,
        };
        let mut kept = self.lock();
        kept.changes = kept.changes.wrapping_add(1);
        kept.known.remove(&key);
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // The maps are changed by single calls that cannot panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn load(kind: ResourceKind, name: &Name, context: &Context) -> Result<Loaded, Error> {
    if !is_object_name(&name.name) {
        return Ok(Loaded::Missing);
    }
    let doing = || format!("reading {} `{}/{}`", kind.as_str(), name.namespace, name.name);
    let found: Option<(Data, Option<String>)> = match kind {
        ResourceKind::ConfigMap => {
            let maps: Api<ConfigMap> = Api::namespaced(context.client.clone(), &name.namespace);
            let found = maps.get_opt(&name.name).await.map_err(Error::api(doing()))?;
            let data = |map: ConfigMap| {
                let texts = map.data.unwrap_or_default().into_iter();
                (texts.map(|(key, text)| (key, text.into_bytes())).collect(), map.metadata.uid)
            };
            found.map(data)
        }
        ResourceKind::Secret => {
            let secrets: Api<Secret> = Api::namespaced(context.client.clone(), &name.namespace);
            match secrets.get_opt(&name.name).await.map_err(Error::api(doing()))? {
                Some(secret) if secret.type_.as_deref() != Some(RESOURCE_SET_SECRET_TYPE) => {
                    return Ok(Loaded::WrongType(secret.type_.unwrap_or_default()));
                }
                Some(secret) => {
                    let values = secret.data.unwrap_or_default().into_iter();
                    Some((values.map(|(key, value)| (key, value.0)).collect(), secret.metadata.uid))
                }
                None => None,
            }
        }
    };
    let Some((data, uid)) = found else { return Ok(Loaded::Missing) };
    let manifests = manifest::parse(kind, &name.name, &data);
    Ok(Loaded::There(Resource { hash: manifest::hash(&data), uid, manifests }))
}
