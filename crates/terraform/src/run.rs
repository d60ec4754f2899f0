//! All that a run needs, as one value that can be written down and carried elsewhere.

mod validate;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::imports::Import;
use crate::plan::PlanHash;
use crate::secret::{Secret, in_clear};

pub use validate::InvalidRun;

/// One piece of work for an engine. Serialising it writes its secrets in clear.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// Whose working directory this is.
    pub identity: Identity,
    /// The Terraform workspace; `default` where the backend knows no others.
    pub workspace: String,
    /// What to do.
    pub operation: Operation,
    /// Where the module comes from.
    pub source: Source,
    /// The directory of the module to run in, relative to its root; empty for the root.
    #[serde(default)]
    pub entrypoint: String,
    /// Files beside the module or in the home directory: credentials, provider configuration.
    #[serde(default)]
    pub files: Vec<ExtraFile>,
    /// Files with variables; of two that set the same variable, the later one counts.
    #[serde(default)]
    pub variables: Vec<VariableFile>,
    /// Environment variables.
    #[serde(default)]
    pub environment: Vec<EnvironmentVariable>,
    /// Arguments of the user's own.
    #[serde(default)]
    pub arguments: Arguments,
    /// Where the state is kept.
    pub backend: Backend,
    /// How the state is locked while it changes.
    #[serde(default)]
    pub locking: Locking,
    /// How long things may take.
    #[serde(default)]
    pub limits: Limits,
    /// More values that nothing printed may contain.
    #[serde(default)]
    pub hidden: Vec<HiddenValue>,
    /// A lock file of the providers, for a working directory that has none of its own.
    #[serde(default)]
    pub provider_lock: Option<String>,
    /// Whether providers are shared with other runs, where the engine has a place for them.
    #[serde(default = "yes")]
    pub plugin_cache: bool,
    /// Where the state of earlier runs is, for a run that must not begin another one elsewhere.
    #[serde(default)]
    pub earlier_state: EarlierState,
    /// Objects that a plan takes into the state, besides those that the module imports itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<Import>,
}

fn yes() -> bool {
    true
}

impl Run {
    /// The same run with another operation.
    #[must_use]
    pub fn with(&self, operation: Operation) -> Self {
        Self { operation, ..self.clone() }
    }
}

/// Names a working directory: the uid of the object that the run is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Identity(String);

impl Identity {
    /// The name of the directory.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Everyone who has a working directory there.
    pub(crate) fn all_below(root: &Path) -> io::Result<Vec<Self>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(root)? {
            let entry = entry?;
            let identity = entry.file_name().into_string().ok().and_then(|name| Self::try_from(name).ok());
            found.extend(identity.filter(|_| entry.file_type().is_ok_and(|kind| kind.is_dir())));
        }
        Ok(found)
    }
}

impl TryFrom<String> for Identity {
    type Error = InvalidRun;

    fn try_from(uid: String) -> Result<Self, InvalidRun> {
        let legal = uid.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if legal && (1..=128).contains(&uid.len()) {
            Ok(Self(uid))
        } else {
            Err(InvalidRun::Identity { identity: uid })
        }
    }
}

impl From<Identity> for String {
    fn from(identity: Identity) -> Self {
        identity.0
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What a run does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Operation {
    /// Finds out what would change, and saves it to be applied.
    Plan,
    /// Finds out what a destroy would do, and saves it to be applied.
    PlanDestroy,
    /// Applies the plan saved last, provided that it is this one.
    Apply {
        /// The hash of the plan that was seen.
        plan: PlanHash,
    },
    /// Reads the outputs.
    Outputs,
    /// Releases a lock whose holder is known to be gone.
    ForceUnlock {
        /// The identifier of the lock.
        id: String,
    },
}

/// Where a module comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    /// One file, written out in the object itself.
    Inline {
        /// HCL or JSON.
        format: Format,
        /// The content of the file.
        #[serde(with = "in_clear")]
        content: Secret,
    },
    /// An address in the words of Terraform's module installer.
    Remote {
        /// For example `git::https://example.org/network.git//vpc?ref=v1`. Hidden, because it may hold a password.
        #[serde(with = "in_clear")]
        address: Secret,
        /// When to fetch it again.
        pull: PullPolicy,
    },
    /// A directory that somebody unpacked.
    Directory {
        /// The root of the module.
        path: PathBuf,
    },
    /// A gzip-compressed tar archive.
    Archive {
        /// The file.
        path: PathBuf,
    },
}

/// When a remote module is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PullPolicy {
    /// Before every plan.
    Always,
    /// When it is not there yet, or its address changed.
    IfNotPresent,
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// Terraform's own language.
    Hcl,
    /// JSON.
    Json,
}

