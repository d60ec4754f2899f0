//! Takes down what is in a cluster and what Terraform does not know of, in the order in which it can go.
//!
//! First what would bring things back is suspended, then machines go, then load balancers and volumes where that is asked for,
//! and last the `HelmReleases` that add-ons brought: what lets go of the others may be among those. Each stage begins when the
//! one before it is done. Every pass can be repeated, and looks at what is there.

mod machines;
mod objects;
mod owners;
mod releases;
mod services;
mod volumes;

use capt_core::clearing::{Left, Policy};
use capt_core::manifest::ObjectKey;

use crate::workload::{Failure, Talk};

/// One pass: asks for everything to go that can go now, and answers what is left of the first stage that is not done.
pub(crate) async fn clear(
    talk: &Talk<'_>,
    policy: &Policy,
    brought: &[ObjectKey],
) -> Result<Vec<Left>, Failure> {
    let found = releases::find(talk, brought).await?;
    owners::suspend(talk, &found).await?;
    let mut left = machines::clear(talk).await?;
    if left.is_empty() && policy.load_balancers {
        left = services::clear(talk).await?;
    }
    if left.is_empty() && policy.volumes {
        left = volumes::clear(talk).await?;
    }
    if left.is_empty() {
        left = releases::clear(&found).await?;
    }
    Ok(left)
}
