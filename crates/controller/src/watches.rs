//! Which change brings up which object.

mod addons;
mod changes;
mod sources;

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::Arc;

use capt_api::flux::{Bucket, GitRepository, OciRepository, SourceKind};
use capt_api::{
    AddonStack, AddonStackBinding, CAPTCluster, CAPTControlPlane, Cluster, ClusterResourceSet,
    ClusterResourceSetBinding, ProviderConfig, Workspace, WorkspaceTemplate, WorkspaceTemplateApply,
};
use capt_core::tie::ApplyKey;
use futures::channel::mpsc::UnboundedSender;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::PartialObjectMeta;
use kube::runtime::reflector::ObjectRef;
use kube::runtime::reflector::store::Writer;
use kube::{Resource, ResourceExt};
use serde::de::DeserializeOwned;
use tokio::task::JoinSet;

use self::changes::Changes;
use self::sources::{cluster_source, filtered, source};
use crate::cluster::{follow_kinds, follow_owner as follow_owner_of_clusters};
use crate::context::Context;
use crate::control_plane;
use crate::feed::{Heard, Source, Touch, follow, overhear, overhear_custom};
use crate::index::{Dependency, Dependent, Name};
use crate::metrics::Kind;
use crate::store::{Guarded, Presence, Reader, key_of};
use crate::workspace::{collect_garbage, follow_owner};

/// Where objects that are to be looked at are announced.
#[derive(Clone)]
pub(crate) struct Queues {
    pub(crate) applies: UnboundedSender<ObjectRef<Guarded<WorkspaceTemplateApply>>>,
    pub(crate) templates: UnboundedSender<ObjectRef<Guarded<WorkspaceTemplate>>>,
    pub(crate) workspaces: UnboundedSender<ObjectRef<Guarded<Workspace>>>,
    pub(crate) networks: UnboundedSender<ObjectRef<Guarded<CAPTCluster>>>,
    pub(crate) control_planes: UnboundedSender<ObjectRef<Guarded<CAPTControlPlane>>>,
    pub(crate) clusters: UnboundedSender<ObjectRef<Guarded<Cluster>>>,
    pub(crate) stacks: UnboundedSender<ObjectRef<Guarded<AddonStack>>>,
    pub(crate) stack_bindings: UnboundedSender<ObjectRef<Guarded<AddonStackBinding>>>,
    pub(crate) resource_sets: UnboundedSender<ObjectRef<Guarded<ClusterResourceSet>>>,
}

/// What the watches write into.
pub(crate) struct Writers {
    pub(crate) applies: Writer<Guarded<WorkspaceTemplateApply>>,
    pub(crate) templates: Writer<Guarded<WorkspaceTemplate>>,
    pub(crate) workspaces: Writer<Guarded<Workspace>>,
    pub(crate) clusters: Writer<Guarded<Cluster>>,
    pub(crate) networks: Writer<Guarded<CAPTCluster>>,
    pub(crate) control_planes: Writer<Guarded<CAPTControlPlane>>,
    pub(crate) stacks: Writer<Guarded<AddonStack>>,
    pub(crate) stack_bindings: Writer<Guarded<AddonStackBinding>>,
    pub(crate) resource_sets: Writer<Guarded<ClusterResourceSet>>,
    pub(crate) resource_set_bindings: Writer<Guarded<ClusterResourceSetBinding>>,
}

