//! What stands between the manager and a cluster: it can be shut, and it counts what goes through.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use capt_testkit::{TestCluster, eventually};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const OPEN: u8 = 0;
const SILENT: u8 = 1;
const SHUT: u8 = 2;

/// A way to a cluster's API server.
pub(super) struct Gate {
    kubeconfig: String,
    state: Arc<AtomicU8>,
    sent: Arc<AtomicU64>,
    callers: Arc<AtomicU64>,
}

impl Gate {
    /// A way that is open.
    pub(super) async fn to(cluster: &TestCluster) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = cluster.control_plane().url();
        let upstream = url.trim_start_matches("https://").to_owned();
        let kubeconfig =
            cluster.control_plane().kubeconfig().replace(url, &format!("https://127.0.0.1:{port}"));
        let (state, sent) = (Arc::<AtomicU8>::default(), Arc::<AtomicU64>::default());
        let callers = Arc::<AtomicU64>::default();
        let gate = Self {
            kubeconfig,
            state: Arc::clone(&state),
            sent: Arc::clone(&sent),
            callers: Arc::clone(&callers),
        };
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                callers.fetch_add(1, Ordering::Relaxed);
                let (upstream, state, sent) = (upstream.clone(), Arc::clone(&state), Arc::clone(&sent));
                tokio::spawn(async move {
                    match state.load(Ordering::Relaxed) {
                        OPEN => pass(client, &upstream, &state, &sent).await,
                        SILENT => std::future::pending().await,
                        _ => {}
                    }
                });
            }
        });
        gate
    }

    /// The administrator's kubeconfig, by this way.
    pub(super) fn kubeconfig(&self) -> String {
        self.kubeconfig.clone()
    }

    /// From here on new connections are taken and nothing is answered.
    pub(super) fn fall_silent(&self) {
        self.state.store(SILENT, Ordering::Relaxed);
    }

    /// From here on nothing comes through, on new connections and old ones.
    pub(super) fn shut(&self) {
        self.state.store(SHUT, Ordering::Relaxed);
    }

    pub(super) fn open(&self) {
        self.state.store(OPEN, Ordering::Relaxed);
    }

    /// Waits until somebody wants to go through.
    pub(super) async fn is_called(&self) {
        eventually("somebody at the gate", async || self.callers.load(Ordering::Relaxed) > 0).await;
    }

    /// How many bytes were sent to the cluster.
    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}

async fn pass(client: TcpStream, upstream: &str, state: &AtomicU8, sent: &AtomicU64) {
    let Ok(server) = TcpStream::connect(upstream).await else { return };
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let back = tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from_client.read(&mut buffer).await {
        if state.load(Ordering::Relaxed) != OPEN {
            break;
        }
        sent.fetch_add(u64::try_from(count).unwrap(), Ordering::Relaxed);
        if to_server.write_all(&buffer[..count]).await.is_err() {
            break;
        }
    }
    back.abort();
}
