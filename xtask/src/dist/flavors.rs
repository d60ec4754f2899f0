//! Templates of clusters and classes, from the examples: what differs from cluster to cluster becomes a variable of clusterctl.

mod documentation;
mod objects;

use serde_json::{Value, json};

use super::Files;
use super::manifest::{plain, read, write};
use super::variables::{list, variable};
use documentation::documented;
use objects::{find, from, name_cluster, own_template, set, version_of};

/// From where the API server of EKS can be reached.
const PUBLIC_CIDRS: &str = "CAPT_PUBLIC_CIDRS";

pub(super) fn add(files: &mut Files) -> anyhow::Result<()> {
    let eks = template("A cluster of EKS, in a VPC of its own.", &eks()?)?;
    // What one gets without naming a flavour.
    files.insert("cluster-template.yaml".to_owned(), eks.clone());
    let flavors = [
        ("eks", eks),
        ("eks-existing-vpc", template("A cluster of EKS, in a VPC that exists.", &existing_vpc()?)?),
        (
            "eks-topology",
            template("A cluster of the ClusterClass `eks`, in a VPC of its own.", &topology(false)?)?,
        ),
        (
            "eks-existing-vpc-topology",
            template("A cluster of the ClusterClass `eks`, in a VPC that exists.", &topology(true)?)?,
        ),
        ("local", template("A cluster on the machine of a `capt up`, which runs it.", &local()?)?),
    ];
    for (flavor, text) in flavors {
        files.insert(format!("cluster-template-{flavor}.yaml"), text);
    }
    files.insert("clusterclass-eks.yaml".to_owned(), write(&class()?)?);
    files.insert("provider-config-aws.yaml".to_owned(), plain(&read("examples/eks/provider-config.yaml")?)?);
    Ok(())
}

fn template(title: &str, objects: &[Value]) -> anyhow::Result<String> {
    documented(title, &write(objects)?)
}

fn eks() -> anyhow::Result<Vec<Value>> {
    let mut objects = from(&["eks/network.yaml", "eks/control-plane.yaml", "eks/cluster.yaml"])?;
    name_cluster(&mut objects, &variable("KUBERNETES_VERSION"))?;
    own_template(&mut objects, "eks-vpc", "vpc", ("CAPTCluster", "/spec/vpcTemplateRef/name"))?;
    own_control_plane(&mut objects, "eks-control-plane")?;
    set(&mut objects, "CAPTCluster", "/spec/region", json!(variable("AWS_REGION")))?;
    let cidrs = "/spec/controlPlaneConfig/endpointAccess/publicCIDRs";
    set(&mut objects, "CAPTControlPlane", cidrs, json!(list(PUBLIC_CIDRS)))?;
    if let Some(spec) = find(&mut objects, "CAPTControlPlane")?["spec"].as_object_mut() {
        // The tags of the example are its own.
        spec.remove("additionalTags");
    }
    Ok(objects)
}

fn existing_vpc() -> anyhow::Result<Vec<Value>> {
    let mut objects = from(&["existing-vpc/control-plane.yaml", "existing-vpc/cluster.yaml"])?;
    name_cluster(&mut objects, &variable("KUBERNETES_VERSION"))?;
    own_control_plane(&mut objects, "eks-in-existing-vpc")?;
    set(&mut objects, "CAPTCluster", "/spec/region", json!(variable("AWS_REGION")))?;
    set(&mut objects, "CAPTCluster", "/spec/existingVpcId", json!(variable("AWS_VPC_ID")))?;
    find(&mut objects, "CAPTControlPlane")?["spec"]["controlPlaneConfig"] = json!({
        "endpointAccess": { "public": true, "private": true, "publicCIDRs": list(PUBLIC_CIDRS) },
    });
    Ok(objects)
}

