use capt_api::names::{MANAGED_BY_CAPT, finalizer};
use capt_testkit::{TestCluster, eventually};
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::*;
use crate::workspace::place::stage::{self, Stage};
use crate::workspace::state;

/// What an earlier version left in a namespace.
async fn grant(stage: &Stage, home: &str) {
    let labels = json!({ label::MANAGED_BY: MANAGED_BY_CAPT });
    let held = json!({ "name": NAME, "labels": labels, "finalizers": [finalizer::STATE] });
    let account = account_name(&stage.namespace);
    put::<ServiceAccount>(
        stage,
        home,
        &account,
        json!({ "metadata": { "name": account, "labels": labels } }),
    )
    .await;
    put::<Role>(stage, &stage.namespace, NAME, json!({ "metadata": held, "rules": [] })).await;
    let subject = json!({ "kind": "ServiceAccount", "name": account, "namespace": home });
    let role = json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": NAME });
    let binding = json!({ "metadata": held, "roleRef": role, "subjects": [subject] });
    put::<RoleBinding>(stage, &stage.namespace, NAME, binding).await;
}

async fn put<K>(stage: &Stage, namespace: &str, name: &str, mut object: Value)
where
    K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
        + Clone
        + DeserializeOwned
        + serde::Serialize
        + Debug,
{
    object["apiVersion"] = json!(K::api_version(&()));
    object["kind"] = json!(K::kind(&()));
    let api: Api<K> = Api::namespaced(stage.administrator.clone(), namespace);
    api.patch(name, &PatchParams::apply("test"), &Patch::Apply(&object)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn access_of_an_earlier_version_goes_with_the_last_state_of_its_namespace() {
    let stage = Stage::set([rules(), own_namespace_rules()].concat()).await;
    let home = TestCluster::shared().await.namespace("home").await;
    grant(&stage, &home).await;
    let (place, administrator) = (stage.bare("demo"), &stage.administrator);
    stage.put_state("tfstate-demo-capt", &stage::state(1, 1)).await;
    let found = state::look(administrator, &place).await.unwrap();
    state::hold(administrator, &place, &found).await.unwrap();
    stage.end().await;
    let roles: Api<Role> = Api::namespaced(administrator.clone(), &stage.namespace);
    let accounts: Api<ServiceAccount> = Api::namespaced(administrator.clone(), &home);

    give_up(&stage.client, &home, &stage.namespace).await.unwrap();
    assert!(roles.get_opt(NAME).await.unwrap().is_some());
    assert!(accounts.get_opt(&account_name(&stage.namespace)).await.unwrap().is_some());

    state::discard(administrator, &place).await.unwrap();
    give_up(&stage.client, &home, &stage.namespace).await.unwrap();
    give_up(&stage.client, &home, &stage.namespace).await.unwrap();
    assert!(roles.get_opt(NAME).await.unwrap().is_none());
    assert!(accounts.get_opt(&account_name(&stage.namespace)).await.unwrap().is_none());
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(administrator.clone());
    eventually("the namespace is gone", async || {
        namespaces.get_opt(&stage.namespace).await.unwrap().is_none()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_else_made_under_these_names_stays() {
    let stage = Stage::set([rules(), own_namespace_rules()].concat()).await;
    let home = TestCluster::shared().await.namespace("home").await;
    put::<Role>(&stage, &stage.namespace, NAME, json!({ "metadata": { "name": NAME }, "rules": [] })).await;
    give_up(&stage.client, &home, &stage.namespace).await.unwrap();
    let roles: Api<Role> = Api::namespaced(stage.administrator.clone(), &stage.namespace);
    assert!(roles.get_opt(NAME).await.unwrap().is_some());
}
