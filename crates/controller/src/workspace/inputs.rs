//! Puts together what goes into Terraform.
//!
//! Everything that is read is noted before, so that a change of it brings the Workspace up again. What comes from Secrets
//! and credentials is marked as sensitive, and no message repeats it.

mod arguments;
pub(super) mod objects;
mod permission;
mod terraform_workspace;

use std::sync::OnceLock;

use capt_api::Workspace;
use capt_api::crossplane::{FileFormat, ForProvider, ModuleSource, RemotePullPolicy, VariableFileSource};
use capt_api::flux::SourceAddress;
use capt_api::names::Reason;
use capt_core::apply::Blocked;
use capt_core::grant::{Target, TargetKind};
use capt_core::workspace::backend::StatePlace;
use capt_core::workspace::literals;
use capt_terraform::{
    Backend, EarlierState, EnvironmentVariable, Format, HiddenValue, Identity, Limits, Locking, Operation,
    PullPolicy, Run, Secret, Source, VariableFile,
};

use super::place::Place;
use super::provider_config::Keeping;
use super::{flux, provider_config};
use crate::context::Context;
use crate::index::{Dependent, Notes};
use crate::options::TerraformOptions;
use crate::stop::Stop;
use objects::{Objects, Value};
use permission::Permission;

/// What goes into Terraform, read and checked.
pub(super) struct Resolved {
    /// Plans; other operations are put in by the caller.
    pub(super) run: Run,
    /// Tells whether anything that decides what is made has changed.
    pub(super) fingerprint: String,
}

/// Reads what goes into Terraform on behalf of one Workspace.
pub(super) struct Resolving<'r> {
    pub(super) workspace: &'r Workspace,
    pub(super) place: &'r Place,
    pub(super) context: &'r Context,
    pub(super) options: &'r TerraformOptions,
    pub(super) notes: &'r Notes<'r, Dependent>,
    pub(super) kubeconfig: Secret,
    pub(super) provider_lock: Option<String>,
    /// Where the state is kept, as soon as that is known.
    pub(super) located: OnceLock<Keeping>,
}

