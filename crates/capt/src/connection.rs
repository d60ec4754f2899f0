//! The way to a cluster.

mod error;
mod wait;

use std::env;
use std::path::Path;

use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};

pub(crate) use error::Error;
pub(crate) use wait::until_it_answers;

const KUBECONFIG: &str = "KUBECONFIG";

/// A client, where it leads to, and where we know that from.
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) server: String,
}

/// Looks for a cluster: in the given file, else in those of the variable `KUBECONFIG`, else in the pod, else in
/// the user's default file.
pub(crate) async fn find(file: Option<&Path>) -> Result<Connection, Error> {
    let config = match file {
        Some(file) => from_files(&file.display().to_string(), || Kubeconfig::read_from(file)).await?,
        None => from_surroundings().await?,
    };
    let server = config.cluster_url.to_string();
    let client =
        Client::try_from(config).map_err(|source| Error::Client { server: server.clone(), source })?;
    Ok(Connection { client, server })
}

async fn from_surroundings() -> Result<Config, Error> {
    let variable =
        env::var_os(KUBECONFIG).filter(|value| env::split_paths(value).any(|path| path != Path::new("")));
    if let Some(value) = variable {
        let read = || Kubeconfig::from_env().map(Option::unwrap_or_default);
        return from_files(&value.to_string_lossy(), read).await;
    }
    if let Ok(config) = Config::incluster() {
        return Ok(config);
    }
    from_files("~/.kube/config", Kubeconfig::read).await
}

async fn from_files(
    name: &str,
    read: impl FnOnce() -> Result<Kubeconfig, KubeconfigError>,
) -> Result<Config, Error> {
    let broken = |problem| Error::kubeconfig(name, problem);
    let kubeconfig = read().map_err(broken)?;
    Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.map_err(broken)
}
