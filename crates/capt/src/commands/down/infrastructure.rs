//! What a home looks after, and would be lost with its data.

use std::path::Path;

use anyhow::{Context, bail};
use capt_api::{Cluster, Workspace};
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt};

use crate::home;

/// How many are named.
const NAMED: usize = 10;

/// What the home keeps.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// As `namespace/name`.
    clusters: Vec<String>,
    /// Those that Terraform may have made something for.
    workspaces: Vec<String>,
    /// Whether the demo's Cluster is among them.
    demo: bool,
}

/// Asks for all of it.
pub(super) async fn read(client: &Client) -> anyhow::Result<Kept> {
    let clusters = absent_is_none(Api::<Cluster>::all(client.clone()).list(&ListParams::default()).await)
        .context("listing Clusters")?;
    let workspaces = absent_is_none(Api::<Workspace>::all(client.clone()).list(&ListParams::default()).await)
        .context("listing Workspaces")?;
    let name =
        |cluster: &Cluster| format!("{}/{}", cluster.namespace().unwrap_or_default(), cluster.name_any());
    let clusters: Vec<String> = clusters.iter().map(name).collect();
    let demo = clusters.iter().any(|cluster| cluster == "default/demo");
    let workspaces = workspaces.iter().filter(|workspace| may_have_made(workspace));
    let workspaces = workspaces.map(ResourceExt::name_any).collect();
    Ok(Kept { clusters, workspaces, demo })
}

/// A home whose first start did not come to its end has no kinds.
fn absent_is_none<K: Clone>(listed: kube::Result<kube::core::ObjectList<K>>) -> kube::Result<Vec<K>> {
    match listed {
        Ok(listed) => Ok(listed.items),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Whether there may be infrastructure: nothing is known to say that there never was.
fn may_have_made(workspace: &Workspace) -> bool {
    let Some(status) = &workspace.status else { return false };
    let engine = status.engine.as_ref();
    status.at_provider.is_some()
        || engine.is_none()
        || engine.is_some_and(|engine| {
            engine.last_applied_time.is_some() || engine.run.is_some() || engine.state.is_some()
        })
}

impl Kept {
    /// An error where infrastructure would be lost.
    pub(super) fn refuse_to_lose(&self, directory: &Path) -> anyhow::Result<()> {
        let count = self.workspaces.len();
        if count == 0 {
            return Ok(());
        }
        let up = home::command("up", directory);
        let workspaces = self.workspaces.iter().take(NAMED).map(|name| format!("  Workspace {name}\n"));
        let clusters = self.clusters.iter().take(NAMED).map(|name| format!("  Cluster {name}\n"));
        let named = workspaces.chain(clusters).collect::<Vec<_>>().concat();
        let way = if self.demo {
            format!(
                "`{}` destroys the one of the demo; delete the others",
                home::command("demo --delete", directory)
            )
        } else {
            format!("delete the Clusters and Workspaces (`{up}` runs the home) and wait until they are gone")
        };
        bail!(
            "there is infrastructure that only the data in {} knows of ({count} Workspaces): without it nobody takes it \
             down, and it is paid for\n{named}{way}, or say --force",
            directory.display()
        )
    }

    /// What is lost, where no infrastructure is.
    pub(super) fn sentence(&self) -> String {
        match self.clusters.len() {
            0 => "no cluster is in it, but its templates, add-ons and Secrets are".to_owned(),
            count => {
                format!("{count} Clusters ({}), its templates, add-ons and Secrets", self.clusters.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    #[rstest]
    #[case::never_looked_at(Value::Null, false)]
    #[case::not_begun(json!({ "engine": {} }), false)]
    #[case::applied(json!({ "engine": { "lastAppliedTime": "2026-01-01T00:00:00Z" } }), true)]
    #[case::applying(json!({ "engine": { "run": { "operation": "Apply", "phase": "Running", "since": "2026-01-01T00:00:00Z" } } }), true)]
    #[case::with_a_state(json!({ "engine": { "state": { "backend": "kubernetes" } } }), true)]
    #[case::by_crossplane(json!({ "conditions": [] }), true)]
    #[case::with_outputs(json!({ "atProvider": { "outputs": {} }, "engine": {} }), true)]
    fn infrastructure_is_where_nothing_says_that_there_is_none(
        #[case] status: Value,
        #[case] expected: bool,
    ) {
        let workspace = json!({
            "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace", "metadata": { "name": "x" },
            "spec": { "forProvider": { "source": "Inline", "module": "" } }, "status": status,
        });
        let workspace: Workspace = serde_json::from_value(workspace).unwrap();

        assert_eq!(may_have_made(&workspace), expected);
    }

    #[test]
    fn infrastructure_is_named_with_what_to_do() {
        let kept = Kept {
            clusters: vec!["default/prod".to_owned()],
            workspaces: vec!["prod-vpc".to_owned(), "prod-eks-controlplane".to_owned()],
            demo: false,
        };

        let told = kept.refuse_to_lose(Path::new("/data")).unwrap_err().to_string();

        assert!(told.contains("in /data knows of (2 Workspaces)"), "{told}");
        assert!(
            told.contains("\n  Workspace prod-vpc\n") && told.contains("\n  Cluster default/prod\n"),
            "{told}"
        );
        assert!(told.ends_with("or say --force"), "{told}");
        Kept::default().refuse_to_lose(Path::new("/data")).unwrap();
    }
}
