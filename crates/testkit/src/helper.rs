//! The executable that supervises the processes of a test's control plane.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use capt_local::Helper;

const NAME: &str = "capt-local-helper";

/// The helper beside the test's executable. Cargo makes it when it is missing or older than its sources.
pub(crate) fn helper() -> Helper {
    let test = env::current_exe().expect("the path of the test's executable");
    // target/<profile>/deps/<test>
    let profile = test.ancestors().nth(2).expect("a test's executable lies two directories deep");
    let helper = profile.join(NAME);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("local").join("src");
    if changed(&helper) < newest(&sources)
        && let Some(cargo) = env::var_os("CARGO")
    {
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "--package", "capt-local", "--bin", NAME]);
        build.current_dir(env!("CARGO_MANIFEST_DIR")).arg("--target-dir").args(profile.parent());
        if profile.ends_with("release") {
            build.arg("--release");
        }
        let status = build.status().expect("running cargo");
        assert!(status.success(), "cargo build of {NAME} ended with {status}");
    }
    assert!(helper.exists(), "{} is missing: run cargo build -p capt-local --bin {NAME}", helper.display());
    Helper::at(helper)
}

fn newest(directory: &Path) -> Option<SystemTime> {
    let entries = fs::read_dir(directory).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    entries.filter_map(|path| if path.is_dir() { newest(&path) } else { changed(&path) }).max()
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}
