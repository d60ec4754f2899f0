//! Whether a version can go on with the data of another.

/// What becomes of data when another version goes on with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Skew {
    /// Nothing: it is the same minor version, or nobody knows.
    None,
    /// It is written in a newer way.
    Forwards,
    /// As before, but over more than one minor version: this is not what the project tests. In a sentence.
    Leap(String),
    /// It may not be understood.
    Backwards,
}

/// Judges by minor versions: patches of the same one understand each other.
pub(super) fn judge(part: &str, written: &str, found: &str) -> Skew {
    let (Some(before), Some(now)) = (minor(written), minor(found)) else { return Skew::None };
    if now < before {
        return Skew::Backwards;
    }
    match (now.0 - before.0, now.1.saturating_sub(before.1)) {
        (0, 0) => Skew::None,
        (0, 1) => Skew::Forwards,
        _ => Skew::Leap(format!(
            "{part} goes from {written} to {found} in one step; what lies between is left out, which is not supported \
             by its makers"
        )),
    }
}

fn minor(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::the_same("1.34.4", "1.34.4", Skew::None)]
    #[case::a_patch_later("1.34.4", "1.34.9", Skew::None)]
    #[case::a_patch_earlier("1.34.4", "1.34.1", Skew::None)]
    #[case::a_minor_version_later("1.34.4", "1.35.0", Skew::Forwards)]
    #[case::ten_is_after_nine("1.9.0", "1.10.0", Skew::Forwards)]
    #[case::earlier("1.35.0", "1.34.4", Skew::Backwards)]
    #[case::much_earlier("2.0.0", "1.34.4", Skew::Backwards)]
    #[case::not_known_what_wrote_it("", "1.34.4", Skew::None)]
    #[case::not_known_what_is_there("1.34.4", "", Skew::None)]
    #[case::no_version("soon", "1.34.4", Skew::None)]
    fn versions_go_on_with_the_data_of_those_before(
        #[case] written: &str,
        #[case] found: &str,
        #[case] expected: Skew,
    ) {
        assert_eq!(judge("Kubernetes", written, found), expected);
    }

    #[rstest]
    #[case("1.32.0", "1.34.4")]
    #[case("1.34.0", "2.0.0")]
    fn a_leap_is_said(#[case] written: &str, #[case] found: &str) {
        let Skew::Leap(sentence) = judge("Kubernetes", written, found) else { panic!("no leap") };

        assert!(sentence.starts_with(&format!("Kubernetes goes from {written} to {found}")), "{sentence}");
    }
}
