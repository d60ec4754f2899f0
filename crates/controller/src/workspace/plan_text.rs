//! Shows a plan that waits for approval, or that is only told.

use std::borrow::Cow;
use std::collections::BTreeMap;

use capt_terraform::Plan;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, ResourceExt};
use serde_json::json;

use super::place::Place;
use super::place::kept::{self, Role};
use crate::error::Error;
use crate::write;

/// The key of the plan, as people read it.
const PLAN: &str = "plan";
/// The key of the hash that they approve.
const HASH: &str = "hash";
/// The key of the plan, as programs read it.
const TREE: &str = "plan.json";
/// Leaves room for the rest of an object, which is at most 1 MiB.
const LONGEST: usize = 700 << 10;
/// What plan and tree have together at most.
const LONGEST_TOGETHER: usize = 1000 << 10;

/// A plan as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Names it.
    pub hash: String,
    /// For people.
    pub text: String,
    /// For programs; missing where there was no room for it.
    pub plan: Option<Plan>,
}

/// The namespace and name of the `ConfigMap` that shows a plan.
pub(super) fn full_name(place: &Place) -> String {
    format!("{}/{}", place.namespace, name(place))
}

/// Shows a plan, if it is not shown already, and answers where.
pub(super) async fn show(client: &Client, place: &Place, plan: &Plan) -> Result<String, Error> {
    let doing = format!("showing the plan of Workspace `{}`", place.workspace);
    put(client, place, Role::Plan, &name(place), &data(plan), &doing).await?;
    Ok(full_name(place))
}

/// The plan that is shown.
pub(super) async fn look(client: &Client, place: &Place) -> Result<Option<Shown>, Error> {
    let doing = format!("reading the plan of Workspace `{}`", place.workspace);
    let found = config_maps(client, place).get_opt(&name(place)).await.map_err(Error::api(doing))?;
    let ours = found.filter(|found| place.made(&found.metadata));
    Ok(ours.and_then(|found| read(found.data.unwrap_or_default())))
}

/// A plan for people and for programs.
pub(super) fn data(plan: &Plan) -> BTreeMap<String, String> {
    let text = plan.to_string();
    let text = cut(&text).into_owned();
    let tree = json!(plan).to_string();
    let tree = (text.len() + tree.len() <= LONGEST_TOGETHER).then(|| (TREE.to_owned(), tree));
    let hash = (HASH.to_owned(), plan.hash.as_str().to_owned());
    [(PLAN.to_owned(), text), hash].into_iter().chain(tree).collect()
}

/// Reads what [`data`] makes.
pub(super) fn read(mut data: BTreeMap<String, String>) -> Option<Shown> {
    let plan = data.get(TREE).and_then(|tree| serde_json::from_str(tree).ok());
    Some(Shown { hash: data.remove(HASH)?, text: data.remove(PLAN)?, plan })
}

/// Writes a `ConfigMap` of ours, if it is not as it should be already.
pub(super) async fn put(
    client: &Client,
    place: &Place,
    role: Role,
    name: &str,
    data: &BTreeMap<String, String>,
    doing: &str,
) -> Result<(), Error> {
    let api = config_maps(client, place);
    let found = api.get_opt(name).await.map_err(Error::api(doing))?;
    let mut object = write::header::<ConfigMap>(name);
    object["metadata"] = json!(place.metadata(role, name));
    match found {
        Some(found) if !place.made(&found.metadata) => {
            return Err(kept::not_ours::<ConfigMap>(doing, &place.namespace, name));
        }
        Some(found) if found.data.as_ref() == Some(data) => return Ok(()),
        Some(found) => object["metadata"]["uid"] = json!(found.uid()),
        None => object["metadata"]["resourceVersion"] = json!(write::ONLY_IF_ABSENT),
    }
    object["data"] = json!(data);
    write::apply(&api, name, &object, doing).await.map(drop)
}

/// Removes what was shown; `shown` says whether anything was.
pub(super) async fn remove(client: &Client, place: &Place, shown: bool) -> Result<(), Error> {
    if !shown {
        return Ok(());
    }
    remove_named(client, place, &name(place)).await
}

