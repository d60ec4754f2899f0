//! Where an API server is reached, as modules and kubeconfigs write it.
//!
//! The parser is our own and strict: what comes out is put into a Cluster's endpoint and into kubeconfigs that others read, and
//! two parsers that disagree about a host are a way to lead somebody astray.

mod host;

use std::fmt;

use capt_api::endpoint::Endpoint;

/// The longest text that is looked at.
const LONGEST: usize = 2048;

/// The port of a URL that names none.
const DEFAULT_PORT: u16 = 443;

/// The `https` URL of an API server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerUrl {
    host: String,
    port: u16,
    path: String,
}

/// Why a text is not the address of an API server. Reads on after the name of the field that holds it, and never repeats the
/// text, which may carry a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Nothing there.
    #[error("is empty; give the URL of the API server, such as https://api.example.com:6443")]
    Empty,
    /// Longer than any URL of an API server.
    #[error(
        "is longer than {LONGEST} characters; give the URL of the API server, such as https://api.example.com:6443"
    )]
    TooLong,
    /// A blank, a line break or another character that no URL has.
    #[error("contains a blank, a line break or another character that no URL has; remove it")]
    Character,
    /// No `https://` where a URL is needed.
    #[error("is not a URL; write it with its scheme, such as https://api.example.com:6443")]
    NoScheme,
    /// `http://`.
    #[error("begins with http://, which would send credentials in clear text; use https://")]
    PlainHttp,
    /// A scheme that is not HTTP.
    #[error("does not begin with https://, and an API server is reached in no other way; use https://")]
    OtherScheme,
    /// A user name or password before the host.
    #[error(
        "has a user name or password before the host; remove it: credentials belong to the kubeconfig's user"
    )]
    UserInfo,
    /// `?…`
    #[error("has a query (`?…`), which the URL of an API server cannot have; remove it")]
    Query,
    /// `#…`
    #[error("has a fragment (`#…`), which the URL of an API server cannot have; remove it")]
    Fragment,
    /// Nothing where the host should be.
    #[error("names no host; give the URL of the API server, such as https://api.example.com:6443")]
    NoHost,
    /// Something that is no host.
    #[error("has a host that is neither a host name nor an IP address; give one such as api.example.com")]
    Host,
    /// An IPv6 address whose end nobody can tell from a port.
    #[error("has an IPv6 address without brackets; write it as https://[2001:db8::1]:6443")]
    Ipv6WithoutBrackets,
    /// A port that is none.
    #[error("has a port that is not a number from 1 to 65535; correct it, or leave it out for 443")]
    Port,
    /// A path with characters that no path has.
    #[error("has a path with characters that a URL cannot have; correct it")]
    Path,
}

impl Problem {
    /// The whole sentence, about a field.
    pub fn sentence(self, field: &str) -> String {
        format!("`{field}` {self}")
    }
}

/// Reads an endpoint as modules give it: a URL, or a host with or without a port. Blanks around it do no harm.
pub fn parse(text: &str) -> Result<ServerUrl, Problem> {
    let text = checked(text.trim())?;
    match text.split_once("://") {
        Some((scheme, rest)) => address(scheme, rest),
        None => after_scheme(text),
    }
}

/// Reads the server of a kubeconfig: a URL with its scheme and nothing around it, as every client wants it.
pub fn parse_url(text: &str) -> Result<ServerUrl, Problem> {
    let (scheme, rest) = checked(text)?.split_once("://").ok_or(Problem::NoScheme)?;
    address(scheme, rest)
}

fn checked(text: &str) -> Result<&str, Problem> {
    match text {
        text if text.trim().is_empty() => Err(Problem::Empty),
        text if text.len() > LONGEST => Err(Problem::TooLong),
        text if text.chars().any(|character| character.is_whitespace() || character.is_control()) => {
            Err(Problem::Character)
        }
        text => Ok(text),
    }
}

fn address(scheme: &str, rest: &str) -> Result<ServerUrl, Problem> {
    if scheme.eq_ignore_ascii_case("http") {
        return Err(Problem::PlainHttp);
    }
    if !scheme.eq_ignore_ascii_case("https") {
        return Err(Problem::OtherScheme);
    }
    after_scheme(rest)
}

fn after_scheme(text: &str) -> Result<ServerUrl, Problem> {
    let end = text.find(['/', '?', '#', '\\']).unwrap_or(text.len());
    let (authority, rest) = text.split_at(end);
    if authority.contains('@') {
        return Err(Problem::UserInfo);
    }
    let (host, port) = host::split(authority)?;
    let port = port.map_or(Ok(DEFAULT_PORT), port_number)?;
    Ok(ServerUrl { host: host::parse(host)?, port, path: path(rest)? })
}

fn port_number(text: &str) -> Result<u16, Problem> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| text.parse().ok()).flatten();
    number.filter(|number| *number > 0).ok_or(Problem::Port)
}

/// The path without slashes at its end, so that `https://host/` and `https://host` are one.
fn path(text: &str) -> Result<String, Problem> {
    match text.find(['?', '#']).map(|start| &text[start..]) {
        Some(rest) if rest.starts_with('?') => return Err(Problem::Query),
        Some(_) => return Err(Problem::Fragment),
        None => {}
    }
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:@/".contains(&byte);
    let path = text.trim_end_matches('/');
    if path.bytes().all(legal) { Ok(path.to_owned()) } else { Err(Problem::Path) }
}

impl ServerUrl {
    /// The host name in lower case, or the IP address (IPv6 without brackets).
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The path below which the API is served; empty for most servers.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether there is a path, which Cluster API's endpoint cannot carry: whoever goes by the endpoint alone does not find
    /// this server.
    pub const fn has_path(&self) -> bool {
        !self.path.is_empty()
    }

    /// Whether both lead to one host and port, whatever their paths.
    pub fn same_address(&self, other: &Self) -> bool {
        (&self.host, self.port) == (&other.host, other.port)
    }

    /// Host and port as Cluster API has them. A path is left out, see [`Self::has_path`].
    pub fn endpoint(&self) -> Endpoint {
        Endpoint { host: self.host.clone(), port: self.port.into() }
    }
}

/// The URL, with its port only where it is not 443.
impl fmt::Display for ServerUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, path } = self;
        if host.contains(':') {
            write!(formatter, "https://[{host}]")?;
        } else {
            write!(formatter, "https://{host}")?;
        }
        if *port != DEFAULT_PORT {
            write!(formatter, ":{port}")?;
        }
        formatter.write_str(path)
    }
}

#[cfg(test)]
mod tests;
