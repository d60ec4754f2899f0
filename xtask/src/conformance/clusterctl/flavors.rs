//! What clusterctl makes of our templates.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::ensure;
use serde_json::Value;

use super::super::answer::Answer;
use super::eyes::put;
use super::program::Clusterctl;
use super::{Site, Tools, ok};
use crate::repository::examples;

const REGION: (&str, &str) = ("AWS_REGION", "eu-west-1");
const CIDRS: (&str, &str) = ("CAPT_PUBLIC_CIDRS", "203.0.113.0/24,2001:db8::/32");
const VPC: (&str, &str) = ("AWS_VPC_ID", "vpc-0123456789abcdef0");

struct Flavor {
    name: &'static str,
    variables: &'static [(&'static str, &'static str)],
    /// How many templates of workspaces it comes with.
    templates: usize,
}

const FLAVORS: [Flavor; 6] = [
    Flavor { name: "", variables: &[REGION, CIDRS], templates: 2 },
    Flavor { name: "eks", variables: &[REGION, CIDRS], templates: 2 },
    Flavor { name: "eks-existing-vpc", variables: &[REGION, CIDRS, VPC], templates: 1 },
    Flavor { name: "eks-topology", variables: &[REGION, CIDRS], templates: 3 },
    Flavor { name: "eks-existing-vpc-topology", variables: &[REGION, CIDRS, VPC], templates: 3 },
    Flavor { name: "local", variables: &[("CAPT_HOME", "/home/somebody/capt")], templates: 2 },
];

/// What the user has not said is asked for by name.
pub(super) async fn name_what_is_missing(clusterctl: &Clusterctl) -> anyhow::Result<()> {
    let question = ["generate", "cluster", "one", "--flavor", "eks-existing-vpc"];
    let missing = ["AWS_REGION", "AWS_VPC_ID", "CAPT_PUBLIC_CIDRS", "KUBERNETES_VERSION"];
    clusterctl.refuses(&question).await?.names(&missing)?;
    let listed = clusterctl.run(&[&question[..], &["--list-variables"]].concat()).await?;
    listed.names(&missing)?;
    clusterctl
        .refuses(&["generate", "cluster", "one", "--flavor", "moon"])
        .await?
        .names(&["cluster-template-moon.yaml"])?;
    ok("variables that are missing are named, and so is a flavour that there is not");
    Ok(())
}

/// Every flavour becomes objects that `capt validate` and an API server take.
pub(super) async fn become_clusters(site: &Site, tools: &Tools) -> anyhow::Result<()> {
    for flavor in &FLAVORS {
        let answer = generate(&site.clusterctl, flavor.name, "try", flavor.variables).await?;
        let objects = answer.objects()?;
        ensure!(
            unharmed_templates(&objects)? == flavor.templates,
            "flavour `{}` has not {} templates",
            flavor.name,
            flavor.templates
        );
        validates(&tools.capt, &answer.data, flavor.name)?;
        for object in &objects {
            put(&site.server.client, object, true).await?;
        }
        ok(&format!(
            "flavour `{}`: {} objects, which `capt validate` and the API server take",
            flavor.name,
            objects.len()
        ));
    }
    Ok(())
}

/// What a user types for a cluster.
pub(super) async fn generate(
    clusterctl: &Clusterctl,
    flavor: &str,
    name: &str,
    variables: &[(&str, &str)],
) -> anyhow::Result<Answer> {
    // Of the infrastructure there is only one, so that it need not be named.
    let mut question = vec!["generate", "cluster", name, "--flavor", flavor];
    if flavor != "local" {
        question.extend(["--kubernetes-version", "v1.34.0"]);
    }
    clusterctl.run_with(&question, variables).await
}

/// Counts the templates of workspaces, whose modules have to be those of the examples, byte for byte.
fn unharmed_templates(objects: &[Value]) -> anyhow::Result<usize> {
    let content = |object: &Value| {
        let spec = &object["spec"];
        let module = &spec["template"]["spec"]["forProvider"]["module"];
        (module.to_string(), spec["writeConnectionSecretToRef"]["name"].to_string())
    };
    let templates = |object: &&Value| object["kind"] == "WorkspaceTemplate";
    let examples: Vec<Value> = examples()?.into_iter().map(|(_, object)| object).collect();
    let known: BTreeSet<_> = examples.iter().filter(templates).map(content).collect();
    for template in objects.iter().filter(templates) {
        let name = &template["metadata"]["name"];
        ensure!(known.contains(&content(template)), "the WorkspaceTemplate {name} is not as in the examples");
    }
    Ok(objects.iter().filter(templates).count())
}

fn validates(capt: &Path, text: &str, flavor: &str) -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("cluster.yaml");
    std::fs::write(&file, text)?;
    let output = Command::new(capt)
        .args(["validate", "--strict", "--elsewhere", "ProviderConfig/aws", "--file"])
        .arg(&file)
        .output()?;
    ensure!(
        output.status.success(),
        "capt validate does not take flavour `{flavor}`:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}
