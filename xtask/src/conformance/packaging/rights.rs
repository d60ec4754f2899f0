//! What the chart's own account may do, and what people may do by the roles that aggregate.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use k8s_openapi::api::authorization::v1::SelfSubjectAccessReview;
use k8s_openapi::api::rbac::v1::{ClusterRole, RoleBinding};
use kube::Client;
use kube::api::{Api, PostParams};
use kube::runtime::wait::await_condition;
use serde_json::json;
use tokio::time::timeout;

use super::super::server::{Server, client};
use super::helm::NAMESPACE;

/// The account of the chart.
const ACCOUNT: &str = "capt-manager";
const SOON: Duration = Duration::from_secs(60);

/// Group, resource, verb, and where: in the whole cluster without a namespace.
type Question = (&'static str, &'static str, &'static str, Option<&'static str>);

const OWN: Option<&str> = Some(NAMESPACE);
const THEIRS: Option<&str> = Some("default");

const MANAGER_MAY: [Question; 8] = [
    ("tf.upbound.io", "workspaces", "delete", None),
    ("infrastructure.cluster.x-k8s.io", "workspacetemplateapplies", "create", THEIRS),
    ("", "secrets", "get", THEIRS),
    ("cluster.x-k8s.io", "clusters", "patch", THEIRS),
    ("coordination.k8s.io", "leases", "update", OWN),
    ("coordination.k8s.io", "leases", "update", THEIRS),
    ("", "pods", "get", OWN),
    ("", "nodes", "get", None),
];

const MANAGER_MAY_NOT: [Question; 20] = [
    ("", "pods", "create", OWN),
    ("", "pods", "get", THEIRS),
    ("", "pods/exec", "create", OWN),
    ("", "nodes", "list", None),
    ("", "namespaces", "delete", None),
    ("", "secrets", "deletecollection", THEIRS),
    ("", "serviceaccounts", "create", OWN),
    ("", "serviceaccounts/token", "create", OWN),
    ("rbac.authorization.k8s.io", "roles", "create", THEIRS),
    ("rbac.authorization.k8s.io", "rolebindings", "create", THEIRS),
    ("", "users", "impersonate", None),
    ("apps", "deployments", "patch", OWN),
    ("rbac.authorization.k8s.io", "clusterroles", "create", None),
    ("rbac.authorization.k8s.io", "clusterroles", "bind", None),
    ("rbac.authorization.k8s.io", "clusterroles", "escalate", None),
    ("rbac.authorization.k8s.io", "clusterrolebindings", "create", None),
    ("apiextensions.k8s.io", "customresourcedefinitions", "patch", None),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations", "create", None),
    ("cluster.x-k8s.io", "clusters", "delete", THEIRS),
    ("infrastructure.cluster.x-k8s.io", "workspacetemplates", "delete", THEIRS),
];

const VIEWER_MAY: [Question; 3] = [
    ("infrastructure.cluster.x-k8s.io", "workspacetemplates", "list", THEIRS),
    ("controlplane.cluster.x-k8s.io", "captcontrolplanes", "watch", THEIRS),
    ("addons.cluster.x-k8s.io", "addonstackbindings", "get", THEIRS),
];

const VIEWER_MAY_NOT: [Question; 5] = [
    ("infrastructure.cluster.x-k8s.io", "workspacetemplates", "create", THEIRS),
    ("controlplane.cluster.x-k8s.io", "captcontrolplanes", "patch", THEIRS),
    ("infrastructure.cluster.x-k8s.io", "workspacetemplates", "list", OWN),
    ("", "secrets", "get", THEIRS),
    ("tf.upbound.io", "workspaces", "get", None),
];

const EDITOR_MAY: [Question; 4] = [
    ("infrastructure.cluster.x-k8s.io", "captclusters", "create", THEIRS),
    ("addons.cluster.x-k8s.io", "addonstacks", "deletecollection", THEIRS),
    ("controlplane.cluster.x-k8s.io", "captcontrolplanes", "get", THEIRS),
    ("addons.cluster.x-k8s.io", "addonstackbindings", "get", THEIRS),
];

