//! Whether the kinds that the API server serves are fit for this CAPT.
//!
//! CRDs are watched by their metadata only; one of ours is read when its schema or what it says of itself has changed. What is
//! wrong is told once for each kind.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use capt_api::crd::{Foreign, foreign, own};
use capt_api::names::annotation;
use capt_core::skew::{Skew, compare};
use futures::{StreamExt, stream};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::core::PartialObjectMeta;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, ResourceExt};
use tokio::sync::watch;
use tokio::time::sleep;
use tracing::{info, warn};

use crate::feed::is_forbidden;
use crate::install::owner;
use crate::metrics::Metrics;

/// How long to wait after a CRD could not be read.
const PAUSE: Duration = Duration::from_secs(1);

/// How many CRDs are read at the same time.
const AT_ONCE: usize = 4;

/// How many kinds are named where the text has to be short.
const NAMED: usize = 2;

/// Whether the manager can work with the kinds as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fitness {
    /// Nobody knows yet.
    Unknown,
    /// It can.
    Fit,
    /// It cannot; the text says why and what to do.
    Unfit(String),
}

/// What is known of one CRD.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    kinds: Option<Foreign>,
    skew: Skew,
    fix: Option<String>,
}

/// What the fitness of a CRD depends on, as far as its metadata tells.
#[derive(Clone, Debug, PartialEq)]
struct Mark {
    uid: Option<String>,
    generation: Option<i64>,
    version: Option<String>,
    /// Whose it is, where it may be somebody else's.
    traces: Option<(BTreeMap<String, String>, Vec<OwnerReference>)>,
}

/// Follows all CRDs of CAPT, and compatible ones that are CAPT's, for ever.
pub(crate) async fn follow(client: Client, told: watch::Sender<Fitness>, metrics: Metrics) {
    let mut desk = Desk::new(Api::all(client.clone()), told, metrics);
    let listed: Api<PartialObjectMeta<CustomResourceDefinition>> = Api::all(client);
    let events = watcher(listed, watcher::Config::default()).default_backoff();
    let mut events = std::pin::pin!(events);
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Init) => desk.listing.clear(),
            Ok(Event::InitApply(crd)) => desk.listed(&crd.metadata),
            Ok(Event::InitDone) => desk.look_at_all().await,
            Ok(Event::Apply(crd)) => desk.changed(&crd.metadata).await,
            Ok(Event::Delete(crd)) => desk.gone(&crd.name_any()),
            Err(error) => desk.interrupted(&error),
        }
    }
}

struct Desk {
    crds: Api<CustomResourceDefinition>,
    told: watch::Sender<Fitness>,
    metrics: Metrics,
    /// The CRDs that are looked at, by name.
    ours: HashMap<String, Option<Foreign>>,
    /// What they should be, until the first listing: they are large, and rarely needed after that.
    wanted: Option<Vec<(Option<Foreign>, CustomResourceDefinition)>>,
    /// What the listing that goes on has shown.
    listing: HashMap<String, Mark>,
    marks: HashMap<String, Mark>,
    known: BTreeMap<String, Known>,
}

impl Desk {
    fn new(crds: Api<CustomResourceDefinition>, told: watch::Sender<Fitness>, metrics: Metrics) -> Self {
        let wanted = wanted();
        let ours = wanted.iter().map(|(kinds, crd)| (crd.name_any(), *kinds)).collect();
        let (listing, marks, known) = (HashMap::new(), HashMap::new(), BTreeMap::new());
        Self { crds, told, metrics, ours, wanted: Some(wanted), listing, marks, known }
    }

    fn listed(&mut self, metadata: &ObjectMeta) {
        let name = metadata.name.clone().unwrap_or_default();
        if let Some(kinds) = self.ours.get(&name) {
            self.listing.insert(name, mark(metadata, *kinds));
        }
    }

    async fn look_at_all(&mut self) {
        let listing = std::mem::take(&mut self.listing);
        let wanted = self.wanted.take().unwrap_or_else(wanted);
        let is_news =
            |name: &String| listing.get(name).is_some_and(|mark| self.marks.get(name) != Some(mark));
        let news: Vec<String> = wanted.iter().map(|(_, wanted)| wanted.name_any()).filter(is_news).collect();
        let crds = &self.crds;
        let read: HashMap<String, Look> = stream::iter(news)
            .map(|name| async move {
                let found = look(crds, &name).await;
                (name, found)
            })
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        for (kinds, wanted) in &wanted {
            let name = wanted.name_any();
            match read.get(&name) {
                Some(Look::At(found)) => self.note(&name, *kinds, wanted, found.as_ref().as_ref()),
                None if !listing.contains_key(&name) => self.note(&name, *kinds, wanted, None),
                None | Some(Look::Forbidden) => {}
            }
        }
        self.marks = listing;
        self.tell();
    }

