//! Addresses of remote modules, freed of the passwords in them.
//!
//! Terraform hands an address on to `git` on a command line that everybody on the machine can read.

/// Who logs in where.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Login {
    pub(crate) scheme: String,
    pub(crate) host: String,
    pub(crate) user: String,
    pub(crate) password: String,
}

/// The password in an address, if there is one.
pub(crate) fn login(address: &str) -> Option<Login> {
    let (before, rest) = address.split_once("://")?;
    let scheme = before.rsplit("::").next()?.to_owned();
    let authority = rest.split(['/', '?', '#']).next()?;
    let (userinfo, host) = authority.rsplit_once('@')?;
    // A user by itself is a name for ssh and a token for everything else.
    let (user, password) = match userinfo.split_once(':') {
        Some((user, password)) => (user.to_owned(), password.to_owned()),
        None if scheme == "ssh" => return None,
        None => (userinfo.to_owned(), userinfo.to_owned()),
    };
    Some(Login { scheme, host: host.to_owned(), user, password })
}

/// The address without its password.
pub fn without_login(address: &str) -> String {
    match (login(address), address.split_once("://")) {
        (Some(login), Some((before, rest))) => {
            let path = rest.split_once('@').map_or(rest, |_| {
                let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
                &rest[end..]
            });
            format!("{before}://{}{path}", login.host)
        }
        _ => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(
        "git::https://me:pa%3Ass@example.org/a.git//b?ref=v1",
        "git::https://example.org/a.git//b?ref=v1",
        Some("pa%3Ass")
    )]
    #[case("git::https://me:secret@example.org/a.git", "git::https://example.org/a.git", Some("secret"))]
    #[case("git::https://example.org/a.git//b?ref=v1", "git::https://example.org/a.git//b?ref=v1", None)]
    #[case("https://example.org/a@b.tgz", "https://example.org/a@b.tgz", None)]
    #[case("https://token@example.org/a.zip", "https://example.org/a.zip", Some("token"))]
    #[case("git::ssh://git@example.org/a.git", "git::ssh://git@example.org/a.git", None)]
    #[case("git@example.org:a.git", "git@example.org:a.git", None)]
    #[case("https://example.org/a@b.zip", "https://example.org/a@b.zip", None)]
    #[case("terraform-aws-modules/vpc/aws", "terraform-aws-modules/vpc/aws", None)]
    fn a_password_is_taken_out(#[case] address: &str, #[case] clean: &str, #[case] password: Option<&str>) {
        assert_eq!(without_login(address), clean);
        assert_eq!(login(address).map(|login| login.password), password.map(str::to_owned));
    }
}
