use std::collections::BTreeMap;

use capt_api::names::{annotation, label};
use capt_api::{CAPTControlPlane, Cluster};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::jiff::Timestamp;
use rstest::rstest;
use serde_json::{Value, json};

use super::super::*;
use crate::certificate::fixtures::{CA, OTHER_CA, base64};
use crate::control_plane::connection::{Access, Surroundings, read};
use crate::control_plane::secrets::{Times, Token, wanted};
use crate::owned_apply::Owner;

const NOW: i64 = 1_767_225_600;

/// A cluster with everything that belongs to it.
struct World {
    cluster: Cluster,
    control_plane: Option<CAPTControlPlane>,
    secrets: BTreeMap<String, Secret>,
    bindings: Vec<BindingFacts>,
}

fn now() -> Timestamp {
    Timestamp::from_second(NOW).unwrap()
}

fn kubeconfig(server: &str, authority: &str, user: &str) -> String {
    let authority = base64(authority);
    format!(
        "{{apiVersion: v1, kind: Config, current-context: x, contexts: [{{name: x, context: {{cluster: c, user: u}}}}], \
         clusters: [{{name: c, cluster: {{server: '{server}', certificate-authority-data: {authority}}}}}], \
         users: [{{name: u, user: {user}}}]}}"
    )
}

impl World {
    /// All is as it should be.
    fn new(server: &str, user: &str) -> Self {
        let host = server.trim_start_matches("https://");
        let control_plane: CAPTControlPlane = serde_json::from_value(json!({
            "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane",
            "metadata": { "name": "cp", "namespace": "a", "uid": "1" },
            "spec": { "version": "1.34", "workspaceTemplateRef": { "name": "t" }, "controlPlaneEndpoint": { "host": host, "port": 443 } },
        }))
        .unwrap();
        let cluster = serde_json::from_value(json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": { "name": "prod", "namespace": "a" },
            "spec": { "controlPlaneRef": { "apiGroup": "controlplane.cluster.x-k8s.io", "kind": "CAPTControlPlane", "name": "cp" } },
        }))
        .unwrap();
        let fields = [
            ("kubeconfig", kubeconfig(server, CA, user)),
            ("cluster_certificate_authority_data", base64(CA)),
            ("cluster_endpoint", server.to_owned()),
            ("cluster_name", "prod".to_owned()),
        ];
        let data = fields.map(|(field, value)| (field.to_owned(), ByteString(value.into_bytes())));
        let connection = Secret { data: Some(data.into()), ..Secret::default() };
        let mut world = Self {
            cluster,
            secrets: [("cp-eks-connection".to_owned(), connection)].into(),
            control_plane: Some(control_plane),
            bindings: Vec::new(),
        };
        world.hand_out();
        world
    }

    fn given() -> Self {
        Self::new("https://api.example.com", "{token: abc}")
    }

    fn eks() -> Self {
        let exec = "{exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, args: [eks, get-token, --cluster-name, prod, --region, eu-west-1]}}";
        Self::new("https://0123456789ABCDEF0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com", exec)
    }

    /// Makes the Secrets as CAPT does.
    fn hand_out(&mut self) {
        let control_plane = self.control_plane.as_ref().unwrap();
        let around = Surroundings {
            secret: "a/cp-eks-connection",
            control_plane,
            workspace: None,
            network_region: None,
            now: now(),
        };
        let source = read(self.secrets["cp-eks-connection"].data.as_ref().unwrap(), around).unwrap();
        let later = |seconds: i64| Timestamp::from_second(NOW + seconds).unwrap();
        let times = Times { expires_at: later(840), renew_at: later(600) };
        let token = Token { value: format!("k8s-aws-v1.{}", base64("https://sts")).into(), times };
        let token = matches!(source.access, Access::Eks(_)).then_some(&token);
        for secret in wanted(control_plane, "prod", &source, token) {
            let object = secret.object(&Owner::of(control_plane), "prod");
            self.secrets.insert(secret.name.clone(), serde_json::from_value(object).unwrap());
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Changes a Secret as a tree.
    fn changed(self, name: &str, change: impl FnOnce(&mut Value)) -> Self {
        self.with(|world| {
            let mut tree = serde_json::to_value(&world.secrets[name]).unwrap();
            change(&mut tree);
            world.secrets.insert(name.to_owned(), serde_json::from_value(tree).unwrap());
        })
    }

    /// It has a class, and nothing was made of it.
    fn of_class(&mut self) {
        self.control_plane = None;
        self.cluster = serde_json::from_value(json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": { "name": "prod", "namespace": "a" },
            "spec": { "topology": { "classRef": { "name": "eks" }, "version": "v1.34.0" } },
            "status": { "conditions": [{
                "type": "TopologyReconciled", "status": "False", "reason": "ReconcileFailed", "message": "no such template\n",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }] },
        }))
        .unwrap();
    }

    fn judge(&self) -> Vec<Finding> {
        let facts = ClusterFacts {
            cluster: &self.cluster,
            control_plane: self.control_plane.as_ref(),
            workspace: None,
            network_region: None,
            secrets: &self.secrets,
            bindings: &self.bindings,
            now: now(),
        };
        facts.judge()
    }
}