    async fn changed(&mut self, metadata: &ObjectMeta) {
        let name = metadata.name.clone().unwrap_or_default();
        let Some(kinds) = self.ours.get(&name).copied() else { return };
        let mark = mark(metadata, kinds);
        if self.marks.get(&name) == Some(&mark) {
            return;
        }
        self.marks.insert(name.clone(), mark);
        if let Some((_, wanted)) = wanted().into_iter().find(|(_, wanted)| wanted.name_any() == name) {
            if let Look::At(found) = look(&self.crds, &name).await {
                self.note(&name, kinds, &wanted, found.as_ref().as_ref());
            }
            self.tell();
        }
    }

    fn gone(&mut self, name: &str) {
        self.marks.remove(name);
        if let Some((kinds, wanted)) = wanted().into_iter().find(|(_, wanted)| wanted.name_any() == name) {
            self.note(name, kinds, &wanted, None);
            self.tell();
        }
    }

    /// Compares a CRD with what is wanted, and tells what is new.
    fn note(
        &mut self,
        name: &str,
        kinds: Option<Foreign>,
        wanted: &CustomResourceDefinition,
        found: Option<&CustomResourceDefinition>,
    ) {
        let is_anothers = kinds.is_some() && found.is_none_or(|found| owner(found).is_some());
        let skew = if is_anothers { Skew::None } else { compare(wanted, found) };
        let known = Known { kinds, fix: skew.fix(kinds, found), skew };
        if self.known.get(name) == Some(&known) {
            return;
        }
        let fix = known.fix.as_deref();
        match (known.skew.sentence(name), known.skew.holds_up(kinds)) {
            (Some(sentence), true) => warn!(crd = name, fix, "{sentence}"),
            (Some(sentence), false) => info!(crd = name, fix, "{sentence}"),
            (None, _) if self.known.contains_key(name) => info!(crd = name, "the CRD is as this capt has it"),
            (None, _) => {}
        }
        self.known.insert(name.to_owned(), known);
    }

    /// Tells whether the manager can work.
    fn tell(&self) {
        let unfit: Vec<String> = self.known.iter().filter_map(|(name, known)| trouble(name, known)).collect();
        self.metrics.unfit_kinds(unfit.len());
        let fitness = match unfit.len() {
            0 => Fitness::Fit,
            count => {
                let more = count.saturating_sub(NAMED);
                let more = if more > 0 { format!("\nand {more} more") } else { String::new() };
                Fitness::Unfit(unfit[..count.min(NAMED)].join("\n") + &more)
            }
        };
        self.told.send_if_modified(|known| std::mem::replace(known, fitness.clone()) != fitness);
    }

    fn interrupted(&self, error: &watcher::Error) {
        let source = error as &dyn std::error::Error;
        if is_forbidden(error) && *self.told.borrow() == Fitness::Unknown {
            warn!(error = source, "CRDs may not be read, so that nobody looks whether they fit this capt");
            self.told.send_replace(Fitness::Fit);
        } else {
            warn!(error = source, "watching CRDs was interrupted; trying again");
        }
    }
}

/// What a look at a CRD gave.
enum Look {
    /// The CRD, if it is still there.
    At(Box<Option<CustomResourceDefinition>>),
    /// We may not look.
    Forbidden,
}

/// Reads a CRD until that works. Whoever may not read CRDs is not kept from working.
async fn look(crds: &Api<CustomResourceDefinition>, name: &str) -> Look {
    loop {
        match crds.get_opt(name).await {
            Ok(found) => return Look::At(Box::new(found)),
            Err(kube::Error::Api(status)) if status.is_forbidden() => return Look::Forbidden,
            Err(error) => {
                warn!(
                    crd = name,
                    error = &error as &dyn std::error::Error,
                    "the CRD could not be read; trying again"
                );
                sleep(PAUSE).await;
            }
        }
    }
}

fn trouble(name: &str, known: &Known) -> Option<String> {
    let Known { kinds, skew, fix } = known;
    let sentence = skew.sentence(name).filter(|_| skew.holds_up(*kinds))?;
    Some(format!("{sentence}; do: {}", fix.as_deref().unwrap_or_default()))
}

fn wanted() -> Vec<(Option<Foreign>, CustomResourceDefinition)> {
    let compatible = [Foreign::Terraform, Foreign::ClusterApi]
        .into_iter()
        .flat_map(|kinds| foreign(kinds).into_iter().map(move |crd| (Some(kinds), crd)));
    own().into_iter().map(|crd| (None, crd)).chain(compatible).collect()
}

fn mark(metadata: &ObjectMeta, kinds: Option<Foreign>) -> Mark {
    let ObjectMeta { uid, generation, annotations, labels, owner_references, .. } = metadata;
    Mark {
        uid: uid.clone(),
        generation: *generation,
        version: annotations.as_ref().and_then(|noted| noted.get(annotation::VERSION).cloned()),
        traces: kinds
            .map(|_| (labels.clone().unwrap_or_default(), owner_references.clone().unwrap_or_default())),
    }
}
