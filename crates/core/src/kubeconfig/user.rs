//! The user of a kubeconfig: credentials that are there in full, or those for EKS that CAPT makes itself.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use k8s_openapi::jiff::Timestamp;
use secrecy::SecretString;
use serde_json::Value;

use super::node::Node;
use super::problem::{Invalid, Problem};
use super::{User, exec};
use crate::certificate::{self, ClientCertificate};

/// How a token for EKS begins.
const EKS_TOKEN: &str = "k8s-aws-v1.";

/// Reads a user.
pub(super) fn read(user: &Node<'_>) -> Result<User, Invalid> {
    refuse_files(user)?;
    user.field("auth-provider")?.refuse(Problem::AuthProvider)?;
    // Clients ask the program even where a token is there too.
    let program = user.field("exec")?;
    if program.is_given() {
        refuse_impersonation(user)?;
        return exec::read(&program).map(User::EksExec);
    }
    let certificate = client_certificate(user)?;
    let token = token(user)?;
    let password = user.field("username")?.text()?.is_some() && user.field("password")?.text()?.is_some();
    match (token, certificate) {
        (Some(_), _) if password => Err(user.invalid(Problem::TwoCredentials)),
        (Some(token), _) if token.starts_with(EKS_TOKEN) => {
            refuse_impersonation(user)?;
            Ok(User::EksToken { token: SecretString::from(token) })
        }
        // A server that gets both looks at the certificate first.
        (_, Some(certificate)) => Ok(User::ClientCertificate { expires_at: certificate.expires_at() }),
        (Some(token), None) => {
            Ok(User::Token { token: SecretString::from(token), expires_at: expiry_of_token(token) })
        }
        (None, None) if password => Ok(User::Password),
        (None, None) => Err(user.invalid(Problem::NoCredentials)),
    }
}

fn refuse_files(user: &Node<'_>) -> Result<(), Invalid> {
    let files = [
        ("tokenFile", "token"),
        ("client-certificate", "client-certificate-data"),
        ("client-key", "client-key-data"),
    ];
    files.into_iter().try_for_each(|(file, instead)| user.field(file)?.refuse(Problem::File { instead }))
}

fn refuse_impersonation(user: &Node<'_>) -> Result<(), Invalid> {
    let fields = ["as", "as-uid", "as-groups", "as-user-extra"];
    fields.into_iter().try_for_each(|field| user.field(field)?.refuse(Problem::Impersonation))
}

fn client_certificate(user: &Node<'_>) -> Result<Option<ClientCertificate>, Invalid> {
    let certificate = user.field("client-certificate-data")?;
    let key = user.field("client-key-data")?;
    let (content, key_content) = match (certificate.text()?, key.text()?) {
        (None, None) => return Ok(None),
        (Some(_), None) => return Err(key.invalid(Problem::OtherHalf { given: "client-certificate-data" })),
        (None, Some(_)) => return Err(certificate.invalid(Problem::OtherHalf { given: "client-key-data" })),
        (Some(content), Some(key_content)) => (content, key_content),
    };
    let client = ClientCertificate::from_base64(content)
        .map_err(|problem| certificate.invalid(Problem::Certificate(problem)))?;
    certificate::check_private_key(key_content)
        .map_err(|problem| key.invalid(Problem::Certificate(problem)))?;
    Ok(Some(client))
}

/// The token, which has to fit into a header.
fn token<'tree>(user: &Node<'tree>) -> Result<Option<&'tree str>, Invalid> {
    let field = user.field("token")?;
    match field.text()? {
        Some(token) if !token.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Err(field.invalid(Problem::TokenCharacter))
        }
        token => Ok(token),
    }
}

/// The end of a JSON Web Token: the claim `exp` of its second part. Who signed it does not matter here.
fn expiry_of_token(token: &str) -> Option<Timestamp> {
    let mut parts = token.split('.');
    let (_, claims, _) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let claims = BASE64_URL_SAFE_NO_PAD.decode(claims).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    let expiry = claims.get("exp")?;
    let with_fraction = || {
        let span = std::time::Duration::try_from_secs_f64(expiry.as_f64()?).ok()?;
        i64::try_from(span.as_secs()).ok()
    };
    Timestamp::from_second(expiry.as_i64().or_else(with_fraction)?).ok()
}
