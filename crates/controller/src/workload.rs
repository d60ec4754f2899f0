//! Clients of the clusters that are made: shared, bounded, and following every change of credentials.
//!
//! A client lives as long as the content of the Secret `<cluster>-kubeconfig`. Whether that has changed is known from the watch
//! of Secrets; it is read only then. No lock is held while something is waited for, so that a cluster that does not answer
//! holds up nobody else.

mod client;
mod failure;
mod kinds;
mod talk;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use capt_core::control_plane::names;
use capt_core::name::{is_namespace_name, is_object_name};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client, ResourceExt};
use sha2::{Digest as _, Sha256};

pub(crate) use failure::{Failure, LONGEST};
pub(crate) use kinds::Kinds;
pub(crate) use talk::{Answer, DEFAULT_NAMESPACE, Talk};

use crate::context::Context;
use crate::error::Error;
use crate::index::Name;
use crate::secret_versions::SecretVersions;
use crate::store::version;

/// The key of the kubeconfig in its Secret, as Cluster API has it.
const KEY: &str = "value";

/// How long clusters are waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// For a connection.
    pub(crate) connect: Duration,
    /// For the next byte.
    pub(crate) read: Duration,
    /// For a whole answer.
    pub(crate) request: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            read: Duration::from_secs(30),
            request: Duration::from_secs(15),
        }
    }
}

/// A cluster that can be talked to.
pub(crate) struct Workload {
    client: Client,
    kinds: Arc<Kinds>,
    patience: Patience,
    /// The Secret with the kubeconfig, for messages.
    secret: String,
    identity: Identity,
}

impl Workload {
    /// Starts a conversation.
    pub(crate) fn talk(&self) -> Talk<'_> {
        Talk::new(self)
    }

    /// The Secret with the kubeconfig, for messages.
    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }

    /// Which cluster this is. What is remembered of a cluster counts only as long as this is the same.
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }
}

/// Which cluster it is: renewed credentials make no other, another server or another Secret of the same name do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    secret_uid: Option<String>,
    server: String,
}

