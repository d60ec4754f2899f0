//! Wires watches, leadership, diagnostics and shutdown; the only place that knows all drivers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use kube::Client;
use kube::runtime::events::{Recorder, Reporter};
use kube::runtime::reflector::{self, ObjectRef};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::addons::AddonMemories;
use crate::context::{Attempts, Context};
use crate::control_plane::Credentials;
use crate::diagnostics::{self, Readiness};
use crate::drive::{Pace, drive};
use crate::gate::Gate;
use crate::index::Index;
use crate::metrics::{Kind, Metrics};
use crate::moved::Moved;
use crate::notify::Notifier;
use crate::options::Options;
use crate::resource_set::ResourceSetMemories;
use crate::resources::Resources;
use crate::secret_versions::SecretVersions;
use crate::store::{Guarded, Presence, Reader};
use crate::term::LeadershipTerm;
use crate::watches::{self, Queues, Writers};
use crate::workload::Workloads;
use crate::workspace::{self, Terraform};
use crate::{
    addons, cluster, control_plane, network, resource_set, workspace_template, workspace_template_apply,
};

/// How long running reconciles may take to end. Each can be cut off between any two lines.
const GRACE: Duration = Duration::from_secs(3);

/// How long open connections to probes and metrics may take to end.
const FAREWELL: Duration = Duration::from_millis(500);

/// How many clusters are asked at the same time.
const MOST_PROBES: usize = 16;

/// How many clusters are brought add-ons at the same time.
const MOST_CLUSTERS: u16 = 64;

/// How long is waited for more to tell of the same object, where many things are told together.
const GATHERING: Duration = Duration::from_millis(100);

/// How many clients to clusters are kept.
const MOST_CLIENTS: usize = 256;

/// Where control planes are announced.
type ControlPlanes = UnboundedSender<ObjectRef<Guarded<capt_api::CAPTControlPlane>>>;

/// Where bindings of stacks are announced.
type StackBindings = UnboundedSender<ObjectRef<Guarded<capt_api::AddonStackBinding>>>;

/// Why the manager could not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The probes' and metrics' address could not be used.
    #[error("listening on {address} for probes and metrics")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the operating system said.
        source: std::io::Error,
    },
}

/// Runs every controller until `shutdown` is cancelled, as the only one where leader election is on.
pub async fn run(client: Client, options: Options, shutdown: CancellationToken) -> Result<(), Error> {
    let metrics = Metrics::new();
    let (readiness, seen) = watch::channel(Readiness::Starting("its turn"));
    let serving = CancellationToken::new();
    let mut servers = JoinSet::new();
    if let Some(address) = options.diagnostics_address {
        let listener =
            TcpListener::bind(address).await.map_err(|source| Error::Listen { address, source })?;
        servers.spawn(diagnostics::serve(listener, metrics.clone(), seen, serving.child_token()));
    }
    let terraform = options.terraform.clone().map(|given| Arc::new(Terraform::new(given, metrics.clone())));
    let (notifier, carrying) = Notifier::start(options.notifications.clone(), metrics.clone());
    // It outlives leaderships, so that what is on its way still gets there.
    let mut telling = JoinSet::new();
    telling.spawn(carrying);
    let manager = Manager { client, options, metrics, terraform, notifier, shutdown };
    let gate = Gate::new(&manager.client, &manager.options, &manager.metrics);
    let shutdown = &manager.shutdown;
    while !shutdown.is_cancelled() {
        let term = tokio::select! {
            () = shutdown.cancelled() => {
                gate.leave().await;
                break;
            }
            term = gate.pass(&readiness) => term,
        };
        let stop = shutdown.child_token();
        let mut acting = std::pin::pin!(manager.act(&readiness, &term, stop.clone()));
        tokio::select! {
            () = &mut acting => {}
            () = gate.closed(&term) => {
                stop.cancel();
                acting.await;
            }
        }
        // Whoever takes the Lease acts at once.
        if term.end_within(GRACE).await {
            gate.leave().await;
        } else {
            warn!("some work has not ended yet; the Lease is not released and runs out by itself");
        }
    }
    serving.cancel();
    // A client that does not let go of its connection must not hold us up.
    let _ = tokio::time::timeout(FAREWELL, servers.join_all()).await;
    info!("the manager has stopped");
    Ok(())
}

/// What stays the same over leaderships.
struct Manager {
    client: Client,
    options: Options,
    metrics: Metrics,
    terraform: Option<Arc<Terraform>>,
    notifier: Notifier,
    shutdown: CancellationToken,
}

