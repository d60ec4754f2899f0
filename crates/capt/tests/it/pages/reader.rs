//! A reader of the pages: a home, a copy of the checkout, and the programs that the pages use.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{env, iter};

use capt_local::{Parts, Progress};
use capt_testkit::pages::Block;
use capt_testkit::{kubectl, terraform};
use tempfile::TempDir;

use super::root;
use super::scene::Scene;
use crate::terminal::Terminal;
use crate::up::CAPT;

/// What commands of the pages refer to.
const COPIED: [&str; 3] = ["config", "docs", "examples"];

/// Files that scenes need. In scripts they are in `$FIXTURES`.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/pages/fixtures");

/// A `cargo` that builds nothing: what it would build is being tested right now. `cargo test --workspace` is what CI runs; here it
/// only has to be the very command that CI has.
const CARGO: &str = "case \"$1 $2\" in
'run --') shift 2; exec capt \"$@\" ;;
'test --workspace') test $# = 2 && grep -q '^step \"tests\" cargo test --workspace$' \"$ROOT/.ci/run\" ;;
*) echo \"nobody runs cargo $*\" >&2; exit 2 ;;
esac
";

/// A person with a home that nobody else uses.
pub(super) struct Reader {
    directory: TempDir,
}

impl Reader {
    pub(super) fn new() -> Self {
        let reader = Self { directory: tempfile::tempdir().unwrap() };
        for name in ["bin", "checkout", "home"] {
            fs::create_dir(reader.path(name)).unwrap();
        }
        for name in COPIED {
            copy(&root().join(name), &reader.path("checkout").join(name));
        }
        symlink(CAPT, reader.path("bin/capt")).unwrap();
        symlink(kubectl::obtain().unwrap(), reader.path("bin/kubectl")).unwrap();
        write_program(&reader.path("bin/cargo"), CARGO);
        // On a new machine that takes minutes, which no command may wait for.
        Parts::find(&Progress::stderr()).unwrap();
        terraform::binary();
        reader
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// From now on `kubectl` and `capt` find this cluster, and no other.
    pub(super) fn use_cluster(&self, kubeconfig: &str) {
        fs::create_dir_all(self.path("home/.kube")).unwrap();
        fs::write(self.path("home/.kube/config"), kubeconfig).unwrap();
    }

    /// A program as the reader starts it. What was fetched or built once is not fetched or built again.
    fn command(&self, program: &str) -> Command {
        let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| Some(env::home_dir()?.join(".cache")));
        let path = iter::once(self.path("bin"));
        let rest = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(path.chain(env::split_paths(&rest))).unwrap();
        let mut command = Command::new(program);
        for variable in crate::VARIABLES {
            command.env_remove(variable);
        }
        command
            .current_dir(self.path("checkout"))
            .env("HOME", self.path("home"))
            .env("PATH", path)
            .env("FIXTURES", FIXTURES)
            .env("ROOT", root())
            .env("NO_COLOR", "1")
            .env("TERM", "xterm-256color")
            .env("XDG_CACHE_HOME", cache.unwrap());
        command
    }

    /// Runs commands where nobody answers; they have to succeed.
    pub(super) fn run(&self, what: &str, script: &str) -> Output {
        let mut command = self.command("bash");
        command.args(["-euo", "pipefail", "-c", script]).stdin(Stdio::null());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{what}: {}\n{script}", shown(&output));
        output
    }

    /// Runs the blocks of a page in their order, in one shell.
    pub(super) fn run_blocks(&self, blocks: &[&Block]) {
        let announced =
            |block: &&Block| format!("echo '==> {}:{}' >&2\n{}", block.page, block.line, block.text);
        let script: String = blocks.iter().map(announced).collect();
        if let Some(block) = blocks.first() {
            self.run(&block.page, &script);
            self.assert_nothing_overwritten(&block.page);
        }
    }

    /// Starts a script in a terminal of its own, whose Ctrl-C reaches what runs in it.
    pub(super) fn start(&self, script: &str) -> Terminal {
        let mut command = self.command("setsid");
        command.args(["--ctty", "--wait", "bash", "-euo", "pipefail", "-c", script]);
        Terminal::run(command)
    }

    /// Runs a block as its scene has it.
    pub(super) fn play(&self, scene: &Scene, block: &Block) {
        let what = format!("{}:{}", block.page, block.line);
        let script = scene.script(block);
        if scene.dialogue.is_empty() {
            self.run(&what, &script);
        } else {
            let terminal = self.start(&script);
            for (shown, typed) in scene.dialogue {
                terminal.answer(shown, typed);
            }
            let (screen, code) = terminal.end();
            assert_eq!(code, Some(0), "{what}: {screen}\n{script}");
        }
        self.assert_nothing_overwritten(&block.page);
    }

    fn assert_nothing_overwritten(&self, page: &str) {
        for name in COPIED {
            assert_unchanged(page, &root().join(name), &self.path("checkout").join(name));
        }
        assert_no_overwriting(page, &self.path("checkout"));
    }
}

pub(super) fn write_program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{text}")).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

pub(super) fn shown(output: &Output) -> String {
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
pub(super) fn assert_no_overwriting(page: &str, directory: &Path) {
    let beside = root().join(page);
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let own = beside.with_file_name(entry.file_name());
        let is_new = !entry.path().is_dir() && !entry.path().is_symlink();
        assert!(!is_new || !own.exists(), "{page} writes {}, which is there already", own.display());
    }
}