impl Resolving<'_> {
    /// Reads everything. What is missing or wrong is told by the field that names it.
    pub(super) async fn resolve(&self) -> Result<Resolved, Stop> {
        let spec = &self.workspace.spec;
        let identity = Identity::try_from(self.place.workspace_uid.clone()).map_err(invalid)?;
        let arguments = arguments::arguments(&spec.for_provider)?;
        let mut objects = Objects::new(self.context, self.notes);
        let provider = provider_config::read(
            &spec.provider_config_ref.name,
            &spec.for_provider,
            &self.located,
            &mut objects,
        )
        .await?;
        let backend = self.backend(provider.backend);
        terraform_workspace::check(&self.place.terraform_workspace, &backend)?;
        let permission = Permission::of(self.place, self.context, self.notes);
        let run = Run {
            identity,
            workspace: self.place.terraform_workspace.clone(),
            operation: Operation::Plan,
            entrypoint: spec.for_provider.entrypoint.clone(),
            files: provider.files,
            variables: self.variables(&permission, &mut objects).await?,
            environment: self.environment(&permission, &mut objects).await?,
            arguments,
            backend,
            locking: Locking::default(),
            limits: Limits::default(),
            hidden: hidden(&spec.for_provider),
            provider_lock: self.provider_lock.clone(),
            plugin_cache: !provider.own_providers,
            earlier_state: EarlierState::default(),
            imports: Vec::new(),
            // Last, since it may have to be fetched.
            source: self.source(&permission).await?,
        };
        run.validate().map_err(invalid)?;
        let fingerprint =
            capt_terraform::fingerprint(&run, self.options.engine.version()).map_err(|error| {
                let message = format!("spec.forProvider.module: the module that Flux keeps was fetched, but cannot be read: {error}");
                Blocked::new(Reason::SourceNotReady, message)
            })?;
        Ok(Resolved { run, fingerprint })
    }

    /// A state is kept beside its owner, unless somebody says otherwise. One in Secrets of this cluster is reached as CAPT reaches
    /// its own: nothing that is declared has a token for it.
    fn backend(&self, keeping: Keeping) -> Backend {
        let kubernetes = |place: StatePlace, declared| Backend::Kubernetes {
            namespace: place.namespace,
            suffix: place.suffix,
            kubeconfig: self.kubeconfig.clone(),
            declared,
        };
        match keeping {
            Keeping::Declared(settings) => Backend::Declared { settings },
            Keeping::Here(place) => kubernetes(place, true),
            Keeping::Ours => kubernetes(StatePlace::ours(&self.place.namespace), false),
        }
    }

    async fn source(&self, permission: &Permission<'_>) -> Result<Source, Stop> {
        let ForProvider { module, source, inline_format, remote_pull_policy, .. } =
            &self.workspace.spec.for_provider;
        match source {
            ModuleSource::Inline => {
                let format = format(inline_format.unwrap_or_default());
                Ok(Source::Inline { format, content: Secret::from(module.as_str()) })
            }
            ModuleSource::Remote => {
                let pull = match remote_pull_policy.unwrap_or_default() {
                    RemotePullPolicy::Always => PullPolicy::Always,
                    RemotePullPolicy::IfNotPresent => PullPolicy::IfNotPresent,
                };
                Ok(Source::Remote { address: Secret::from(module.as_str()), pull })
            }
            ModuleSource::Flux => {
                const FIELD: &str = "spec.forProvider.module";
                let Some(address) = SourceAddress::parse(module) else {
                    let message = format!(
                        "{FIELD}: a module with `source: Flux` is written as Kind::namespace/name, for example GitRepository::flux-system/modules"
                    );
                    return Err(Blocked::new(Reason::InvalidRun, message).into());
                };
                let SourceAddress { kind, namespace, name } = &address;
                let target = Target::new(TargetKind::FluxSource(*kind), namespace, name);
                objects::check_name(FIELD, &target)?;
                permission.for_source(FIELD, target, module).await?;
                let path = flux::fetch(&address, self.context, self.notes, &self.options.artifacts).await?;
                Ok(Source::Archive { path })
            }
        }
    }

    /// Files in their order, then the map: of two that set the same variable, the later one counts.
    async fn variables(
        &self,
        permission: &Permission<'_>,
        objects: &mut Objects<'_>,
    ) -> Result<Vec<VariableFile>, Stop> {
        let for_provider = &self.workspace.spec.for_provider;
        let mut files = Vec::new();
        for (index, file) in for_provider.var_files.iter().enumerate() {
            let (kind, selector, reference) = match file.source {
                VariableFileSource::ConfigMapKey => {
                    (TargetKind::ConfigMap, "configMapKeyRef", &file.config_map_key_ref)
                }
                VariableFileSource::SecretKey => (TargetKind::Secret, "secretKeyRef", &file.secret_key_ref),
            };
            let field = format!("spec.forProvider.varFiles[{index}]");
            let Some(reference) = reference else {
                let message = format!(
                    "{field}: a file with `source: {kind}Key` needs {selector} with namespace, name and key"
                );
                return Err(Blocked::new(Reason::InvalidRun, message).into());
            };
            let field = format!("{field}.{selector}");
            permission.for_key(&field, kind, reference).await?;
            let Value { content, sensitive } = objects.value(&field, kind, reference).await?;
            files.push(VariableFile { format: format(file.format), sensitive, content });
        }
        if let Some(map) = for_provider.varmap.as_ref().filter(|map| !map.is_null()) {
            let content = Secret::from(map.to_string());
            files.push(VariableFile { format: Format::Json, sensitive: false, content });
        }
        Ok(files)
    }

    /// A reference counts only where no value is given.
    async fn environment(
        &self,
        permission: &Permission<'_>,
        objects: &mut Objects<'_>,
    ) -> Result<Vec<EnvironmentVariable>, Stop> {
        let mut variables = Vec::new();
        for (index, variable) in self.workspace.spec.for_provider.env.iter().enumerate() {
            let config_map = variable.config_map_key_ref.as_ref();
            let secret = variable.secret_key_ref.as_ref();
            let chosen = config_map
                .map(|reference| (TargetKind::ConfigMap, "configMapKeyRef", reference))
                .or_else(|| secret.map(|reference| (TargetKind::Secret, "secretKeyRef", reference)))
                .filter(|_| variable.value.is_empty());
            let Value { content, sensitive } = match chosen {
                Some((kind, selector, reference)) => {
                    let field = format!("spec.forProvider.env[{index}].{selector}");
                    permission.for_key(&field, kind, reference).await?;
                    objects.value(&field, kind, reference).await?
                }
                None => Value { content: Secret::from(variable.value.as_str()), sensitive: false },
            };
            variables.push(EnvironmentVariable { name: variable.name.clone(), sensitive, value: content });
        }
        Ok(variables)
    }
}

/// What the spec itself says and yet is not for everybody who sees a plan.
fn hidden(for_provider: &ForProvider) -> Vec<HiddenValue> {
    let values = literals::secrets(for_provider).into_iter();
    values.map(|value| HiddenValue { value: Secret::from(value) }).collect()
}

fn format(format: FileFormat) -> Format {
    match format {
        FileFormat::Hcl => Format::Hcl,
        FileFormat::Json => Format::Json,
    }
}

fn invalid(invalid: impl std::fmt::Display) -> Blocked {
    Blocked::new(Reason::InvalidRun, invalid.to_string())
}