impl Manager {
    /// Watches and reconciles until `stop`; running reconciles are allowed to end, unless the term has ended. Runs of Terraform
    /// go on when only the leadership was lost, and are waited for when the manager is to end.
    async fn act(
        &self,
        readiness: &watch::Sender<Readiness>,
        term: &LeadershipTerm,
        stop: CancellationToken,
    ) {
        readiness.send_replace(Readiness::Starting("the first listing of its objects"));
        self.metrics.leads(true);
        let (apply_sender, applies) = unbounded();
        let (template_sender, templates) = unbounded();
        let (workspace_sender, workspaces) = unbounded();
        let (network_sender, networks) = unbounded();
        let (control_plane_sender, control_planes) = unbounded();
        let (cluster_sender, clusters) = unbounded();
        let (stack_sender, stacks) = unbounded();
        let (stack_binding_sender, stack_bindings) = unbounded();
        let (resource_set_sender, resource_sets) = unbounded();
        let (context, writers) =
            self.context(term, control_plane_sender.clone(), stack_binding_sender.clone());
        let queues = Queues {
            applies: apply_sender,
            templates: template_sender,
            workspaces: workspace_sender,
            networks: network_sender,
            control_planes: control_plane_sender,
            clusters: cluster_sender,
            stacks: stack_sender,
            stack_bindings: stack_binding_sender,
            resource_sets: resource_set_sender,
        };
        if let Some(terraform) = &self.terraform {
            terraform.begin_leadership();
            terraform.runs.announce_to(queues.workspaces.clone());
        }
        let mut watching = JoinSet::new();
        watches::start(&context, writers, &queues, &mut watching);
        tokio::select! {
            () = stop.cancelled() => {}
            () = listed(&context) => {
                readiness.send_replace(Readiness::Acting);
                info!("watching and reconciling");
                let announced = Queued {
                    applies,
                    templates,
                    workspaces,
                    networks,
                    control_planes,
                    clusters,
                    stacks,
                    stack_bindings,
                    resource_sets,
                };
                term.bind(Box::pin(reconcile(&context, announced, &stop))).await;
            }
        }
        let ending = self.terraform.as_deref().filter(|_| self.shutdown.is_cancelled());
        if let Some(terraform) = ending {
            // Before the term ends: runs that have not begun are asked to stop then, and not dropped.
            terraform.runs.stop();
        }
        term.end();
        watching.shutdown().await;
        if let Some(terraform) = ending {
            await_runs(terraform).await;
        }
        self.metrics.leads(false);
    }

    /// What the drivers have at hand; it lasts for one leadership.
    fn context(
        &self,
        term: &LeadershipTerm,
        control_plane_queue: ControlPlanes,
        stack_binding_queue: StackBindings,
    ) -> (Arc<Context>, Writers) {
        let (applies, apply_writer) = reflector::store();
        let (templates, template_writer) = reflector::store();
        let (workspaces, workspace_writer) = reflector::store();
        let (clusters, cluster_writer) = reflector::store();
        let (networks, network_writer) = reflector::store();
        let (control_planes, control_plane_writer) = reflector::store();
        let (stacks, stack_writer) = reflector::store();
        let (stack_bindings, stack_binding_writer) = reflector::store();
        let (resource_sets, resource_set_writer) = reflector::store();
        let (resource_set_bindings, resource_set_binding_writer) = reflector::store();
        let reporter = Reporter::from("capt");
        let context = Context {
            term: term.clone(),
            recorder: Recorder::new(self.client.clone(), reporter),
            client: self.client.clone(),
            cluster_serving: cluster::Serving::new(self.options.cluster_api),
            options: self.options.clone(),
            metrics: self.metrics.clone(),
            applies: Reader::new(applies),
            templates: Reader::new(templates),
            workspaces: Reader::new(workspaces),
            clusters: Reader::new(clusters),
            networks: Reader::new(networks),
            control_planes: Reader::new(control_planes),
            stacks: Reader::new(stacks),
            stack_bindings: Reader::new(stack_bindings),
            resource_sets: Reader::new(resource_sets),
            resource_set_bindings: Reader::new(resource_set_bindings),
            resources: Resources::default(),
            workloads: Workloads::new(MOST_CLIENTS),
            addons: AddonMemories::default(),
            resource_set_memories: ResourceSetMemories::default(),
            notifier: self.notifier.clone(),
            secrets: SecretVersions::default(),
            secrets_listed: watch::Sender::new(false),
            credentials: Credentials::default(),
            index: Index::default(),
            attempts: Attempts::default(),
            moved: Moved::default(),
            terraform: self.terraform.clone(),
            probes: Semaphore::new(MOST_PROBES),
            control_plane_queue,
            stack_binding_queue,
        };
        let writers = Writers {
            applies: apply_writer,
            templates: template_writer,
            workspaces: workspace_writer,
            clusters: cluster_writer,
            networks: network_writer,
            control_planes: control_plane_writer,
            stacks: stack_writer,
            stack_bindings: stack_binding_writer,
            resource_sets: resource_set_writer,
            resource_set_bindings: resource_set_binding_writer,
        };
        (Arc::new(context), writers)
    }
}

