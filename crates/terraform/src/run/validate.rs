//! What is refused before anything is written or started.

use std::path::{Component, Path};

use super::{Backend, EarlierState, Run, Source};

/// A run that cannot be done as it is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRun {
    /// The name of the working directory.
    #[error("the identity `{identity}` is not a uid: letters, digits, `-` and `_` only")]
    Identity {
        /// What was given.
        identity: String,
    },
    /// The entrypoint.
    #[error(
        "the entrypoint `{entrypoint}` leaves the module: write a path below the module's root, without `..`"
    )]
    Entrypoint {
        /// What was given.
        entrypoint: String,
    },
    /// The entrypoint is not there.
    #[error("the entrypoint `{entrypoint}` is not a directory of the module")]
    EntrypointMissing {
        /// What was given.
        entrypoint: String,
    },
    /// The name of an extra file.
    #[error(
        "the file name `{name}` is not allowed: write a plain name, without a directory and not one of CAPT's own"
    )]
    FileName {
        /// What was given.
        name: String,
    },
    /// The name of an environment variable.
    #[error("the environment variable `{name}` cannot be set: {why}")]
    EnvironmentName {
        /// What was given.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The name of the Terraform workspace.
    #[error(
        "the Terraform workspace name `{workspace}` is not allowed: letters, digits, `-`, `_` and `.` only"
    )]
    Workspace {
        /// What was given.
        workspace: String,
    },
    /// The place of the state.
    #[error("the backend's {field} `{value}` is not a Kubernetes name")]
    Backend {
        /// Which part.
        field: &'static str,
        /// What was given.
        value: String,
    },
    /// An argument that would change how CAPT reads the result.
    #[error("the argument `{argument}` cannot be given: CAPT sets it itself")]
    Argument {
        /// The argument's name.
        argument: String,
    },
    /// The address of the module.
    #[error(
        "the module's address holds a key (`sshkey=`): give the key as the file `ssh-privatekey` in the credentials instead"
    )]
    KeyInAddress,
    /// The state would be begun a second time, elsewhere.
    #[error(
        "the module keeps its state by {now}, and so far it is kept by {before}: what it would do can be told once the state is there"
    )]
    OtherBackend {
        /// Where it was so far.
        before: String,
        /// Where it would be.
        now: String,
    },
    /// Text where only text is possible.
    #[error("{what} is not text, or holds a zero byte")]
    NotText {
        /// Which part.
        what: &'static str,
    },
}

/// Environment variables that steer the engine itself.
const OWN: [&str; 8] = [
    "HOME",
    "TMPDIR",
    "TF_DATA_DIR",
    "TF_WORKSPACE",
    "TF_IN_AUTOMATION",
    "TF_INPUT",
    "TF_CLI_CONFIG_FILE",
    "CHECKPOINT_DISABLE",
];

/// Arguments that would send results elsewhere.
const OWN_ARGUMENTS: [&str; 9] = [
    "-json",
    "-json-into",
    "-out",
    "-input",
    "-detailed-exitcode",
    "-chdir",
    "-state",
    "-state-out",
    "-help",
];

impl Run {
    /// Refuses a module that looks for the state elsewhere than it is; `declared` is the kind of backend that it declares.
    pub(crate) fn check_backend(&self, declared: Option<&str>) -> Result<(), InvalidRun> {
        let before = match &self.earlier_state {
            EarlierState::Anywhere => return Ok(()),
            EarlierState::AsGiven => None,
            EarlierState::Declared(kind) => Some(kind.as_str()),
        };
        let word = |kind: Option<&str>| {
            kind.map_or_else(
                || "the backend that CAPT gives it".to_owned(),
                |kind| format!("the backend `{kind}`"),
            )
        };
        if before == declared {
            return Ok(());
        }
        Err(InvalidRun::OtherBackend { before: word(before), now: word(declared) })
    }

    /// Refuses what could leave the working directory or change what the engine relies on.
    pub fn validate(&self) -> Result<(), InvalidRun> {
        let plain =
            |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if self.workspace.is_empty() || self.workspace.len() > 253 || !plain(&self.workspace) {
            return Err(InvalidRun::Workspace { workspace: self.workspace.clone() });
        }
        if !Path::new(&self.entrypoint)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
        {
            return Err(InvalidRun::Entrypoint { entrypoint: self.entrypoint.clone() });
        }
        self.files.iter().try_for_each(|file| file_name(&file.name))?;
        self.environment.iter().try_for_each(|variable| environment_name(&variable.name))?;
        let arguments = &self.arguments;
        [&arguments.init, &arguments.plan, &arguments.apply, &arguments.destroy]
            .into_iter()
            .flatten()
            .try_for_each(|argument| own_argument(argument))?;
        if let Source::Remote { address, pull: _ } = &self.source {
            let address = std::str::from_utf8(address.expose())
                .map_err(|_| InvalidRun::NotText { what: "the module's address" })?;
            if address.contains("sshkey=") {
                return Err(InvalidRun::KeyInAddress);
            }
        }
        if self.environment.iter().any(|variable| variable.value.expose().contains(&0)) {
            return Err(InvalidRun::NotText { what: "an environment variable" });
        }
        match &self.backend {
            Backend::Kubernetes { namespace, suffix, kubeconfig: _, declared: _ } => {
                kubernetes_name("namespace", namespace)?;
                kubernetes_name("suffix", suffix)
            }
            Backend::Local | Backend::Declared { settings: _ } => Ok(()),
        }
    }
}

fn file_name(name: &str) -> Result<(), InvalidRun> {
    let mut parts = Path::new(name).components();
    let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    if !plain
        || name.contains(['/', '\0'])
        || name.starts_with("zz_capt_")
        || name.ends_with("errored.tfstate")
    {
        return Err(InvalidRun::FileName { name: name.to_owned() });
    }
    Ok(())
}

fn environment_name(name: &str) -> Result<(), InvalidRun> {
    let refused = |why| Err(InvalidRun::EnvironmentName { name: name.to_owned(), why });
    if name.is_empty() || name.contains(['=', '\0']) {
        return refused("it is not a name");
    }
    if OWN.contains(&name) || name.starts_with("TF_CLI_ARGS") {
        return refused("CAPT sets it itself");
    }
    Ok(())
}

fn own_argument(argument: &str) -> Result<(), InvalidRun> {
    let name = argument.split('=').next().unwrap_or_default();
    let name = if name.starts_with("--") { &name[1..] } else { name };
    if OWN_ARGUMENTS.contains(&name) {
        return Err(InvalidRun::Argument { argument: name.to_owned() });
    }
    Ok(())
}

fn kubernetes_name(field: &'static str, value: &str) -> Result<(), InvalidRun> {
    let legal =
        value.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte));
    if value.is_empty() || value.len() > 253 || !legal {
        return Err(InvalidRun::Backend { field, value: value.to_owned() });
    }
    Ok(())
}
