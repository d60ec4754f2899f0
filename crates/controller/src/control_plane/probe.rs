//! Asks the cluster itself, with the credentials that are handed out. What it says is told, and holds up nothing.
//!
//! A question may take long, so it is a task of its own that brings the control plane up when there is an answer.

use std::sync::Arc;
use std::time::Duration;

use capt_api::CAPTControlPlane;
use capt_core::cause::innermost;
use capt_core::condition::cut;
use capt_core::control_plane::connection::{Access, EksAccess, Source};
use capt_core::control_plane::secrets::WantedSecret;
use capt_core::control_plane::status::Probe;
use capt_core::digest::number;
use capt_core::kubernetes_version::is_rolling_out;
use k8s_openapi::jiff::Timestamp;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::reflector::ObjectRef;
use kube::{Client, Config};
use secrecy::{ExposeSecret as _, SecretString};
use tracing::debug;

use super::credentials::{self, request};
use crate::context::{A_MOMENT, Context};
use crate::index::Name;
use crate::store::key_of;

/// How long a question may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a cluster that answers is asked again.
const INTERVAL: Duration = Duration::from_secs(600);
/// The same where CAPT looks after Clusters itself.
const EMBEDDED: Duration = Duration::from_secs(60);
/// How often a cluster is asked whose new version is on its way: that it is there has no event.
const ROLLING_OUT: Duration = Duration::from_secs(15);
/// How soon a cluster that does not answer well is asked again, at first and at most.
const RETRY: (Duration, Duration) = (Duration::from_secs(15), Duration::from_secs(300));
/// How much of a reason is told.
const LONGEST: usize = 300;

/// What is known, and when there is more to ask.
pub(super) struct Looked {
    pub(super) answer: Option<Probe>,
    pub(super) next: Option<Timestamp>,
}

/// The last answer of the cluster. A new question is put where it is time for one.
pub(super) async fn look(
    control_plane: &CAPTControlPlane,
    wanted: &[WantedSecret],
    source: &Source,
    context: &Arc<Context>,
) -> Looked {
    let Some(secret) = credentials::kubeconfig(wanted) else { return Looked { answer: None, next: None } };
    let key = key_of(&control_plane.metadata);
    let question = number(secret.content.expose_secret());
    let now = context.now();
    let pace = Pace { wanted: &control_plane.spec.version, embedded: context.cluster_serving.is_ours() };
    let (answer, next, asks) = context.credentials.with(&key, |memory| {
        let probe = &mut memory.probe;
        let due = probe.answer.as_ref().map_or(now, |(asked, at, bad, answer)| {
            if *asked == question {
                at.checked_add(pace.pause(&key, answer, *bad)).unwrap_or(now)
            } else {
                now
            }
        });
        let asks = due <= now && probe.asking != Some(question);
        if asks {
            probe.asking = Some(question);
        }
        let answer = probe.answer.as_ref().map(|(_, _, _, answer)| answer.clone());
        (answer, (due > now).then_some(due), asks)
    });
    if asks {
        let eks = match &source.access {
            Access::Eks(access) => Some(access.clone()),
            Access::AsGiven { .. } => None,
        };
        let kubeconfig = secret.content.clone();
        let asking = context.term.spawn(ask(key.clone(), question, kubeconfig, eks, Arc::clone(context)));
        // Most clusters answer at once, and one status is enough for both then.
        if answer.is_none() && tokio::time::timeout(A_MOMENT, asking).await.is_ok() {
            let known = context.credentials.with(&key, |memory| memory.probe.answer.clone());
            let next = known
                .as_ref()
                .and_then(|(_, at, bad, answer)| at.checked_add(pace.pause(&key, answer, *bad)).ok());
            return Looked { answer: known.map(|(_, _, _, answer)| answer), next };
        }
    }
    Looked { answer, next }
}

/// How often a cluster is asked.
struct Pace<'spec> {
    /// The version that was asked for.
    wanted: &'spec str,
    /// Whether CAPT looks after Clusters itself: nobody else asks then.
    embedded: bool,
}

