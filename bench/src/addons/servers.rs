//! The two API servers: one for management, one that stands for the workload API servers of all clusters.

use anyhow::Context;
use capt_local::Helper;
use capt_testkit::TestCluster;

use crate::clusters::stage::bare;

pub(super) struct Servers {
    pub(super) management: TestCluster,
    pub(super) workload: TestCluster,
}

impl Servers {
    pub(super) async fn start() -> anyhow::Result<Self> {
        let helper = Helper::current_exe().context("finding the path of this program")?;
        let (management, workload) = tokio::join!(bare(), TestCluster::start_with(|| helper));
        Ok(Self { management: management?, workload })
    }
}
