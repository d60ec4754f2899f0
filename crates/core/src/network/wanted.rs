//! The apply that makes a network: its name and what it should be.

use std::collections::BTreeMap;

use capt_api::names::{APPLY_SUFFIX, Reason};
use capt_api::reference::TemplateReference;
use capt_api::{CAPTCluster, WorkspaceTemplateApply};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};

use crate::apply::Blocked;
use crate::name::is_object_name;
use crate::owned_apply::{Belongs, Owner, Wanted, belongs};
use crate::standing::cluster_name;

/// Ends the names of a network and of its apply.
const SUFFIX: &str = "-vpc";

/// The variables that a network gives its module.
pub const VARIABLES: [&str; 4] = ["cluster_name", "name", "region", "vpc_name"];

/// The VPC that exists already, if the network is one.
pub fn existing_vpc(network: &CAPTCluster) -> Option<&str> {
    network.spec.existing_vpc_id.as_deref().filter(|vpc| !vpc.is_empty())
}

/// The template of the network that is to be made. Objects that were stored before the API server checked them may have none.
pub fn template(network: &CAPTCluster) -> Result<&TemplateReference, Blocked> {
    network.spec.vpc_template_ref.as_ref().ok_or_else(|| {
        let message =
            "give spec.vpcTemplateRef (a new VPC) or spec.existingVpcId (one that exists): neither is there";
        Blocked::new(Reason::SpecInvalid, message)
    })
}

/// The name of the network's apply: as the spec says, else that of an apply which is there and which the status of earlier
/// versions names, or which they named after the network, else as the Cluster's name makes it. `None` if there is no Cluster.
pub fn apply_name(
    network: &CAPTCluster,
    find: impl Fn(&str) -> Option<ObjectMeta>,
) -> Result<Option<String>, Blocked> {
    if let Some(name) = given_name(network) {
        return if is_object_name(name) {
            Ok(Some(name.to_owned()))
        } else {
            Err(no_name("spec.workspaceTemplateApplyName is", name))
        };
    }
    let owner = Owner::of(network);
    let is_ours = |name: &String| {
        is_object_name(name)
            && find(name).is_some_and(|metadata| match belongs(&metadata, &owner) {
                Belongs::ToUs | Belongs::ToOurPast => true,
                Belongs::ToNobody => is_in_status(network, name),
                Belongs::ToOther(_) => false,
            })
    };
    let earlier = format!("{}{SUFFIX}", network.metadata.name.as_deref().unwrap_or_default());
    if let Some(name) = names_in_status(network).chain([earlier]).find(is_ours) {
        return Ok(Some(name));
    }
    let Some(cluster) = cluster_name(&network.metadata) else { return Ok(None) };
    let name = format!("{cluster}{SUFFIX}");
    if is_object_name(&name) { Ok(Some(name)) } else { Err(no_name("the Cluster's name makes", &name)) }
}

fn no_name(whence: &str, name: &str) -> Blocked {
    Blocked::new(
        Reason::SpecInvalid,
        format!(
            "{whence} `{name}`, which cannot be the name of a WorkspaceTemplateApply: write lower case letters, digits, hyphens and dots into spec.workspaceTemplateApplyName, 253 at most"
        ),
    )
}

fn given_name(network: &CAPTCluster) -> Option<&str> {
    network.spec.workspace_template_apply_name.as_deref().filter(|name| !name.is_empty())
}

/// Whether spec or status give the network a right to an apply that has no owner.
pub fn is_named(network: &CAPTCluster, name: &str) -> bool {
    given_name(network) == Some(name) || is_in_status(network, name)
}

/// Whether the status names an apply: only those who made it write that.
pub fn is_in_status(network: &CAPTCluster, name: &str) -> bool {
    names_in_status(network).any(|known| known == name)
}

/// Names that an apply may have by the status. Earlier versions wrote that of the apply, or that of its Workspace.
fn names_in_status(network: &CAPTCluster) -> impl Iterator<Item = String> {
    let status = network.status.as_ref();
    let workspace = status.and_then(|status| status.vpc_workspace_name.clone());
    let applied = status.and_then(|status| status.workspace_template_status.as_ref()?.workspace_name.clone());
    let names = workspace.into_iter().chain(applied).filter(|name| !name.is_empty());
    names.flat_map(|name| [format!("{name}{APPLY_SUFFIX}"), name])
}

/// The apply as the network wants it.
pub fn wanted(network: &CAPTCluster, cluster: &str, name: String, template: &TemplateReference) -> Wanted {
    let own = network.metadata.namespace.as_deref().unwrap_or_default();
    let namespace = template.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or(own);
    let vpc = network.spec.vpc_config.as_ref().and_then(|config| config.name.clone());
    let vpc = vpc.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("{cluster}{SUFFIX}"));
    let values = [cluster, &vpc, &network.spec.region, &vpc];
    let variables: BTreeMap<_, _> = VARIABLES.into_iter().zip(values).collect();
    let spec =
        json!({ "templateRef": { "name": template.name, "namespace": namespace }, "variables": variables });
    Wanted { name, cluster: Some(cluster.to_owned()), spec: retained(network, spec) }
}

/// The apply as it should be when it is deleted: as it is, but with the retention of today. A change of template or variables
/// that has not been carried over yet must not reach the infrastructure just before it is destroyed.
pub fn wanted_at_the_end(network: &CAPTCluster, apply: &WorkspaceTemplateApply) -> Wanted {
    let mut spec = json!({ "templateRef": apply.spec.template_ref });
    if !apply.spec.variables.is_empty() {
        spec["variables"] = json!(apply.spec.variables);
    }
    Wanted {
        name: apply.metadata.name.clone().unwrap_or_default(),
        cluster: cluster_name(&network.metadata).map(ToOwned::to_owned),
        spec: retained(network, spec),
    }
}

/// Retention is only ever asked for: whoever asks for it on the apply itself is not overruled.
fn retained(network: &CAPTCluster, mut spec: Value) -> Value {
    if network.spec.retain_vpc_on_delete {
        spec["retainWorkspaceOnDelete"] = json!(true);
    }
    spec
}

#[cfg(test)]
mod tests;
