//! From the kubeconfig in a Secret to a client.
//!
//! Nothing of a kubeconfig's content is in any message: what is wrong with it is told by `capt_core`, which quotes none of it.

use capt_core::addon::identity::identity;
use capt_core::certificate::CertificateAuthority;
use capt_core::kubeconfig::{self, User};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::Patience;

/// A client, and which cluster it is for.
pub(super) struct Connected {
    pub(super) client: Client,
    /// Stands for the server and what it is trusted by: another cluster has another. Statuses hold it.
    pub(super) server: String,
}

/// Makes a client of a kubeconfig, or tells why it cannot be used.
pub(super) async fn connect(content: &[u8], patience: Patience) -> Result<Connected, String> {
    let checked = kubeconfig::parse(content).map_err(|invalid| invalid.to_string())?;
    if let User::EksExec(_) = checked.user {
        return Err("names a program that makes tokens, and CAPT runs no programs that a kubeconfig names; \
             give `token`, or a client certificate"
            .to_owned());
    }
    let authority = checked.certificate_authority.as_ref().map(CertificateAuthority::base64);
    let server = identity(&checked.server.to_string(), authority.as_deref());
    let client = client(content, patience).await.ok_or("cannot be used by CAPT's client")?;
    Ok(Connected { client, server })
}

/// The errors of these calls may quote the kubeconfig, and are dropped.
async fn client(content: &[u8], patience: Patience) -> Option<Client> {
    let text = std::str::from_utf8(content).ok()?;
    let kubeconfig = Kubeconfig::from_yaml(text).ok()?;
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.ok()?;
    config.connect_timeout = Some(patience.connect);
    config.read_timeout = Some(patience.read);
    config.write_timeout = Some(patience.read);
    // Taken from the environment: credentials of clusters go to clusters only.
    config.proxy_url = None;
    // Whoever asks decides what is asked again, and when.
    config.default_retry = false;
    Client::try_from(config).ok()
}
