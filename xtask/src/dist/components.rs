//! The components of both providers.
//!
//! There is one manager for both. It comes with the infrastructure, which also brings what templates and add-ons are written in; the
//! control plane brings its kinds and nothing that runs. The kinds of Terraform are in neither: clusterctl would write over those of
//! Crossplane.

use anyhow::{Context, ensure};
use capt_api::names::{group, label};
use serde_json::{Value, json};

use super::manifest::{plain, read, write};
use super::{Files, Version};

/// The values of the label that says which provider an object belongs to.
const INFRASTRUCTURE: &str = "infrastructure-capt";
const CONTROL_PLANE: &str = "control-plane-capt";

/// Where clusterctl notes that the control plane is installed.
const CONTROL_PLANE_NAMESPACE: &str = "capt-control-plane-system";

pub(super) fn add(files: &mut Files, version: &Version, image: Option<&str>) -> anyhow::Result<()> {
    let own: Vec<Value> = read("config/crd")?.into_iter().filter(|crd| !is_compatible(crd)).collect();
    let (control_plane, infrastructure): (Vec<_>, Vec<_>) =
        own.into_iter().partition(|crd| crd["spec"]["group"] == group::CONTROL_PLANE);
    ensure!(!control_plane.is_empty() && !infrastructure.is_empty(), "config/crd lacks kinds of a provider");

    let namespaces = read("config/manager/namespace.yaml")?;
    let namespace = namespaces.first().context("config/manager has no namespace")?;
    let mut objects = vec![namespace.clone()];
    objects.extend(infrastructure);
    objects.extend(read("config/rbac")?.into_iter().map(|object| removable(object, namespace)));
    objects.extend(manager(version, image)?);
    put(files, "infrastructure-components.yaml", objects, INFRASTRUCTURE)?;

    let mut namespace = namespace.clone();
    namespace["metadata"]["name"] = json!(CONTROL_PLANE_NAMESPACE);
    let objects = [namespace].into_iter().chain(control_plane).collect();
    put(files, "control-plane-components.yaml", objects, CONTROL_PLANE)?;

    let compatible = read("config/crd/compatible")?;
    let terraform: Vec<Value> =
        compatible.into_iter().filter(|crd| crd["spec"]["group"] == group::TERRAFORM).collect();
    files.insert("terraform-kinds.yaml".to_owned(), plain(&terraform)?);
    Ok(())
}

/// A role that clusterctl takes away with the provider: of those without a namespace it does so only where the name begins with
/// that of the provider's.
fn removable(mut object: Value, namespace: &Value) -> Value {
    let Some(namespace) = namespace["metadata"]["name"].as_str() else { return object };
    let prefixed = |name: &Value| json!(format!("{namespace}-{}", name.as_str().unwrap_or_default()));
    if object["kind"] == "ClusterRole" || object["kind"] == "ClusterRoleBinding" {
        object["metadata"]["name"] = prefixed(&object["metadata"]["name"]);
    }
    if object["roleRef"]["kind"] == "ClusterRole" {
        object["roleRef"]["name"] = prefixed(&object["roleRef"]["name"]);
    }
    object
}

fn manager(version: &Version, image: Option<&str>) -> anyhow::Result<Vec<Value>> {
    let mut objects = read("config/manager/deployment.yaml")?;
    let field = objects
        .first_mut()
        .and_then(|deployment| deployment.pointer_mut("/spec/template/spec/containers/0/image"))
        .context("config/manager/deployment.yaml has no image")?;
    let name = field.as_str().and_then(|image| Some(image.rsplit_once(':')?.0)).unwrap_or_default();
    *field = json!(canonical(&image.map_or_else(|| format!("{name}:{version}"), str::to_owned)));
    Ok(objects)
}

/// The same image with its registry, as container engines understand a name without one: clusterctl takes no other.
fn canonical(image: &str) -> String {
    let is_registry = |part: &str| part.contains(['.', ':']) || part == "localhost";
    match image.split_once('/') {
        Some((first, _)) if is_registry(first) => image.to_owned(),
        Some(_) => format!("docker.io/{image}"),
        None => format!("docker.io/library/{image}"),
    }
}

fn put(files: &mut Files, name: &str, mut objects: Vec<Value>, provider: &str) -> anyhow::Result<()> {
    for object in &mut objects {
        object["metadata"]["labels"][label::PROVIDER] = json!(provider);
    }
    files.insert(name.to_owned(), write(&objects)?);
    Ok(())
}

fn is_compatible(crd: &Value) -> bool {
    crd["metadata"]["labels"].get(label::COMPATIBLE).is_some()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn components(version: &str, image: Option<&str>) -> [(Vec<Value>, &'static str); 2] {
        let mut files = Files::new();
        add(&mut files, &version.parse().unwrap(), image).unwrap();
        let objects = |name: &str| serde_saphyr::from_multiple(&files[name]).unwrap();
        [
            (objects("infrastructure-components.yaml"), INFRASTRUCTURE),
            (objects("control-plane-components.yaml"), CONTROL_PLANE),
        ]
    }

    fn image(version: &str, image: Option<&str>) -> Value {
        let [(objects, _), _] = components(version, image);
        let deployments: Vec<_> = objects.iter().filter(|object| object["kind"] == "Deployment").collect();
        assert_eq!(deployments.len(), 1);
        let container = &deployments[0]["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(container["name"], "manager");
        container["image"].clone()
    }

    #[test]
    fn each_provider_has_one_namespace_and_its_label_on_everything() {
        for (objects, provider) in components("v1.2.3", None) {
            assert_eq!(objects.iter().filter(|object| object["kind"] == "Namespace").count(), 1);
            for object in objects {
                assert_eq!(object["metadata"]["labels"][label::PROVIDER], provider, "{object}");
            }
        }
    }

    #[test]
    fn one_manager_runs_and_no_kind_of_others_is_touched() {
        let objects: Vec<Value> =
            components("v1.2.3", None).into_iter().flat_map(|(objects, _)| objects).collect();

        assert_eq!(objects.iter().filter(|object| object["kind"] == "Deployment").count(), 1);
        assert!(!objects.iter().any(is_compatible));
    }

    #[test]
    fn the_image_is_that_of_the_version_unless_one_is_named() {
        assert_eq!(image("v1.2.3", None), "docker.io/library/capt:v1.2.3");
        assert_eq!(image("v1.2.3", Some("example.com/capt@sha256:0")), "example.com/capt@sha256:0");
    }

    #[rstest]
    #[case::of_a_registry("example.com/capt:v1", "example.com/capt:v1")]
    #[case::of_a_port("localhost:5000/capt:v1", "localhost:5000/capt:v1")]
    #[case::of_this_machine("localhost/capt:v1", "localhost/capt:v1")]
    #[case::of_somebody("somebody/capt:v1", "docker.io/somebody/capt:v1")]
    #[case::of_nobody("capt:v1", "docker.io/library/capt:v1")]
    fn an_image_has_its_registry(#[case] image: &str, #[case] expected: &str) {
        assert_eq!(canonical(image), expected);
    }

    #[test]
    fn every_binding_leads_to_a_role_that_is_there() {
        let [(objects, _), _] = components("v1.2.3", None);
        let has = |kind: &Value, name: &Value| {
            objects.iter().any(|object| object["kind"] == *kind && object["metadata"]["name"] == *name)
        };

        let bindings: Vec<_> = objects.iter().filter(|object| object.get("roleRef").is_some()).collect();

        assert_eq!(bindings.len(), 2);
        for binding in bindings {
            assert!(has(&binding["roleRef"]["kind"], &binding["roleRef"]["name"]), "{binding}");
        }
    }
}
