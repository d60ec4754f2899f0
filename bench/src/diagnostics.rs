//! What a manager tells of itself: how far it is, by its probes and metrics.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How long nothing may happen while something should.
const DEADLINE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(50);

/// Longer than it takes a manager to look again at what it has just worked on.
pub(crate) const LONG_QUIET: Duration = Duration::from_secs(3);
/// Where no run goes on, nothing comes later.
pub(crate) const SHORT_QUIET: Duration = Duration::from_millis(200);

/// Where a manager serves its probes and metrics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Diagnostics {
    address: SocketAddr,
    counted: Counted,
}

/// Whose reconciles are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counted {
    /// Those of every kind.
    All,
    /// Those of Workspaces.
    Workspaces,
}

impl Counted {
    fn labels(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Workspaces => "kind=\"Workspace\",",
        }
    }
}

impl Diagnostics {
    /// An address that is free just now.
    pub(crate) async fn choose(counted: Counted) -> anyhow::Result<Self> {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("looking for a free port")?;
        let address = listener.local_addr().context("looking for a free port")?;
        Ok(Self { address, counted })
    }

    pub(crate) fn address(self) -> SocketAddr {
        self.address
    }

    /// Waits until the manager works, has reconciled so often since its start, and has been quiet for a while. The answer is how
    /// often.
    pub(crate) async fn settle(
        self,
        at_least: u64,
        quiet: Duration,
        is_busy: impl Fn() -> bool,
    ) -> anyhow::Result<u64> {
        let (mut last, mut since) = (None, Instant::now());
        loop {
            let seen = self.reconciles().await;
            if is_busy() || seen != last {
                (last, since) = (seen, Instant::now());
            }
            match last {
                Some(count) if count >= at_least && since.elapsed() >= quiet => return Ok(count),
                _ if since.elapsed() > DEADLINE => anyhow::bail!(
                    "there were {} reconciles, not {at_least}, and nothing happens any more",
                    last.unwrap_or_default()
                ),
                _ => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// How often what is counted was reconciled; `None` until the manager works.
    pub(crate) async fn reconciles(self) -> Option<u64> {
        // Refused until it serves.
        self.get("/readyz").await.ok().flatten()?;
        let metrics = self.get("/metrics").await.ok().flatten()?;
        Some(total(&metrics, "capt_reconciles_total", self.counted.labels()))
    }

    /// How often Terraform was run; `None` when the manager does not answer.
    pub(crate) async fn runs(self) -> Option<u64> {
        let metrics = self.get("/metrics").await.ok().flatten()?;
        Some(total(&metrics, "capt_terraform_runs_total", ""))
    }

    /// The body of an answer that says that all is well.
    async fn get(self, path: &str) -> std::io::Result<Option<String>> {
        let mut stream = TcpStream::connect(self.address).await?;
        let request = format!("GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(body(&answer).map(str::to_owned))
    }
}

/// What follows the headers, if the status is 200.
fn body(answer: &str) -> Option<&str> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    (head.split(' ').nth(1) == Some("200")).then_some(body)
}

/// The sum of a counter's series that have these labels.
fn total(metrics: &str, name: &str, labels: &str) -> u64 {
    let series = metrics.lines().filter(|line| {
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with('{') && rest.contains(labels))
    });
    series.filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRICS: &str = "\
# TYPE capt_reconciles counter
capt_reconciles_total{kind=\"Workspace\",outcome=\"Settled\"} 7
capt_reconciles_total{kind=\"Workspace\",outcome=\"Waiting\"} 2
capt_reconciles_total{kind=\"WorkspaceTemplate\",outcome=\"Settled\"} 100
capt_terraform_runs_total{operation=\"Plan\",result=\"Succeeded\"} 3
capt_terraform_runs_total{operation=\"Apply\",result=\"Failed\"} 1
";

    #[test]
    fn series_with_the_same_labels_are_summed() {
        assert_eq!(total(METRICS, "capt_reconciles_total", Counted::Workspaces.labels()), 9);
        assert_eq!(total(METRICS, "capt_reconciles_total", Counted::All.labels()), 109);
        assert_eq!(total(METRICS, "capt_terraform_runs_total", ""), 4);
        assert_eq!(total(METRICS, "capt_reconciles", ""), 0);
    }

    #[test]
    fn a_refusal_has_no_body() {
        assert_eq!(body("HTTP/1.0 200 OK\r\na: b\r\n\r\nok\n"), Some("ok\n"));
        assert_eq!(body("HTTP/1.0 503 Service Unavailable\r\n\r\nwaiting\n"), None);
        assert_eq!(body(""), None);
    }
}
