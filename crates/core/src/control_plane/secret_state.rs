//! The states of a control plane's Secrets, and the arrows between them.
//!
//! ```text
//! WaitingForSecret ─▶ ValidatingSecret ─▶ Ready ─(the Secret changes)─▶ WaitingForSecret
//!                                      └▶ Failed ─(it is tried again)─▶ WaitingForSecret
//! ```

use capt_api::capt_control_plane::SecretState;

/// The states that are gone through from one to another, the last one included. Empty where nothing moves.
///
/// `news` says that there is something to go through the states for although the last one stays the same: the source has
/// changed, or what was made of it.
pub fn path(from: Option<SecretState>, to: SecretState, news: bool) -> Vec<SecretState> {
    use SecretState::{Failed, Ready, ValidatingSecret, WaitingForSecret};
    if from == Some(to) && !news {
        return Vec::new();
    }
    let from_start: &[SecretState] = match to {
        WaitingForSecret => &[WaitingForSecret],
        ValidatingSecret => &[WaitingForSecret, ValidatingSecret],
        Ready => &[WaitingForSecret, ValidatingSecret, Ready],
        Failed => &[WaitingForSecret, ValidatingSecret, Failed],
    };
    let passed = match from {
        None | Some(Ready | Failed) => 0,
        Some(WaitingForSecret) => usize::from(to != WaitingForSecret),
        Some(ValidatingSecret) => match to {
            Ready | Failed => 2,
            WaitingForSecret | ValidatingSecret => 0,
        },
    };
    from_start[passed..].to_vec()
}

/// The path as people read it.
pub fn words(from: Option<SecretState>, path: &[SecretState]) -> String {
    let states = from.iter().chain(path).map(|state| format!("{state:?}"));
    states.collect::<Vec<_>>().join(" → ")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use SecretState::{Failed, Ready, ValidatingSecret, WaitingForSecret};

    const ALL: [SecretState; 4] = [WaitingForSecret, ValidatingSecret, Ready, Failed];

    /// The arrows as they were proposed.
    fn is_arrow(from: Option<SecretState>, to: SecretState) -> bool {
        matches!(
            (from, to),
            (None | Some(Ready | Failed), WaitingForSecret)
                | (Some(WaitingForSecret), ValidatingSecret)
                | (Some(ValidatingSecret), Ready | Failed)
        )
    }

    #[test]
    fn every_way_goes_along_the_arrows() {
        for from in ALL.map(Some).into_iter().chain([None]) {
            for to in ALL {
                for news in [false, true] {
                    let path = path(from, to, news);
                    // What is being checked when the Secret goes away again is checked no further.
                    let mut last =
                        if from == Some(ValidatingSecret) && path.first() == Some(&WaitingForSecret) {
                            Some(Failed)
                        } else {
                            from
                        };
                    for state in &path {
                        let stays = last == Some(*state);
                        assert!(stays || is_arrow(last, *state), "{from:?} to {to:?} by {path:?}");
                        last = Some(*state);
                    }
                    assert!(path.is_empty() || path.last() == Some(&to), "{from:?} to {to:?} by {path:?}");
                    assert_eq!(path.is_empty(), from == Some(to) && !news, "{from:?} to {to:?}");
                }
            }
        }
    }

    #[rstest]
    #[case::from_nothing(None, Ready, true, "WaitingForSecret → ValidatingSecret → Ready")]
    #[case::an_update(Some(Ready), Ready, true, "Ready → WaitingForSecret → ValidatingSecret → Ready")]
    #[case::a_retry(Some(Failed), Ready, true, "Failed → WaitingForSecret → ValidatingSecret → Ready")]
    #[case::it_came(Some(WaitingForSecret), Ready, true, "WaitingForSecret → ValidatingSecret → Ready")]
    #[case::it_went(Some(Ready), WaitingForSecret, true, "Ready → WaitingForSecret")]
    fn ways_are_told_as_arrows(
        #[case] from: Option<SecretState>,
        #[case] to: SecretState,
        #[case] news: bool,
        #[case] expected: &str,
    ) {
        assert_eq!(words(from, &path(from, to, news)), expected);
    }
}