impl Pace<'_> {
    /// How long to wait after an answer. A fleet is not asked in the same second.
    fn pause(&self, key: &Name, answer: &Probe, bad: u32) -> Duration {
        if bad > 0 {
            let (first, longest) = RETRY;
            return first.saturating_mul(2_u32.saturating_pow((bad - 1).min(16))).min(longest);
        }
        let rolling_out = match answer {
            Probe::Answered { version } => is_rolling_out(self.wanted, version),
            Probe::Rejected { .. } | Probe::Unreachable { .. } => false,
        };
        let interval = match (rolling_out, self.embedded) {
            (true, _) => ROLLING_OUT,
            (false, true) => EMBEDDED,
            (false, false) => INTERVAL,
        };
        let spread = number(&format!("{}/{}", key.namespace, key.name)) % (interval.as_secs() / 5);
        interval.saturating_sub(Duration::from_secs(spread))
    }
}

/// Puts one question, remembers the answer, and brings the control plane up where the answer is news.
async fn ask(
    key: Name,
    question: u64,
    kubeconfig: SecretString,
    eks: Option<EksAccess>,
    context: Arc<Context>,
) {
    let answer = match context.probes.acquire().await {
        Ok(_permit) => answer(&kubeconfig, eks.as_ref(), &context).await,
        Err(_) => return,
    };
    context.metrics.probed(&answer);
    let now = context.now();
    context.credentials.with(&key, |memory| {
        let probe = &mut memory.probe;
        let before = probe.answer.take();
        let was_rejected = matches!(before, Some((_, _, _, Probe::Rejected { .. })));
        let bad = match (&answer, &before) {
            (Probe::Answered { .. }, _) => 0,
            (_, Some((_, _, bad, _))) => bad.saturating_add(1),
            (_, None) => 1,
        };
        // A token that is not accepted any more is made anew at once, but not again and again.
        probe.rejected |= matches!(answer, Probe::Rejected { .. }) && !was_rejected && eks.is_some();
        probe.asking = None;
        debug!(control_plane = key.name, ?answer, "the cluster was asked");
        probe.answer = Some((question, now, bad, answer));
    });
    // The receiver may be gone when the manager stops. What is no news ends in a reconcile that writes nothing, but sets
    // the time of the next question.
    let _ = context.control_plane_queue.unbounded_send(ObjectRef::new(&key.name).within(&key.namespace));
}

async fn answer(kubeconfig: &SecretString, eks: Option<&EksAccess>, context: &Context) -> Probe {
    let unreachable = |message: String| Probe::Unreachable {
        message: cut(&format!("the API server does not answer CAPT: {message}"), LONGEST),
    };
    let client = match client(kubeconfig).await {
        Ok(client) => client,
        Err(error) => return unreachable(error.to_string()),
    };
    match tokio::time::timeout(PATIENCE, client.apiserver_version()).await {
        Err(_) => unreachable(format!("no answer within {} s", PATIENCE.as_secs())),
        Ok(Ok(version)) => Probe::Answered { version: cut(&version.git_version, 64) },
        Ok(Err(kube::Error::Api(status))) if status.code == 401 => {
            let identity = match eks {
                Some(access) => context.options.tokens.minter().caller(&request(access)).await.ok(),
                None => None,
            };
            Probe::Rejected { identity }
        }
        // It answers, and it knows us: what we may do there is another question.
        Ok(Err(kube::Error::Api(status))) if status.code == 403 => Probe::Answered { version: String::new() },
        Ok(Err(error)) => unreachable(innermost(&error)),
    }
}

async fn client(kubeconfig: &SecretString) -> Result<Client, Box<dyn std::error::Error + Send + Sync>> {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig.expose_secret())?;
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.connect_timeout = Some(PATIENCE);
    config.read_timeout = Some(PATIENCE);
    Ok(Client::try_from(config)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_that_do_not_answer_are_asked_with_growing_pauses() {
        let key = Name::new("a", "demo");
        let pace = Pace { wanted: "1.34", embedded: false };
        let silent = Probe::Unreachable { message: String::new() };
        let pauses: Vec<_> = [1, 2, 3, 1000].map(|bad| pace.pause(&key, &silent, bad).as_secs()).into();
        assert_eq!(pauses, [15, 30, 60, 300]);
    }

    #[test]
    fn clusters_are_asked_more_often_while_a_version_is_on_its_way() {
        let key = Name::new("a", "demo");
        let pause = |wanted: &str, embedded: bool| {
            let answer = Probe::Answered { version: "v1.34.4".to_owned() };
            Pace { wanted, embedded }.pause(&key, &answer, 0).as_secs()
        };
        assert!((480..=600).contains(&pause("1.34", false)));
        assert!((48..=60).contains(&pause("1.34", true)));
        assert!((12..=15).contains(&pause("1.35", false)));
    }
}