fn topology(in_existing_vpc: bool) -> anyhow::Result<Vec<Value>> {
    let mut objects = from(&["clusterclass/cluster.yaml"])?;
    set(&mut objects, "Cluster", "/metadata/name", json!(variable("CLUSTER_NAME")))?;
    set(&mut objects, "Cluster", "/spec/topology/version", json!(variable("KUBERNETES_VERSION")))?;
    let mut variables = vec![
        json!({ "name": "region", "value": variable("AWS_REGION") }),
        json!({ "name": "publicCIDRs", "value": list(PUBLIC_CIDRS) }),
    ];
    if in_existing_vpc {
        variables.push(json!({ "name": "vpc", "value": { "existingId": variable("AWS_VPC_ID") } }));
    }
    set(&mut objects, "Cluster", "/spec/topology/variables", json!(variables))?;
    Ok(objects)
}

/// A cluster on the machine of a `capt up`, which the module has to know.
fn local() -> anyhow::Result<Vec<Value>> {
    let mut objects = from(&["demo/template.yaml", "demo/cluster.yaml"])?;
    let version = version_of(&mut objects)?;
    name_cluster(&mut objects, &variable(&format!("KUBERNETES_VERSION:={version}")))?;
    own_template(&mut objects, "demo-network", "network", ("CAPTCluster", "/spec/vpcTemplateRef/name"))?;
    let template = own_control_plane(&mut objects, "demo-control-plane")?;
    let home = format!("CAPT_HOME:={}/.local/share/capt", variable("HOME"));
    template["spec"]["template"]["spec"]["forProvider"]["vars"] = json!([
        { "key": "home", "value": variable(&home) },
        { "key": "capt_binary", "value": variable("CAPT_BINARY:=capt") },
    ]);
    Ok(objects)
}

/// A class with the templates that it leads to. It has no variable of clusterctl's at all: it is the same for every cluster.
fn class() -> anyhow::Result<Vec<Value>> {
    let mut objects = from(&[
        "clusterclass/clusterclass.yaml",
        "eks/network.yaml",
        "eks/control-plane.yaml",
        "existing-vpc/control-plane.yaml",
    ])?;
    for metadata in objects.iter_mut().filter_map(|object| object["metadata"].as_object_mut()) {
        metadata.remove("namespace");
    }
    Ok(objects)
}

fn own_control_plane<'a>(objects: &'a mut [Value], template: &str) -> anyhow::Result<&'a mut Value> {
    own_template(objects, template, "control-plane", ("CAPTControlPlane", "/spec/workspaceTemplateRef/name"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::variables::names;
    use super::*;

    #[rstest]
    #[case::eks("cluster-template-eks.yaml", &["AWS_REGION", "CAPT_PUBLIC_CIDRS"])]
    #[case::without_a_flavour("cluster-template.yaml", &["AWS_REGION", "CAPT_PUBLIC_CIDRS"])]
    #[case::existing("cluster-template-eks-existing-vpc.yaml", &["AWS_REGION", "AWS_VPC_ID", "CAPT_PUBLIC_CIDRS"])]
    #[case::topology("cluster-template-eks-topology.yaml", &["AWS_REGION", "CAPT_PUBLIC_CIDRS"])]
    #[case::existing_topology(
        "cluster-template-eks-existing-vpc-topology.yaml",
        &["AWS_REGION", "AWS_VPC_ID", "CAPT_PUBLIC_CIDRS"]
    )]
    #[case::local("cluster-template-local.yaml", &["CAPT_BINARY", "CAPT_HOME"])]
    fn clusterctl_is_asked_for_nothing_but_what_differs(#[case] file: &str, #[case] own: &[&str]) {
        let mut files = Files::new();
        add(&mut files).unwrap();

        let expected = own.iter().copied().chain(["CLUSTER_NAME", "KUBERNETES_VERSION", "NAMESPACE"]);
        assert_eq!(names(&files[file]), expected.collect());
    }

    #[test]
    fn a_class_is_the_same_for_every_cluster() {
        let mut files = Files::new();
        add(&mut files).unwrap();

        assert!(names(&files["clusterclass-eks.yaml"]).is_empty());
    }

    #[test]
    fn clusters_of_one_namespace_share_no_template() {
        for objects in [eks().unwrap(), existing_vpc().unwrap(), local().unwrap()] {
            let templates = objects.iter().filter(|object| object["kind"] == "WorkspaceTemplate");
            for name in templates.map(|template| template["metadata"]["name"].as_str().unwrap()) {
                assert!(name.starts_with(&variable("CLUSTER_NAME")), "{name}");
            }
        }
    }
}
