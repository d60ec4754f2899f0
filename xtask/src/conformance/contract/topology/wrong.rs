//! What the class and the kinds refuse, with the sentences that a user gets.

use anyhow::{Context, bail, ensure};
use kube::api::{DeleteParams, PostParams};
use serde_json::{Value, json};

use super::super::home::Home;
use super::super::way_up::Names;
use super::class::{VPC, api, cluster, set};
use super::hands::{Kind, SOON, condition};
use super::life::{is_reconciled, vary};

/// What is wrong with a Cluster, how it is made, and what is said of it.
type Case = (&'static str, fn(&mut Value), &'static str);

const CASES: [Case; 8] = [
    (
        "a region that is none",
        |cluster| set(cluster, "region", &json!("Frankfurt")),
        "write a region of AWS, for example eu-central-1",
    ),
    ("no region", |cluster| without(cluster, "region"), "required variable"),
    (
        "both choices of a VPC",
        |cluster| set(cluster, "vpc", &json!({ "template": "mine", "existingId": "vpc-0abc" })),
        "give template (a new VPC) or existingId (one that exists), and not both",
    ),
    (
        "an id that is none",
        |cluster| set(cluster, "vpc", &json!({ "existingId": "my-vpc" })),
        "write the id of a VPC, for example vpc-0123456789abcdef0",
    ),
    (
        "a third choice of a VPC",
        |cluster| set(cluster, "vpc", &json!({ "name": "mine" })),
        "not specified in the variable schema",
    ),
    (
        "a variable that nobody knows",
        |cluster| set(cluster, "colour", &json!("red")),
        "variable is not defined",
    ),
    (
        "a tag that is no text",
        |cluster| set(cluster, "tags", &json!({ "cost": 42 })),
        "must be of type string",
    ),
    (
        "a version without its patch",
        |cluster| cluster["spec"]["topology"]["version"] = json!("v1.34"),
        "valid semantic version",
    ),
];

fn without(cluster: &mut Value, name: &str) {
    if let Some(variables) = cluster["spec"]["topology"]["variables"].as_array_mut() {
        variables.retain(|variable| variable["name"] != name);
    }
}

/// The webhooks of Cluster API refuse Clusters that do not fit the class.
pub(super) async fn is_refused(home: &Home) -> anyhow::Result<()> {
    for (what, spoil, sentence) in CASES {
        let mut cluster = cluster(home)?;
        spoil(&mut cluster);
        let api = api(home, &cluster)?;
        let parameters = PostParams { dry_run: true, ..PostParams::default() };
        let said = match api.create(&parameters, &serde_json::from_value(cluster)?).await {
            Err(kube::Error::Api(status)) => status.message,
            Err(error) => return Err(error).context(what),
            Ok(_) => bail!("{what} is accepted"),
        };
        ensure!(said.contains(sentence), "{what}: {said}");
        home.ok(&format!("{what} is refused: {said}"));
    }
    Ok(())
}

/// What cannot be changed is refused at once where the class says so. What a kind of CAPT refuses is told on the Cluster, and is
/// over when the variable is as it was.
pub(super) async fn cannot_move(home: &Home, names: Names) -> anyhow::Result<()> {
    let moved = vary(home, names, "region", &json!("eu-central-1")).await;
    let said = moved.err().map(|error| format!("{error:#}")).context("another region is accepted")?;
    ensure!(said.contains("the region cannot be changed, make a new Cluster"), "another region: {said}");
    home.ok(&format!("another region is refused: {said}"));
    let before = home.expect(Kind::Network, names.cluster).await?;
    vary(home, names, "vpc", &json!({ "existingId": VPC })).await?;
    let sentence = "existingVpcId cannot be given, changed or taken away later: make a new CAPTCluster";
    home.until(Kind::Cluster, names.cluster, SOON, |cluster| {
        let told = condition(cluster, "TopologyReconciled").cloned().unwrap_or_default();
        let message = told["message"].as_str().unwrap_or_default();
        let is_told = told["status"] == "False" && message.contains(sentence);
        (!is_told).then(|| format!("TopologyReconciled is {told}")).into_iter().collect()
    })
    .await?;
    vary(home, names, "vpc", &json!({})).await?;
    is_reconciled(home, names).await?;
    let after = home.expect(Kind::Network, names.cluster).await?;
    ensure!(before["metadata"]["generation"] == after["metadata"]["generation"], "the network was changed");
    home.ok(&format!("another VPC is told on the Cluster: {sentence}"));
    Ok(())
}

/// A class that a Cluster is made from cannot be deleted.
pub(super) async fn class_in_use_stays(home: &Home) -> anyhow::Result<()> {
    let class = json!({ "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "ClusterClass" });
    let classes = api(home, &class)?;
    let said = match classes.delete(super::class::SECOND, &DeleteParams::default()).await {
        Err(kube::Error::Api(status)) => status.message,
        Err(error) => return Err(error).context("deleting a class"),
        Ok(_) => bail!("a class that is used can be deleted"),
    };
    home.ok(&format!("a class that is used stays: {said}"));
    classes
        .delete("eks", &DeleteParams::default())
        .await
        .context("deleting the class that is used no more")?;
    Ok(())
}
