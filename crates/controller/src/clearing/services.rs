//! Services that stand for load balancers.

use capt_core::clearing::Left;
use kube::api::DynamicObject;
use serde_json::json;

use super::objects::{held, served};
use crate::workload::{Failure, Talk};

/// Deletes Services of the type `LoadBalancer`; answers what is still there.
pub(super) async fn clear(talk: &Talk<'_>) -> Result<Vec<Left>, Failure> {
    let Some(services) = served(talk, &["v1"], "Service").await? else { return Ok(Vec::new()) };
    let balanced: Vec<_> = services.all().await?.into_iter().filter(is_balanced).collect();
    if balanced.is_empty() {
        return Ok(Vec::new());
    }
    for service in &balanced {
        services.delete(service).await?;
    }
    let left: Vec<_> = services.all().await?.into_iter().filter(is_balanced).collect();
    Ok(services.left(&left, held(&left)).into_iter().collect())
}

fn is_balanced(service: &DynamicObject) -> bool {
    service.data["spec"]["type"] == json!("LoadBalancer")
}
