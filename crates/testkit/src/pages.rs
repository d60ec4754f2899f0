//! The command blocks of README, book and examples: which there are, and who runs them.
//!
//! Nothing in here panics, so that `cargo xtask`, which is not a test of Cargo's, can use it too.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Pages that a reader starts with.
pub const FIRST_PAGES: [&str; 2] = ["README.md", "docs/src/quick-start.md"];

/// What a block needs beyond the cluster of `capt demo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A build of the checkout by Cargo. The test has a `cargo` that runs what is built already.
    Cargo,
    /// An account of a cloud. `kubectl` writes with `--dry-run=server`, everything else is only parsed.
    Cloud,
    /// Objects or files of the reader's own. The test creates them under the names on the page.
    Cluster,
    /// The real clusterctl, and a repository of providers for it.
    Clusterctl,
    /// Crossplane's real provider-terraform.
    Crossplane,
    /// The command line of Flux. It embeds manifests that its own build generates and that are not in its Go module:
    /// `go build github.com/fluxcd/flux2/v2/cmd/flux` fails with `pattern manifests/*.yaml: no matching files found`.
    Flux,
    /// The real Helm.
    Helm,
    /// Programs that build and push images, which need packages of the system and a registry.
    Image,
    /// The signed files of a release.
    Release,
    /// A person who answers questions, or who ends the command by Ctrl-C.
    Terminal,
}

/// Who runs a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    /// `cargo test -p capt --test it pages`
    Test,
    /// `cargo xtask conformance`, beside the real programs of others.
    Conformance,
    /// Nobody: programs parse their arguments, and the API server validates manifests.
    Rehearsal,
}

impl Need {
    /// Every mark, as it is written after `needs=`.
    pub const ALL: [(&'static str, Self); 10] = [
        ("cargo", Self::Cargo),
        ("cloud", Self::Cloud),
        ("cluster", Self::Cluster),
        ("clusterctl", Self::Clusterctl),
        ("crossplane", Self::Crossplane),
        ("flux", Self::Flux),
        ("helm", Self::Helm),
        ("image", Self::Image),
        ("release", Self::Release),
        ("terminal", Self::Terminal),
    ];

    /// Who runs the blocks with this mark.
    pub fn runner(self) -> Runner {
        match self {
            Self::Cargo | Self::Cluster | Self::Terminal => Runner::Test,
            Self::Clusterctl | Self::Crossplane | Self::Helm => Runner::Conformance,
            Self::Cloud | Self::Flux | Self::Image | Self::Release => Runner::Rehearsal,
        }
    }
}

/// A block of commands.
#[derive(Clone, Debug)]
pub struct Block {
    /// The page, relative to the root of the checkout.
    pub page: String,
    /// The line of its fence.
    pub line: usize,
    /// What it is marked with.
    pub need: Option<Need>,
    /// Its commands, without their indent.
    pub text: String,
}

/// A fenced block of any language.
#[derive(Debug)]
pub struct Fenced {
    /// The line of its fence.
    pub line: usize,
    /// What follows the fence: the language and marks.
    pub info: String,
    /// Its lines, without their indent.
    pub text: String,
}

/// The command blocks of all pages of a checkout: the first pages, then the others in the order of their names.
pub fn all_blocks(root: &Path) -> io::Result<Vec<Block>> {
    let mut others: Vec<PathBuf> = Vec::new();
    for directory in ["docs/src", "examples"] {
        collect(&root.join(directory), &mut others)?;
    }
    others.sort();
    let first = FIRST_PAGES.map(|path| root.join(path));
    others.retain(|path| !first.contains(path));
    let mut found = Vec::new();
    for path in first.into_iter().chain(others) {
        let page = path.strip_prefix(root).map_err(io::Error::other)?.display().to_string();
        let blocks = blocks(&page, &fs::read_to_string(&path)?);
        found.extend(blocks.map_err(|why| io::Error::other(format!("{page}: {why}")))?);
    }
    Ok(found)
}

fn collect(directory: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    Ok(())
}

/// The command blocks of a page; an error where one has an unknown mark.
pub fn blocks(page: &str, text: &str) -> Result<Vec<Block>, String> {
    let mut found = Vec::new();
    for Fenced { line, info, text } in fenced_blocks(text) {
        let mut words = info.split_whitespace();
        match words.next().unwrap_or_default() {
            "sh" => {
                let need = words.next().map(parse_need).transpose();
                let need = need.map_err(|why| format!("line {line}: {why}"))?;
                if words.next().is_some() {
                    return Err(format!("line {line}: a block has one mark"));
                }
                found.push(Block { page: page.to_owned(), line, need, text });
            }
            "bash" | "shell" | "console" => return Err(format!("line {line}: write `sh`")),
            _ => {}
        }
    }
    Ok(found)
}

/// Every fenced block of a page.
pub fn fenced_blocks(page: &str) -> Vec<Fenced> {
    let mut found = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let Some(info) = line.trim_start().strip_prefix("```") else { continue };
        let indent = line.len() - line.trim_start().len();
        let content: Vec<&str> = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|line| line.trim() != "```")
            .map(|line| line.get(indent..).unwrap_or_default())
            .collect();
        found.push(Fenced { line: index + 1, info: info.to_owned(), text: content.join("\n") + "\n" });
    }
    found
}

fn parse_need(mark: &str) -> Result<Need, String> {
    let known = |name: &str| Need::ALL.iter().find(|(known, _)| *known == name).map(|(_, need)| *need);
    mark.strip_prefix("needs=").and_then(known).ok_or_else(|| {
        let names: Vec<&str> = Need::ALL.iter().map(|(name, _)| *name).collect();
        format!("`{mark}` is no mark; write needs= and one of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_with_their_marks_and_without_their_indent() {
        let page = "a\n```sh\none # two\n```\n```text\nno\n```\n1. x\n   ```sh needs=helm\n   helm a \\\n     b\n   ```\n";
        let found = blocks("p", page).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!((found[0].line, found[0].need, found[0].text.as_str()), (2, None, "one # two\n"));
        assert_eq!((found[1].need, found[1].text.as_str()), (Some(Need::Helm), "helm a \\\n  b\n"));
    }

    #[test]
    fn an_unknown_mark_is_refused() {
        for page in [
            "```sh needs=luck\n```\n",
            "```sh later\n```\n",
            "```sh needs=helm needs=cloud\n```\n",
            "```bash\nls\n```\n",
        ] {
            assert!(blocks("p", page).is_err(), "{page}");
        }
    }
}
