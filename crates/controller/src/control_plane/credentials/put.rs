//! Writes the Secrets that a control plane hands out, where they are not as they should be. A Secret of somebody else's is left
//! alone.

use std::hash::{DefaultHasher, Hash, Hasher};

use capt_api::CAPTControlPlane;
use capt_api::names::{CLUSTER_SECRET_TYPE, FIELD_MANAGER, Reason};
use capt_core::apply::Blocked;
use capt_core::control_plane::secrets::{WantedSecret, is_ours};
use capt_core::owned_apply::Owner;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::{Api, ResourceExt};
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::audit;
use crate::context::Context;
use crate::error::Error;
use crate::index::Name;
use crate::stop::Stop;
use crate::store::{key_of, version};
use crate::write::{ONLY_IF_ABSENT, drop_past};

/// Brings every Secret in line; tells whether one was written.
pub(super) async fn all(
    control_plane: &CAPTControlPlane,
    cluster: &str,
    wanted: &[WantedSecret],
    context: &Context,
) -> Result<bool, Stop> {
    let key = key_of(&control_plane.metadata);
    let owner = Owner::of(control_plane);
    let mut written = false;
    for secret in wanted {
        let place = Place { key: &key, owner: &owner, cluster, secret, context };
        written |= place.put().await?;
    }
    Ok(written)
}

/// One Secret and where it goes.
struct Place<'reconcile> {
    key: &'reconcile Name,
    owner: &'reconcile Owner,
    cluster: &'reconcile str,
    secret: &'reconcile WantedSecret,
    context: &'reconcile Context,
}

impl Place<'_> {
    async fn put(&self) -> Result<bool, Stop> {
        let Self { key, secret, context, .. } = self;
        let name = Name::new(&key.namespace, &secret.name);
        let newest = context.secrets.get(&name);
        let known = context.credentials.with(key, |memory| memory.written.get(&secret.name).copied());
        match (known, newest) {
            (Some((version, digest)), Some(newest)) if version >= newest && digest == self.digest() => {
                return Ok(false);
            }
            // Nobody has touched it since we wrote or read it: it is ours, and need not be read again.
            (Some((version, _)), Some(newest)) if version >= newest => {
                let precondition = json!({ "resourceVersion": version.to_string() });
                match self.write(&precondition, "updated").await {
                    Err(error) if error.is_conflict() || error.is_invalid() => {}
                    written => return Ok(written.map(|()| true)?),
                }
            }
            (_, None) => match self.create().await {
                Err(error) if error.is_conflict() => {}
                created => return Ok(created.map(|()| true)?),
            },
            (_, Some(_)) => {}
        }
        self.put_over().await
    }

    /// Compares with what is there before anything is written.
    async fn put_over(&self) -> Result<bool, Stop> {
        let Self { owner, cluster, secret, .. } = self;
        let doing = format!("reading Secret `{}`", self.name());
        let Some(found) = self.secrets().get_opt(&secret.name).await.map_err(Error::api(doing))? else {
            self.create().await?;
            return Ok(true);
        };
        if !is_ours(&found.metadata, owner) {
            audit::refused(&self.name(), self.cluster, Reason::SecretNotOwned);
            let message = format!(
                "Secret `{}` belongs to somebody else and is left alone: rename or delete it, and CAPT makes its own",
                self.name()
            );
            return Err(Blocked::new(Reason::SecretNotOwned, message).into());
        }
        if secret.is_met_by(&found, owner, cluster) {
            self.remember(&found);
            return Ok(false);
        }
        if found.type_.as_deref() != Some(CLUSTER_SECRET_TYPE) {
            // The type of a Secret cannot be changed.
            self.delete(&found).await?;
            self.create().await?;
            return Ok(true);
        }
        drop_past(&self.secrets(), &found, owner).await?;
        self.write(&json!({ "uid": found.uid() }), "updated").await?;
        Ok(true)
    }

    async fn create(&self) -> Result<(), Error> {
        self.write(&json!({ "resourceVersion": ONLY_IF_ABSENT }), "created").await
    }

    async fn write(&self, precondition: &serde_json::Value, what: &'static str) -> Result<(), Error> {
        let Self { owner, cluster, secret, .. } = self;
        let mut object = secret.object(owner, cluster);
        for (field, value) in precondition.as_object().into_iter().flatten() {
            object["metadata"][field] = value.clone();
        }
        let parameters = PatchParams::apply(FIELD_MANAGER).force();
        let doing = format!("writing Secret `{}`", self.name());
        let written = self.secrets().patch(&secret.name, &parameters, &Patch::Apply(&object)).await;
        let written = written.map_err(Error::api(doing))?;
        audit::written(&self.name(), cluster, secret, what);
        self.remember(&written);
        Ok(())
    }

    async fn delete(&self, found: &Secret) -> Result<(), Error> {
        let preconditions = Preconditions { uid: found.uid(), resource_version: None };
        let parameters = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
        let doing = format!("deleting Secret `{}`, whose type cannot be changed", self.name());
        let deleted = self.secrets().delete(&self.secret.name, &parameters).await.map_err(Error::api(doing));
        Error::unless_gone(deleted).map(drop)
    }

    fn remember(&self, secret: &Secret) {
        let Self { key, context, .. } = self;
        context.secrets.written(&secret.metadata);
        let known = (version(&secret.metadata), self.digest());
        context.credentials.with(key, |memory| memory.written.insert(self.secret.name.clone(), known));
    }

    /// Stands for everything that is written.
    #[expect(clippy::disallowed_methods, reason = "it never leaves the process")]
    fn digest(&self) -> u64 {
        let Self { owner, cluster, secret, .. } = self;
        let mut hasher = DefaultHasher::new();
        secret.content.expose_secret().hash(&mut hasher);
        (secret.key, &owner.uid, cluster).hash(&mut hasher);
        secret
            .times
            .map(|times| (times.expires_at.as_nanosecond(), times.renew_at.as_nanosecond()))
            .hash(&mut hasher);
        hasher.finish()
    }

    fn name(&self) -> String {
        format!("{}/{}", self.key.namespace, self.secret.name)
    }

    fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.context.client.clone(), &self.key.namespace)
    }
}
