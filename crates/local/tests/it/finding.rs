//! Finding a part: in which order, what is refused, and what is said when nothing works.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use capt_local::{Catalog, Environment, FindError, Finder, Platform, Progress};
use flate2::{Compression, write::GzEncoder};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::http::Http;
use crate::process::{HELPER, eventually, program};

const ADDRESS_NOBODY_LISTENS_ON: &str = "http://127.0.0.1:9";
const GOOD: &str = "exit 0";

/// Directories of one test, and the environment that points to them.
struct World {
    directory: TempDir,
    environment: Environment,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let environment = Environment {
            directories: vec![("CAPT_ASSETS", Some(at("assets"))), ("KUBEBUILDER_ASSETS", None)],
            path: Some(at("path").into_os_string()),
            cache: Some(at("cache")),
            offline: false,
            go: at("go/go"),
            platform: Platform::current(),
        };
        Self { directory, environment }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn cached(&self) -> PathBuf {
        self.at(&format!("cache/parts/etcd-3.6.4-{}/etcd", self.environment.platform))
    }

    fn find(&self, url: &str) -> Result<PathBuf, FindError> {
        self.find_with(url, &Progress::silent())
    }

    fn find_with(&self, url: &str, progress: &Progress) -> Result<PathBuf, FindError> {
        Finder::new(catalog(url), self.environment.clone()).find("etcd", progress)
    }

    /// A Go that makes a good program; `build` is what it does before.
    fn install_go(&self, version: &str, build: &str) {
        let script = format!(
            "[ \"$1\" = env ] && echo go{version} && exit\n{build}\nwhile [ \"$1\" != -o ]; do shift; done\n\
             printf '#!/bin/sh\\n# built\\n' > \"$2\""
        );
        program(&self.at("go/go"), &script);
    }
}

fn catalog(url: &str) -> Catalog {
    let text = format!(
        r#"
        [[part]]
        name = "etcd"
        version = "3.6.4"
        [part.download]
        url = "{url}/v{{version}}/etcd"
        checksums = "{url}/v{{version}}/etcd.sha256"
        systems = ["linux", "darwin"]
        [part.go]
        module = "kubernetes"
        package = "go.etcd.io/etcd/server/v3"
        ldflags = ["-s"]
        "#
    );
    Catalog::parse(&text).unwrap()
}

fn sum(content: &[u8]) -> Vec<u8> {
    let digits = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>();
    digits.concat().into_bytes()
}

fn reasons(error: FindError) -> Vec<String> {
    match error {
        FindError::Nowhere { attempts, .. } => attempts.iter().map(ToString::to_string).collect(),
        other => vec![other.to_string()],
    }
}

/// Lines that somebody else can read while they are written.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()).unwrap()
    }
}

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn each_place_is_taken_only_when_those_before_it_have_nothing() {
    let world = World::new();
    world.install_go("1.26.0", "");
    let http = Http::serving([
        ("/v3.6.4/etcd", b"downloaded".to_vec()),
        ("/v3.6.4/etcd.sha256", sum(b"downloaded")),
    ]);
    program(&world.at("assets/etcd"), GOOD);
    program(&world.at("path/etcd"), GOOD);

    assert_eq!(world.find(&http.url).unwrap(), world.at("assets/etcd"));
    fs::remove_file(world.at("assets/etcd")).unwrap();
    assert_eq!(world.find(&http.url).unwrap(), world.at("path/etcd"));
    fs::remove_file(world.at("path/etcd")).unwrap();
    assert_eq!(http.requests(), 0);

    assert_eq!(world.find(&http.url).unwrap(), world.cached());
    assert_eq!(fs::read_to_string(world.cached()).unwrap(), "downloaded");
    assert_eq!(http.requests(), 2);
    assert_eq!(world.find(&http.url).unwrap(), world.cached());
    assert_eq!(http.requests(), 2, "the second time it comes from the cache");
}

#[test]
fn a_look_into_the_cache_fetches_nothing() {
    let world = World::new();
    world.install_go("1.26.0", "");
    let http = Http::serving([]);
    let finder = Finder::new(catalog(&http.url), world.environment.clone());

    assert_eq!(finder.cached("etcd"), None);
    assert_eq!(http.requests(), 0);
    assert!(!world.at("cache").exists());

    program(&world.cached(), GOOD);
    assert_eq!(finder.cached("etcd"), Some(world.cached()));
    assert_eq!(finder.cached("kubelet"), None);
}

