//! Which cluster a status speaks of: another one under the same name starts anew.

use serde_json::json;

use crate::digest::digest;

/// How many hexadecimal digits the identities of earlier builds have.
const EARLIER_DIGITS: usize = 16;

/// The identity of a cluster, for a status: it stands for the server's address and for what the server is trusted by.
pub fn identity(server: &str, certificate_authority: Option<&str>) -> String {
    digest(&json!({ "server": server, "certificateAuthority": certificate_authority }))
}

/// Whether another cluster has taken the place of the one that a status speaks of.
///
/// An identity of an earlier build cannot be compared: its hash depends on the compiler. It counts as the same cluster, and the
/// next status has an identity of today. A cluster that was replaced during that very upgrade is brought in line by the next drift
/// check.
pub fn is_replaced(known: Option<&str>, found: Option<&str>) -> bool {
    match (known, found) {
        (Some(known), Some(found)) => known != found && !is_earlier(known),
        (None, _) | (_, None) => false,
    }
}

fn is_earlier(identity: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    identity.len() == EARLIER_DIGITS && identity.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Statuses hold these: one that changes makes every cluster of every fleet start anew.
    #[rstest]
    #[case::with_an_authority(
        Some("Q0E="),
        "sha256:c72a8447ed0c6d4d32a6f47607c930d14e1452bc7705821d5ee1f516854bdbc1"
    )]
    #[case::with_public_authorities(
        None,
        "sha256:5df771a75cf01fe6a87c1cebef3a0cea2a3bd2e3d20ca9638fcb00fefdcd7444"
    )]
    fn identities_never_change(#[case] authority: Option<&str>, #[case] expected: &str) {
        assert_eq!(identity("https://demo.example:6443", authority), expected);
    }

    #[test]
    fn another_server_or_authority_is_another_cluster() {
        let one = identity("https://one.example", Some("Q0E="));
        assert_ne!(one, identity("https://two.example", Some("Q0E=")));
        assert_ne!(one, identity("https://one.example", Some("Q0I=")));
        assert_ne!(one, identity("https://one.example", None));
    }

    #[rstest]
    #[case::the_same(Some("sha256:a"), Some("sha256:a"), false)]
    #[case::another(Some("sha256:a"), Some("sha256:b"), true)]
    #[case::not_known_before(None, Some("sha256:b"), false)]
    #[case::not_known_now(Some("sha256:a"), None, false)]
    #[case::written_by_an_earlier_build(Some("d966e336ed0483a2"), Some("sha256:b"), false)]
    #[case::shorter(Some("d966e336ed0483a"), Some("sha256:b"), true)]
    #[case::no_digits(Some("D966E336ED0483A2"), Some("sha256:b"), true)]
    #[case::empty(Some(""), Some("sha256:b"), true)]
    fn a_cluster_is_replaced_where_its_identity_is_another(
        #[case] known: Option<&str>,
        #[case] found: Option<&str>,
        #[case] expected: bool,
    ) {
        assert_eq!(is_replaced(known, found), expected);
    }
}
