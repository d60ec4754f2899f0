//! Modules from sources of Flux.

mod artifact;

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use capt_api::flux::{
    Artifact, Bucket, GitRepository, OciRepository, SourceAddress, SourceKind, SourceStatus,
};
use capt_api::names::{Reason, condition};
use capt_core::apply::Blocked;
use capt_core::condition::cut;
use k8s_openapi::NamespaceResourceScope;
use kube::core::object::HasStatus;
use kube::{Api, Resource};
use serde::de::DeserializeOwned;

use crate::context::Context;
use crate::error::Error;
use crate::grants::flux_source;
use crate::index::{Dependent, Notes};
use crate::stop::Stop;
use artifact::{ArtifactError, Store};

pub(super) use artifact::prune;

/// The archive of the source as Flux last made it, on this machine. Whether a later attempt of Flux failed, or it was told to
/// rest, does not matter. The name must have been checked.
pub(super) async fn fetch(
    address: &SourceAddress,
    context: &Context,
    notes: &Notes<'_, Dependent>,
    artifacts: &Path,
) -> Result<PathBuf, Stop> {
    let SourceAddress { kind, namespace, name } = address;
    notes.on(flux_source(*kind, namespace, name));
    let status = match kind {
        SourceKind::GitRepository => status::<GitRepository>(namespace, name, context).await?,
        SourceKind::OciRepository => status::<OciRepository>(namespace, name, context).await?,
        SourceKind::Bucket => status::<Bucket>(namespace, name, context).await?,
    };
    let Artifact { url, digest, .. } = offered(address, status)?;
    let store = Store::new(artifacts);
    let fetched = tokio::task::spawn_blocking(move || store.fetch(&url, &digest)).await;
    match fetched {
        Ok(Ok(path)) => Ok(path),
        Ok(Err(error)) => Err(unusable(address, &error).into()),
        Err(error) => Err(Error::Panicked { message: error.to_string() }.into()),
    }
}

/// What Flux tells of a source; nothing where there is no such object or no such kind.
async fn status<K>(namespace: &str, name: &str, context: &Context) -> Result<Option<SourceStatus>, Error>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + HasStatus<Status = SourceStatus>
        + Clone
        + DeserializeOwned
        + Debug,
{
    let api = Api::<K>::namespaced(context.client.clone(), namespace);
    let doing = format!("reading {} `{namespace}/{name}`", K::kind(&()));
    let found = api.get_opt(name).await.map_err(Error::api(doing))?;
    Ok(found.map(|source| source.status().cloned().unwrap_or_default()))
}

/// The archive that Flux offers.
fn offered(address: &SourceAddress, status: Option<SourceStatus>) -> Result<Artifact, Blocked> {
    let Some(SourceStatus { artifact, conditions }) = status else {
        return Err(not_ready(
            address,
            "does not exist, or Flux is not installed: create it, or name another in the module",
        ));
    };
    artifact.filter(|artifact| !artifact.url.is_empty() && !artifact.digest.is_empty()).ok_or_else(|| {
        let ready = conditions.iter().find(|told| told.type_ == condition::READY);
        let why = ready
            .filter(|told| !told.message.is_empty())
            .map_or_else(String::new, |told| format!("; Flux says: {}", cut(&told.message, 300)));
        not_ready(address, &format!("has no artifact yet{why}"))
    })
}

fn unusable(address: &SourceAddress, error: &ArtifactError) -> Blocked {
    let problem = match error {
        ArtifactError::Keep { source, .. } => {
            let message = format!("{error}: {source}");
            return Blocked::new(Reason::WorkingDirectoryFailed, told(address, &message));
        }
        ArtifactError::Digest { .. } | ArtifactError::Address => error.to_string(),
        ArtifactError::Fetch { .. } | ArtifactError::TooLarge { .. } | ArtifactError::OtherContent { .. } => {
            format!("{error}; it is tried again")
        }
    };
    not_ready(address, &format!("has an artifact that cannot be used: {problem}"))
}

fn not_ready(address: &SourceAddress, problem: &str) -> Blocked {
    Blocked::new(Reason::SourceNotReady, told(address, problem))
}

fn told(address: &SourceAddress, problem: &str) -> String {
    let SourceAddress { kind, namespace, name } = address;
    format!("spec.forProvider.module: {kind} `{namespace}/{name}` {problem}")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn of(status: Option<Value>) -> Result<Artifact, Blocked> {
        let address = SourceAddress::parse("GitRepository::flux-system/modules").unwrap();
        offered(&address, status.map(|status| serde_json::from_value(status).unwrap()))
    }

    fn condition(status: &str, message: &str) -> Value {
        json!([{
            "type": "Ready", "status": status, "reason": "x", "message": message,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }])
    }

    #[rstest]
    #[case::absent(None, "does not exist")]
    #[case::new(Some(json!({})), "has no artifact yet")]
    #[case::failing(Some(json!({ "conditions": condition("False", "no such host") })), "Flux says: no such host")]
    #[case::old_flux_without_digest(Some(json!({ "artifact": { "url": "http://x/y" } })), "has no artifact yet")]
    #[case::without_url(Some(json!({ "artifact": { "url": "", "digest": "sha256:1" } })), "has no artifact yet")]
    fn a_source_without_an_artifact_is_not_ready(#[case] status: Option<Value>, #[case] why: &str) {
        let blocked = of(status).unwrap_err();
        assert_eq!(blocked.reason, Reason::SourceNotReady);
        assert!(blocked.message.contains("GitRepository `flux-system/modules`"), "{}", blocked.message);
        assert!(blocked.message.contains(why), "{}", blocked.message);
    }

    #[test]
    fn the_last_artifact_counts_when_flux_cannot_make_another() {
        let status = json!({
            "artifact": { "url": "http://x/y", "digest": "sha256:1" },
            "conditions": condition("False", "no such host"),
        });
        assert_eq!(of(Some(status)).unwrap().digest, "sha256:1");
    }

    #[test]
    fn a_failure_on_this_machine_is_not_laid_at_flux_s_door() {
        let address = SourceAddress::parse("Bucket::a/b").unwrap();
        let full = ArtifactError::Keep { path: "/x".into(), source: std::io::Error::other("disk full") };
        let blocked = unusable(&address, &full);
        assert_eq!(blocked.reason, Reason::WorkingDirectoryFailed);
        assert!(blocked.message.contains("disk full"), "{}", blocked.message);
    }
}