#[test]
fn a_program_that_does_not_run_is_passed_over_and_told() {
    let world = World::new();
    program(&world.at("assets/etcd"), "exit 127");
    program(&world.at("path/etcd"), GOOD);
    let lines = Lines::default();

    let found = world.find_with(ADDRESS_NOBODY_LISTENS_ON, &Progress::lines(lines.clone())).unwrap();

    assert_eq!(found, world.at("path/etcd"));
    assert!(
        lines.text().contains("asked for its version, it ended with exit status: 127"),
        "{}",
        lines.text()
    );
}

#[test]
fn a_program_for_another_machine_is_passed_over() {
    let world = World::new();
    program(&world.at("path/etcd"), "");
    fs::write(world.at("path/etcd"), b"\x7fELF but for another machine").unwrap();

    let reasons = reasons(world.find(ADDRESS_NOBODY_LISTENS_ON).unwrap_err());

    assert!(
        reasons.iter().any(|reason| reason.contains("it cannot be run: Exec format error")),
        "{reasons:#?}"
    );
}

#[test]
fn a_download_with_a_wrong_checksum_is_refused_and_built_instead() {
    let world = World::new();
    world.install_go("1.26.0", "");
    let http = Http::serving([
        ("/v3.6.4/etcd", b"tampered with".to_vec()),
        ("/v3.6.4/etcd.sha256", sum(b"what was published")),
    ]);
    let lines = Lines::default();

    let found = world.find_with(&http.url, &Progress::lines(lines.clone())).unwrap();

    assert_eq!(fs::read_to_string(found).unwrap(), "#!/bin/sh\n# built\n");
    let text = lines.text();
    assert!(text.contains("downloading etcd 3.6.4 …\n"), "{text}");
    assert!(text.contains("is published: not used"), "{text}");
    assert!(text.contains("building etcd 3.6.4 with go (takes minutes the first time) …\n"), "{text}");
    assert!(text.contains("built etcd 3.6.4 in 0 s\n"), "{text}");
}

#[test]
fn a_download_without_a_checksum_is_refused() {
    let world = World::new();
    let http = Http::serving([("/v3.6.4/etcd", b"anything".to_vec())]);

    let reasons = reasons(world.find(&http.url).unwrap_err());

    assert!(
        reasons.iter().any(|reason| reason.contains("etcd.sha256: the server answered with status 404")),
        "{reasons:#?}"
    );
    assert!(!world.cached().exists());
}

