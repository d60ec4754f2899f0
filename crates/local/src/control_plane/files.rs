//! Where everything of one control plane lies, and how it gets there.
//!
//! Kept from the first start on: the authority, the administrator's certificate, the service account key, the key of
//! Secrets at rest, the ports and etcd's data, so that the kubeconfig stays the same, byte for byte. Everything else is
//! issued anew at every start.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base64::{Engine, engine::general_purpose::STANDARD};
use rcgen::KeyPair;
use serde_json::json;

use super::authority::{Authority, AuthorityError, Leaf, keep, read};
use super::kubeconfig;
use crate::private;

/// Whom the administrator's certificate names.
const ADMINISTRATOR: &str = "capt-admin";
/// The group that may do everything.
const MASTERS: &str = "system:masters";

/// The paths of one control plane.
#[derive(Debug)]
pub(crate) struct Files {
    root: PathBuf,
    pub(crate) ports: PathBuf,
    pub(crate) kubeconfig: PathBuf,
    pub(crate) etcd_data: PathBuf,
    unfinished: PathBuf,
    pub(crate) etcd_authority: PathBuf,
    pub(crate) etcd_certificate: PathBuf,
    pub(crate) etcd_key: PathBuf,
    pub(crate) authority: PathBuf,
    pub(crate) server_certificate: PathBuf,
    pub(crate) server_key: PathBuf,
    administrator_certificate: PathBuf,
    administrator_key: PathBuf,
    pub(crate) service_account_key: PathBuf,
    pub(crate) service_account_public: PathBuf,
    pub(crate) encryption: PathBuf,
    pub(crate) controller_manager_kubeconfig: PathBuf,
}

/// Who may do what, once the files are in place.
#[derive(Debug)]
pub(crate) struct Credentials {
    pub(crate) authority: Authority,
    pub(crate) administrator: Leaf,
}

impl Files {
    /// Makes the directories. A directory that holds something, but no control plane, is left as it is and refused.
    pub(crate) fn at(root: &Path) -> io::Result<Self> {
        // Arguments of processes are text.
        if root.to_str().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidFilename, "its path is not valid UTF-8"));
        }
        let pki = root.join("pki");
        let strange = match fs::read_dir(root) {
            Ok(mut entries) => entries.next().is_some() && !pki.is_dir(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        if strange {
            return Err(io::Error::new(
                io::ErrorKind::DirectoryNotEmpty,
                "it holds files, but no control plane of capt: use an empty or a new directory",
            ));
        }
        for directory in [root, &pki, &root.join("logs"), &root.join("etcd")] {
            private::directory(directory)?;
        }
        Ok(Self {
            root: root.to_owned(),
            ports: root.join("ports.json"),
            kubeconfig: root.join("kubeconfig"),
            etcd_data: root.join("etcd"),
            unfinished: root.join("unfinished"),
            etcd_authority: pki.join("etcd-ca.crt"),
            etcd_certificate: pki.join("etcd.crt"),
            etcd_key: pki.join("etcd.key"),
            authority: pki.join("ca.crt"),
            server_certificate: pki.join("kube-apiserver.crt"),
            server_key: pki.join("kube-apiserver.key"),
            administrator_certificate: pki.join("administrator.crt"),
            administrator_key: pki.join("administrator.key"),
            service_account_key: pki.join("service-account.key"),
            service_account_public: pki.join("service-account.pub"),
            encryption: pki.join("encryption.json"),
            controller_manager_kubeconfig: pki.join("kube-controller-manager.kubeconfig"),
        })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn log(&self, process: &str) -> PathBuf {
        self.root.join("logs").join(format!("{process}.log"))
    }

    /// Makes sure that the store holds either nothing or everything, and says whether it is new. Only for one who holds the
    /// directory.
    ///
    /// An etcd that ends in its first moments can leave a log without the one member of its cluster: it starts again, listens,
    /// and never answers. So until the first start has succeeded, the next one begins anew; nobody has used it yet.
    pub(crate) fn clear_unfinished_store(&self) -> io::Result<bool> {
        if !self.unfinished.exists() && fs::read_dir(&self.etcd_data)?.next().is_some() {
            return Ok(false);
        }
        private::write(&self.unfinished, "")?;
        fs::remove_dir_all(&self.etcd_data)?;
        private::directory(&self.etcd_data)?;
        Ok(true)
    }

    /// The store is in use from now on.
    pub(crate) fn keep_store(&self) -> io::Result<()> {
        match fs::remove_file(&self.unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Writes every key and certificate that is missing or issued anew. In the kubeconfigs the cluster has this name.
    pub(crate) fn issue(&self, name: &str, server: &str) -> Result<Credentials, AuthorityError> {
        let pki = self.root.join("pki");
        let authority = Authority::kept_in(&pki, "capt")?;
        keep_leaf(&authority.server("kube-apiserver")?, &self.server_certificate, &self.server_key)?;
        self.issue_etcd()?;
        self.keep_service_account_key()?;
        self.keep_encryption_key()?;
        // The controllers run with this one identity, so it needs the rights of all of them.
        let manager = authority.client("system:kube-controller-manager", &[MASTERS])?;
        let manager = kubeconfig::text(name, server, authority.certificate(), &manager);
        keep(&self.controller_manager_kubeconfig, manager)?;
        let administrator = self.keep_administrator(&authority)?;
        keep(&self.kubeconfig, kubeconfig::text(name, server, authority.certificate(), &administrator))?;
        Ok(Credentials { authority, administrator })
    }

    fn keep_administrator(&self, authority: &Authority) -> Result<Leaf, AuthorityError> {
        let (certificate, key) = (&self.administrator_certificate, &self.administrator_key);
        // The key is written first: a certificate is proof that its key is there.
        if certificate.exists() {
            return Ok(Leaf { certificate: read(certificate)?, key: read(key)? });
        }
        let leaf = authority.lasting_client(ADMINISTRATOR, &[MASTERS])?;
        keep(key, &leaf.key)?;
        keep(certificate, &leaf.certificate)?;
        Ok(leaf)
    }

    /// An authority of its own: no client of the API server may read the store behind it.
    fn issue_etcd(&self) -> Result<(), AuthorityError> {
        let authority = Authority::new("capt-etcd")?;
        keep(&self.etcd_authority, authority.certificate())?;
        keep_leaf(&authority.server("etcd")?, &self.etcd_certificate, &self.etcd_key)
    }

    fn keep_service_account_key(&self) -> Result<(), AuthorityError> {
        if !self.service_account_public.exists() {
            let pair = KeyPair::generate()?;
            keep(&self.service_account_key, pair.serialize_pem())?;
            keep(&self.service_account_public, pair.public_key_pem())?;
        }
        Ok(())
    }

    fn keep_encryption_key(&self) -> Result<(), AuthorityError> {
        if self.encryption.exists() {
            return Ok(());
        }
        let secret = private::random::<32>()
            .map_err(|source| AuthorityError::File { path: self.encryption.display().to_string(), source })?;
        let key = json!({ "name": "first", "secret": STANDARD.encode(secret) });
        let configuration = json!({
            "apiVersion": "apiserver.config.k8s.io/v1",
            "kind": "EncryptionConfiguration",
            "resources": [{
                "resources": ["secrets"],
                "providers": [{ "secretbox": { "keys": [key] } }, { "identity": {} }],
            }],
        });
        keep(&self.encryption, configuration.to_string())
    }
}

fn keep_leaf(leaf: &Leaf, certificate: &Path, key: &Path) -> Result<(), AuthorityError> {
    keep(certificate, &leaf.certificate)?;
    keep(key, &leaf.key)
}
