//! A way to an API server on which every request is listened to.
//!
//! The clients of clusters are made by the manager, of kubeconfigs: there is no other place to listen.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, HOST};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use kube::Client;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;
use tokio_rustls::server::TlsStream;
use tokio_util::task::AbortOnDropHandle;

use crate::clusters::manifests;

/// A way to an API server. Dropped, it is closed.
pub(super) struct Proxy {
    kubeconfig: String,
    connections: Arc<AtomicUsize>,
    open: Arc<AtomicUsize>,
    _tasks: [AbortOnDropHandle<()>; 2],
}

impl Proxy {
    /// A way on which everything goes through this client.
    pub(super) async fn to(client: Client) -> anyhow::Result<Self> {
        let (acceptor, authority) = identity().context("making certificates")?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("listening")?;
        let address = listener.local_addr().context("listening")?;
        let (sender, receiver) = mpsc::unbounded_channel();
        let (connections, open) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let accepting = tokio::spawn(accept(listener, acceptor, sender, Arc::clone(&connections)));
        let upstream = Upstream { client, open: Arc::clone(&open) };
        let router = Router::new().fallback(forward).with_state(upstream);
        let serving = tokio::spawn(async move {
            // Ends when it is aborted.
            let _ = axum::serve(Accepted { address, receiver }, router).await;
        });
        Ok(Self {
            kubeconfig: manifests::kubeconfig(
                &format!("https://{address}"),
                &authority,
                "nobody-looks-at-it",
            ),
            connections,
            open,
            _tasks: [AbortOnDropHandle::new(accepting), AbortOnDropHandle::new(serving)],
        })
    }

    /// Leads to the API server on this way.
    pub(super) fn kubeconfig(&self) -> &str {
        &self.kubeconfig
    }

    /// How many connections there were.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// How many requests are waiting for the end of their answer, as watches do.
    pub(super) fn open_requests(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}

/// What a server is known by, and the certificate authority that it is trusted by, as kubeconfigs have it.
fn identity() -> anyhow::Result<(TlsAcceptor, String)> {
    // The same key must not be authority and server at once.
    let mut authority = CertificateParams::default();
    authority.distinguished_name.push(DnType::CommonName, "capt-bench");
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    let key = KeyPair::generate()?;
    let trusted = authority.self_signed(&key)?.pem();
    let issuer = Issuer::new(authority, key);

    let mut server = CertificateParams::default();
    server.subject_alt_names = vec![SanType::IpAddress(Ipv4Addr::LOCALHOST.into())];
    let key = KeyPair::generate()?;
    let certificate = server.signed_by(&key, &issuer)?.der().clone();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key.into())?;
    Ok((TlsAcceptor::from(Arc::new(config)), STANDARD.encode(trusted)))
}

/// Takes connections. One that does not get through the handshake holds up nobody else.
async fn accept(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    accepted: mpsc::UnboundedSender<TlsStream<TcpStream>>,
    connections: Arc<AtomicUsize>,
) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, accepted, connections) =
            (acceptor.clone(), accepted.clone(), Arc::clone(&connections));
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            if let Ok(stream) = acceptor.accept(stream).await {
                connections.fetch_add(1, Ordering::Relaxed);
                let _ = accepted.send(stream);
            }
        });
    }
}

/// Connections that got through the handshake.
struct Accepted {
    address: SocketAddr,
    receiver: mpsc::UnboundedReceiver<TlsStream<TcpStream>>,
}

impl axum::serve::Listener for Accepted {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.receiver.recv().await {
            Some(stream) => (stream, self.address),
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.address)
    }
}

#[derive(Clone)]
struct Upstream {
    client: Client,
    open: Arc<AtomicUsize>,
}

/// A request whose answer has not ended.
struct Open(Arc<AtomicUsize>);

impl Open {
    fn new(count: Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn forward(State(upstream): State<Upstream>, request: Request) -> Response {
    let sent = upstream.send(request).await;
    sent.unwrap_or_else(|error| (StatusCode::BAD_GATEWAY, format!("{error:#}")).into_response())
}

impl Upstream {
    async fn send(self, request: Request) -> anyhow::Result<Response> {
        let Self { client, open } = self;
        let open = Open::new(open);
        let (mut parts, body) = request.into_parts();
        // The client has credentials of its own.
        parts.headers.remove(AUTHORIZATION);
        parts.headers.remove(HOST);
        let body = to_bytes(body, usize::MAX).await?.to_vec();
        let answer = client.send(http::Request::from_parts(parts, body.into())).await?;
        Ok(answer.map(|body| {
            let parts = Body::new(body).into_data_stream();
            Body::from_stream(parts.map(move |part| {
                let _until_it_ends = &open;
                part
            }))
        }))
    }
}

#[cfg(test)]
mod tests {
    use kube::config::{KubeConfigOptions, Kubeconfig};
    use kube::{Client, Config};

    use super::*;

    #[tokio::test]
    async fn whoever_has_the_kubeconfig_gets_through_without_his_credentials() {
        let upstream = tower::service_fn(async |request: http::Request<kube::client::Body>| {
            let is_anonymous = !request.headers().contains_key(AUTHORIZATION);
            let told = format!("{} {is_anonymous}", request.uri().path());
            anyhow::Ok(http::Response::new(kube::client::Body::from(told.into_bytes())))
        });
        let proxy = Proxy::to(Client::new(upstream, "default")).await.unwrap();
        let kubeconfig = Kubeconfig::from_yaml(proxy.kubeconfig()).unwrap();
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
        let client = Client::try_from(config).unwrap();
        let request = http::Request::get("/api/v1/namespaces").body(Vec::new()).unwrap();
        assert_eq!(client.request_text(request).await.unwrap(), "/api/v1/namespaces true");
        assert_eq!(proxy.connections(), 1);
    }
}