#[rstest]
#[case::given("given", World::given())]
#[case::eks("eks", World::eks())]
fn a_cluster_in_which_all_is_well(#[case] name: &str, #[case] world: World) {
    let report = Report { findings: world.judge() };
    insta::assert_snapshot!(name, report.text(|level| level.mark().to_owned()));
    assert_eq!(report.count(Level::Good), report.findings.len());
}

const KUBECONFIG: &str = "prod-kubeconfig";

fn value(text: &str) -> Value {
    json!(ByteString(text.as_bytes().to_vec()))
}

#[rstest]
#[case::no_outputs(World::given().with(|it| { it.secrets.remove("cp-eks-connection"); }), "Secret `a/cp-eks-connection` with the outputs of the module is not there", "kubectl describe workspacetemplateapply -n a cp-eks-controlplane-apply")]
#[case::outputs_lack_a_field(World::given().changed("cp-eks-connection", |it| { it["data"].as_object_mut().unwrap().remove("kubeconfig"); }), "lacks `kubeconfig`", "change the module's outputs")]
#[case::no_kubeconfig(World::given().with(|it| { it.secrets.remove(KUBECONFIG); }), "Secret `a/prod-kubeconfig` is not there", "CAPT makes it again")]
#[case::no_second_kubeconfig(World::given().with(|it| { it.secrets.remove("cp-control-plane-kubeconfig"); }), "Secret `a/cp-control-plane-kubeconfig` is not there", "CAPT makes it again")]
#[case::no_authority(World::eks().with(|it| { it.secrets.remove("prod-ca"); }), "Secret `a/prod-ca` is not there", "CAPT makes it again")]
#[case::another_type(World::given().changed(KUBECONFIG, |it| it["type"] = json!("Opaque")), "is of type Opaque, and not cluster.x-k8s.io/secret", "kubectl delete secret -n a prod-kubeconfig")]
#[case::no_label(World::given().changed(KUBECONFIG, |it| it["metadata"]["labels"][label::CLUSTER_NAME] = json!("other")), "lacks the label cluster.x-k8s.io/cluster-name=prod", "kubectl label --overwrite secret -n a prod-kubeconfig")]
#[case::no_key(World::given().changed(KUBECONFIG, |it| it["data"] = json!({})), "has no key `value`", "CAPT makes it again")]
#[case::another_content(World::given().changed(KUBECONFIG, |it| it["data"]["value"] = value("other")), "is not what its source, Secret `a/cp-eks-connection`, says", "CAPT makes it again")]
#[case::they_differ(World::given().changed(KUBECONFIG, |it| it["data"]["value"] = value("other")), "Secrets `a/prod-kubeconfig` and `a/cp-control-plane-kubeconfig` differ", "CAPT makes it again")]
#[case::nobodys(World::given().changed(KUBECONFIG, |it| it["metadata"]["ownerReferences"] = json!([])), "is owned by nobody", "CAPT makes it again")]
#[case::of_before_a_restore(World::given().changed(KUBECONFIG, |it| it["metadata"]["ownerReferences"][0]["uid"] = json!("old")), "that is gone", "CAPT makes it again")]
#[case::somebody_elses(World::given().changed(KUBECONFIG, |it| it["metadata"]["ownerReferences"][0]["name"] = json!("other")), "is owned by CAPTControlPlane other", "kubectl delete secret -n a prod-kubeconfig")]
#[case::a_token_that_ended(World::eks().changed(KUBECONFIG, |it| it["metadata"]["annotations"][annotation::EXPIRES_AT] = json!("2025-12-31T00:00:00Z")), "ended at 2025-12-31", "CAPT makes it again")]
#[case::of_another_cluster(World::eks().changed(KUBECONFIG, |it| it["data"]["value"] = value(&kubeconfig("https://other.example.com", CA, "{token: k8s-aws-v1.x}"))), "is not what its source", "CAPT makes it again")]
#[case::of_another_authority(World::eks().changed(KUBECONFIG, |it| it["data"]["value"] = value(&kubeconfig("https://0123456789ABCDEF0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com", OTHER_CA, "{token: k8s-aws-v1.x}"))), "is not what its source", "CAPT makes it again")]
#[case::another_endpoint(World::given().with(|it| it.control_plane.as_mut().unwrap().spec.control_plane_endpoint.as_mut().unwrap().port = 6443), "its endpoint is api.example.com:6443, and the module says api.example.com:443", "kubectl describe captcontrolplane -n a cp")]
#[case::no_control_plane(World::given().with(|it| it.control_plane = None), "names CAPTControlPlane `cp`, which is not there", "kubectl get captcontrolplanes -n a")]
fn what_is_wrong_with_a_cluster_is_told(#[case] world: World, #[case] message: &str, #[case] fix: &str) {
    let findings = world.judge();
    let found =
        findings.iter().find(|finding| finding.level == Level::Bad && finding.message.contains(message));
    let found = found.unwrap_or_else(|| panic!("{findings:#?}"));
    assert!(found.fix.as_ref().unwrap().contains(fix), "{found:#?}");
}

