//! What surrounds a block that needs more than `capt demo`: objects, answers, and what has to come of it.

use capt_testkit::pages::Block;

/// Ctrl-C, as a terminal has it.
pub(super) const CTRL_C: &str = "\u{3}";

/// How one block is run. Before, block and after are one script.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) page: &'static str,
    /// The first line of the block begins with this.
    pub(super) begins: &'static str,
    /// Creates what the page takes for granted.
    pub(super) before: &'static str,
    /// Placeholders of the page, and what the reader writes for them.
    pub(super) stands_for: &'static [(&'static str, &'static str)],
    /// What the reader waits for, and then types. Without any there is no terminal.
    pub(super) dialogue: &'static [(&'static str, &'static str)],
    /// Fails where the block has not done what the page says.
    pub(super) after: &'static str,
}

impl Scene {
    /// A block that is run as it is.
    pub(super) const fn new(page: &'static str, begins: &'static str) -> Self {
        Self { page, begins, before: "", stands_for: &[], dialogue: &[], after: "" }
    }

    pub(super) fn is_of(&self, block: &Block) -> bool {
        self.page == block.page && block.text.starts_with(self.begins)
    }

    pub(super) fn script(&self, block: &Block) -> String {
        let fill = |text: String, (placeholder, value): &(&str, &str)| {
            assert!(text.contains(placeholder), "{}:{} has no {placeholder}", block.page, block.line);
            text.replace(placeholder, value)
        };
        let text = self.stands_for.iter().fold(block.text.clone(), fill);
        format!("{HELPERS}{}\n{text}{}\n", self.before, self.after)
    }
}

/// `eventually COMMAND…` tries until it succeeds, and fails after two minutes.
const HELPERS: &str = "eventually() {
    local deadline=$((SECONDS + 120))
    until \"$@\" >/dev/null 2>&1; do
        if test $SECONDS -ge $deadline; then echo \"never: $*\" >&2; \"$@\"; return 1; fi
        sleep 0.2
    done
}
";

/// The block of a scene. It is the only one, so that no block hides behind another.
pub(super) fn block_of<'a>(scene: &Scene, blocks: &'a [Block]) -> &'a Block {
    let found: Vec<&Block> = blocks.iter().filter(|block| scene.is_of(block)).collect();
    assert_eq!(
        found.len(),
        1,
        "{} has {} blocks that begin with `{}`",
        scene.page,
        found.len(),
        scene.begins
    );
    found[0]
}