/// Waits for runs that were asked to stop: what was begun is finished and saved.
async fn await_runs(terraform: &Terraform) {
    let runs = &terraform.runs;
    let count = runs.count();
    if count == 0 {
        return;
    }
    let grace = terraform.options.grace;
    info!(
        runs = count,
        grace_seconds = grace.as_secs(),
        "waiting for runs of Terraform to finish what they began"
    );
    if tokio::time::timeout(grace, runs.idle()).await.is_err() {
        warn!(
            runs = runs.count(),
            "runs of Terraform go on without the manager; it finds them again when it starts"
        );
    }
}

/// What was announced and not yet looked at.
struct Queued {
    applies: UnboundedReceiver<ObjectRef<Guarded<capt_api::WorkspaceTemplateApply>>>,
    templates: UnboundedReceiver<ObjectRef<Guarded<capt_api::WorkspaceTemplate>>>,
    workspaces: UnboundedReceiver<ObjectRef<Guarded<capt_api::Workspace>>>,
    networks: UnboundedReceiver<ObjectRef<Guarded<capt_api::CAPTCluster>>>,
    control_planes: UnboundedReceiver<ObjectRef<Guarded<capt_api::CAPTControlPlane>>>,
    clusters: UnboundedReceiver<ObjectRef<Guarded<capt_api::Cluster>>>,
    stacks: UnboundedReceiver<ObjectRef<Guarded<capt_api::AddonStack>>>,
    stack_bindings: UnboundedReceiver<ObjectRef<Guarded<capt_api::AddonStackBinding>>>,
    resource_sets: UnboundedReceiver<ObjectRef<Guarded<capt_api::ClusterResourceSet>>>,
}

async fn reconcile(context: &Arc<Context>, queued: Queued, stop: &CancellationToken) {
    let Queued {
        applies,
        templates,
        workspaces,
        networks,
        control_planes,
        clusters,
        stacks,
        stack_bindings,
        resource_sets,
    } = queued;
    let usual = Pace { concurrency: context.options.concurrency, after: Duration::ZERO };
    // What is told of many clusters in the same moment is told once.
    let gathering = Pace { after: GATHERING, ..usual };
    // Clusters that do not answer must not hold up others.
    let wide = Pace { concurrency: usual.concurrency.max(MOST_CLUSTERS), ..usual };
    let drivers = async {
        tokio::join!(
            drive(
                (Kind::WorkspaceTemplateApply, usual),
                &context.applies,
                applies,
                workspace_template_apply::reconcile,
                Arc::clone(context),
                stop.clone(),
            ),
            drive(
                (Kind::WorkspaceTemplate, usual),
                &context.templates,
                templates,
                workspace_template::reconcile,
                Arc::clone(context),
                stop.clone(),
            ),
            drive(
                (Kind::Workspace, usual),
                &context.workspaces,
                workspaces,
                workspace::reconcile,
                Arc::clone(context),
                stop.clone(),
            ),
            drive(
                (Kind::CAPTCluster, usual),
                &context.networks,
                networks,
                network::reconcile,
                Arc::clone(context),
                stop.clone(),
            ),
            drive(
                (Kind::CAPTControlPlane, usual),
                &context.control_planes,
                control_planes,
                control_plane::reconcile,
                Arc::clone(context),
                stop.clone(),
            ),
            drive(
                (Kind::Cluster, gathering),
                &context.clusters,
                clusters,
                cluster::reconcile,
                Arc::clone(context),
                stop.clone(),
            ),
            drive(
                (Kind::AddonStack, gathering),
                &context.stacks,
                stacks,
                addons::stack::reconcile,
                Arc::clone(context),
                stop.clone(),
            ),
            drive(
                (Kind::AddonStackBinding, wide),
                &context.stack_bindings,
                stack_bindings,
                addons::binding::reconcile,
                Arc::clone(context),
                stop.clone(),
            ),
            drive(
                (Kind::ClusterResourceSet, gathering),
                &context.resource_sets,
                resource_sets,
                resource_set::reconcile,
                Arc::clone(context),
                stop.clone(),
            ),
        )
    };
    let overdue = async {
        stop.cancelled().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        _ = drivers => {}
        () = overdue => warn!("some reconciles hang, as they do when the API server is gone; stopping without them"),
    }
}

/// Waits until of every kind it is known what there is, or that it is not installed: whoever decides earlier takes what has not
/// been listed for absent.
async fn listed(context: &Context) {
    let presences = [
        context.applies.presence(),
        context.templates.presence(),
        context.workspaces.presence(),
        context.clusters.presence(),
        context.networks.presence(),
        context.control_planes.presence(),
        context.stacks.presence(),
        context.stack_bindings.presence(),
        context.resource_sets.presence(),
        context.resource_set_bindings.presence(),
    ];
    for mut presence in presences {
        // The sender lives in the context.
        let _ = presence.wait_for(|presence| *presence != Presence::Unknown).await;
    }
    let _ = context.secrets_listed.subscribe().wait_for(|listed| *listed).await;
}