/// Starts every watch.
pub(crate) fn start(context: &Arc<Context>, writers: Writers, queues: &Queues, tasks: &mut JoinSet<()>) {
    let Writers {
        applies,
        templates,
        workspaces,
        clusters,
        networks,
        control_planes,
        stacks,
        stack_bindings,
        resource_sets,
        resource_set_bindings,
    } = writers;
    tasks.spawn(follow_applies(Arc::clone(context), applies, queues.clone()));
    tasks.spawn(follow_templates(Arc::clone(context), templates, queues.clone()));
    tasks.spawn(follow_workspaces(Arc::clone(context), workspaces, queues.clone()));
    tasks.spawn(follow_clusters(Arc::clone(context), clusters, queues.clone()));
    tasks.spawn(follow_networks(Arc::clone(context), networks, queues.clone()));
    tasks.spawn(follow_control_planes(Arc::clone(context), control_planes, queues.clone()));
    tasks.spawn(addons::follow_stacks(Arc::clone(context), stacks, queues.clone()));
    tasks.spawn(addons::follow_stack_bindings(Arc::clone(context), stack_bindings, queues.clone()));
    tasks.spawn(addons::follow_resource_sets(Arc::clone(context), resource_sets, queues.clone()));
    tasks.spawn(addons::follow_resource_set_bindings(
        Arc::clone(context),
        resource_set_bindings,
        queues.clone(),
    ));
    tasks.spawn(await_workspaces(Arc::clone(context), queues.clone()));
    tasks.spawn(follow_owner_of_clusters(Arc::clone(context), queue_all_clusters(context, queues)));
    tasks.spawn(follow_kinds(Arc::clone(context), queue_all_clusters(context, queues)));
    if let Some(terraform) = &context.terraform {
        overhear_inputs(context, queues, tasks);
        let (client, known, queues) = (context.client.clone(), context.workspaces.clone(), queues.clone());
        let changed = move || {
            for workspace in known.all() {
                queue_workspace(&queues, &workspace.name_any());
            }
        };
        tasks.spawn(follow_owner(client, Arc::clone(terraform), changed));
        tasks.spawn(collect_garbage(Arc::clone(context), Arc::clone(terraform)));
    }

    let secrets = source::<PartialObjectMeta<Secret>>(context, Kind::Secret);
    tasks.spawn(overhear(secrets, announce_secrets(context, queues)));
    let maps = source::<PartialObjectMeta<ConfigMap>>(context, Kind::ConfigMap);
    let named = |metadata: &ObjectMeta| Dependency::ConfigMap(key_of(metadata));
    tasks.spawn(overhear(maps, announce(context, queues, named)));
    if context.options.namespace.is_none() {
        let named = |metadata: &ObjectMeta| Dependency::Namespace(key_of(metadata).name);
        tasks.spawn(overhear(
            cluster_source::<PartialObjectMeta<Namespace>>(context, Kind::Namespace),
            announce(context, queues, named),
        ));
    }
}

/// Watches what goes into Terraform beside Secrets and `ConfigMap`s.
fn overhear_inputs(context: &Arc<Context>, queues: &Queues, tasks: &mut JoinSet<()>) {
    let configs = cluster_source::<PartialObjectMeta<ProviderConfig>>(context, Kind::ProviderConfig);
    let named = |metadata: &ObjectMeta| Dependency::ProviderConfig(key_of(metadata).name);
    tasks.spawn(overhear_custom(configs, announce(context, queues, named)));
    let repositories = source::<PartialObjectMeta<GitRepository>>(context, Kind::GitRepository);
    let named = |metadata: &ObjectMeta| Dependency::FluxSource(SourceKind::GitRepository, key_of(metadata));
    tasks.spawn(overhear_custom(repositories, announce(context, queues, named)));
    let artifacts = source::<PartialObjectMeta<OciRepository>>(context, Kind::OCIRepository);
    let named = |metadata: &ObjectMeta| Dependency::FluxSource(SourceKind::OciRepository, key_of(metadata));
    tasks.spawn(overhear_custom(artifacts, announce(context, queues, named)));
    let buckets = source::<PartialObjectMeta<Bucket>>(context, Kind::Bucket);
    let named = |metadata: &ObjectMeta| Dependency::FluxSource(SourceKind::Bucket, key_of(metadata));
    tasks.spawn(overhear_custom(buckets, announce(context, queues, named)));
}

async fn follow_applies(
    context: Arc<Context>,
    writer: Writer<Guarded<WorkspaceTemplateApply>>,
    queues: Queues,
) {
    let source = filtered::<Guarded<WorkspaceTemplateApply>>(&context, Kind::WorkspaceTemplateApply);
    let mut changes = Changes::default();
    follow(
        source,
        context.applies.clone(),
        writer,
        |_| (),
        |metadata, touch| {
            let key = key_of(metadata);
            bring_up(&context, &queues, &Dependency::ApplyStatus(key.clone()));
            if !changes.is_news(metadata, touch) {
                return;
            }
            match touch {
                Touch::There => {
                    context.moved.there(&apply_key(&key));
                    queue(&queues, &apply_key(&key));
                }
                Touch::Gone => {
                    context.moved.gone(apply_key(&key), metadata);
                    context.index.forget(&Dependent::Apply(apply_key(&key)));
                    context.attempts.succeeded(Kind::WorkspaceTemplateApply, key.clone());
                }
            }
            bring_up(&context, &queues, &Dependency::Apply(key));
        },
    )
    .await;
}

async fn follow_templates(context: Arc<Context>, writer: Writer<Guarded<WorkspaceTemplate>>, queues: Queues) {
    let source = source::<Guarded<WorkspaceTemplate>>(&context, Kind::WorkspaceTemplate);
    let mut changes = Changes::default();
    follow(
        source,
        context.templates.clone(),
        writer,
        |_| (),
        |metadata, touch| {
            if changes.is_news(metadata, touch) {
                let key = key_of(metadata);
                // The receiver lives as long as the watches.
                let _ = queues.templates.unbounded_send(ObjectRef::new(&key.name).within(&key.namespace));
                bring_up(&context, &queues, &Dependency::Template(key));
            }
        },
    )
    .await;
}

