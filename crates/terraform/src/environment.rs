//! The environment of a command: nothing of ours, its own home, and the user's variables.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::engine::Verb;
use crate::process::Settings;
use crate::run::Run;
use crate::workdir::{KNOWN_HOSTS, SSH_KEY, Workdir};

/// Names the Terraform workspace.
pub(crate) const WORKSPACE: &str = "TF_WORKSPACE";

/// Name and value of each variable that the command sees.
pub(crate) type Environment = BTreeMap<OsString, OsString>;

/// Everything for one command. What we set ourselves wins.
pub(crate) fn environment(settings: &Settings, run: &Run, workdir: &Workdir, verb: Verb) -> Environment {
    let mut variables: Environment = settings.inherited.clone();
    for variable in &run.environment {
        variables.insert(variable.name.clone().into(), OsStr::from_bytes(variable.value.expose()).to_owned());
    }
    let home = workdir.home();
    let mut set = |name: &str, value: &OsStr| {
        variables.insert(name.into(), value.to_owned());
    };
    set("HOME", home.as_os_str());
    set("TMPDIR", workdir.temporary().as_os_str());
    set("TF_DATA_DIR", if verb == Verb::Fetch { workdir.fetch_data() } else { workdir.data() }.as_os_str());
    // Never one of the machine's own.
    let configuration = home.join(".terraformrc");
    let configuration = if configuration.exists() { configuration } else { "/dev/null".into() };
    set("TF_CLI_CONFIG_FILE", configuration.as_os_str());
    for (name, value) in [("TF_IN_AUTOMATION", "1"), ("TF_INPUT", "0"), ("CHECKPOINT_DISABLE", "1")] {
        set(name, OsStr::new(value));
    }
    set("GIT_CONFIG_NOSYSTEM", OsStr::new("1"));
    set("GIT_CONFIG_GLOBAL", home.join(".gitconfig").as_os_str());
    set("GIT_TERMINAL_PROMPT", OsStr::new("0"));
    set("GIT_SSH_COMMAND", OsStr::new(&ssh_command(workdir)));
    // Selects the workspace without a command of its own; plan makes it. A backend may know no other than `default`.
    if run.workspace != "default" && verb != Verb::Fetch {
        set(WORKSPACE, OsStr::new(&run.workspace));
    }
    if let (Some(cache), Verb::Init | Verb::Fetch) =
        (settings.plugin_cache.as_ref().filter(|_| run.plugin_cache), verb)
    {
        set("TF_PLUGIN_CACHE_DIR", cache.as_os_str());
    }
    variables
}

/// Asks nothing, and uses the user's key where there is one.
fn ssh_command(workdir: &Workdir) -> String {
    let (key, hosts) = (workdir.home().join(SSH_KEY), workdir.home().join(KNOWN_HOSTS));
    let identity = if key.exists() {
        format!(" -oIdentitiesOnly=yes -i {}", shell_quoted(&key.to_string_lossy()))
    } else {
        String::new()
    };
    let checking = if hosts.exists() { "yes" } else { "accept-new" };
    let hosts = shell_quoted(&hosts.to_string_lossy());
    format!("ssh -oBatchMode=yes{identity} -oStrictHostKeyChecking={checking} -oUserKnownHostsFile={hosts}")
}

/// The arguments as one text that is split as a shell would.
pub(crate) fn joined(arguments: &[String]) -> OsString {
    arguments.iter().map(|argument| shell_quoted(argument)).collect::<Vec<_>>().join(" ").into()
}

fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
