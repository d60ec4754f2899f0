//! `capt reconcile`: add-ons once more, and now.

mod answer;
mod missing;
mod target;
mod wait;

use std::collections::BTreeMap;

use anyhow::{Context, bail, ensure};
use capt_api::AddonStackBinding;
use capt_api::names::annotation;
use capt_core::cause::sentence;
use futures::StreamExt as _;
use futures::stream;
use jiff::Timestamp;
use kube::ResourceExt;
use kube::api::{Api, ListParams, Patch, PatchParams};
use serde_json::json;

use self::answer::{Answer, Asked};
use self::target::Target;
use self::wait::Waiting;
use crate::cli::{ReconcileArguments, RequestArguments};
use crate::connection;
use crate::printer::Printer;

/// Whoever looks at the annotation's manager sees where it comes from.
const FIELD_MANAGER: &str = "capt-reconcile";
/// How many are asked at the same time.
const AT_ONCE: usize = 16;

pub(crate) async fn run(arguments: ReconcileArguments, printer: Printer) -> anyhow::Result<()> {
    let (target, request) = Target::of(arguments.target);
    let RequestArguments { namespace, wait, timeout, connection } = request;
    let client = connection::find_for_person(&connection).await?.client;
    let namespace = connection::namespace(&client, namespace)?;
    let bindings: Api<AddonStackBinding> = Api::namespaced(client.clone(), &namespace);
    let found = find(&bindings, &target).await?;
    if found.is_empty() {
        bail!(missing::why(&client, &namespace, &target).await?);
    }
    // To the nanosecond, so that no two requests are the same.
    let requested_at = format!("{:.9}", Timestamp::now());
    let refused = ask(&bindings, &found, &requested_at).await;
    let mut asked = Asked::new(requested_at, found, &refused);
    if !wait {
        printer.value(&asked, &asked.sentences())?;
        return fail_if_refused(&refused);
    }
    let names = asked.names();
    printer.message(&format!("asked for {} of namespace {namespace}; waiting for CAPT", names.join(", ")));
    let mut waiting = Waiting::new(names, &asked.requested_at);
    let in_time = tokio::time::timeout(timeout, wait::until_answered(&bindings, &target, &mut waiting)).await;
    let unanswered = waiting.unanswered();
    asked.tell(&waiting.into_answers());
    printer.value(&asked, &asked.sentences())?;
    fail_if_refused(&refused)?;
    ensure!(
        in_time.is_ok(),
        "CAPT has not come to {} within {} s: see whether a manager runs (`capt manager`, `capt up`) and what it logs",
        unanswered.join(", "),
        timeout.as_secs()
    );
    let failed = asked.failed();
    ensure!(failed.is_empty(), "not everything goes well: see {}", failed.join(", "));
    Ok(())
}

/// What binds the target; nothing of it is being taken away.
async fn find(
    bindings: &Api<AddonStackBinding>,
    target: &Target,
) -> anyhow::Result<BTreeMap<String, AddonStackBinding>> {
    let parameters = ListParams::default().labels(&target.labels());
    let listed = bindings.list(&parameters).await.context(
        "listing AddonStackBindings; if the kind is missing, `capt crds | kubectl apply --server-side -f -` installs it",
    )?;
    let meant = |binding: &AddonStackBinding| {
        target.means(&binding.spec) && binding.metadata.deletion_timestamp.is_none()
    };
    Ok(listed.into_iter().filter(meant).map(|binding| (binding.name_any(), binding)).collect())
}

/// Asks for each of them, and answers with those that could not be asked for.
async fn ask(
    bindings: &Api<AddonStackBinding>,
    found: &BTreeMap<String, AddonStackBinding>,
    requested_at: &str,
) -> BTreeMap<String, kube::Error> {
    let parameters = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let parameters = &parameters;
    let patch =
        &Patch::Merge(json!({ "metadata": { "annotations": { annotation::REQUESTED_AT: requested_at } } }));
    let asked = stream::iter(found.keys()).map(async |name| {
        let refused = bindings.patch_metadata(name, parameters, patch).await.err()?;
        Some((name.clone(), refused))
    });
    asked.buffer_unordered(AT_ONCE).filter_map(std::future::ready).collect().await
}

fn fail_if_refused(refused: &BTreeMap<String, kube::Error>) -> anyhow::Result<()> {
    let Some((name, error)) = refused.iter().next() else { return Ok(()) };
    bail!(
        "asking for AddonStackBinding `{name}`{}: {}",
        match refused.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        },
        sentence(error)
    )
}