impl Identity {
    /// Names the cluster, for what outlives this process.
    pub(crate) fn name(&self) -> &str {
        &self.server
    }
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unavailable {
    /// There are no credentials (yet).
    #[error("{0}")]
    NoCredentials(String),
    /// The credentials cannot be used.
    #[error("{0}")]
    Unusable(String),
    /// The credentials could not be read.
    #[error(transparent)]
    Error(#[from] Error),
}

/// Clients of clusters.
pub(crate) struct Workloads {
    most: usize,
    patience: Patience,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    entries: HashMap<Name, Entry>,
    /// Counts the uses, so that it is known which was longest ago.
    uses: u64,
}

/// What came of a Secret.
struct Entry {
    version: u64,
    uid: Option<String>,
    digest: [u8; 32],
    client: Result<Arc<Workload>, String>,
    used: u64,
}

impl Workloads {
    /// Keeps this many clients at most; those that were not used for longest go first.
    pub(crate) fn new(most: usize) -> Self {
        Self::with_patience(most, Patience::default())
    }

    /// As [`Self::new`], with other deadlines.
    pub(crate) fn with_patience(most: usize, patience: Patience) -> Self {
        Self { most: most.max(1), patience, kept: Mutex::default() }
    }

    /// The client of a cluster. Nothing is asked for as long as its Secret is the same.
    pub(crate) async fn of(&self, cluster: &Name, context: &Context) -> Result<Arc<Workload>, Unavailable> {
        self.by_secret(cluster, &context.secrets, &context.client).await
    }

    /// Forgets a cluster that is gone.
    pub(crate) fn forget(&self, cluster: &Name) {
        self.lock().entries.remove(cluster);
    }

    async fn by_secret(
        &self,
        cluster: &Name,
        versions: &SecretVersions,
        client: &Client,
    ) -> Result<Arc<Workload>, Unavailable> {
        let secret = Name::new(&cluster.namespace, names::kubeconfig(&cluster.name));
        let name = format!("{}/{}", secret.namespace, secret.name);
        // They become parts of a URL.
        if !is_namespace_name(&secret.namespace) || !is_object_name(&secret.name) {
            return Err(Unavailable::Unusable(format!("`{name}` cannot be the name of a Secret")));
        }
        let Some(newest) = versions.get(&secret) else {
            self.forget(cluster);
            return Err(absent(&name));
        };
        if let Some(kept) = self.kept(cluster, newest) {
            return kept.map_err(Unavailable::Unusable);
        }
        let secrets: Api<Secret> = Api::namespaced(client.clone(), &secret.namespace);
        let doing = format!("reading Secret `{name}`");
        let Some(found) = secrets.get_opt(&secret.name).await.map_err(Error::api(doing))? else {
            self.forget(cluster);
            return Err(absent(&name));
        };
        self.take(cluster, &name, &found).await.map_err(Unavailable::Unusable)
    }

    /// What is known, where it is of this version or a newer one.
    fn kept(&self, cluster: &Name, newest: u64) -> Option<Result<Arc<Workload>, String>> {
        let mut kept = self.lock();
        kept.uses += 1;
        let uses = kept.uses;
        let entry = kept.entries.get_mut(cluster).filter(|entry| entry.version >= newest)?;
        entry.used = uses;
        Some(entry.client.clone())
    }

    /// Makes a client of a Secret, unless there is one of the same content.
    async fn take(&self, cluster: &Name, name: &str, secret: &Secret) -> Result<Arc<Workload>, String> {
        let content = secret.data.as_ref().and_then(|data| data.get(KEY));
        let content = content.map(|content| content.0.as_slice()).unwrap_or_default();
        let (version, uid) = (version(&secret.metadata), secret.uid());
        let digest: [u8; 32] = Sha256::digest(content).into();
        let mut kinds = None;
        if let Some(entry) = self.lock().entries.get_mut(cluster) {
            if entry.uid == uid && entry.digest == digest {
                entry.version = entry.version.max(version);
                return entry.client.clone();
            }
            kinds =
                entry.client.as_ref().ok().map(|client| (client.identity.clone(), Arc::clone(&client.kinds)));
        }
        let connected = client::connect(content, self.patience).await;
        let client = connected
            .map_err(|problem| format!("the kubeconfig in Secret `{name}` cannot be used: {problem}"));
        let client = client.map(|connected| {
            let identity = Identity { secret_uid: uid.clone(), server: connected.server };
            // Credentials that were renewed lead to the same cluster, which serves the same kinds.
            let kinds = kinds.filter(|(before, _)| *before == identity).map(|(_, kinds)| kinds);
            Arc::new(Workload {
                client: connected.client,
                kinds: kinds.unwrap_or_default(),
                patience: self.patience,
                secret: name.to_owned(),
                identity,
            })
        });
        self.keep(cluster, Entry { version, uid, digest, client: client.clone(), used: 0 })
    }

    /// Keeps what came of a Secret. Somebody else may have been faster.
    fn keep(&self, cluster: &Name, mut entry: Entry) -> Result<Arc<Workload>, String> {
        let mut kept = self.lock();
        kept.uses += 1;
        entry.used = kept.uses;
        if let Some(other) = kept.entries.get(cluster).filter(|other| other.version >= entry.version) {
            return other.client.clone();
        }
        let client = entry.client.clone();
        kept.entries.insert(cluster.clone(), entry);
        if kept.entries.len() > self.most {
            let oldest = kept.entries.iter().min_by_key(|(_, entry)| entry.used);
            if let Some(oldest) = oldest.map(|(name, _)| name.clone()) {
                kept.entries.remove(&oldest);
            }
        }
        client
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // Each entry is changed by plain assignments that cannot panic half-way.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn absent(secret: &str) -> Unavailable {
    Unavailable::NoCredentials(format!("Secret `{secret}` with the cluster's kubeconfig is not there yet"))
}
