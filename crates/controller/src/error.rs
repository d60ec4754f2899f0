//! What can go wrong while acting, and when it is tried again.

use capt_api::names::Reason;
use capt_core::apply::Blocked;
use capt_core::cause::sentence;
use kube::core::Status;

use crate::metrics::Kind;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The API server could not be asked, or answered with an error.
    #[error("{doing}")]
    Api {
        /// What we were doing.
        doing: String,
        /// What the API server or the connection said.
        #[source]
        source: kube::Error,
    },
    /// Objects of a kind cannot be seen, so that nobody knows whether one is gone.
    #[error(
        "objects of kind {kind} cannot be listed, so nobody knows whether {what} is gone; waiting for the kind"
    )]
    NotListed {
        /// The kind.
        kind: Kind,
        /// The object, in words.
        what: String,
    },
    /// An object that we need is there but cannot be read.
    #[error("{what} is there but cannot be read: {why}")]
    Unreadable {
        /// The object, in words.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// A defect of CAPT. Other objects go on.
    #[error("reconciling ended in a panic: {message}")]
    Panicked {
        /// What the panic said.
        message: String,
    },
}

/// When a failed reconcile is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    /// Soon, since somebody else changed the object in between.
    AtOnce,
    /// With growing pauses.
    Backoff,
    /// With long pauses: it takes somebody to change something, which mostly brings a reconcile of its own.
    Rarely,
}

impl Error {
    pub(crate) fn api(doing: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Api { doing, source }
    }

    fn status(&self) -> Option<&Status> {
        match self {
            Self::Api { source: kube::Error::Api(status), .. } => Some(status),
            Self::Api { .. } | Self::NotListed { .. } | Self::Unreadable { .. } | Self::Panicked { .. } => {
                None
            }
        }
    }

    /// Whether the API server does not let us.
    pub(crate) fn is_forbidden(&self) -> bool {
        self.status().is_some_and(|status| status.code == 403)
    }

    /// Whether the API server does not take what we wrote.
    pub(crate) fn is_invalid(&self) -> bool {
        self.status().is_some_and(|status| status.code == 422)
    }

    /// Whether somebody else was faster.
    pub(crate) fn is_conflict(&self) -> bool {
        self.status().is_some_and(|status| status.code == 409)
    }

    /// Whether what was to be changed is not there.
    pub(crate) fn is_gone(&self) -> bool {
        self.status().is_some_and(|status| status.code == 404)
    }

    /// What came of a write to an object that may be gone by now: that it is gone is no error.
    pub(crate) fn unless_gone<T>(written: Result<T, Self>) -> Result<Option<T>, Self> {
        match written {
            Ok(written) => Ok(Some(written)),
            Err(error) if error.status().is_some_and(|status| status.code == 404) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// When it is tried again.
    pub(crate) fn retry(&self) -> Retry {
        match self.status().map(|status| status.code) {
            Some(409) => Retry::AtOnce,
            Some(400 | 403 | 413 | 422) => Retry::Rarely,
            Some(_) | None => Retry::Backoff,
        }
    }

    /// The word for conditions, Events and metrics.
    pub(crate) fn reason(&self) -> Reason {
        let ours = self
            .status()
            .and_then(|status| Reason::find(&status.reason))
            .filter(|reason| reason.is_trouble());
        match (self, ours, self.retry()) {
            (Self::Unreadable { .. }, _, _) => Reason::Unreadable,
            (_, Some(reason), _) => reason,
            (_, None, Retry::Rarely) => Reason::WorkspaceRefused,
            (_, None, Retry::AtOnce | Retry::Backoff) => Reason::ApiError,
        }
    }

    /// The same for conditions.
    pub(crate) fn blocked(&self) -> Blocked {
        Blocked::new(self.reason(), self.sentence())
    }

    /// A sentence with its causes, each once.
    pub(crate) fn sentence(&self) -> String {
        sentence(self)
    }
}
