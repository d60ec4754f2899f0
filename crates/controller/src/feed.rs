//! Watches: each keeps its store up to date and tells which objects were touched.
//!
//! A kind that is not installed is waited for by watching its CRD. Lost connections are retried with backoff.

use std::collections::HashSet;
use std::fmt::Debug;
use std::time::Duration;

use futures::{Stream, StreamExt};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::PartialObjectMeta;
use kube::runtime::WatchStreamExt;
use kube::runtime::reflector::store::Writer;
use kube::runtime::wait::{Condition as _, await_condition, conditions};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use tokio::time::sleep;
use tracing::{info, warn};

use crate::metrics::{Kind, Metrics};
use crate::store::{Guarded, Presence, Reader, key_of};

/// How long to wait after a kind was not found although it should be there.
const PAUSE: Duration = Duration::from_secs(1);

/// What a watch is about.
#[derive(Clone)]
pub(crate) struct Source<K> {
    pub(crate) client: Client,
    pub(crate) api: Api<K>,
    pub(crate) config: watcher::Config,
    pub(crate) kind: Kind,
    pub(crate) metrics: Metrics,
}

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// It is there.
    There,
    /// It is gone.
    Gone,
}

/// Keeps a store up to date for ever, and calls `touched` after the store shows the change.
///
/// After a (re)listing everything is touched that is there now or was there before.
pub(crate) async fn follow<K>(
    source: Source<Guarded<K>>,
    known: Reader<K>,
    mut writer: Writer<Guarded<K>>,
    trim: fn(&mut K),
    mut touched: impl FnMut(&ObjectMeta, Touch) + Send,
) where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    let reader = writer.as_reader();
    loop {
        await_kind::<K>(&source.client, source.kind, |presence| known.set_presence(presence)).await;
        let events = watcher(source.api.clone(), source.config.clone())
            .modify(move |object: &mut Guarded<K>| {
                object.meta_mut().managed_fields = None;
                if let Ok(object) = &mut object.0 {
                    trim(object);
                }
            })
            .default_backoff();
        let mut events = std::pin::pin!(events);
        while let Some(event) = next(&mut events, source.kind, &source.metrics).await {
            if matches!(event, Event::InitDone) {
                known.set_presence(Presence::Listed);
            }
            record(&event, &known, &mut writer, &mut touched);
            source.metrics.objects(source.kind, reader.len());
        }
        // The objects went with their kind. A kind that is served and yet not found is not asked for without a pause.
        sleep(PAUSE).await;
        known.set_presence(Presence::Absent);
        for event in [Event::Init, Event::InitDone] {
            record(&event, &known, &mut writer, &mut touched);
        }
        source.metrics.objects(source.kind, reader.len());
    }
}

/// Puts an event into the store and tells what it touched.
fn record<K>(
    event: &Event<Guarded<K>>,
    known: &Reader<K>,
    writer: &mut Writer<Guarded<K>>,
    touched: &mut (impl FnMut(&ObjectMeta, Touch) + Send),
) where
    K: Resource<DynamicType = ()> + Clone + Debug + 'static,
{
    let reader = writer.as_reader();
    let before = if matches!(event, Event::InitDone) { reader.state() } else { Vec::new() };
    writer.apply_watcher_event(event);
    match event {
        Event::Apply(object) => {
            known.there(object.meta());
            touched(object.meta(), Touch::There);
        }
        Event::Delete(object) => {
            known.gone(object.meta());
            touched(object.meta(), Touch::Gone);
        }
        Event::Init => known.relisting(),
        Event::InitApply(_) => {}
        Event::InitDone => {
            let after = reader.state();
            let uids: HashSet<_> = after.iter().filter_map(|object| object.meta().uid.as_ref()).collect();
            let names: HashSet<_> = after.iter().map(|object| key_of(object.meta())).collect();
            let before = before.iter().map(|object| object.meta());
            let (gone, replaced): (Vec<_>, Vec<_>) = before
                .filter(|metadata| metadata.uid.as_ref().is_none_or(|uid| !uids.contains(uid)))
                .partition(|metadata| !names.contains(&key_of(metadata)));
            let mut lost = known.listed(gone.iter().chain(&replaced).copied());
            lost.retain(|metadata| gone.iter().all(|told| key_of(told) != key_of(metadata)));
            for metadata in gone.into_iter().chain(&lost) {
                touched(metadata, Touch::Gone);
            }
            for object in &after {
                touched(object.meta(), Touch::There);
            }
        }
    }
}