/// A file that is there while the run lasts, readable by its owner alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtraFile {
    /// Its name, without any directory.
    pub name: String,
    /// Where it goes.
    pub place: Place,
    /// Whether its values may not be printed anywhere.
    pub sensitive: bool,
    /// What is in it.
    #[serde(with = "in_clear")]
    pub content: Secret,
}

/// Where an [`ExtraFile`] goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// Into the directory that Terraform runs in. A name that ends in `.tf` or `.tf.json` is configuration.
    Module,
    /// Into the home directory: `.git-credentials`, `.terraformrc` and `.netrc` are understood there.
    Home,
}

/// A file with values of variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariableFile {
    /// How it is written.
    pub format: Format,
    /// Whether its values may not be printed anywhere.
    pub sensitive: bool,
    /// What is in it.
    #[serde(with = "in_clear")]
    pub content: Secret,
}

/// An environment variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentVariable {
    /// Its name.
    pub name: String,
    /// Whether its value may not be printed anywhere.
    pub sensitive: bool,
    /// Its value.
    #[serde(with = "in_clear")]
    pub value: Secret,
}

/// A value that nothing printed may contain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HiddenValue {
    /// The value.
    #[serde(with = "in_clear")]
    pub value: Secret,
}

/// Arguments of the user's own. They reach Terraform through its environment, not its command line.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Arguments {
    /// For `init`.
    pub init: Vec<String>,
    /// For `plan`.
    pub plan: Vec<String>,
    /// For `apply`; those that say what to plan (`-target`, `-var`, …) go to `plan`.
    pub apply: Vec<String>,
    /// For a destroy, divided in the same way.
    pub destroy: Vec<String>,
}

impl fmt::Debug for Arguments {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A `-var` may carry a value.
        formatter.write_str("Arguments(hidden)")
    }
}

/// Where the state is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Backend {
    /// Secrets and Leases of a Kubernetes namespace. A module that declares a backend of its own keeps that one, except
    /// `local`, whose file would be lost; see [`Plan::elsewhere`](crate::Plan::elsewhere).
    Kubernetes {
        /// The namespace.
        namespace: String,
        /// The end of the Secret's name.
        suffix: String,
        /// A kubeconfig that reaches those Secrets and Leases.
        #[serde(with = "in_clear")]
        kubeconfig: Secret,
        /// Whether somebody declares this very backend: such a declaration says nothing new.
        #[serde(default)]
        declared: bool,
    },
    /// A file in the working directory. Wins over any backend that the module declares.
    Local,
    /// What the module or an extra file declares.
    Declared {
        /// The settings that the declaration leaves open; may be empty.
        #[serde(with = "in_clear")]
        settings: Secret,
    },
}

/// Where the state of earlier runs is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EarlierState {
    /// Nobody asks: the module has the say.
    #[default]
    Anywhere,
    /// In the backend of the run. A module that declares one of its own is refused.
    AsGiven,
    /// In the backend of this kind. A module that does not declare it is refused.
    Declared(String),
}

/// How the state is locked while it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Locking {
    /// Waits so long for a lock that somebody else holds.
    Wait(Duration),
    /// Takes no lock: for a caller that holds one of its own.
    None,
}

impl Default for Locking {
    fn default() -> Self {
        Self::Wait(Duration::from_secs(60))
    }
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Limits {
    /// One command that changes nothing: init, plan, show, output.
    pub plan: Duration,
    /// An apply is asked to stop after this; it is never killed. `None` lets it take its time.
    pub apply: Option<Duration>,
    /// How long a command that changes nothing has to stop when asked, before it is killed.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { plan: Duration::from_secs(1800), apply: None, grace: Duration::from_secs(30) }
    }
}
