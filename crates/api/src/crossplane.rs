//! Crossplane's Terraform kinds as CAPT writes and reads them, with CRDs that are compatible with Crossplane's own.

use std::collections::BTreeMap;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine_status::EngineStatus;

/// The spec of a Workspace: one root module of Terraform and how to run it.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "tf.upbound.io",
    version = "v1beta1",
    kind = "Workspace",
    status = "WorkspaceStatus",
    category = "crossplane",
    category = "managed",
    category = "terraform",
    doc = "A Workspace is one root module of Terraform with its own state.",
    printcolumn(
        name = "SYNCED",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Synced')].status"
    ),
    printcolumn(
        name = "READY",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].status"
    ),
    printcolumn(name = "AGE", type_ = "date", json_path = ".metadata.creationTimestamp"),
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceSpec {
    /// What happens to the infrastructure when the Workspace is deleted: `Delete` destroys it, `Orphan` leaves it alone.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
    /// The module and everything that goes into it.
    pub for_provider: ForProvider,
    /// What may be done with the infrastructure; `["*"]` means everything.
    #[serde(default = "every_action")]
    #[schemars(length(max = 8))]
    pub management_policies: Vec<ManagementAction>,
    /// The `ProviderConfig` that holds credentials and backend. None is needed where CAPT runs Terraform itself.
    #[serde(default)]
    pub provider_config_ref: ProviderConfigReference,
    /// The Secret that all outputs are written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_connection_secret_to_ref: Option<SecretReference>,
    /// Where older versions of Crossplane publish outputs to; CAPT passes it on and does not look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_object")]
    pub publish_connection_details_to: Option<Value>,
}

fn every_action() -> Vec<ManagementAction> {
    vec![ManagementAction::All]
}

/// What happens to the infrastructure when its Workspace is deleted.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeletionPolicy {
    /// Leave the infrastructure alone.
    Orphan,
    /// Destroy the infrastructure.
    #[default]
    Delete,
}

/// One thing that may be done with the infrastructure.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ManagementAction {
    /// Look at it.
    Observe,
    /// Create it.
    Create,
    /// Change it.
    Update,
    /// Destroy it.
    Delete,
    /// Fill empty fields of the spec from what is there.
    LateInitialize,
    /// All of these.
    #[serde(rename = "*")]
    All,
}

/// The module of a Workspace and everything that goes into it.
#[derive(KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self.module != ''").message("module is empty: write the module's source there, or its HCL with `source: Inline`"))]
#[x_kube(validation = Rule::new("!has(self.inlineFormat) || self.source == 'Inline'").message("inlineFormat is only for `source: Inline`: remove it, or set the source to Inline"))]
#[x_kube(validation = Rule::new("self.source != 'Flux' || self.module.matches('^(GitRepository|OCIRepository|Bucket)::[^/]+/[^/]+$')").message("a module with `source: Flux` is written as Kind::namespace/name, for example GitRepository::flux-system/modules"))]
pub struct ForProvider {
    /// The module: its HCL or JSON with `source: Inline`, an address that `terraform init -from-module` understands with
    /// `source: Remote`, or `GitRepository::namespace/name` with `source: Flux`.
    #[schemars(length(max = 1_200_000))]
    pub module: String,
    /// Where the module comes from.
    pub source: ModuleSource,
    /// The language of an inline module; HCL if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inline_format: Option<FileFormat>,
    /// The directory inside the module to run in.
    #[serde(default)]
    #[schemars(length(max = 1024))]
    pub entrypoint: String,
    /// Environment variables of the Terraform process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256))]
    pub env: Vec<EnvironmentVariable>,
    /// Values of Terraform variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024))]
    pub vars: Vec<Variable>,
    /// Values of Terraform variables as a JSON object: lists and maps go here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "free_object")]
    pub varmap: Option<Value>,
    /// Files with values of Terraform variables, from `ConfigMap`s and Secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub var_files: Vec<VariableFile>,
    /// More arguments of `terraform init`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub init_args: Vec<String>,
    /// More arguments of `terraform plan`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub plan_args: Vec<String>,
    /// More arguments of `terraform apply`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub apply_args: Vec<String>,
    /// More arguments of `terraform destroy`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub destroy_args: Vec<String>,
    /// Write what Terraform prints into the manager's log.
    #[serde(rename = "enableTerraformCLILogging", default, skip_serializing_if = "std::ops::Not::not")]
    pub enable_terraform_cli_logging: bool,
    /// When a remote module is downloaded again; `Always` if nothing is said. (No default is filled in: older versions of
    /// Crossplane's provider do not know the field.)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_pull_policy: Option<RemotePullPolicy>,
}