#[test]
fn a_program_is_taken_out_of_its_archive() {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let mut header = tar::Header::new_gnu();
    header.set_size(8);
    header.set_mode(0o644);
    archive.append_data(&mut header, "etcd-v3.6.4/etcd", &b"unpacked"[..]).unwrap();
    let archive = archive.into_inner().unwrap().finish().unwrap();
    let list = [&sum(&archive)[..], b"  etcd.tar.gz\n"].concat();
    let http = Http::serving([("/etcd.tar.gz", archive), ("/SHA256SUMS", list)]);
    let text = format!(
        "[[part]]\nname = \"etcd\"\nversion = \"3.6.4\"\n[part.download]\nurl = \"{0}/etcd.tar.gz\"\n\
         member = \"etcd-v{{version}}/etcd\"\nchecksums = \"{0}/SHA256SUMS\"\nsystems = [\"linux\", \"darwin\"]",
        http.url
    );
    let world = World::new();
    let finder = Finder::new(Catalog::parse(&text).unwrap(), world.environment.clone());

    let found = finder.find("etcd", &Progress::silent()).unwrap();

    assert_eq!(fs::read_to_string(&found).unwrap(), "unpacked");
    assert_eq!(fs::metadata(&found).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn nothing_is_downloaded_when_offline() {
    let mut world = World::new();
    world.environment.offline = true;
    world.install_go("1.26.0", "");
    let http = Http::serving([]);

    assert_eq!(world.find(&http.url).unwrap(), world.cached());
    assert_eq!(http.requests(), 0);
}

#[test]
fn a_host_that_cannot_be_reached_is_asked_only_once() {
    let mut world = World::new();
    world.environment.directories.clear();
    let finder = Finder::new(catalog(ADDRESS_NOBODY_LISTENS_ON), world.environment.clone());
    finder.find("etcd", &Progress::silent()).unwrap_err();

    let reasons = reasons(finder.find("etcd", &Progress::silent()).unwrap_err());

    assert!(
        reasons.iter().any(|reason| reason.contains("127.0.0.1:9 was not reached before")),
        "{reasons:#?}"
    );
}

#[test]
fn a_build_that_was_cut_off_is_never_used() {
    let world = World::new();
    let half = world.at("cache/unfinished/left/etcd");
    program(&half, GOOD);
    // Writes a file that looks complete, then fails.
    world.install_go(
        "1.26.0",
        "for last; do :; done; echo half > etcd; chmod +x etcd; echo killed >&2; exit 1",
    );

    let reasons = reasons(world.find(ADDRESS_NOBODY_LISTENS_ON).unwrap_err());

    assert!(reasons.iter().any(|reason| reason == "go build: go build failed:\n    killed"), "{reasons:#?}");
    assert!(!world.cached().exists());
    assert!(!half.exists(), "what a killed process left is cleared away");
}

#[test]
fn the_error_lists_every_step_and_what_to_do() {
    let world = World::new();
    world.install_go("1.20.1", "");

    let error = world.find("http://127.0.0.1:9").unwrap_err().to_string();

    let error =
        error.replace(&world.directory.path().display().to_string(), "/world").replace(" (os error 111)", "");
    assert_eq!(
        error,
        "etcd 3.6.4 was not found, and could not be downloaded or built:
  CAPT_ASSETS (/world/assets/etcd): no such file
  KUBEBUILDER_ASSETS: not set
  PATH: not in any of its directories
  cache (/world/cache): not there yet
  download: http://127.0.0.1:9/v3.6.4/etcd.sha256: Connection refused
  go build: go 1.20.1 is installed, but 1.24.0 or newer is needed (other toolchains are not fetched)
install Go 1.24.0 or newer, or put etcd into a directory and set CAPT_ASSETS to that directory"
    );
}

#[test]
fn a_machine_without_go_is_told_so() {
    let world = World::new();

    let reasons = reasons(world.find(ADDRESS_NOBODY_LISTENS_ON).unwrap_err());

    assert_eq!(reasons.last().unwrap(), "go build: go is not installed (or not in PATH)");
}

#[test]
fn a_cache_that_cannot_be_written_is_named_with_what_to_do() {
    let mut world = World::new();
    fs::write(world.at("file"), "").unwrap();
    world.environment.cache = Some(world.at("file/capt"));

    let error = world.find(ADDRESS_NOBODY_LISTENS_ON).unwrap_err().to_string();

    assert!(error.contains(&world.at("file/capt").display().to_string()), "{error}");
    assert!(error.contains("XDG_CACHE_HOME") && error.contains("CAPT_ASSETS"), "{error}");
}

#[test]
fn a_part_that_nobody_knows_is_an_error() {
    let world = World::new();
    let finder = Finder::new(catalog(ADDRESS_NOBODY_LISTENS_ON), world.environment.clone());

    let error = finder.find("kubelet", &Progress::silent()).unwrap_err();

    assert_eq!(error.to_string(), "no part is called kubelet");
}

#[test]
fn one_process_at_a_time_fills_the_cache_and_a_killed_one_lets_go() {
    let world = World::new();
    world.install_go("1.26.0", "");
    fs::create_dir_all(world.at("cache")).unwrap();
    let mut other = std::process::Command::new(HELPER);
    let mut other = other.arg("lock").arg(world.at("cache/lock")).spawn().unwrap();
    let other_pid = other.id();
    let signed = || fs::read_to_string(world.at("cache/lock")).is_ok_and(|text| text.ends_with('\n'));
    eventually("the other process holds the cache", signed);
    let lines = Lines::default();

    let found = std::thread::scope(|scope| {
        let finding =
            scope.spawn(|| world.find_with(ADDRESS_NOBODY_LISTENS_ON, &Progress::lines(lines.clone())));
        let waiting = format!("waiting for another capt that is filling the cache (pid {other_pid})\n");
        eventually("it waits", || lines.text().contains(&waiting));
        other.kill().unwrap();
        other.wait().unwrap();
        finding.join().unwrap()
    });

    assert_eq!(found.unwrap(), world.cached());
}
