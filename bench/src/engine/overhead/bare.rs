//! The commands of the engine, by hand: the same flags and environment, and output to files.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use capt_terraform::Settings;
use serde_json::json;

use super::{VARIABLES, WORKSPACE};

/// One command.
pub(super) struct BareCommand {
    /// As the engine calls it, too.
    pub(super) name: &'static str,
    /// Whether it only turns into JSON what others did.
    pub(super) only_reads: bool,
    arguments: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
    exit: i32,
}

const PLAN: BareCommand = BareCommand {
    name: "plan",
    only_reads: false,
    arguments: &["-input=false", "-json", "-detailed-exitcode", "-lock=false"],
    files: &[("-out=", PLAN_FILE), ("-var-file=", VARIABLE_FILE)],
    exit: 2,
};

/// What makes everything that a module describes.
pub(super) const NEW: &[BareCommand] = &[
    BareCommand {
        name: "init",
        only_reads: false,
        arguments: &["-input=false", "-no-color", "-reconfigure"],
        files: &[],
        exit: 0,
    },
    PLAN,
    BareCommand { name: "show", only_reads: true, arguments: &["-json"], files: &[("", PLAN_FILE)], exit: 0 },
    BareCommand {
        name: "apply",
        only_reads: false,
        arguments: &["-input=false", "-json", "-lock-timeout=60s"],
        files: &[("", PLAN_FILE)],
        exit: 0,
    },
    BareCommand { name: "output", only_reads: true, arguments: &["-json", "-no-color"], files: &[], exit: 0 },
];

/// A plan where there is nothing to do.
pub(super) const UNCHANGED: BareCommand = BareCommand { exit: 0, ..PLAN };

const PLAN_FILE: &str = "plan.bin";
const VARIABLE_FILE: &str = "bench.tfvars.json";

/// A directory where everything is ready for the first command.
pub(super) struct Bare {
    program: PathBuf,
    directory: PathBuf,
    environment: BTreeMap<OsString, OsString>,
}

impl Bare {
    pub(super) fn prepare(settings: &Settings, directory: PathBuf, module: &str) -> anyhow::Result<Self> {
        for name in ["module", "home", "tmp", "data", "state"] {
            fs::create_dir_all(directory.join(name))?;
        }
        fs::write(directory.join("module/main.tf"), module)?;
        fs::write(directory.join("module/backend_override.tf.json"), backend(&directory))?;
        fs::write(directory.join(VARIABLE_FILE), VARIABLES)?;
        let environment = environment(settings, &directory);
        Ok(Self { program: settings.binary.clone(), directory, environment })
    }

    /// How long the command took.
    pub(super) fn run(&self, command: &BareCommand) -> anyhow::Result<Duration> {
        let BareCommand { name, arguments, files, exit, .. } = command;
        let files = files.iter().map(|(option, file)| {
            let mut argument = OsString::from(option);
            argument.push(self.directory.join(file));
            argument
        });
        let started = Instant::now();
        let status = Command::new(&self.program)
            .arg(name)
            .args(*arguments)
            .args(files)
            .current_dir(self.directory.join("module"))
            .env_clear()
            .envs(&self.environment)
            .stdin(Stdio::null())
            .stdout(File::create(self.directory.join(format!("{name}.out")))?)
            .stderr(File::create(self.directory.join(format!("{name}.err")))?)
            .status()
            .with_context(|| format!("starting {}", self.program.display()))?;
        let time = started.elapsed();
        let said = || fs::read_to_string(self.directory.join(format!("{name}.err"))).unwrap_or_default();
        anyhow::ensure!(
            status.code() == Some(*exit),
            "{name} ended with {status}, not with {exit}: {}",
            said()
        );
        Ok(time)
    }
}

/// Where the state is, in the words of Terraform.
fn backend(directory: &Path) -> String {
    let state = directory.join("state");
    let local = json!({ "path": state.join("terraform.tfstate"), "workspace_dir": state });
    json!({ "terraform": { "backend": { "local": local } } }).to_string()
}

fn environment(settings: &Settings, directory: &Path) -> BTreeMap<OsString, OsString> {
    let mut environment = settings.inherited.clone();
    let paths = [
        ("HOME", directory.join("home")),
        ("TMPDIR", directory.join("tmp")),
        ("TF_DATA_DIR", directory.join("data")),
        ("TF_CLI_CONFIG_FILE", PathBuf::from("/dev/null")),
    ];
    environment.extend(paths.map(|(name, path)| (name.into(), path.into())));
    let words = [
        ("TF_IN_AUTOMATION", "1"),
        ("TF_INPUT", "0"),
        ("CHECKPOINT_DISABLE", "1"),
        ("TF_WORKSPACE", WORKSPACE),
    ];
    environment.extend(words.map(|(name, word)| (name.into(), word.into())));
    environment
}
