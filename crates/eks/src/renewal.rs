//! When a token is made anew.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jiff::Timestamp;

/// All in milliseconds.
const LATEST_AFTER_MINTING: i64 = 10 * 60 * 1000;
const MARGIN: i64 = 2 * 60 * 1000;
const FLOOR: i64 = 15 * 1000;
/// Which part of a token's time is used to spread renewals over.
const SPREAD: i64 = 5;

/// When to renew a token that was minted at `minted_at`: within 10 minutes and 2 minutes before it ends, somewhat earlier
/// by an amount that `key` (of the cluster) decides, so that a fleet does not renew in the same second.
///
/// Never within 15 seconds of minting, however soon the token ends: another one would end as soon.
pub fn renew_at(key: &str, minted_at: Timestamp, expires_at: Timestamp) -> Timestamp {
    let minted_at = minted_at.as_millisecond();
    let latest = (minted_at + LATEST_AFTER_MINTING).min(expires_at.as_millisecond() - MARGIN);
    let spread = ((latest - minted_at) / SPREAD).max(0);
    let renewal = (latest - share(key, spread)).max(minted_at + FLOOR);
    Timestamp::from_millisecond(renewal).unwrap_or(Timestamp::MAX)
}

/// A number from 0 to `limit`, always the same for the same key.
#[expect(
    clippy::disallowed_methods,
    reason = "it only spreads: the time that comes of it is written down, and never made again"
)]
fn share(key: &str, limit: i64) -> i64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let hash = i64::from(u32::try_from(hasher.finish() >> 32).unwrap_or_default());
    hash % (limit + 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jiff::SignedDuration;
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn seconds(seconds: i64) -> SignedDuration {
        SignedDuration::from_secs(seconds)
    }

    #[rstest]
    #[case::over_before_it_began(-1_000_000)]
    #[case::over_now(0)]
    #[case::almost_over(30)]
    #[case::within_the_margin(120)]
    fn a_session_that_is_almost_over_makes_no_busy_loop(#[case] lives: i64) {
        let minted_at = Timestamp::UNIX_EPOCH;

        assert_eq!(renew_at("default/demo", minted_at, minted_at + seconds(lives)), minted_at + seconds(15));
    }

    #[rstest]
    #[case::beginning(Timestamp::MIN, Timestamp::MIN)]
    #[case::whole(Timestamp::MIN, Timestamp::MAX)]
    #[case::end(Timestamp::MAX, Timestamp::MAX)]
    #[case::backwards(Timestamp::MAX, Timestamp::MIN)]
    fn no_time_is_too_odd(#[case] minted_at: Timestamp, #[case] expires_at: Timestamp) {
        assert!(renew_at("default/demo", minted_at, expires_at) >= minted_at);
    }

    #[test]
    fn a_fleet_does_not_renew_at_once() {
        let minted_at = Timestamp::UNIX_EPOCH;
        let renewals: BTreeSet<i64> = (0..1000)
            .map(|number| renew_at(&format!("default/{number}"), minted_at, minted_at + seconds(840)))
            .map(Timestamp::as_second)
            .collect();

        assert!(renewals.len() > 100, "{renewals:?}");
    }

    proptest! {
        #[test]
        fn a_token_is_renewed_well_before_its_end(
            key in ".*",
            minted in 0..4_000_000_000_i64,
            lives in 0..100_000_i64,
        ) {
            let minted_at = Timestamp::from_second(minted).unwrap();
            let expires_at = minted_at + seconds(lives);

            let renewal = renew_at(&key, minted_at, expires_at);

            prop_assert!(renewal >= minted_at + seconds(15));
            prop_assert!(renewal <= minted_at + seconds(600));
            prop_assert!(renewal <= (expires_at - seconds(120)).max(minted_at + seconds(15)));
            prop_assert!(lives < 720 || renewal >= minted_at + seconds(480), "renewed too often");
            prop_assert_eq!(renewal, renew_at(&key, minted_at, expires_at));
        }
    }
}
