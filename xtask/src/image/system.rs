//! What the image has of Debian, as a tar file: mmdebstrap makes the same bytes of the same packages.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

use super::program;

const RELEASE: &str = "trixie";

/// Beside what no Debian is without, among it the shell and the tools that a local-exec expects.
const PACKAGES: [&str; 4] = [
    "ca-certificates",
    "git",
    // Modules that come by ssh.
    "openssh-client",
    "tini",
];

/// What nobody reads or runs in a pod. Perl is there for Debian's own scripts; its library is for others.
const LEFT_OUT: [&str; 16] = [
    "/usr/bin/git-shell",
    "/usr/bin/scalar",
    "/usr/lib/*/gconv/*",
    "/usr/lib/*/libperl.so*",
    "/usr/lib/*/perl/*",
    "/usr/lib/git-core/git-daemon",
    "/usr/lib/git-core/git-http-backend",
    "/usr/lib/git-core/git-http-push",
    "/usr/lib/git-core/git-imap-send",
    "/usr/lib/git-core/git-shell",
    "/usr/lib/git-core/scalar",
    "/usr/share/doc/*",
    "/usr/share/info/*",
    "/usr/share/locale/*",
    "/usr/share/man/*",
    "/usr/share/perl/*",
];

/// Their licences ask for these.
const KEPT: &str = "/usr/share/doc/*/copyright";

/// What is done to the packages, by a shell; `$1` is where they are.
pub(super) const HOOKS: [&str; 5] = [
    // Ids have names, because ssh refuses a user without.
    r#"echo "capt:x:65532:65532::/tmp:/usr/sbin/nologin" >> "$1/etc/passwd""#,
    r#"echo "capt:x:65532:" >> "$1/etc/group""#,
    // Where volumes go; a pod without them can work, too.
    r#"install --directory --owner=65532 --group=65532 "$1/var/lib/capt" "$1/var/cache/capt""#,
    // Nobody becomes somebody else.
    r#"find "$1" -xdev -type f -perm /6000 -exec chmod ug-s {} +"#,
    // Told when they were made, or copies.
    r#"rm -rf "$1"/var/log/* "$1"/var/cache/debconf/*-old "$1"/var/lib/dpkg/*-old "$1"/etc/*-"#,
];

/// Writes the file. It takes about a minute.
pub(super) fn make(file: &Path, sources: Option<&Path>, epoch: &str) -> anyhow::Result<()> {
    let mut command = Command::new("mmdebstrap");
    command.env("SOURCE_DATE_EPOCH", epoch).args(options()).arg(RELEASE).arg(file).args(sources);
    program::run(&mut command).context("installing Debian's packages")
}

fn options() -> Vec<String> {
    let mut options = vec![
        "--quiet".to_owned(),
        "--variant=essential".to_owned(),
        format!("--include={}", PACKAGES.join(",")),
    ];
    options.extend(LEFT_OUT.map(|path| format!("--dpkgopt=path-exclude={path}")));
    options.push(format!("--dpkgopt=path-include={KEPT}"));
    options.extend(HOOKS.map(|hook| format!("--customize-hook={hook}")));
    options
}

/// A line for each package, with its version.
pub(super) fn packages(system: &Path) -> anyhow::Result<String> {
    let mut tar = Command::new("tar");
    let status = program::answer(
        tar.arg("--extract").arg("--to-stdout").arg("--file").arg(system).arg("./var/lib/dpkg/status"),
    )?;
    Ok(listed(&status))
}

fn listed(status: &str) -> String {
    let field = |paragraph: &str, name: &str| {
        paragraph.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
    };
    let line = |paragraph: &str| {
        Some(format!("{} {}\n", field(paragraph, "Package")?, field(paragraph, "Version")?))
    };
    status.split("\n\n").filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_after_what_is_left_out() {
        let options = options();
        let position = |wanted: &str| options.iter().position(|option| option.contains(wanted)).unwrap();

        // The last rule that fits wins.
        assert!(position("path-include") > position("path-exclude=/usr/share/doc/*"));
    }

    #[test]
    fn packages_are_listed_with_their_versions() {
        let status = "Package: dash\nStatus: install ok installed\nVersion: 0.5.12-12\nDescription: a shell\n Version: no\n\n\
                      Package: tini\nVersion: 0.19.0-3\n";

        assert_eq!(listed(status), "dash 0.5.12-12\ntini 0.19.0-3\n");
    }
}
