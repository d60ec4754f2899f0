//! The way to a cluster.

mod error;
mod wait;

use std::path::{Path, PathBuf};
use std::{env, io};

use anyhow::ensure;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use capt_controller::options::Server;
use capt_core::name::is_namespace_name;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};

use crate::cli::ConnectionArguments;
use crate::directory;

pub(crate) use error::Error;
pub(crate) use wait::until_it_answers;

const KUBECONFIG: &str = "KUBECONFIG";

/// The width of a line of a PEM file.
const LINE: usize = 64;

/// A client, and where it leads to.
pub(crate) struct Connection {
    pub(crate) client: Client,
    /// The way for others, who have no client of ours.
    pub(crate) server: Server,
    /// Whether the server has to show that it is the right one.
    pub(crate) verified: bool,
}

/// Looks for a cluster: in the given file, else in those of the variable `KUBECONFIG`, else in the pod, else in
/// the user's default file.
pub(crate) async fn find(file: Option<&Path>) -> Result<Connection, Error> {
    connect(match file {
        Some(file) => from_file(file, None).await?,
        None => from_surroundings(None, None).await?,
    })
}

/// Looks for the cluster that a person at a terminal means: in the same places, with another context if one is named, and at
/// last in the home of `capt up`.
pub(crate) async fn find_for_person(arguments: &ConnectionArguments) -> Result<Connection, Error> {
    let context = arguments.context.as_deref();
    connect(match &arguments.kubeconfig {
        Some(file) => from_file(file, context).await?,
        None => from_surroundings(context, home()).await.map_err(Error::for_person)?,
    })
}

/// The namespace that is meant: the given one, else that of the kubeconfig's context.
pub(crate) fn namespace(client: &Client, given: Option<String>) -> anyhow::Result<String> {
    let namespace = given.unwrap_or_else(|| client.default_namespace().to_owned());
    ensure!(
        is_namespace_name(&namespace),
        "`{namespace}` is no name of a namespace: write one with --namespace"
    );
    Ok(namespace)
}

/// The kubeconfig of the home of `capt up`, if there is one.
fn home() -> Option<PathBuf> {
    let directory = directory::of_user("XDG_DATA_HOME", ".local/share")?;
    Some(directory.join("kubeconfig")).filter(|file| file.exists())
}

fn connect(config: Config) -> Result<Connection, Error> {
    let server = server(&config);
    let verified = !config.accept_invalid_certs;
    let client = Client::try_from(config)
        .map_err(|source| Error::Client { server: server.address.clone(), source })?;
    Ok(Connection { client, server, verified })
}

fn server(config: &Config) -> Server {
    Server {
        address: config.cluster_url.to_string().trim_end_matches('/').to_owned(),
        certificate_authority: config
            .root_cert
            .as_ref()
            .map(|certificates| certificates.iter().map(|certificate| pem(certificate)).collect()),
        server_name: config.tls_server_name.clone(),
    }
}

fn pem(certificate: &[u8]) -> String {
    let mut text = "-----BEGIN CERTIFICATE-----\n".to_owned();
    let mut column = 0;
    for letter in STANDARD.encode(certificate).chars() {
        if column == LINE {
            text.push('\n');
            column = 0;
        }
        text.push(letter);
        column += 1;
    }
    text + "\n-----END CERTIFICATE-----\n"
}

async fn from_surroundings(context: Option<&str>, home: Option<PathBuf>) -> Result<Config, Error> {
    let variable =
        env::var_os(KUBECONFIG).filter(|value| env::split_paths(value).any(|path| path != Path::new("")));
    if let Some(value) = variable {
        let read = || Kubeconfig::from_env().map(Option::unwrap_or_default);
        return from_files(&value.to_string_lossy(), context, read).await;
    }
    // A pod has no contexts.
    if context.is_none()
        && let Ok(config) = Config::incluster()
    {
        return Ok(config);
    }
    match (from_files("~/.kube/config", context, Kubeconfig::read).await, home) {
        (Err(Error::Unreadable { source, .. }), Some(home)) if source.kind() == io::ErrorKind::NotFound => {
            from_file(&home, context).await
        }
        (found, _) => found,
    }
}

async fn from_file(file: &Path, context: Option<&str>) -> Result<Config, Error> {
    from_files(&file.display().to_string(), context, || Kubeconfig::read_from(file)).await
}

async fn from_files(
    name: &str,
    context: Option<&str>,
    read: impl FnOnce() -> Result<Kubeconfig, KubeconfigError>,
) -> Result<Config, Error> {
    let broken = |problem| match (Error::kubeconfig(name, problem), context) {
        (Error::UnknownContext { file, context }, Some(_)) => Error::NoSuchContext { file, context },
        (error, _) => error,
    };
    let kubeconfig = read().map_err(broken)?;
    let options =
        KubeConfigOptions { context: context.map(ToOwned::to_owned), ..KubeConfigOptions::default() };
    Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn others_trust_the_same_certificates_under_the_same_name() {
        let authorities = [pem(&[1; 100]), pem(&[2; 48])].concat();
        let cluster = serde_json::json!({
            "server": "https://127.0.0.1:6443/",
            "tls-server-name": "kubernetes",
            "certificate-authority-data": STANDARD.encode(&authorities),
        });
        let kubeconfig = serde_json::json!({
            "current-context": "here",
            "contexts": [{ "name": "here", "context": { "cluster": "there", "user": "me" } }],
            "clusters": [{ "name": "there", "cluster": cluster }],
            "users": [{ "name": "me", "user": { "token": "hunter2" } }],
        });
        let kubeconfig = serde_json::from_value(kubeconfig).unwrap();
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();

        let server = server(&config);

        assert_eq!(server.address, "https://127.0.0.1:6443");
        assert_eq!(server.server_name.as_deref(), Some("kubernetes"));
        assert_eq!(server.certificate_authority, Some(authorities));
    }
}
