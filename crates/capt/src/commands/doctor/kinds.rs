//! The kinds: CAPT's own, and who serves those of others.

use std::collections::BTreeMap;

use capt_api::crd::{Foreign, foreign, own};
use capt_api::names::{MANAGED_BY_CAPT, label};
use capt_api::{Cluster, ClusterResourceSet, Workspace};
use capt_controller::install::owner;
use capt_core::doctor::{ConversionFacts, DefinitionFacts, Finding, ServedKind, ServiceFacts, Trace};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::{Client, CustomResourceExt as _, ResourceExt as _};

use crate::archive::live::refusal;

/// The group of Crossplane's packages, which own the CRDs that they bring.
const CROSSPLANE_PACKAGES: &str = "pkg.crossplane.io";

/// Looks at all CRDs.
pub(super) async fn look(client: &Client) -> Vec<Finding> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let listed = match api.list(&ListParams::default()).await {
        Ok(listed) => listed,
        Err(error) => {
            return vec![Finding::warning(
                "kinds",
                format!("the kinds cannot be looked at: {}", refusal(&error)),
                "ask for the permission to list customresourcedefinitions.apiextensions.k8s.io",
            )];
        }
    };
    let found: BTreeMap<String, CustomResourceDefinition> =
        listed.into_iter().map(|crd| (crd.name_any(), crd)).collect();
    let mut findings = of_capt(&found);
    let cluster_api = cluster_api_version(client).await;
    let kinds = [
        (ServedKind::Cluster, Cluster::crd_name()),
        (ServedKind::ResourceSet, ClusterResourceSet::crd_name()),
        (ServedKind::Workspace, Workspace::crd_name()),
    ];
    for (kind, name) in kinds {
        let traces = match found.get(name) {
            Some(crd) => Some(traces(client, crd).await),
            None => None,
        };
        findings.extend(ServiceFacts { kind, traces, cluster_api: cluster_api.clone() }.judge());
    }
    findings
}

fn of_capt(found: &BTreeMap<String, CustomResourceDefinition>) -> Vec<Finding> {
    let wanted = own();
    let judge = |kinds, wanted: &CustomResourceDefinition| {
        DefinitionFacts { kinds, wanted, found: found.get(&wanted.name_any()) }.judge()
    };
    let mut findings: Vec<Finding> = wanted.iter().flat_map(|wanted| judge(None, wanted)).collect();
    for kinds in [Foreign::Terraform, Foreign::ClusterApi] {
        let is_ours = |wanted: &CustomResourceDefinition| {
            found.get(&wanted.name_any()).is_some_and(|found| owner(found).is_none())
        };
        let ours = foreign(kinds).into_iter().filter(is_ours);
        findings.extend(ours.flat_map(|wanted| judge(Some(kinds), &wanted)));
    }
    if findings.is_empty() {
        let sentence = format!("all {} kinds of CAPT are served, as this capt has them", wanted.len());
        findings.push(Finding::good("kinds", sentence));
    }
    findings
}

async fn traces(client: &Client, crd: &CustomResourceDefinition) -> Vec<Trace> {
    let mut traces = Vec::new();
    // Helm puts its own name into the first label, whatever the chart says.
    if crd.labels().get(label::MANAGED_BY).is_some_and(|manager| manager == MANAGED_BY_CAPT)
        || crd.labels().contains_key(label::COMPATIBLE)
    {
        traces.push(Trace::OurLabel);
    }
    traces.extend(crd.labels().get(label::PROVIDER).cloned().map(Trace::Provider));
    let is_package = |api_version: &str| {
        api_version.split_once('/').is_some_and(|(group, _)| group == CROSSPLANE_PACKAGES)
    };
    // Each revision of a package owns it.
    let package = crd.owner_references().iter().find(|owner| is_package(&owner.api_version));
    traces.extend(package.map(|owner| Trace::Package(owner.name.clone())));
    let webhook = crd.spec.conversion.as_ref().and_then(|conversion| conversion.webhook.as_ref());
    if let Some(webhook) = webhook {
        let service = webhook.client_config.as_ref().and_then(|config| config.service.as_ref());
        let answers = match service {
            Some(service) => answers(client, &service.namespace, &service.name).await,
            None => None,
        };
        let service = service.map(|service| format!("{}/{}", service.namespace, service.name));
        traces.push(Trace::Conversion(ConversionFacts { service, answers }));
    }
    traces
}

/// Whether anybody is behind a Service; nothing where that cannot be seen.
async fn answers(client: &Client, namespace: &str, service: &str) -> Option<bool> {
    let slices: Api<EndpointSlice> = Api::namespaced(client.clone(), namespace);
    let selected = ListParams::default().labels(&format!("kubernetes.io/service-name={service}"));
    let slices = slices.list(&selected).await.ok()?;
    let ready = |conditions: Option<bool>| conditions.unwrap_or(true);
    let mut endpoints = slices.items.iter().flat_map(|slice| slice.endpoints.iter());
    Some(endpoints.any(|endpoint| ready(endpoint.conditions.as_ref().and_then(|it| it.ready))))
}

/// The version of Cluster API's core, as clusterctl has noted it.
async fn cluster_api_version(client: &Client) -> Option<String> {
    let resource = ApiResource {
        group: "clusterctl.cluster.x-k8s.io".to_owned(),
        version: "v1alpha3".to_owned(),
        api_version: "clusterctl.cluster.x-k8s.io/v1alpha3".to_owned(),
        kind: "Provider".to_owned(),
        plural: "providers".to_owned(),
    };
    let providers: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let providers = providers.list(&ListParams::default()).await.ok()?;
    let core = providers.items.into_iter().find(|provider| provider.data["type"] == "CoreProvider")?;
    core.data["version"].as_str().map(ToOwned::to_owned)
}
