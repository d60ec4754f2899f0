//! Where commands are run: a home, a copy of the checkout, and the programs that a reader has.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use capt_testkit::home::{signal, wait};
use capt_testkit::{kubectl, terraform};
use rustix::process::Signal;
use tempfile::TempDir;

use super::block::Block;
use super::{FIRST, root};

const CAPT: &str = env!("CARGO_BIN_EXE_capt");

/// What commands of the pages refer to.
const COPIED: [&str; 3] = ["config", "docs", "examples"];

/// How long a first cluster may take on a busy machine.
const CLUSTER_WITHIN: Duration = Duration::from_secs(180);
const ENDS_WITHIN: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

/// A home in which `capt demo` runs.
pub(super) struct Site {
    directory: TempDir,
    demo: Child,
}

impl Site {
    pub(super) fn open() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name);
        for name in ["bin", "checkout", "home"] {
            fs::create_dir(place(name)).unwrap();
        }
        for name in COPIED {
            copy(&root().join(name), &place("checkout").join(name));
        }
        symlink(CAPT, place("bin/capt")).unwrap();
        symlink(kubectl::obtain().unwrap(), place("bin/kubectl")).unwrap();
        terraform::binary();
        let mut demo = reader(directory.path(), CAPT);
        demo.arg("demo").stdin(Stdio::null());
        demo.stdout(File::create(place("demo.out")).unwrap())
            .stderr(File::create(place("demo.err")).unwrap());
        let mut site = Self { demo: demo.spawn().unwrap(), directory };
        site.await_cluster();
        site
    }

    fn await_cluster(&mut self) {
        let read = |name: &str| fs::read_to_string(self.directory.path().join(name)).unwrap_or_default();
        let deadline = Instant::now() + CLUSTER_WITHIN;
        loop {
            let said = read("demo.out") + &read("demo.err");
            if said.contains("The cluster is there") {
                return;
            }
            let ended = self.demo.try_wait().unwrap();
            assert!(
                ended.is_none() && Instant::now() < deadline,
                "capt demo made no cluster ({ended:?}):\n{said}"
            );
            thread::sleep(PAUSE);
        }
    }

    /// Runs the blocks of a page in their order, in one shell. After the first pages, which say how, `kubectl` finds the management
    /// cluster.
    pub(super) fn run(&self, page: &str, blocks: &[&Block]) {
        let home = self.directory.path().join("home");
        if !FIRST.contains(&page) {
            fs::create_dir_all(home.join(".kube")).unwrap();
            fs::copy(home.join(".local/share/capt/kubeconfig"), home.join(".kube/config")).unwrap();
        }
        let announced = |block: &&Block| format!("echo '==> {page}:{}' >&2\n{}", block.line, block.text);
        let script: String = blocks.iter().map(announced).collect();
        let output = reader(self.directory.path(), "bash")
            .args(["-euo", "pipefail", "-c", &script])
            .current_dir(self.directory.path().join("checkout"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", told(&output));
        let checkout = self.directory.path().join("checkout");
        for name in COPIED {
            assert_unchanged(page, &root().join(name), &checkout.join(name));
        }
        assert_no_overwriting(page, &checkout);
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // Its clusters end with it, in order.
        let _ = signal(&self.demo, Signal::TERM);
        if wait(&mut self.demo, ENDS_WITHIN).is_err() {
            let _ = self.demo.kill();
            let _ = self.demo.wait();
        }
    }
}

/// A program as a reader starts it, with a home that nobody else uses. What was fetched or built once is not again.
fn reader(directory: &Path, program: &str) -> Command {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")));
    let path = env::var("PATH").unwrap_or_default();
    let mut command = Command::new(program);
    for variable in crate::VARIABLES {
        command.env_remove(variable);
    }
    command
        .env("HOME", directory.join("home"))
        .env("PATH", format!("{}:{path}", directory.join("bin").display()))
        .env("NO_COLOR", "1");
    if let Some(cache) = cache {
        command.env("XDG_CACHE_HOME", cache);
    }
    command
}

fn told(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}{}", output.status, text(&output.stdout), text(&output.stderr))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// No command of a page writes to what the checkout has.
fn assert_unchanged(page: &str, original: &Path, copied: &Path) {
    for entry in fs::read_dir(original).unwrap() {
        let path = entry.unwrap().path();
        let copied = copied.join(path.file_name().unwrap());
        if path.is_dir() {
            assert_unchanged(page, &path, &copied);
        } else {
            let same = fs::read(&path).unwrap() == fs::read(&copied).unwrap_or_default();
            assert!(same, "{page} changes {}", path.display());
        }
    }
}

/// No command of a page writes a file that would be one of its own directory, if it were typed there.
fn assert_no_overwriting(page: &str, directory: &Path) {
    let beside = root().join(page);
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let own = beside.with_file_name(entry.file_name());
        let is_new = !entry.path().is_dir() && !entry.path().is_symlink();
        assert!(!is_new || !own.exists(), "{page} writes {}, which is there already", own.display());
    }
}

