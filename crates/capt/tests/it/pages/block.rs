//! Command blocks of a page.

/// What a block needs that a test has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// A build of the checkout itself, by Cargo.
    Cargo,
    /// An account of a cloud.
    Cloud,
    /// A cluster, or files, of the reader's own: the names stand for theirs.
    Cluster,
    /// clusterctl and the Cluster API that it installs; `cargo xtask conformance` runs the real one.
    Clusterctl,
    /// Crossplane's provider-terraform; `cargo xtask conformance` runs the real one.
    Crossplane,
    /// The command line of Flux.
    Flux,
    /// Helm; `cargo xtask conformance` runs the real one.
    Helm,
    /// Programs that make and push images, and the rights for that.
    Image,
    /// The files of a release.
    Release,
    /// A person who answers, or who ends it by Ctrl-C.
    Terminal,
}

impl Need {
    const ALL: [(&'static str, Self); 10] = [
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
}

/// A block of commands.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) line: usize,
    pub(super) need: Option<Need>,
    pub(super) text: String,
}

/// The command blocks of a page; an error where one is marked as nobody understands.
pub(super) fn blocks(page: &str) -> Result<Vec<Block>, String> {
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
        let mut words = info.split_whitespace();
        match words.next().unwrap_or_default() {
            "sh" => {
                let need =
                    words.next().map(need).transpose().map_err(|why| format!("line {}: {why}", index + 1))?;
                if words.next().is_some() {
                    return Err(format!("line {}: a block has one mark", index + 1));
                }
                found.push(Block { line: index + 1, need, text: content.join("\n") + "\n" });
            }
            "bash" | "shell" | "console" => return Err(format!("line {}: write `sh`", index + 1)),
            _ => {}
        }
    }
    Ok(found)
}

fn need(mark: &str) -> Result<Need, String> {
    let known = |name: &str| Need::ALL.iter().find(|(known, _)| *known == name).map(|(_, need)| *need);
    mark.strip_prefix("needs=").and_then(known).ok_or_else(|| {
        let names: Vec<&str> = Need::ALL.iter().map(|(name, _)| *name).collect();
        format!("`{mark}` is no mark; write needs= and one of {}", names.join(", "))
    })
}

#[test]
fn blocks_are_found_with_their_marks_and_without_their_indent() {
    let page = "a\n```sh\none # two\n```\n```text\nno\n```\n1. x\n   ```sh needs=helm\n   helm a \\\n     b\n   ```\n";
    let found = blocks(page).unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!((found[0].line, found[0].need, found[0].text.as_str()), (2, None, "one # two\n"));
    assert_eq!((found[1].need, found[1].text.as_str()), (Some(Need::Helm), "helm a \\\n  b\n"));
}

#[rstest::rstest]
#[case::unknown("```sh needs=luck\n```\n")]
#[case::no_mark("```sh later\n```\n")]
#[case::two("```sh needs=helm needs=cloud\n```\n")]
#[case::another_language("```bash\nls\n```\n")]
fn a_mark_that_nobody_knows_is_refused(#[case] page: &str) {
    assert!(blocks(page).is_err());
}
