//! How small texts of others are read as YAML.

/// For texts that need no aliases: an alias can stand for more than the whole text, so that none is followed.
pub(crate) fn without_aliases() -> serde_saphyr::Options {
    let budget = serde_saphyr::budget! {
        max_aliases: 0,
        max_depth: 32,
        max_nodes: 50_000,
        flow_nesting_limit: 64,
    };
    serde_saphyr::options! { budget: budget, with_snippet: false }
}
