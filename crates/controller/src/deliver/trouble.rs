//! What keeps an object from being in a cluster, for people.

use std::fmt;

use capt_api::names::Reason;
use capt_api::resource_set::ResourceKind;
use capt_core::condition::cut;
use capt_core::manifest::{ObjectKey, Place};
use kube::core::Status;

use crate::error::Retry;
use crate::workload::{Failure, LONGEST};

/// What keeps an object from being in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// The word for conditions, Events and metrics.
    pub(crate) reason: Reason,
    /// What happened to which object, and what to do.
    pub(crate) message: String,
    /// When it is worth another try.
    pub(crate) retry: Retry,
    /// What this only follows from, where that has been told already.
    pub(crate) follows: Option<String>,
}

impl Trouble {
    pub(crate) fn new(reason: Reason, message: impl Into<String>, retry: Retry) -> Self {
        Self { reason, message: message.into(), retry, follows: None }
    }

    /// A failure that is about no object in particular.
    pub(super) fn of(failure: &Failure) -> Self {
        let reason = if failure.is_unreachable() { Reason::ClusterUnreachable } else { Reason::ApiError };
        Self::new(reason, failure.sentence(), Retry::Backoff)
    }
}

/// An object on its way, as it is called in messages.
#[derive(Clone, Copy)]
pub(super) struct Subject<'order> {
    pub(super) key: &'order ObjectKey,
    /// Where its manifest stands, where it has one.
    pub(super) place: Option<&'order Place>,
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, place } = self;
        write!(formatter, "{key}")?;
        place.map_or(Ok(()), |place| write!(formatter, " ({place})"))
    }
}

impl Subject<'_> {
    /// The manifest cannot be sent to any cluster.
    pub(super) fn invalid(self, why: &str) -> Trouble {
        self.trouble(Reason::ManifestInvalid, Retry::Rarely, why)
    }

    /// The cluster does not know the kind.
    pub(super) fn not_served(self, why: Option<&str>) -> Trouble {
        let ObjectKey { api_version, kind, .. } = self.key;
        let advice = why.unwrap_or(
            "install what defines it first, or write an apiVersion that this version of Kubernetes serves",
        );
        let message =
            format!("cannot be made: the cluster does not serve `{api_version}` `{kind}`: {advice}");
        self.trouble(Reason::KindNotServed, Retry::Backoff, &message)
    }

    /// The cluster does not have the namespace.
    pub(super) fn no_namespace(self, namespace: &str, is_terminating: bool) -> Trouble {
        let message = if is_terminating {
            format!(
                "cannot be made: namespace `{namespace}` is being deleted in the cluster; CAPT goes on when it is gone and made again"
            )
        } else {
            format!(
                "cannot be made: the cluster has no namespace `{namespace}`: add a Namespace to the manifests, or make it yourself"
            )
        };
        self.trouble(Reason::NamespaceMissing, Retry::Backoff, &message)
    }

    /// What is in the way was told of another object.
    pub(super) fn follows(self, other: &str) -> Trouble {
        let message = format!("waits for {other}");
        let trouble = self.trouble(Reason::NamespaceMissing, Retry::Backoff, &message);
        Trouble { follows: Some(other.to_owned()), ..trouble }
    }

    /// Somebody else brings the object.
    pub(super) fn claimed(self, by: &str) -> Trouble {
        let message = format!(
            "belongs to add-on `{}` (namespace/cluster/stack/add-on) and is left alone: remove it from one of the two",
            cut(by, LONGEST)
        );
        self.trouble(Reason::ObjectClaimed, Retry::Rarely, &message)
    }

    /// The object is on its way out.
    pub(super) fn is_leaving(self, finalizers: &[String]) -> Trouble {
        let held = if finalizers.is_empty() {
            String::new()
        } else {
            format!(", held by {}", finalizers.join(", "))
        };
        let message = format!("is being deleted in the cluster{held}: CAPT makes it again when it is gone");
        self.trouble(Reason::ObjectRefused, Retry::Backoff, &message)
    }

    /// The object could not be deleted.
    pub(super) fn not_deleted(self, failure: &Failure) -> Trouble {
        let retry = match failure.status().map(|status| status.code) {
            Some(409) => Retry::AtOnce,
            _ => Retry::Backoff,
        };
        self.trouble(Reason::ApiError, retry, &format!("could not be deleted: {}", failure.sentence()))
    }

    /// What a failure that concerns this object alone means.
    pub(super) fn failed(self, failure: &Failure) -> Trouble {
        let Some(status) = failure.status() else {
            return self.trouble(Reason::ApiError, Retry::Backoff, &failure.sentence());
        };
        let (reason, retry) = match status.code {
            409 => (Reason::ApiError, Retry::AtOnce),
            400 | 403 | 405 | 413 | 422 => (Reason::ObjectRefused, Retry::Rarely),
            500 if is_too_large(status) => (Reason::ObjectRefused, Retry::Rarely),
            // Fields that the kind does not have, or that are there twice.
            500 if status.message.contains("failed to create typed") => {
                (Reason::ObjectRefused, Retry::Rarely)
            }
            // An admission webhook that cannot be asked.
            500 if status.message.contains("webhook") => (Reason::ObjectRefused, Retry::Backoff),
            _ => (Reason::ApiError, Retry::Backoff),
        };
        let what = match reason {
            Reason::ObjectRefused if is_too_large(status) => "is too large for the cluster: split it",
            Reason::ObjectRefused => "was refused by the cluster",
            _ => "could not be brought to the cluster",
        };
        self.trouble(reason, retry, &format!("{what}: {}", self.told(status)))
    }

    /// What the cluster said. It may quote the object, and the content of a Secret is nobody's to read.
    fn told(self, status: &Status) -> String {
        let is_secret = self.key.kind == "Secret" && self.key.group().is_empty();
        if !is_secret && self.place.is_none_or(|place| place.kind != ResourceKind::Secret) {
            return cut(&status.message, LONGEST);
        }
        let causes = status.details.iter().flat_map(|details| &details.causes);
        let fields: Vec<_> =
            causes.map(|cause| cause.field.as_str()).filter(|field| !field.is_empty()).collect();
        let at = if fields.is_empty() { String::new() } else { format!(" at {}", fields.join(", ")) };
        let (code, reason) = (status.code, &status.reason);
        format!(
            "{code} {reason}{}; the answer may quote a Secret and is not shown, kubectl apply --server-side --dry-run=server shows it",
            cut(&at, LONGEST)
        )
    }

    fn trouble(self, reason: Reason, retry: Retry, message: &str) -> Trouble {
        Trouble::new(reason, format!("{self} {message}"), retry)
    }
}

fn is_too_large(status: &Status) -> bool {
    status.code == 413
        || status.message.contains("request is too large")
        || status.message.contains("Request entity too large")
}

/// The namespace that a refusal is about, and whether it is being deleted.
pub(super) fn missing_namespace(status: &Status) -> Option<bool> {
    let details = status.details.as_ref()?;
    let is_terminating = details.causes.iter().any(|cause| cause.reason == "NamespaceTerminating");
    match status.code {
        404 if details.kind == "namespaces" => Some(false),
        403 if is_terminating => Some(true),
        _ => None,
    }
}
