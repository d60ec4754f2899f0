//! Who we are towards AWS, by the ambient chain.

use std::env;
use std::time::Duration;

use capt_core::doctor::AwsFacts;
use capt_eks::{AmbientIdentity, Minter as _, Request};
use tokio::time::timeout;

/// All of it: looking for credentials, and asking whose they are.
const PATIENCE: Duration = Duration::from_secs(20);

/// Asks AWS who we are. The region is that of a cluster, else that of the environment.
pub(super) async fn look(eks: Option<(String, String)>) -> AwsFacts {
    let (region, cluster_name) = eks.unwrap_or_else(|| {
        let region = env::var("AWS_REGION").or_else(|_| env::var("AWS_DEFAULT_REGION"));
        (region.unwrap_or_else(|_| "us-east-1".to_owned()), "any".to_owned())
    });
    let request = Request { region, cluster_name, role: None };
    let minter = AmbientIdentity::new();
    let identity = match timeout(PATIENCE, minter.caller(&request)).await {
        Ok(Ok(arn)) => Ok(arn),
        Ok(Err(error)) => Err(format!("{:#}", anyhow::Error::new(error))),
        Err(_) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
    };
    AwsFacts { identity }
}
