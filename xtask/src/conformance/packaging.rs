//! The charts, by the real Helm, on a real API server; the manager with the rights that they give, and no others; and alerts
//! and panels, as Prometheus reads them.

mod admission;
mod alerts;
mod charts;
mod flow;
mod helm;
mod managers;
mod releases;
mod rights;
mod scrape;

use std::path::Path;

use anyhow::Context;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::modules::{self, Pins};
use super::server::Server;
use alerts::Prometheus;
pub(super) use helm::{Chart, Helm};
pub(super) use rights::of_the_account;

/// What Helm makes of the charts, and what becomes of it.
pub(super) fn holds(capt: &Path, helm: &Helm, pins: &Pins) -> anyhow::Result<()> {
    let prometheus = Prometheus::obtain()?;
    charts::are_without_blemish(helm)?;
    let rendered = charts::render(helm)?;
    charts::refuse_nonsense(helm)?;
    prometheus.alerts_speak_when_they_should()?;
    let monitoring = modules::monitoring(pins)?;
    let theirs: Vec<CustomResourceDefinition> = modules::crds(pins)?;
    let theirs: Vec<_> = theirs.into_iter().filter(|crd| crd.spec.group == "tf.upbound.io").collect();
    let served = tokio::runtime::Runtime::new()?.block_on(async {
        let (server, workload) = tokio::try_join!(Server::start_with_garbage_collection(), Server::start())?;
        server.apply(&monitoring).await?;
        admission::prepare(&server.client).await?;
        admission::accepts(&server.client, &rendered).await?;
        releases::leave_others_alone(helm, &server, &theirs).await?;
        releases::take_over_when_told(helm, &server).await?;
        releases::upgrade_and_stay(capt, helm, &server).await?;
        rights::are_the_least(&server).await?;
        rights::aggregate(&server).await?;
        Box::pin(flow::runs_under_the_chart(capt, helm, &server, &workload)).await
    });
    prometheus.panels_show_what_is_served(&served.context("the charts")?)
}