/// Where a module comes from.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModuleSource {
    /// From an address that Terraform downloads.
    Remote,
    /// From the manifest itself.
    Inline,
    /// From a Flux source in the same cluster.
    Flux,
}

/// The language of a module or of a file with variables.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileFormat {
    /// Terraform's own language.
    #[default]
    #[serde(rename = "HCL")]
    Hcl,
    /// JSON.
    #[serde(rename = "JSON")]
    Json,
}

/// When a remote module is downloaded again.
#[derive(JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RemotePullPolicy {
    /// On every run.
    #[default]
    Always,
    /// Only when it is not there, or its address has changed.
    IfNotPresent,
}

/// An environment variable, given here or taken from a `ConfigMap` or Secret.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self.name != '' && !self.name.contains('=')").message("name must be the name of an environment variable, for example AWS_PROFILE"))]
pub struct EnvironmentVariable {
    /// The variable's name.
    #[schemars(length(max = 1024))]
    pub name: String,
    /// The value itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// A key of a `ConfigMap` that holds the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map_key_ref: Option<KeyReference>,
    /// A key of a Secret that holds the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_key_ref: Option<KeyReference>,
}

/// The value of one Terraform variable.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("self.key != ''").message("key is empty: write the name of a Terraform variable"))]
pub struct Variable {
    /// The variable's name.
    #[schemars(length(max = 1024))]
    pub key: String,
    /// Its value, as it would be written after `-var name=`.
    pub value: String,
}

/// A file with values of Terraform variables.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self.source != 'SecretKey' || has(self.secretKeyRef)").message("a file with `source: SecretKey` needs secretKeyRef with namespace, name and key"))]
#[x_kube(validation = Rule::new("self.source != 'ConfigMapKey' || has(self.configMapKeyRef)").message("a file with `source: ConfigMapKey` needs configMapKeyRef with namespace, name and key"))]
pub struct VariableFile {
    /// Where the file comes from.
    pub source: VariableFileSource,
    /// The file's language.
    #[serde(default)]
    pub format: FileFormat,
    /// The key of a `ConfigMap` that holds the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map_key_ref: Option<KeyReference>,
    /// The key of a Secret that holds the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_key_ref: Option<KeyReference>,
}

/// Where a file with variables comes from.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VariableFileSource {
    /// From a `ConfigMap`.
    ConfigMapKey,
    /// From a Secret.
    SecretKey,
}

/// A key of a `ConfigMap` or Secret.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("self.namespace != '' && self.name != '' && self.key != ''").message("namespace, name and key must not be empty: write the object's namespace and name, and the key that holds the value"))]
pub struct KeyReference {
    /// The namespace of the object.
    #[schemars(length(max = 63))]
    pub namespace: String,
    /// The name of the object.
    #[schemars(length(max = 253))]
    pub name: String,
    /// The key in it.
    #[schemars(length(max = 253))]
    pub key: String,
}

/// A Secret of any namespace.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("self.namespace != '' && self.name != ''").message("namespace and name must not be empty: write where the outputs go"))]
pub struct SecretReference {
    /// The Secret's name.
    #[schemars(length(max = 253))]
    pub name: String,
    /// The Secret's namespace.
    #[schemars(length(max = 253))]
    pub namespace: String,
}

/// The `ProviderConfig` that a Workspace uses.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("self.name != ''").message("name is empty: write the name of a ProviderConfig, or leave providerConfigRef out for the one called default"))]
pub struct ProviderConfigReference {
    /// The name of the `ProviderConfig`.
    #[schemars(length(max = 253))]
    pub name: String,
    /// How the reference is resolved; only Crossplane looks at this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<ReferencePolicy>,
}

impl Default for ProviderConfigReference {
    fn default() -> Self {
        Self { name: "default".into(), policy: None }
    }
}

/// How Crossplane resolves a reference.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReferencePolicy {
    /// Whether an unresolved reference is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "Required"))]
    pub resolution: Option<ReferenceResolution>,
    /// When the reference is resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolve: Option<ReferenceResolve>,
}

