//! What the demo ends with: a kubeconfig that works, and the proof of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use capt_local::private;
use k8s_openapi::api::core::v1::{Namespace, Node, Secret};
use kube::api::{DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client, ResourceExt};
use serde::Serialize;

use super::{NAME, NAMESPACE};
use crate::cli::Output;
use crate::connection;
use crate::home::{self, Home};
use crate::printer::Printer;
use crate::program::{self, in_path, quoted};

/// The Notice of `examples/demo/addons.yaml`.
const NOTICE: (&str, &str) = ("demo", "welcome");

/// Before the new cluster is asked again.
const PAUSE: Duration = Duration::from_millis(100);

/// What a program needs to know.
#[derive(Serialize)]
pub(super) struct Made {
    cluster: &'static str,
    server: String,
    kubeconfig: PathBuf,
    namespaces: Vec<String>,
    /// None of them is a machine.
    nodes: Vec<String>,
    /// What the last add-on brought, by the values of Terraform.
    notice: String,
}

/// What becomes of the home.
#[derive(Clone, Copy)]
pub(super) enum Afterwards {
    UntilCtrlC,
    Stops,
    /// It is another process that runs it.
    GoesOn,
}

/// Reads the kubeconfig as Cluster API's clients do, and asks the new cluster with it.
pub(super) async fn fetch(client: &Client, directory: &Path) -> anyhow::Result<Made> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
    let name = format!("{NAME}-kubeconfig");
    let secret = secrets.get(&name).await.with_context(|| format!("reading Secret `{name}`"))?;
    let content = secret.data.and_then(|mut data| data.remove("value"));
    let content = content.with_context(|| format!("Secret `{name}` has no key `value`"))?;
    let kubeconfig = directory.join(format!("{NAME}.kubeconfig"));
    private::write(&kubeconfig, &content.0).with_context(|| format!("writing {}", kubeconfig.display()))?;
    let workload = connection::find(Some(&kubeconfig)).await?;
    // A cluster of an earlier run starts with the home, and may need a moment longer.
    connection::until_it_answers(&workload).await;
    let cluster = workload.client;
    Ok(Made {
        cluster: NAME,
        server: workload.server.address,
        kubeconfig,
        namespaces: names(Api::<Namespace>::all(cluster.clone())).await?,
        nodes: names(Api::<Node>::all(cluster.clone())).await?,
        notice: notice(&cluster).await?,
    })
}

async fn names<K>(api: Api<K>) -> anyhow::Result<Vec<String>>
where
    K: kube::Resource<DynamicType = ()> + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let listed = api.list(&ListParams::default()).await;
    let listed = listed.with_context(|| format!("listing the {}s of the new cluster", K::kind(&())))?;
    Ok(listed.items.iter().map(ResourceExt::name_any).collect())
}

/// An API server that was started a moment ago does not serve all its kinds yet.
async fn notice(cluster: &Client) -> anyhow::Result<String> {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("demo.capt.example.com", "v1", "Notice"));
    let (namespace, name) = NOTICE;
    let notices: Api<DynamicObject> = Api::namespaced_with(cluster.clone(), namespace, &kind);
    loop {
        let notice = notices.get_opt(name).await.context("reading the Notice in the new cluster")?;
        if let Some(notice) = notice {
            let text = notice.data.pointer("/spec/text").and_then(|text| text.as_str());
            return Ok(text.unwrap_or_default().to_owned());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Says what there is now and what can be done with it.
pub(super) fn tell(
    made: &Made,
    home: Home<'_>,
    afterwards: Afterwards,
    printer: Printer,
) -> anyhow::Result<()> {
    if printer.output() != Output::Human {
        return printer.value(made, "");
    }
    let Made { notice, nodes, .. } = made;
    printer.message(&format!(
        "\nThe cluster is there, and says: {notice}\n\
         Its control plane is real: an etcd, a kube-apiserver and a kube-controller-manager of its own.\n\
         Its {} Nodes are simulated: there is no machine behind them, and no Pod runs.\n",
        nodes.len()
    ));
    let demo = |flag: &str| home::command(&format!("demo{flag}"), home.directory);
    let (stops, place) = match afterwards {
        Afterwards::UntilCtrlC => (
            format!("Ctrl-C stops both clusters, `{}` starts them again.", demo("")),
            "Look around, in another terminal:",
        ),
        Afterwards::Stops => {
            ("Both clusters stop now.".to_owned(), "Start them again, in the background, and look around:")
        }
        Afterwards::GoesOn => {
            (format!("`{}` stops both clusters.", home::command("down", home.directory)), "Look around:")
        }
    };
    printer.message(&format!("{place}\n"));
    printer.text(&commands(made, home, afterwards))?;
    printer.message(&format!("\n{stops}\n`{}` destroys the cluster by Terraform.", demo(" --delete")));
    Ok(())
}

/// Lines for a shell, which work as they are.
fn commands(made: &Made, home: Home<'_>, afterwards: Afterwards) -> String {
    let word = |path: &Path| quoted(&path.display().to_string());
    let capt = program::name();
    let start = match afterwards {
        Afterwards::Stops => Some(home::command("up --detach", home.directory)),
        Afterwards::UntilCtrlC | Afterwards::GoesOn => None,
    };
    let look = match (afterwards, in_path("kubectl")) {
        // The cluster answers a moment after its home.
        (Afterwards::Stops, _) => None,
        (_, Some(_)) => Some(format!(
            "kubectl --kubeconfig {} get nodes,notices --all-namespaces",
            word(&made.kubeconfig)
        )),
        (_, None) => Some(format!("{capt} reconcile cluster {NAME} --wait")),
    };
    let lines = start
        .into_iter()
        .chain([
            format!("export KUBECONFIG={}", word(home.kubeconfig)),
            format!("{capt} describe cluster {NAME}"),
        ])
        .chain(look);
    lines.map(|line| format!("    {line}\n")).collect::<Vec<_>>().concat()
}