/// What was heard of a kind whose objects nobody keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Heard<'event> {
    /// A listing begins.
    Relisting,
    /// An object is there.
    There(&'event ObjectMeta),
    /// An object is gone.
    Gone(&'event ObjectMeta),
    /// The listing is complete.
    Listed,
}

/// Watches metadata only, keeps nothing, and tells `heard` of every change.
pub(crate) async fn overhear<K>(source: Source<PartialObjectMeta<K>>, mut heard: impl FnMut(Heard<'_>) + Send)
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static,
{
    loop {
        overhear_served(&source, &mut heard).await;
        sleep(PAUSE).await;
    }
}

/// As [`overhear`], for a kind that may not be installed: it is waited for.
pub(crate) async fn overhear_custom<K>(
    source: Source<PartialObjectMeta<K>>,
    mut heard: impl FnMut(Heard<'_>) + Send,
) where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static,
{
    loop {
        await_kind::<K>(&source.client, source.kind, |_| ()).await;
        overhear_served(&source, &mut heard).await;
        // A kind that is served and yet not found is not asked for without a pause.
        sleep(PAUSE).await;
    }
}

/// Watches metadata until the kind is not served any more.
async fn overhear_served<K>(source: &Source<PartialObjectMeta<K>>, heard: &mut (impl FnMut(Heard<'_>) + Send))
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let events = watcher(source.api.clone(), source.config.clone()).default_backoff();
    let mut events = std::pin::pin!(events);
    while let Some(event) = next(&mut events, source.kind, &source.metrics).await {
        heard(match &event {
            Event::Apply(PartialObjectMeta { metadata, .. })
            | Event::InitApply(PartialObjectMeta { metadata, .. }) => Heard::There(metadata),
            Event::Delete(PartialObjectMeta { metadata, .. }) => Heard::Gone(metadata),
            Event::Init => Heard::Relisting,
            Event::InitDone => Heard::Listed,
        });
    }
}

/// The next event; `None` when the kind is not installed any more.
async fn next<K>(
    events: &mut (impl Stream<Item = watcher::Result<Event<K>>> + Unpin),
    kind: Kind,
    metrics: &Metrics,
) -> Option<Event<K>> {
    loop {
        match events.next().await? {
            Ok(event) => return Some(event),
            Err(error) if is_kind_missing(&error) => {
                warn!(%kind, "the kind is not installed any more; waiting for it");
                return None;
            }
            Err(error) => {
                metrics.watch_failed(kind);
                warn!(%kind, error = &error as &dyn std::error::Error, "watch interrupted; trying again");
            }
        }
    }
}

fn is_kind_missing(error: &watcher::Error) -> bool {
    was_answered_with(error, 404)
}

/// Whether a watch could not begin because we may not look.
pub(crate) fn is_forbidden(error: &watcher::Error) -> bool {
    was_answered_with(error, 403)
}

fn was_answered_with(error: &watcher::Error, code: u16) -> bool {
    match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status)) => status.code == code,
        _ => false,
    }
}

/// Waits until the API server serves a kind in the version that we read. `told` hears of it when it does not.
async fn await_kind<K: Resource<DynamicType = ()>>(client: &Client, kind: Kind, told: impl FnOnce(Presence)) {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let name = format!("{}.{}", K::plural(&()), K::group(&()));
    let version = K::version(&());
    match crds.get_opt(&name).await {
        Ok(found) if is_served(found.as_ref(), &version) => return,
        Ok(found) => {
            let installed = found.is_some();
            info!(%kind, crd = name, %version, installed, "the kind is not served in this version yet; waiting for it");
            told(if installed { Presence::Absent } else { Presence::Uninstalled });
        }
        // Whoever may not read CRDs can still watch the kind itself.
        Err(_) => return,
    }
    let served = move |crd: Option<&CustomResourceDefinition>| is_served(crd, &version);
    if let Err(error) = await_condition(crds, &name, served).await {
        warn!(%kind, error = &error as &dyn std::error::Error, "waiting for a CRD was interrupted; trying the kind itself");
    }
}

fn is_served(crd: Option<&CustomResourceDefinition>, version: &str) -> bool {
    let serves = |crd: &CustomResourceDefinition| {
        crd.spec.versions.iter().any(|offered| offered.name == version && offered.served)
    };
    conditions::is_crd_established().matches_object(crd) && crd.is_some_and(serves)
}

#[cfg(test)]
mod tests {
    use capt_api::WorkspaceTemplateApply;
    use kube::core::DeserializeGuard;
    use kube::runtime::reflector;
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::store::version;

    type Apply = WorkspaceTemplateApply;

    fn apply(uid: &str, version: u64) -> Apply {
        serde_json::from_value(json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "WorkspaceTemplateApply",
            "metadata": { "name": "x", "namespace": "a", "uid": uid, "resourceVersion": version.to_string() },
            "spec": { "templateRef": { "name": "t" } },
        }))
        .unwrap()
    }

    /// What a watch shows.
    enum Shown {
        There(Apply),
        Gone(Apply),
        Listing(Vec<Apply>),
        /// This is no part of the watch: it is the answer to a write of ours.
        Answer(Apply),
    }

    /// The version that is known after all of this, and what was told of the object, one thing after the other.
    fn known_after(shown: Vec<Shown>) -> (Option<u64>, Vec<Touch>) {
        let (store, mut writer) = reflector::store::<Guarded<Apply>>();
        let known = Reader::new(store);
        let mut told = Vec::new();
        let mut touched = |_: &ObjectMeta, touch| told.push(touch);
        for shown in shown {
            let guarded = |apply| DeserializeGuard(Ok(apply));
            let events = match shown {
                Shown::There(apply) => vec![Event::Apply(guarded(apply))],
                Shown::Gone(apply) => vec![Event::Delete(guarded(apply))],
                Shown::Listing(applies) => {
                    let listed = applies.into_iter().map(|apply| Event::InitApply(guarded(apply)));
                    std::iter::once(Event::Init).chain(listed).chain([Event::InitDone]).collect()
                }
                Shown::Answer(apply) => {
                    known.remember(apply);
                    Vec::new()
                }
            };
            for event in events {
                record(&event, &known, &mut writer, &mut touched);
            }
        }
        (known.get(Some("a"), "x").map(|found| version(&found.metadata)), told)
    }

    #[rstest]
    #[case::before_the_watch_shows_it(vec![Shown::Answer(apply("u", 5))], Some(5), &[])]
    #[case::after_its_deletion(
        vec![Shown::There(apply("u", 4)), Shown::Gone(apply("u", 6)), Shown::Answer(apply("u", 5))],
        None,
        &[Touch::There, Touch::Gone],
    )]
    #[case::before_its_deletion(
        vec![Shown::There(apply("u", 4)), Shown::Answer(apply("u", 5)), Shown::Gone(apply("u", 6))],
        None,
        &[Touch::There, Touch::Gone],
    )]
    #[case::before_a_listing_without_it(
        vec![Shown::There(apply("u", 4)), Shown::Answer(apply("u", 5)), Shown::Listing(vec![])],
        None,
        &[Touch::There, Touch::Gone],
    )]
    #[case::after_a_listing_without_it(
        vec![Shown::There(apply("u", 4)), Shown::Listing(vec![]), Shown::Answer(apply("u", 5))],
        None,
        &[Touch::There, Touch::Gone],
    )]
    #[case::that_made_it_before_a_listing_without_it(
        vec![Shown::Listing(vec![]), Shown::Answer(apply("u", 5)), Shown::Listing(vec![])],
        None,
        &[Touch::Gone],
    )]
    #[case::after_it_was_made_again(
        vec![
            Shown::There(apply("u", 4)), Shown::Gone(apply("u", 6)), Shown::There(apply("w", 7)),
            Shown::Answer(apply("u", 5)), Shown::Gone(apply("w", 8)),
        ],
        None,
        &[Touch::There, Touch::Gone, Touch::There, Touch::Gone],
    )]
    #[case::after_a_listing_with_another_of_its_name(
        vec![
            Shown::There(apply("u", 4)), Shown::Listing(vec![apply("w", 7)]), Shown::Answer(apply("u", 9)),
        ],
        Some(7),
        &[Touch::There, Touch::There],
    )]
    fn an_answer_to_a_write_makes_no_ghost(
        #[case] shown: Vec<Shown>,
        #[case] expected: Option<u64>,
        #[case] told: &[Touch],
    ) {
        assert_eq!(known_after(shown), (expected, told.to_vec()));
    }

    fn crd(version: &str, served: bool, established: &str) -> CustomResourceDefinition {
        let mut crd = capt_api::crd::foreign(capt_api::crd::Foreign::ClusterApi).remove(0);
        crd.spec.versions[0].name = version.to_owned();
        crd.spec.versions[0].served = served;
        crd.status = serde_json::from_value(json!({
            "conditions": [{ "type": "Established", "status": established }],
        }))
        .unwrap();
        crd
    }

    #[rstest]
    #[case::as_we_read_it(Some(crd("v1beta2", true, "True")), true)]
    #[case::in_another_version(Some(crd("v1beta1", true, "True")), false)]
    #[case::not_served(Some(crd("v1beta2", false, "True")), false)]
    #[case::not_established(Some(crd("v1beta2", true, "False")), false)]
    #[case::not_installed(None, false)]
    fn a_kind_counts_when_it_is_served_in_our_version(
        #[case] crd: Option<CustomResourceDefinition>,
        #[case] served: bool,
    ) {
        assert_eq!(is_served(crd.as_ref(), "v1beta2"), served);
    }
}
