//! Hosts: names and addresses.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::Problem;

/// Parts the host (IPv6 with its brackets) from the port, which may be empty or missing.
pub(super) fn split(authority: &str) -> Result<(&str, Option<&str>), Problem> {
    if authority.starts_with('[') {
        let end = authority.find(']').ok_or(Problem::Host)? + 1;
        return match authority.split_at(end) {
            (host, "") => Ok((host, None)),
            (host, rest) => rest.strip_prefix(':').map(|port| (host, Some(port))).ok_or(Problem::Host),
        };
    }
    match authority.split_once(':') {
        Some((_, port)) if port.contains(':') => Err(Problem::Ipv6WithoutBrackets),
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((authority, None)),
    }
}

/// The host as it is compared: names in lower case without a dot at the end, addresses in their shortest form.
pub(super) fn parse(host: &str) -> Result<String, Problem> {
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return address.parse::<Ipv6Addr>().map(|address| address.to_string()).map_err(|_| Problem::Host);
    }
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    if name.is_empty() {
        return Err(Problem::NoHost);
    }
    // A last label of digits cannot be a name: some resolvers would read an address into it, others would not.
    let numeric =
        name.rsplit('.').next().is_some_and(|label| label.bytes().all(|byte| byte.is_ascii_digit()));
    let valid = if numeric { name.parse::<Ipv4Addr>().is_ok() } else { is_name(&name) };
    if valid { Ok(name) } else { Err(Problem::Host) }
}

fn is_name(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_label)
}

/// Underscores are against the rules and in use.
fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}