async fn follow_workspaces(context: Arc<Context>, writer: Writer<Guarded<Workspace>>, queues: Queues) {
    let source = cluster_source::<Guarded<Workspace>>(&context, Kind::Workspace);
    let mut changes = Changes::default();
    follow(source, context.workspaces.clone(), writer, trim_workspace, |metadata, touch| {
        if changes.is_news(metadata, touch) {
            let name = key_of(metadata).name;
            match touch {
                Touch::There => queue_workspace(&queues, &name),
                Touch::Gone => {
                    context.index.forget(&Dependent::Workspace(name.clone()));
                    context.attempts.succeeded(Kind::Workspace, key_of(metadata));
                    context.metrics.workspace_is(&name, None);
                }
            }
        }
        bring_up(&context, &queues, &Dependency::Workspace(key_of(metadata).name));
    })
    .await;
}

async fn follow_clusters(context: Arc<Context>, writer: Writer<Guarded<Cluster>>, queues: Queues) {
    let source = source::<Guarded<Cluster>>(&context, Kind::Cluster);
    let mut changes = Changes::default();
    follow(source, context.clusters.clone(), writer, trim_cluster, |metadata, touch| {
        let key = key_of(metadata);
        bring_up(&context, &queues, &Dependency::ClusterStatus(key.clone()));
        if changes.is_news(metadata, touch) {
            match touch {
                Touch::There => announce_to(&queues.clusters, &key),
                Touch::Gone => {
                    context.index.forget(&Dependent::Cluster(key.clone()));
                    context.attempts.succeeded(Kind::Cluster, key.clone());
                }
            }
            bring_up(&context, &queues, &Dependency::Clusters(key.namespace.clone()));
            bring_up(&context, &queues, &Dependency::Cluster(key));
        }
    })
    .await;
}

/// What a watch of a driver's own kind is about.
struct Own<K: Resource<DynamicType = ()> + Clone + Debug + 'static> {
    source: Source<Guarded<K>>,
    known: Reader<K>,
    writer: Writer<Guarded<K>>,
    queue: UnboundedSender<ObjectRef<Guarded<K>>>,
    /// What is forgotten when an object is gone.
    dependent: fn(Name) -> Dependent,
}

/// Follows a driver's own kind: objects that have changed, but for their status, are announced, and those that are gone are
/// forgotten. `touched` is told of every change, and whether it was more than a status.
async fn follow_own<K>(
    context: Arc<Context>,
    own: Own<K>,
    mut touched: impl FnMut(&Context, &ObjectMeta, Touch, bool) + Send,
) where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    let Own { source, known, writer, queue, dependent } = own;
    let kind = source.kind;
    let mut changes = Changes::default();
    let heard = |metadata: &ObjectMeta, touch| {
        let key = key_of(metadata);
        let news = changes.is_news(metadata, touch);
        match touch {
            Touch::There if news => announce_to(&queue, &key),
            Touch::Gone if news => {
                context.index.forget(&dependent(key.clone()));
                context.attempts.succeeded(kind, key);
            }
            Touch::There | Touch::Gone => {}
        }
        touched(&context, metadata, touch, news);
    };
    follow(source, known, writer, |_| (), heard).await;
}

async fn follow_networks(context: Arc<Context>, writer: Writer<Guarded<CAPTCluster>>, queues: Queues) {
    let own = Own {
        source: filtered(&context, Kind::CAPTCluster),
        known: context.networks.clone(),
        writer,
        queue: queues.networks.clone(),
        dependent: Dependent::Network,
    };
    let touched = |context: &Context, metadata: &ObjectMeta, _, _| {
        bring_up(context, &queues, &Dependency::Network(key_of(metadata)));
    };
    follow_own(context, own, touched).await;
}

async fn follow_control_planes(
    context: Arc<Context>,
    writer: Writer<Guarded<CAPTControlPlane>>,
    queues: Queues,
) {
    let own = Own {
        source: filtered(&context, Kind::CAPTControlPlane),
        known: context.control_planes.clone(),
        writer,
        queue: queues.control_planes.clone(),
        dependent: Dependent::ControlPlane,
    };
    let touched = |context: &Context, metadata: &ObjectMeta, touch, _| {
        let key = key_of(metadata);
        if touch == Touch::Gone {
            control_plane::forget(&key, context);
        }
        bring_up(context, &queues, &Dependency::ControlPlane(key));
    };
    follow_own(context, own, touched).await;
}

/// Looks at every apply again when Workspaces can be seen, since until then all of them were told to wait.
async fn await_workspaces(context: Arc<Context>, queues: Queues) {
    let mut presence = context.workspaces.presence();
    while presence.wait_for(|presence| *presence == Presence::Listed).await.is_ok() {
        for apply in context.applies.all() {
            queue(&queues, &ApplyKey::of(&apply));
        }
        if presence.wait_for(|presence| *presence != Presence::Listed).await.is_err() {
            return;
        }
    }
}

