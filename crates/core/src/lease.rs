//! Who leads, as a Lease tells it.

mod manager;

use std::time::Duration;

use k8s_openapi::api::coordination::v1::LeaseSpec;

pub use manager::{Manager, Scope, Standing, is_rival};

/// Who holds a Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Nobody, or somebody who has not renewed it for too long.
    Nobody,
    /// The one who asks.
    Us,
    /// Somebody else.
    Other {
        /// Who.
        name: String,
        /// When the Lease will be free if it is not renewed.
        free_in: Duration,
    },
}

/// Who holds the Lease. `unchanged_for` is how long the one who asks has seen it as it is: clocks of different machines are not
/// compared.
pub fn holder(lease: &LeaseSpec, us: &str, unchanged_for: Duration) -> Holder {
    let name = lease.holder_identity.as_deref().unwrap_or_default();
    let seconds =
        lease.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or_default();
    let duration = Duration::from_secs(seconds);
    match duration.checked_sub(unchanged_for).filter(|left| !left.is_zero()) {
        _ if name.is_empty() => Holder::Nobody,
        _ if name == us => Holder::Us,
        Some(free_in) => Holder::Other { name: name.to_owned(), free_in },
        None => Holder::Nobody,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn other(seconds: u64) -> Holder {
        Holder::Other { name: "b".to_owned(), free_in: Duration::from_secs(seconds) }
    }

    #[rstest]
    #[case::never_held(None, 0, Holder::Nobody)]
    #[case::released(Some(""), 0, Holder::Nobody)]
    #[case::ours(Some("a"), 99, Holder::Us)]
    #[case::just_seen(Some("b"), 0, other(15))]
    #[case::seen_for_a_while(Some("b"), 14, other(1))]
    #[case::expired(Some("b"), 15, Holder::Nobody)]
    fn a_lease_is_held_until_it_is_not_renewed(
        #[case] name: Option<&str>,
        #[case] unchanged_for: u64,
        #[case] expected: Holder,
    ) {
        let lease = LeaseSpec {
            holder_identity: name.map(ToOwned::to_owned),
            lease_duration_seconds: Some(15),
            ..LeaseSpec::default()
        };
        assert_eq!(holder(&lease, "a", Duration::from_secs(unchanged_for)), expected);
    }
}
