//! What a control plane's apply should be: the template, and the variables that the spec and the network give.

use std::collections::{BTreeMap, BTreeSet};

use capt_api::capt_control_plane::ControlPlaneConfig;
use capt_api::{CAPTControlPlane, WorkspaceTemplateApply};
use serde_json::{Value, json};

use super::names;
use super::observed::{Network, OurNetwork};
use crate::kubernetes_version;
use crate::owned_apply::Wanted;

/// What a module is told as a variable of its own name; see the documentation of variables.
const LONGEST_NAME: usize = 128;

/// The variables that a control plane may give its module, besides `tags_…` for each tag and the outputs of its network.
pub const VARIABLES: [&str; 10] = [
    "addons",
    "cluster_name",
    "endpoint_private_access",
    "endpoint_public_access",
    "endpoint_public_access_cidrs",
    "kubernetes_minor_version",
    "kubernetes_version",
    "region",
    "tags",
    "vpc_id",
];

/// What the apply is made from.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'facts> {
    /// The control plane.
    pub control_plane: &'facts CAPTControlPlane,
    /// The name of its Cluster.
    pub cluster: &'facts str,
    /// Its network.
    pub network: &'facts Network,
    /// The variables that the module declares, if it can be read.
    pub declared: Option<&'facts BTreeSet<String>>,
    /// The apply as it is.
    pub present: Option<&'facts WorkspaceTemplateApply>,
}

/// The apply as it should be.
pub fn wanted(inputs: Inputs<'_>) -> Wanted {
    let Inputs { control_plane, cluster, .. } = inputs;
    let namespace = control_plane.metadata.namespace.as_deref().unwrap_or_default();
    let reference = &control_plane.spec.workspace_template_ref;
    let template_namespace =
        reference.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or(namespace);
    let mut spec = json!({
        "templateRef": { "name": reference.name, "namespace": template_namespace },
        "variables": variables(inputs),
        "writeConnectionSecretToRef": {
            "name": names::connection_secret(control_plane),
            "namespace": namespace,
        },
    });
    if let Network::Ours(OurNetwork { apply: Some(apply), .. }) = inputs.network {
        spec["waitForWorkspaces"] = json!([{ "name": apply }]);
        spec["variablesFrom"] = variables_from(inputs, apply);
    }
    Wanted { name: names::apply(control_plane), cluster: Some(cluster.to_owned()), spec }
}

/// The variables that a control plane gives its module, whatever its network is.
pub fn variable_names(control_plane: &CAPTControlPlane) -> BTreeSet<String> {
    let inputs =
        Inputs { control_plane, cluster: "", network: &Network::None, declared: None, present: None };
    // A network gives them where the spec does not.
    variables(inputs).into_keys().chain(["region", "vpc_id"].map(str::to_owned)).collect()
}

fn variables(inputs: Inputs<'_>) -> BTreeMap<String, String> {
    let Inputs { control_plane, network, .. } = inputs;
    let spec = &control_plane.spec;
    let mut variables = BTreeMap::new();
    let mut put = |name: &str, value: String| variables.insert(name.to_owned(), value);
    put("cluster_name", control_plane.metadata.name.clone().unwrap_or_default());
    put("kubernetes_version", kubernetes_version::for_module(&spec.version));
    if let Some(minor) = kubernetes_version::minor(&spec.version) {
        put("kubernetes_minor_version", minor);
    }
    let of_network = match network {
        Network::Ours(network) => Some(network),
        Network::None | Network::Missing { .. } | Network::Foreign { .. } => None,
    };
    let config = spec.control_plane_config.as_ref();
    let region = config.and_then(|config| config.region.as_deref());
    if let Some(region) = region.or_else(|| of_network.map(|network| network.region.as_str())) {
        put("region", region.to_owned());
    }
    // A VPC that CAPT made tells its id by its outputs.
    if let Some(OurNetwork { vpc_id: Some(vpc_id), apply: None, .. }) = of_network {
        put("vpc_id", vpc_id.clone());
    }
    for (name, value) in config.into_iter().flat_map(configured) {
        put(&name, value);
    }
    if !spec.additional_tags.is_empty() {
        put("tags", json!(spec.additional_tags).to_string());
    }
    for (key, value) in &spec.additional_tags {
        let name = format!("tags_{key}");
        if is_variable_name(&name) {
            put(&name, value.clone());
        }
    }
    variables
}

/// What `controlPlaneConfig` says, each as a variable.
fn configured(config: &ControlPlaneConfig) -> Vec<(String, String)> {
    let ControlPlaneConfig { region: _, endpoint_access, addons, timeouts: _, identity: _ } = config;
    let mut variables = Vec::new();
    let mut put = |name: &str, value: String| variables.push((name.to_owned(), value));
    if let Some(access) = endpoint_access {
        if let Some(public) = access.public {
            put("endpoint_public_access", public.to_string());
        }
        if let Some(private) = access.private {
            put("endpoint_private_access", private.to_string());
        }
        if !access.public_cidrs.is_empty() {
            put("endpoint_public_access_cidrs", json!(access.public_cidrs).to_string());
        }
    }
    if !addons.is_empty() {
        let addons: BTreeMap<_, _> = addons
            .iter()
            .map(|addon| {
                let mut settings = BTreeMap::new();
                if let Some(version) = &addon.version {
                    settings.insert("addon_version", version);
                }
                if let Some(values) = &addon.configuration_values {
                    settings.insert("configuration_values", values);
                }
                (&addon.name, settings)
            })
            .collect();
        put("addons", json!(addons).to_string());
    }
    variables
}

/// The network's outputs that the module asks for by name. Where nobody can tell (the module comes from elsewhere), all of
/// them. While the network says nothing, what the apply has stays.
fn variables_from(inputs: Inputs<'_>, network_apply: &str) -> Value {
    let Inputs { network, declared, present, .. } = inputs;
    let outputs = match network {
        Network::Ours(network) => &network.outputs,
        Network::None | Network::Missing { .. } | Network::Foreign { .. } => return json!([]),
    };
    if outputs.is_empty() {
        let kept = present.into_iter().flat_map(|apply| &apply.spec.variables_from).filter(|source| {
            source.workspace_output_ref.as_ref().is_some_and(|output| output.name == network_apply)
        });
        return json!(kept.collect::<Vec<_>>());
    }
    let asked = |name: &&String| declared.is_none_or(|declared| declared.contains(*name));
    let given = variables(inputs);
    outputs
        .iter()
        .filter(|name| is_variable_name(name) && !given.contains_key(*name))
        .filter(asked)
        .map(|name| json!({ "variable": name, "workspaceOutputRef": { "name": network_apply, "output": name } }))
        .collect()
}

/// What the API server takes as the name of a variable.
fn is_variable_name(name: &str) -> bool {
    let letter = |character: char| character.is_ascii_alphabetic() || character == '_';
    name.len() <= LONGEST_NAME
        && name.starts_with(letter)
        && name.chars().all(|character| letter(character) || character.is_ascii_digit() || character == '-')
}

#[cfg(test)]
mod tests;
