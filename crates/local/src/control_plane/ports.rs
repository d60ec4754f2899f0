//! Ports on the loopback interface: chosen once, kept for ever, so that copies of the kubeconfig stay right.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::private;

/// Below the range from which systems take the ports of outgoing connections, and below Kubernetes' node ports.
const FIRST: u16 = 20_000;
const COUNT: u16 = 10_000;
const ATTEMPTS: usize = 1_000;

/// Why there are no ports to listen on.
#[derive(Debug, thiserror::Error)]
pub enum PortsError {
    /// Something else listens on a port that this control plane keeps.
    #[error(
        "port {port} on 127.0.0.1, which {file} keeps for {user}, is taken by another process: stop that process, \
         or delete {file} so that other ports are chosen (kubeconfig files copied from here must then be copied again)",
        file = file.display()
    )]
    Taken {
        /// The port.
        port: u16,
        /// What it is kept for.
        user: &'static str,
        /// Where it is written.
        file: PathBuf,
    },
    /// All ports that were tried are taken.
    #[error("no free port found on 127.0.0.1 from {FIRST} on, after {ATTEMPTS} attempts")]
    NoneFree,
    /// The file that keeps the ports cannot be read or written.
    #[error("keeping the ports in {file}", file = file.display())]
    File {
        /// Which file.
        file: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
}

/// The ports of one control plane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ports {
    /// Where etcd serves its clients.
    pub etcd_clients: u16,
    /// Where etcd serves other members, of which there are none.
    pub etcd_peers: u16,
    /// Where kube-apiserver serves everybody.
    pub api_server: u16,
}

impl Ports {
    /// The ports that a file keeps; `None` when there is no such file yet, or one that is broken.
    pub(crate) fn read(file: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(file).ok()?).ok()
    }

    /// The ports that `file` keeps; chosen and written there the first time. All are free at this moment.
    pub(crate) fn kept_in(file: &Path) -> Result<Self, PortsError> {
        let failed = |source| PortsError::File { file: file.to_owned(), source };
        match fs::read(file) {
            Ok(content) => {
                let ports: Self =
                    serde_json::from_slice(&content).map_err(io::Error::from).map_err(failed)?;
                ports.check(file)?;
                Ok(ports)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let ports = Self::choose()?;
                let content =
                    serde_json::to_string_pretty(&ports).map_err(io::Error::from).map_err(failed)?;
                private::write(file, content + "\n").map_err(failed)?;
                Ok(ports)
            }
            Err(source) => Err(failed(source)),
        }
    }

    fn choose() -> Result<Self, PortsError> {
        // Held together, so that no port is chosen twice.
        let held = [hold_any()?, hold_any()?, hold_any()?];
        let [etcd_clients, etcd_peers, api_server] = held.each_ref().map(|(port, _)| *port);
        Ok(Self { etcd_clients, etcd_peers, api_server })
    }

    fn check(&self, file: &Path) -> Result<(), PortsError> {
        let Self { etcd_clients, etcd_peers, api_server } = *self;
        let users = [(etcd_clients, "etcd"), (etcd_peers, "etcd"), (api_server, "kube-apiserver")];
        let taken = users.into_iter().find(|(port, _)| hold(*port).is_none());
        match taken {
            Some((port, user)) => Err(PortsError::Taken { port, user, file: file.to_owned() }),
            None => Ok(()),
        }
    }
}

fn hold(port: u16) -> Option<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok()
}

fn hold_any() -> Result<(u16, TcpListener), PortsError> {
    for _ in 0..ATTEMPTS {
        let random = private::random().map_or(0, u16::from_le_bytes);
        let port = FIRST + random % COUNT;
        if let Some(listener) = hold(port) {
            return Ok((port, listener));
        }
    }
    Err(PortsError::NoneFree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_chosen_once_and_kept() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("ports.json");

        let first = Ports::kept_in(&file).unwrap();

        assert_eq!(Ports::kept_in(&file).unwrap(), first);
        assert_ne!(first.etcd_clients, first.etcd_peers);
    }

    #[test]
    fn a_kept_port_that_is_taken_is_named_with_what_to_do() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("ports.json");
        let ports = Ports::kept_in(&file).unwrap();
        let _foreign = TcpListener::bind((Ipv4Addr::LOCALHOST, ports.api_server)).unwrap();

        let error = Ports::kept_in(&file).unwrap_err().to_string();

        assert!(error.contains(&format!("port {}", ports.api_server)), "{error}");
        assert!(error.contains("kube-apiserver"), "{error}");
        assert!(error.contains("stop that process"), "{error}");
    }

    #[test]
    fn a_broken_file_is_an_error_and_not_a_reason_to_move() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("ports.json");
        fs::write(&file, "{").unwrap();

        assert!(matches!(Ports::kept_in(&file), Err(PortsError::File { .. })));
        assert_eq!(fs::read_to_string(&file).unwrap(), "{");
    }
}