/// A stage on which nothing happens: real programs explain what they would do, and stand-ins nod.
pub(super) struct Rehearsal {
    directory: TempDir,
}

/// What stands for a name of the reader's own.
const PLACEHOLDERS: [&str; 2] = ["NAMESPACE", "NAME"];

/// Programs that a page may use besides those that are asked.
const OTHERS: [&str; 13] = [
    "apt-get",
    "base64",
    "buildah",
    "clusterctl",
    "cosign",
    "date",
    "flux",
    "helm",
    "jq",
    "ln",
    "rustup",
    "sha256sum",
    "tee",
];

impl Rehearsal {
    pub(super) fn open() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let kubectl = kubectl::obtain().unwrap();
        let asked = |program: &str| {
            format!(
                "for argument; do case \"$argument\" in charts/*|config/*|examples/*)\n\
                 test -e \"$argument\" || {{ echo \"$argument is not there\" >&2; exit 1; }} ;; esac; done\n\
                 exec '{program}' \"$@\" --help >/dev/null\n"
            )
        };
        fs::create_dir(directory.path().join("checkout")).unwrap();
        for name in ["charts", "config", "examples"] {
            let original = root().join(name).canonicalize().unwrap();
            symlink(original, directory.path().join("checkout").join(name)).unwrap();
        }
        let xtask = root().join("xtask/src").canonicalize().unwrap();
        let cargo = format!(
            "case \"$1 $2\" in\n'run --') shift 2; exec '{CAPT}' \"$@\" --help >/dev/null ;;\nxtask*) test -f '{}'/\"$2\".rs ;;\n'test --workspace') ;;\n*) exit 2 ;;\nesac\n",
            xtask.display()
        );
        let programs =
            [("capt", asked(CAPT)), ("kubectl", asked(&kubectl.display().to_string())), ("cargo", cargo)];
        let others = OTHERS.map(|name| (name, String::new()));
        for (name, text) in programs.into_iter().chain(others) {
            let path = directory.path().join("bin").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, format!("#!/bin/sh\n{text}")).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        }
        Self { directory }
    }

    pub(super) fn output(&self, block: &Block) -> Output {
        let text = PLACEHOLDERS.iter().fold(block.text.clone(), |text, name| text.replace(name, "name"));
        let mut command = Command::new("/bin/bash");
        command
            .args(["-euo", "pipefail", "-c", &text])
            .current_dir(self.directory.path().join("checkout"))
            .stdin(Stdio::null());
        command.env("HOME", self.directory.path()).env("PATH", self.directory.path().join("bin"));
        command.output().unwrap()
    }

    pub(super) fn run(&self, page: &str, block: &Block) {
        let output = self.output(block);
        assert!(output.status.success(), "{page}:{}: {}\n{}", block.line, told(&output), block.text);
        assert_no_overwriting(page, &self.directory.path().join("checkout"));
    }
}
