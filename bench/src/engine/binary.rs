//! OpenTofu or Terraform to measure with.

use std::path::{Path, PathBuf};

use anyhow::Context;
use capt_testkit::terraform::obtain;

/// The binary that is named, one in `PATH`, or OpenTofu, got like the other parts.
pub(super) async fn find(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    let named = named.map(Path::to_owned);
    let found = tokio::task::spawn_blocking(move || obtain(named.as_deref())).await??;
    // Commands work elsewhere, where a relative path would lead astray.
    std::path::absolute(&found).with_context(|| format!("finding {}", found.display()))
}