/// Removes a `ConfigMap` of ours.
pub(super) async fn remove_named(client: &Client, place: &Place, name: &str) -> Result<(), Error> {
    let api = config_maps(client, place);
    let doing = format!("removing the plan of Workspace `{}`", place.workspace);
    let found = api.get_metadata_opt(name).await.map_err(Error::api(&doing))?;
    match found.filter(|found| place.made(&found.metadata)) {
        Some(found) => kept::remove(&api, &found.metadata, &doing).await,
        None => Ok(()),
    }
}

fn name(place: &Place) -> String {
    format!("capt-plan-{}", place.short_name())
}

pub(super) fn config_maps(client: &Client, place: &Place) -> Api<ConfigMap> {
    Api::namespaced(client.clone(), &place.namespace)
}

fn cut(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST {
        return text.into();
    }
    let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    format!("{}\n(the rest is too long to be shown here)\n", &text[..end]).into()
}

#[cfg(test)]
mod tests {
    use capt_terraform::{Action, Change, PlanHash};
    use kube::api::PostParams;

    use super::*;
    use crate::workspace::place::stage::Stage;
    use crate::workspace::state;

    fn plan(hash: &str, changes: usize) -> Plan {
        let change = |index| Change {
            address: format!("terraform_data.größe[{index}]"),
            action: Action::Create,
            reason: None,
            moved_from: None,
            imported: None,
            attributes: Vec::new(),
        };
        Plan {
            hash: PlanHash::from_text(hash),
            destroy: false,
            applicable: true,
            changes: (0..changes).map(change).collect(),
            outputs: Vec::new(),
            others: Vec::new(),
            drift: Vec::new(),
            warnings: Vec::new(),
            elsewhere: None,
            not_imported: Vec::new(),
        }
    }

    #[test]
    fn a_long_plan_is_cut_between_characters() {
        for shift in 0..2 {
            let text = format!("{}{}", "x".repeat(shift), "ö".repeat(LONGEST));
            let cut = cut(&text);
            assert!(cut.len() < LONGEST + 100 && cut.contains("the rest is too long"));
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_config_map_of_somebody_else_is_left_alone() {
        let stage = Stage::set(state::rules()).await;
        let place = stage.place("demo").await;
        let foreign: ConfigMap = serde_json::from_value(
            json!({ "metadata": { "name": "capt-plan-demo" }, "data": { "plan": "mine" } }),
        )
        .unwrap();
        let api: Api<ConfigMap> = Api::namespaced(stage.administrator.clone(), &place.namespace);
        api.create(&PostParams::default(), &foreign).await.unwrap();

        let error = show(&stage.client, &place, &plan("a", 1)).await.unwrap_err();
        remove(&stage.client, &place, true).await.unwrap();

        assert!(error.sentence().contains("capt-plan-demo"), "{}", error.sentence());
        assert_eq!(api.get("capt-plan-demo").await.unwrap().data.unwrap()["plan"], "mine");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_plan_is_shown_once_and_replaced_by_the_next() {
        let stage = Stage::set(state::rules()).await;
        let place = stage.place("demo").await;
        let api: Api<ConfigMap> = Api::namespaced(stage.administrator.clone(), &place.namespace);

        let shown = show(&stage.client, &place, &plan("a", 1)).await.unwrap();
        let first = api.get("capt-plan-demo").await.unwrap();
        show(&stage.client, &place, &plan("a", 1)).await.unwrap();
        assert_eq!(look(&stage.client, &place).await.unwrap().unwrap().plan, Some(plan("a", 1)));
        assert_eq!(api.get("capt-plan-demo").await.unwrap().resource_version(), first.resource_version());
        assert_eq!(shown, format!("{}/capt-plan-demo", place.namespace));

        show(&stage.client, &place, &plan("b", 100_000)).await.unwrap();
        let second = api.get("capt-plan-demo").await.unwrap().data.unwrap();
        assert_eq!(second["hash"], "b");
        assert!(second["plan"].starts_with("100000 to add"));
        let shown = look(&stage.client, &place).await.unwrap().unwrap();
        assert_eq!((shown.hash.as_str(), shown.plan), ("b", None), "there is no room for the tree");

        remove(&stage.client, &place, true).await.unwrap();
        remove(&stage.client, &place, true).await.unwrap();
        assert!(api.get_opt("capt-plan-demo").await.unwrap().is_none());
    }
}