/// Whether an unresolved reference is an error.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReferenceResolution {
    /// It is.
    Required,
    /// It is not.
    Optional,
}

/// When a reference is resolved.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReferenceResolve {
    /// On every reconcile.
    Always,
    /// Once.
    IfNotPresent,
}

/// What is known of a Workspace.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceStatus {
    /// What Terraform reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_provider: Option<WorkspaceObservation>,
    /// Crossplane's conditions, Ready and Synced among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<WorkspaceCondition>,
    /// The generation that the conditions speak of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The last value of the `crossplane.io/reconcile-requested-at` annotation that was acted on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
    /// What CAPT's own engine does and did. Crossplane does not know this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineStatus>,
}

/// What Terraform reported.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceObservation {
    /// Checksum of the working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
    /// Outputs that are not sensitive, as JSON.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "free_object")]
    pub outputs: BTreeMap<String, Value>,
    /// The address of the remote module that was downloaded last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote_source: Option<String>,
}

/// A condition of a Workspace. Crossplane writes fewer fields than Kubernetes' own conditions have.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceCondition {
    /// The kind of condition.
    #[serde(rename = "type")]
    pub type_: String,
    /// True, False or Unknown.
    pub status: String,
    /// One word: why.
    pub reason: String,
    /// When the status changed last.
    #[schemars(extend("format" = "date-time"))]
    pub last_transition_time: String,
    /// A sentence: why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The generation that the condition speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// Credentials, provider configuration and backend of Workspaces.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "tf.upbound.io",
    version = "v1beta1",
    kind = "ProviderConfig",
    status = "ProviderConfigStatus",
    category = "crossplane",
    category = "provider",
    category = "terraform",
    doc = "A ProviderConfig holds the credentials, provider configuration and backend that Workspaces share.",
    printcolumn(name = "AGE", type_ = "date", json_path = ".metadata.creationTimestamp"),
    derive = "PartialEq"
)]
#[serde(rename_all = "camelCase")]
pub struct ProviderConfigSpec {
    /// Files with credentials that are put beside the module.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub credentials: Vec<ProviderCredentials>,
    /// HCL that is put beside the module, `provider` and `backend` blocks for example.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// The content of a backend configuration file, given to `terraform init`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_file: Option<String>,
    /// Whether provider plugins are shared between Workspaces.
    #[serde(default = "yes")]
    pub plugin_cache: bool,
}

fn yes() -> bool {
    true
}

/// One file with credentials.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self.source != 'Secret' || has(self.secretRef)").message("credentials with `source: Secret` need secretRef with namespace, name and key"))]
#[x_kube(validation = Rule::new("self.source != 'Environment' || has(self.env)").message("credentials with `source: Environment` need env with the name of a variable of the manager"))]
#[x_kube(validation = Rule::new("self.source != 'Filesystem' || has(self.fs)").message("credentials with `source: Filesystem` need fs with the path of a file of the manager"))]
#[x_kube(validation = Rule::new("!(self.filename in ['', '.', '..']) && !self.filename.contains('/')").message("filename must be a plain file name, for example aws-creds.ini"))]
pub struct ProviderCredentials {
    /// The file's name beside the module.
    #[schemars(length(max = 255))]
    pub filename: String,
    /// Where the content comes from.
    pub source: CredentialsSource,
    /// The Secret's key that holds the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<KeyReference>,
    /// The environment variable of the manager that holds the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<EnvironmentSource>,
    /// The file of the manager that holds the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs: Option<FileSource>,
}

/// Where credentials come from.
#[derive(JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CredentialsSource {
    /// From nowhere.
    None,
    /// From a Secret.
    Secret,
    /// From the identity of the manager.
    InjectedIdentity,
    /// From an environment variable.
    Environment,
    /// From a file.
    Filesystem,
}

/// An environment variable of the manager.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentSource {
    /// Its name.
    pub name: String,
}

/// A file of the manager.
#[derive(JsonSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSource {
    /// Its path.
    pub path: String,
}

/// What is known of a `ProviderConfig`.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderConfigStatus {
    /// Crossplane's conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<WorkspaceCondition>,
    /// How many Workspaces use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<i64>,
}

/// A JSON object whose fields the API server keeps as they are.
pub(crate) fn free_object(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}
