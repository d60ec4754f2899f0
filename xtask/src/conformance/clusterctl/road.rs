//! The way to an API server, which can be cut.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Passes on what comes in until it is cut; from then on nobody gets through.
pub(super) struct Road {
    /// Leads along this road.
    pub(super) kubeconfig: PathBuf,
    cut: CancellationToken,
}

impl Road {
    /// A road to the API server of a kubeconfig.
    pub(super) async fn build(kubeconfig: &Path, directory: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(kubeconfig).context("reading a kubeconfig")?;
        let server =
            text.lines().find_map(|line| line.trim().strip_prefix("server:")).context("no server")?;
        let server = server.trim().trim_matches('"').to_owned();
        let address = server.strip_prefix("https://").context("no https")?.trim_end_matches('/');
        let address: SocketAddr = address.parse().with_context(|| format!("`{address}` is no address"))?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let along = format!("https://{}", listener.local_addr()?);
        let path = directory.join("cut.kubeconfig");
        std::fs::write(&path, text.replace(&server, &along)).context("writing a kubeconfig")?;
        let cut = CancellationToken::new();
        tokio::spawn(cut.clone().run_until_cancelled_owned(pass(listener, address)));
        Ok(Self { kubeconfig: path, cut })
    }

    /// From now on nobody gets through, and whoever was on the way does not arrive.
    pub(super) fn cut(&self) {
        self.cut.cancel();
    }
}

impl Drop for Road {
    fn drop(&mut self) {
        self.cut();
    }
}

async fn pass(listener: TcpListener, address: SocketAddr) {
    let mut on_the_way = JoinSet::new();
    while let Ok((mut here, _)) = listener.accept().await {
        on_the_way.spawn(async move {
            let mut there = TcpStream::connect(address).await?;
            copy_bidirectional(&mut here, &mut there).await
        });
    }
}
