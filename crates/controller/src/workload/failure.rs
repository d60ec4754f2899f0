//! Why a cluster did not do what it was asked for.

use std::time::Duration;

use capt_core::cause::innermost;
use capt_core::condition::cut;
use kube::core::Status;

/// How much of what a cluster says is told.
pub(crate) const LONGEST: usize = 500;

/// Why a cluster did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// There is no connection, or it broke.
    #[error("the cluster's API server cannot be reached")]
    Unreachable(#[source] kube::Error),
    /// There was no answer in time.
    #[error("the cluster's API server did not answer within {} s", .0.as_secs_f32())]
    Silent(Duration),
    /// The cluster does not know us (any more).
    #[error("the cluster does not accept the credentials in Secret `{secret}`")]
    Rejected {
        /// The Secret with the kubeconfig.
        secret: String,
    },
    /// It answered with an error.
    #[error("the cluster refused")]
    Refused(#[source] Box<Status>),
    /// It answered something that no API server answers, or could not be asked that.
    #[error("the cluster's answer cannot be read")]
    Unreadable(#[source] kube::Error),
}

impl Failure {
    /// What an error means that came of a request with the kubeconfig in this Secret.
    pub(super) fn new(error: kube::Error, secret: &str) -> Self {
        match error {
            kube::Error::Api(status) if status.code == 401 => Self::Rejected { secret: secret.to_owned() },
            kube::Error::Api(status) => Self::Refused(status),
            kube::Error::HyperError(_)
            | kube::Error::Service(_)
            | kube::Error::ReadEvents(_)
            | kube::Error::Auth(_)
            | kube::Error::RustlsTls(_) => Self::Unreachable(error),
            _ => Self::Unreadable(error),
        }
    }

    /// Whether nothing else can be asked for either.
    pub(crate) fn is_unreachable(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Silent(_) | Self::Rejected { .. } => true,
            Self::Refused(_) | Self::Unreadable(_) => false,
        }
    }

    /// What the cluster answered, where it did.
    pub(crate) fn status(&self) -> Option<&Status> {
        match self {
            Self::Refused(status) => Some(status),
            Self::Unreachable(_) | Self::Silent(_) | Self::Rejected { .. } | Self::Unreadable(_) => None,
        }
    }

    /// What happened, for people.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Unreachable(error) => format!("{self}: {}", cut(&innermost(error), LONGEST)),
            Self::Silent(_) => {
                format!("{self}: see whether it is overloaded, and whether CAPT may connect to it")
            }
            Self::Rejected { .. } => format!(
                "{self} (401): they have expired or were taken back; CAPT goes on when the Secret holds new ones"
            ),
            Self::Refused(status) => cut(&status.message, LONGEST),
            // What the answer was is not repeated: nobody knows what is in it.
            Self::Unreadable(_) => self.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn answered(code: u16) -> kube::Error {
        kube::Error::Api(Status::failure("no", "").with_code(code).boxed())
    }

    #[rstest]
    #[case::credentials(answered(401), true, "does not accept the credentials in Secret `a/x`")]
    #[case::rights(answered(403), false, "no")]
    #[case::broken_connection(
        kube::Error::Service("connection refused".into()), true, "connection refused"
    )]
    fn what_stops_everything_is_told_from_what_concerns_one_object(
        #[case] error: kube::Error,
        #[case] unreachable: bool,
        #[case] told: &str,
    ) {
        let failure = Failure::new(error, "a/x");
        assert_eq!(failure.is_unreachable(), unreachable);
        assert!(failure.sentence().contains(told), "{}", failure.sentence());
    }
}