#[rstest]
#[case::paused(World::given().with(|it| it.cluster.spec.paused = Some(true)), "it is paused", "kubectl patch cluster -n a prod")]
#[case::addons(World::given().with(|it| it.bindings.push(BindingFacts { stack: "base".to_owned(), ready: Err("flux waits".to_owned()) })), "AddonStack `base` are not ready: flux waits", "capt reconcile addonstack base --cluster prod -n a --wait")]
#[case::of_a_class(World::given().with(World::of_class), "has not made its control plane from its class yet: no such template", "kubectl describe cluster -n a prod")]
fn what_somebody_should_know_is_told(#[case] world: World, #[case] message: &str, #[case] fix: &str) {
    let findings = world.judge();
    let found =
        findings.iter().find(|finding| finding.level == Level::Warning && finding.message.contains(message));
    let found = found.unwrap_or_else(|| panic!("{findings:#?}"));
    assert!(found.fix.as_ref().unwrap().contains(fix), "{found:#?}");
}

#[test]
fn content_of_secrets_is_never_told() {
    let world = World::given().changed(KUBECONFIG, |it| it["data"]["value"] = value("hunter2"));
    let text = Report { findings: world.judge() }.text(|level| level.mark().to_owned());
    assert!(!text.contains("hunter2") && !text.contains("token: abc"), "{text}");
}
