//! What we may do: as a person by what the verbs of capt do, as the manager by what its drivers declare.

use capt_api::names::group;
use capt_controller::rbac;
use capt_core::archive::{Installed, KINDS};
use capt_core::doctor::{Asked, PermissionFacts, Whose};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use kube::Client;
use kube::api::{Api, PostParams};

use crate::archive::live::refusal;

/// How many questions are put at the same time.
const AT_ONCE: usize = 16;
/// How the names of service accounts begin.
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

/// A verb, a group and a resource.
type Question = (String, String, String);

/// Asks for everything that we need.
pub(super) async fn look(client: &Client) -> PermissionFacts {
    let user = who(client).await;
    let whose = if user.starts_with(SERVICE_ACCOUNT) { Whose::Manager } else { Whose::Person };
    let questions = match whose {
        Whose::Person => of_person(),
        Whose::Manager => of_manager(),
    };
    let asked: Result<Vec<Asked>, kube::Error> =
        stream::iter(questions).map(|question| ask(client, question)).buffered(AT_ONCE).try_collect().await;
    PermissionFacts { user, whose, asked: asked.map_err(|error| refusal(&error)) }
}

/// Who the API server takes us for.
async fn who(client: &Client) -> String {
    let api: Api<SelfSubjectReview> = Api::all(client.clone());
    let review = api.create(&PostParams::default(), &SelfSubjectReview::default()).await;
    let user = review.ok().and_then(|review| review.status?.user_info?.username);
    user.unwrap_or_else(|| "you".to_owned())
}

async fn ask(client: &Client, (verb, group, resource): Question) -> Result<Asked, kube::Error> {
    let api: Api<SelfSubjectAccessReview> = Api::all(client.clone());
    let attributes = ResourceAttributes {
        verb: Some(verb.clone()),
        group: Some(group.clone()),
        resource: Some(resource.clone()),
        ..ResourceAttributes::default()
    };
    let review = SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec { resource_attributes: Some(attributes), ..Default::default() },
        ..Default::default()
    };
    let review = api.create(&PostParams::default(), &review).await?;
    Ok(Asked { verb, group, resource, allowed: review.status.is_some_and(|status| status.allowed) })
}

/// What the verbs of capt do: all kinds are looked at, some are annotated; a restore makes all of them.
fn of_person() -> Vec<Question> {
    let question =
        |verb: &str, group: &str, resource: &str| (verb.to_owned(), group.to_owned(), resource.to_owned());
    let looked_at = KINDS.iter().filter(|kind| kind.installed != Installed::ByClusterApiOnly);
    let mut questions: Vec<Question> = looked_at
        .flat_map(|kind| ["get", "list"].map(|verb| question(verb, kind.group, kind.plural)))
        .collect();
    questions.extend([
        question("patch", group::ADDONS, "addonstackbindings"),
        question("list", group::ADDONS, "addonstackbindings"),
        question("patch", group::INFRASTRUCTURE, "workspacetemplateapplies"),
        question("patch", group::TERRAFORM, "workspaces"),
        question("list", "coordination.k8s.io", "leases"),
        question("list", "apiextensions.k8s.io", "customresourcedefinitions"),
    ]);
    questions
}

/// What the drivers of the manager declare.
fn of_manager() -> Vec<Question> {
    let mut questions = Vec::new();
    for rule in rbac::rules() {
        for group in rule.api_groups.iter().flatten() {
            for resource in rule.resources.iter().flatten() {
                questions
                    .extend(rule.verbs.iter().map(|verb| (verb.clone(), group.clone(), resource.clone())));
            }
        }
    }
    questions
}
