//! An API server that goes away in the middle of an apply.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use capt_controller::manager;
use capt_testkit::eventually;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::{inline, put};
use crate::engine::stage::EngineStage;
use crate::stage::cluster;

/// Leads to the API server, until it is cut.
struct Wire {
    address: SocketAddr,
    server: String,
    going: Option<JoinHandle<()>>,
}

impl Wire {
    async fn to(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = server.trim_start_matches("https://").to_owned();
        let going = Some(tokio::spawn(carry(listener, server.clone())));
        Self { address, server, going }
    }

    fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Ends every connection, and takes no new ones.
    async fn cut(&mut self) {
        let going = self.going.take().unwrap();
        going.abort();
        assert!(going.await.unwrap_err().is_cancelled());
    }

    async fn mend(&mut self) {
        let listener =
            eventually("the address to be free", async || TcpListener::bind(self.address).await).await;
        self.going = Some(tokio::spawn(carry(listener, self.server.clone())));
    }
}

/// Carries bytes between each caller and the server.
async fn carry(listener: TcpListener, server: String) {
    let mut connections = JoinSet::new();
    while let Ok((mut caller, _)) = listener.accept().await {
        let server = server.clone();
        connections.spawn(async move {
            let mut callee = TcpStream::connect(server).await?;
            tokio::io::copy_bidirectional(&mut caller, &mut callee).await?;
            io::Result::Ok(())
        });
    }
}

/// A client that goes by this address.
async fn client_at(url: &str) -> Client {
    let mut kubeconfig = Kubeconfig::from_yaml(&cluster().await.control_plane().kubeconfig()).unwrap();
    kubeconfig.clusters[0].cluster.as_mut().unwrap().server = Some(url.to_owned());
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

/// Files of this name below a directory.
fn files(directory: &Path, name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let (directories, files_here): (Vec<_>, Vec<_>) =
        entries.partition(|path| path.is_dir() && !path.is_symlink());
    let here = files_here.into_iter().filter(|path| path.file_name().is_some_and(|found| found == name));
    here.chain(directories.iter().flat_map(|directory| files(directory, name))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_made_while_the_api_server_was_away_is_neither_lost_nor_made_twice() {
    let stage = EngineStage::without_manager().await;
    let mut wire = Wire::to(cluster().await.control_plane().url()).await;
    let engine = stage.process_engine().await;
    let options = stage.options(engine, |terraform| terraform.server.address = wire.url()).await;
    let shutdown = CancellationToken::new();
    let _stop = shutdown.clone().drop_guard();
    tokio::spawn(manager::run(client_at(&wire.url()).await, options, shutdown));
    let (made, go) = (stage.file("made"), stage.file("go"));
    let module = format!(
        "resource \"terraform_data\" \"one\" {{\n  input = \"one\"\n  provisioner \"local-exec\" {{ command = \"echo made >> '{}'; while [ ! -e '{}' ]; do sleep 0.05; done\" }}\n}}\noutput \"said\" {{ value = terraform_data.one.output }}\n",
        made.display(),
        go.display()
    );
    let name = put(&stage, "demo", inline(&module)).await;
    eventually("the apply to begin", async || made.exists()).await;

    wire.cut().await;
    fs::write(&go, "").unwrap();
    let directory = stage.directory.path().join("workspaces");
    let is_written =
        |file: &PathBuf| fs::read_to_string(file).is_ok_and(|text| text.contains("terraform_data"));
    eventually("the state to be kept in a file", async || {
        files(&directory, "terraform.tfstate").iter().any(is_written)
    })
    .await;
    wire.mend().await;

    stage.output(&name, "said", json!("one")).await;
    stage.ready(&name).await;
    assert_eq!(fs::read_to_string(&made).unwrap(), "made\n");
    assert!(
        !files(&directory, "terraform.tfstate").iter().any(is_written),
        "what is stored is not kept twice"
    );
}
