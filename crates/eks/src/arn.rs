//! Names of identities.

/// Whether a text names a role that can be assumed.
pub(crate) fn is_role(arn: &str) -> bool {
    let mut parts = arn.splitn(6, ':');
    let [Some("arn"), Some(partition), Some("iam"), Some(""), Some(account), Some(resource)] =
        std::array::from_fn(|_| parts.next())
    else {
        return false;
    };
    let printable = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    partition.starts_with("aws")
        && printable(partition)
        && account.len() == 12
        && account.bytes().all(|byte| byte.is_ascii_digit())
        && resource.len() <= 700
        && resource.strip_prefix("role/").is_some_and(|name| !name.is_empty() && printable(name))
}

/// The identity that is given access: the role behind a session of it, or what it is already.
///
/// A session does not tell the path of its role.
pub(crate) fn with_access(arn: &str) -> String {
    let role = || {
        let (partition, rest) = arn.strip_prefix("arn:")?.split_once(":sts::")?;
        let (account, session) = rest.split_once(":assumed-role/")?;
        let (name, _) = session.split_once('/')?;
        Some(format!("arn:{partition}:iam::{account}:role/{name}"))
    };
    role().unwrap_or_else(|| arn.to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::empty("", false)]
    #[case::only_a_name("deployer", false)]
    #[case::a_user("arn:aws:iam::111122223333:user/me", false)]
    #[case::a_session("arn:aws:sts::111122223333:assumed-role/deployer/me", false)]
    #[case::no_name("arn:aws:iam::111122223333:role/", false)]
    #[case::a_short_account("arn:aws:iam::1:role/deployer", false)]
    #[case::a_new_line("arn:aws:iam::111122223333:role/a\nb", false)]
    #[case::huge(&format!("arn:aws:iam::111122223333:role/{}", "a".repeat(1000)), false)]
    #[case::a_role("arn:aws:iam::111122223333:role/deployer", true)]
    #[case::a_role_with_a_path("arn:aws-cn:iam::111122223333:role/team/a/deployer", true)]
    fn only_roles_can_be_assumed(#[case] arn: &str, #[case] expected: bool) {
        assert_eq!(is_role(arn), expected);
    }

    #[rstest]
    #[case::a_session(
        "arn:aws:sts::111122223333:assumed-role/deployer/botocore-1",
        "arn:aws:iam::111122223333:role/deployer"
    )]
    #[case::a_session_elsewhere(
        "arn:aws-us-gov:sts::111122223333:assumed-role/a/i-1",
        "arn:aws-us-gov:iam::111122223333:role/a"
    )]
    #[case::a_user("arn:aws:iam::111122223333:user/me", "arn:aws:iam::111122223333:user/me")]
    #[case::the_account("arn:aws:iam::111122223333:root", "arn:aws:iam::111122223333:root")]
    #[case::odd("assumed-role", "assumed-role")]
    fn access_is_given_to_the_role_and_not_to_its_session(#[case] arn: &str, #[case] expected: &str) {
        assert_eq!(with_access(arn), expected);
    }
}