/// A Workspace without what only Terraform needs: modules are large, and there are many Workspaces.
pub(crate) fn trim_workspace(workspace: &mut Workspace) {
    workspace.metadata.managed_fields = None;
    let for_provider = &mut workspace.spec.for_provider;
    for_provider.module = String::new();
    for_provider.vars = Vec::new();
    for_provider.varmap = None;
    for_provider.env = Vec::new();
    for_provider.var_files = Vec::new();
}

/// A Cluster without what CAPT does not look at.
fn trim_cluster(cluster: &mut Cluster) {
    cluster.spec.cluster_network = None;
    if let Some(topology) = &mut cluster.spec.topology {
        *topology = serde_json::Value::Null;
    }
}

fn announce(
    context: &Arc<Context>,
    queues: &Queues,
    named: fn(&ObjectMeta) -> Dependency,
) -> impl FnMut(Heard<'_>) + Send + use<> {
    let (context, queues) = (Arc::clone(context), queues.clone());
    let mut listing = None;
    move |heard| match heard {
        Heard::Relisting => listing = Some(HashSet::new()),
        Heard::There(metadata) => {
            bring_up(&context, &queues, &named(metadata));
            if let Some(listing) = &mut listing {
                listing.insert(named(metadata));
            }
        }
        Heard::Gone(metadata) => bring_up(&context, &queues, &named(metadata)),
        // What went while nobody watched is heard of in no other way.
        Heard::Listed => {
            let (kind, shown) = (named(&ObjectMeta::default()), listing.take().unwrap_or_default());
            for lost in context.index.noted_and_not_shown(&kind, &shown) {
                bring_up(&context, &queues, &lost);
            }
        }
    }
}

/// As [`announce`], and notes which Secrets there are.
fn announce_secrets(context: &Arc<Context>, queues: &Queues) -> impl FnMut(Heard<'_>) + Send + use<> {
    let (context, queues) = (Arc::clone(context), queues.clone());
    move |heard| match heard {
        Heard::Relisting => context.secrets.relist(),
        Heard::There(metadata) => {
            context.secrets.there(metadata);
            bring_up(&context, &queues, &Dependency::Secret(key_of(metadata)));
        }
        Heard::Gone(metadata) => {
            context.secrets.gone(metadata);
            bring_up(&context, &queues, &Dependency::Secret(key_of(metadata)));
        }
        Heard::Listed => {
            for name in context.secrets.listed(context.index.noted_secrets()) {
                bring_up(&context, &queues, &Dependency::Secret(name));
            }
            context.secrets_listed.send_replace(true);
        }
    }
}

fn bring_up(context: &Context, queues: &Queues, dependency: &Dependency) {
    context.resources.changed(dependency);
    for dependent in context.index.dependents(dependency) {
        match dependent {
            Dependent::Apply(key) => queue(queues, &key),
            Dependent::Workspace(name) => queue_workspace(queues, &name),
            Dependent::Network(key) => announce_to(&queues.networks, &key),
            Dependent::ControlPlane(key) => announce_to(&queues.control_planes, &key),
            Dependent::Cluster(key) => announce_to(&queues.clusters, &key),
            Dependent::Stack(key) => announce_to(&queues.stacks, &key),
            Dependent::StackBinding(key) => announce_to(&queues.stack_bindings, &key),
            Dependent::ResourceSet(key) => announce_to(&queues.resource_sets, &key),
        }
    }
}

fn queue(queues: &Queues, key: &ApplyKey) {
    // The receiver lives as long as the watches.
    let _ = queues.applies.unbounded_send(ObjectRef::new(&key.name).within(&key.namespace));
}

fn queue_workspace(queues: &Queues, name: &str) {
    // The receiver lives as long as the watches.
    let _ = queues.workspaces.unbounded_send(ObjectRef::new(name));
}

fn queue_all_clusters(context: &Arc<Context>, queues: &Queues) -> impl Fn() + Send + use<> {
    let (known, sets, queues) = (context.clusters.clone(), context.resource_sets.clone(), queues.clone());
    move || {
        for cluster in known.all() {
            announce_to(&queues.clusters, &key_of(&cluster.metadata));
        }
        for set in sets.all() {
            announce_to(&queues.resource_sets, &key_of(&set.metadata));
        }
    }
}

/// Announces an object of a namespace.
fn announce_to<K>(queue: &UnboundedSender<ObjectRef<Guarded<K>>>, key: &Name)
where
    K: Resource<DynamicType = ()> + Clone + 'static,
{
    // The receiver lives as long as the watches.
    let _ = queue.unbounded_send(ObjectRef::new(&key.name).within(&key.namespace));
}

fn apply_key(name: &Name) -> ApplyKey {
    ApplyKey { namespace: name.namespace.clone(), name: name.name.clone() }
}
