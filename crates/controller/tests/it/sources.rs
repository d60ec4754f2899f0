//! What an apply waits for and takes its values from.

use std::collections::BTreeMap;

use capt_api::{Workspace, WorkspaceTemplateApply};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::stage::{Stage, message, module, ready, var};

const SECRET_VALUE: &str = "very-secret-value-4711";

#[tokio::test]
async fn secrets_are_waited_for_by_key() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&[])).await;
    let name = stage.unique("x");
    let wait = json!([{ "name": "creds", "keys": ["token"] }, { "name": "any" }]);
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" }, "waitForSecrets": wait })).await;
    let apply = stage.condition(&name, "Ready", "False", "WaitingForSecrets").await;
    assert!(message(&apply, "Ready").contains("creds") && message(&apply, "Ready").contains("any"));

    // There, but empty, or without the key: still waiting.
    stage.put_secret("any", &[]).await;
    stage.put_secret("creds", &[("other", "x"), ("token", "")]).await;
    stage.put_secret("any", &[("x", "y")]).await;
    let what = "only the key to be missing";
    capt_testkit::watch_until(what, &stage.applies(), &name, |apply: &WorkspaceTemplateApply| {
        message(apply, "Ready") == format!("waiting for key `token` of Secret `{}/creds`", stage.namespace)
    })
    .await;
    assert!(stage.workspaces().get_opt(&name).await.unwrap().is_none());
    stage.put_secret("creds", &[("token", "t")]).await;
    stage.condition(&name, "Applied", "True", "UpToDate").await;
}

#[tokio::test]
async fn workspaces_are_waited_for_until_ready() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&[])).await;
    let (first, second) = (stage.unique("first"), stage.unique("second"));
    stage
        .put_apply(
            &second,
            json!({ "templateRef": { "name": "t" }, "waitForWorkspaces": [{ "name": first }] }),
        )
        .await;
    let apply = stage.condition(&second, "Ready", "False", "WaitingForWorkspaces").await;
    assert!(message(&apply, "Ready").contains("to exist"));
    stage.put_apply(&format!("{first}-apply"), json!({ "templateRef": { "name": "t" } })).await;
    stage.workspace(&first, "the first Workspace", |_| true).await;
    stage.report(&first, ready()).await;
    stage.condition(&second, "Applied", "True", "UpToDate").await;

    // What is running is not held up by what it once waited for.
    stage
        .report(&first, json!({ "conditions": [crate::stage::condition("Ready", "False", "Unavailable")] }))
        .await;
    stage.put_template("t", "# changed\nlocals {}\n").await;
    stage
        .workspace(&second, "the change to come through", |workspace| {
            workspace.spec.for_provider.module.contains("changed")
        })
        .await;
}

#[tokio::test]
async fn applies_that_wait_for_each_other_are_told() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&[])).await;
    let (one, two) = (stage.unique("one"), stage.unique("two"));
    stage
        .put_apply(&one, json!({ "templateRef": { "name": "t" }, "waitForWorkspaces": [{ "name": two }] }))
        .await;
    stage
        .put_apply(&two, json!({ "templateRef": { "name": "t" }, "waitForWorkspaces": [{ "name": one }] }))
        .await;
    let apply = stage.condition(&one, "Ready", "False", "DependencyCycle").await;
    stage.condition(&two, "Ready", "False", "DependencyCycle").await;
    assert!(
        message(&apply, "Ready").contains(&format!("{}/{two}", stage.namespace)),
        "{}",
        message(&apply, "Ready")
    );
    let fix = json!({ "spec": { "waitForWorkspaces": null } });
    stage.change::<WorkspaceTemplateApply>(&two, fix).await;
    stage.condition(&two, "Applied", "True", "UpToDate").await;
    stage.condition(&one, "Ready", "False", "WaitingForWorkspaces").await;
}