const EDITOR_MAY_NOT: [Question; 4] = [
    ("addons.cluster.x-k8s.io", "addonstackbindings", "patch", THEIRS),
    ("controlplane.cluster.x-k8s.io", "captcontrolplanes/status", "patch", THEIRS),
    ("infrastructure.cluster.x-k8s.io", "captclusters", "create", OWN),
    ("rbac.authorization.k8s.io", "clusterroles", "create", None),
];

/// A kubeconfig with a token of the account that the chart made, and nothing else.
pub(in crate::conformance) async fn of_the_account(server: &Server) -> anyhow::Result<String> {
    server.kubeconfig_of(NAMESPACE, ACCOUNT).await
}

/// The same as a file.
pub(super) async fn as_a_file(server: &Server, directory: &Path) -> anyhow::Result<PathBuf> {
    let path = directory.join("kubeconfig");
    std::fs::write(&path, of_the_account(server).await?)?;
    Ok(path)
}

/// The account may do what it needs, and nothing that it does not.
pub(super) async fn are_the_least(server: &Server) -> anyhow::Result<()> {
    let account = client(&of_the_account(server).await?).await?;
    ask(&account, "the chart's account", &MANAGER_MAY, &MANAGER_MAY_NOT).await
}

/// Who is bound to `view` or `edit` in a namespace sees and writes CAPT's kinds there.
pub(super) async fn aggregate(server: &Server) -> anyhow::Result<()> {
    for (role, may, may_not) in [
        ("view", VIEWER_MAY.as_slice(), VIEWER_MAY_NOT.as_slice()),
        ("edit", EDITOR_MAY.as_slice(), EDITOR_MAY_NOT.as_slice()),
    ] {
        aggregated(&server.client, role).await?;
        let user = format!("{role}er");
        bind(&server.client, role, &user).await?;
        let kubeconfig = server.control_plane.kubeconfig_for(&user, &["system:authenticated"])?;
        ask(&client(&kubeconfig).await?, &format!("who is bound to `{role}`"), may, may_not).await?;
    }
    Ok(())
}

/// Waits until the role has the rules of the chart.
async fn aggregated(client: &Client, role: &str) -> anyhow::Result<()> {
    let cluster_roles: Api<ClusterRole> = Api::all(client.clone());
    let has_ours = |role: Option<&ClusterRole>| {
        let rules = role.and_then(|role| role.rules.as_ref()).into_iter().flatten();
        let mut resources = rules.flat_map(|rule| rule.resources.iter().flatten());
        resources.any(|resource| resource == "captcontrolplanes")
    };
    let waited = timeout(SOON, await_condition(cluster_roles, role, has_ours)).await;
    waited.with_context(|| format!("the rules of the chart did not become part of `{role}`"))??;
    Ok(())
}

async fn bind(client: &Client, role: &str, user: &str) -> anyhow::Result<()> {
    let binding: RoleBinding = serde_json::from_value(json!({
        "metadata": { "name": user },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user }],
    }))?;
    let bindings: Api<RoleBinding> = Api::default_namespaced(client.clone());
    bindings.create(&PostParams::default(), &binding).await?;
    Ok(())
}

async fn ask(client: &Client, who: &str, may: &[Question], may_not: &[Question]) -> anyhow::Result<()> {
    let mut problems = Vec::new();
    let questions = may.iter().map(|one| (one, true)).chain(may_not.iter().map(|one| (one, false)));
    for ((group, resource, verb, namespace), wanted) in questions {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let review: SelfSubjectAccessReview =
            serde_json::from_value(json!({ "spec": { "resourceAttributes": {
            "group": group, "resource": resource, "subresource": subresource, "verb": verb,
            "namespace": namespace.unwrap_or_default(),
        } } }))?;
        let reviewed = Api::all(client.clone()).create(&PostParams::default(), &review).await?;
        let allowed = reviewed.status.is_some_and(|status| status.allowed);
        if allowed != wanted {
            let may = if allowed { "may" } else { "may not" };
            problems.push(format!("{may} {verb} {resource}/{subresource} of {group:?} in {namespace:?}"));
        }
    }
    ensure!(problems.is_empty(), "{who}:\n  {}", problems.join("\n  "));
    println!("ok: {who} may do {} things that it should and none of {} others", may.len(), may_not.len());
    Ok(())
}