#[tokio::test]
async fn values_follow_their_sources() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&["region", "subnets", "zone"])).await;
    let (vpc, name) = (stage.unique("vpc"), stage.unique("x"));
    stage.put_apply(&vpc, json!({ "templateRef": { "name": "t" } })).await;
    stage.workspace(&vpc, "the source's Workspace", |_| true).await;
    let from = json!([
        { "variable": "region", "configMapKeyRef": { "name": "facts", "key": "region" } },
        { "variable": "subnets", "workspaceOutputRef": { "name": vpc, "output": "subnets" } },
        { "variable": "zone", "configMapKeyRef": { "name": "facts", "key": "zone" }, "optional": true },
    ]);
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" }, "variablesFrom": from })).await;
    let apply = stage.condition(&name, "Ready", "False", "VariableMissing").await;
    assert!(message(&apply, "Ready").contains("region"), "{}", message(&apply, "Ready"));
    stage.put_config_map("facts", &[("region", "here")]).await;
    let what = "the output to be missed";
    capt_testkit::watch_until(what, &stage.applies(), &name, |apply: &WorkspaceTemplateApply| {
        message(apply, "Ready").contains("no output")
    })
    .await;
    stage.report(&vpc, json!({ "atProvider": { "outputs": { "subnets": ["a", "b"] } } })).await;
    let workspace = stage.workspace(&name, "the Workspace", |_| true).await;
    assert_eq!(var(&workspace, "region"), Some("here"));
    assert_eq!(workspace.spec.for_provider.varmap, Some(json!({ "subnets": ["a", "b"] })));

    stage.put_config_map("facts", &[("region", "there"), ("zone", "z")]).await;
    stage
        .workspace(&name, "the region to follow", |workspace| {
            var(workspace, "region") == Some("there") && var(workspace, "zone") == Some("z")
        })
        .await;
    stage.report(&vpc, json!({ "atProvider": { "outputs": { "subnets": ["c"] } } })).await;
    stage
        .workspace(&name, "the output to follow", |workspace| {
            workspace.spec.for_provider.varmap == Some(json!({ "subnets": ["c"] }))
        })
        .await;

    // A source that vanishes leaves what is there alone.
    stage.api::<ConfigMap>().delete("facts", &DeleteParams::default()).await.unwrap();
    stage.condition(&name, "Applied", "False", "VariableMissing").await;
    let workspace = stage.workspaces().get(&name).await.unwrap();
    assert_eq!(var(&workspace, "region"), Some("there"));
}

fn files(workspace: &Workspace) -> Vec<String> {
    let files = &workspace.spec.for_provider.var_files;
    files
        .iter()
        .filter_map(|file| file.secret_key_ref.as_ref())
        .map(|reference| reference.name.clone())
        .collect()
}

#[tokio::test]
async fn secret_values_travel_by_file_only() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&["password"])).await;
    stage.put_secret("db", &[("password", SECRET_VALUE)]).await;
    let name = stage.unique("x");
    let from = json!([{ "variable": "password", "secretKeyRef": { "name": "db", "key": "password" } }]);
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" }, "variablesFrom": from })).await;
    let apply = stage.condition(&name, "Applied", "True", "UpToDate").await;
    let workspace = stage.workspaces().get(&name).await.unwrap();
    let everything = format!("{}{}{:?}", json!(workspace), json!(apply), stage.events(&name).await);
    assert!(!everything.contains(SECRET_VALUE));

    let first = files(&workspace);
    let secret = stage.api::<Secret>().get(&first[0]).await.unwrap();
    let content: BTreeMap<String, String> =
        serde_json::from_slice(&secret.data.unwrap().into_values().next().unwrap().0).unwrap();
    assert_eq!(content, BTreeMap::from([("password".to_owned(), SECRET_VALUE.to_owned())]));
    assert_eq!(secret.metadata.owner_references.unwrap()[0].name, name);

    // A new value gets a new file, and the old one goes.
    stage.put_secret("db", &[("password", "another-value")]).await;
    let workspace = stage.workspace(&name, "another file", |workspace| files(workspace) != first).await;
    capt_testkit::eventually("the old file to go", async || {
        stage.api::<Secret>().get_opt(&first[0]).await.unwrap().is_none()
    })
    .await;

    // A write that changes nothing of the value changes nothing at all.
    stage.change::<Secret>("db", json!({ "metadata": { "labels": { "touched": "yes" } } })).await;
    let other = stage.unique("y");
    stage.put_apply(&other, json!({ "templateRef": { "name": "t" } })).await;
    stage.condition(&other, "Applied", "True", "UpToDate").await;
    assert_eq!(files(&stage.workspaces().get(&name).await.unwrap()), files(&workspace));

    // A key that goes away is told; the last good value stays.
    stage.change::<Secret>("db", json!({ "data": { "password": null } })).await;
    let apply = stage.condition(&name, "Applied", "False", "VariableMissing").await;
    assert!(message(&apply, "Applied").contains("`password`"));
    let ours = stage
        .api::<Secret>()
        .list(&ListParams::default().labels("app.kubernetes.io/managed-by=capt"))
        .await
        .unwrap();
    assert_eq!(ours.items.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), files(&workspace));
}

#[tokio::test]
async fn a_foreign_secret_under_the_name_of_the_file_is_left_alone() {
    let stage = Stage::set().await;
    stage.put_template("t", &module(&["password"])).await;
    stage.put_secret("db", &[("password", SECRET_VALUE)]).await;
    let db = stage.api::<Secret>().get("db").await.unwrap();
    let version = [db.uid().unwrap(), db.resource_version().unwrap()];
    let suffix = capt_core::digest::short_digest(version.iter().map(String::as_str), 8);
    let name = stage.unique("x");
    let taken = format!("{name}-variables-{suffix}");
    stage.put_secret(&taken, &[("mine", "x")]).await;
    let from = json!([{ "variable": "password", "secretKeyRef": { "name": "db", "key": "password" } }]);
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" }, "variablesFrom": from })).await;
    let apply = stage.condition(&name, "Ready", "False", "SecretNotOwned").await;
    assert!(message(&apply, "Ready").contains(&taken), "{}", message(&apply, "Ready"));
    let left = stage.api::<Secret>().get(&taken).await.unwrap();
    assert_eq!(left.data.unwrap().into_keys().collect::<Vec<_>>(), ["mine"]);
    stage.api::<Secret>().delete(&taken, &DeleteParams::default()).await.unwrap();
    stage.condition(&name, "Applied", "True", "UpToDate").await;
}

#[tokio::test]
async fn another_namespace_must_grant() {
    let (stage, other) = (Stage::set().await, Stage::without_manager().await);
    stage.put_template("t", &module(&["password"])).await;
    other.put_secret("db", &[("password", SECRET_VALUE)]).await;
    let name = stage.unique("x");
    let reference = json!({ "name": "db", "namespace": other.namespace, "key": "password" });
    let from = json!([{ "variable": "password", "secretKeyRef": reference }]);
    stage.put_apply(&name, json!({ "templateRef": { "name": "t" }, "variablesFrom": from })).await;
    let apply = stage.condition(&name, "Ready", "False", "ReferenceNotGranted").await;
    let told = message(&apply, "Ready");
    assert!(told.contains(&format!("{}/db", other.namespace)) && told.contains("granted-to"), "{told}");
    assert!(stage.workspaces().get_opt(&name).await.unwrap().is_none());

    let grant =
        json!({ "metadata": { "annotations": { "capt.cluster.x-k8s.io/granted-to": stage.namespace } } });
    other.change::<Secret>("db", grant).await;
    // The manager looks at one namespace only and sees the grant when it looks again.
    stage
        .change::<WorkspaceTemplateApply>(
            &name,
            json!({ "metadata": { "annotations": { "look": "again" } } }),
        )
        .await;
    stage.condition(&name, "Applied", "True", "UpToDate").await;
}

#[tokio::test]
async fn templates_may_be_shared_but_not_the_secrets_of_third_namespaces() {
    let (stage, third) = (Stage::set().await, Stage::without_manager().await);
    let mut body = crate::stage::template("t", &module(&[]));
    body["spec"]["template"]["spec"]["forProvider"]["varFiles"] = json!([{ "source": "SecretKey", "secretKeyRef": { "namespace": third.namespace, "name": "s", "key": "k" } }]);
    stage.put::<capt_api::WorkspaceTemplate>(body).await;
    let name = stage.unique("x");
    stage.put_apply(&name, json!({ "templateRef": { "name": "t", "namespace": stage.namespace } })).await;
    let apply = stage.condition(&name, "Ready", "False", "ReferenceNotGranted").await;
    assert!(
        message(&apply, "Ready").contains("forProvider.varFiles[0].secretKeyRef"),
        "{}",
        message(&apply, "Ready")
    );

    let namespaces: Api<Namespace> = Api::all(stage.client.clone());
    let grant =
        Patch::Merge(json!({ "metadata": { "annotations": { "capt.cluster.x-k8s.io/granted-to": "*" } } }));
    namespaces.patch(&third.namespace, &PatchParams::default(), &grant).await.unwrap();
    stage
        .change::<WorkspaceTemplateApply>(
            &name,
            json!({ "metadata": { "annotations": { "look": "again" } } }),
        )
        .await;
    stage.condition(&name, "Applied", "True", "UpToDate").await;
}
