//! What is ended at random, and what it runs on.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use capt_local::ControlPlane;
use capt_testkit::home::{Home, processes_in, signal, wait};
use kube::Client;
use rustix::process::{Pid, Signal, kill_process};

use super::super::management::{client, control_plane, manager, prepare};
use super::{End, Subject, tainted};

/// What stopping may take: running applies finish what they began.
const STOPPED_WITHIN: Duration = Duration::from_secs(120);

/// What is ended at random.
pub(super) struct Host {
    capt: PathBuf,
    place: PathBuf,
    directory: PathBuf,
    tool: Option<PathBuf>,
    kind: Kind,
}

enum Kind {
    Manager { child: Child, kubeconfig: PathBuf, _control_plane: Box<ControlPlane> },
    Home(Home),
}

impl Host {
    /// `tool` is what a manager runs; the one in `PATH` by default.
    pub(super) async fn start(
        capt: &Path,
        subject: Subject,
        place: &Path,
        tool: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let kind = match subject {
            Subject::Manager | Subject::Container => {
                let control_plane = control_plane(&place.join("control-plane")).await?;
                let kubeconfig = place.join("kubeconfig");
                fs::write(&kubeconfig, control_plane.kubeconfig())?;
                prepare(&client(&kubeconfig).await?).await?;
                let child = manager(capt, place, &kubeconfig, tool)?;
                Kind::Manager { child, kubeconfig, _control_plane: Box::new(control_plane) }
            }
            Subject::Home => Kind::Home(home(capt, place, &[])?),
        };
        let directory = place.join(match subject {
            Subject::Manager | Subject::Container => "terraform",
            Subject::Home => "home",
        });
        let tool = tool.map(Path::to_owned);
        Ok(Self { capt: capt.to_owned(), place: place.to_owned(), directory, tool, kind })
    }

    pub(super) async fn client(&self) -> anyhow::Result<Client> {
        match &self.kind {
            Kind::Manager { kubeconfig, .. } => client(kubeconfig).await,
            Kind::Home(home) => Ok(home.client().await?),
        }
    }

    /// Ends it, and tells what should not be.
    pub(super) fn end(&mut self, end: End) -> anyhow::Result<Option<String>> {
        let sent = match end {
            End::Stop => Signal::TERM,
            End::Kill | End::Death { .. } => Signal::KILL,
        };
        let status = match &mut self.kind {
            Kind::Manager { child, .. } => {
                signal(child, sent)?;
                if let End::Death { .. } = end {
                    kill_all_in(&self.directory)?;
                }
                wait(child, STOPPED_WITHIN)
            }
            Kind::Home(home) => {
                home.signal(sent)?;
                home.wait(STOPPED_WITHIN)
            }
        };
        let status = status.with_context(|| format!("ending it; see {}", self.messages().display()))?;
        match end {
            End::Kill | End::Death { lost: false } => return Ok(None),
            End::Death { lost: true } => {
                fs::remove_dir_all(&self.directory).context("losing its directory")?;
                return Ok(None);
            }
            End::Stop => {}
        }
        if !status.success() {
            return Ok(Some(format!("a stop ended with {status}")));
        }
        let left = processes_in(&self.directory)?;
        Ok((!left.is_empty()).then(|| format!("a stop left processes behind: {left:?}")))
    }

    /// Starts it again. After a stop, what was interrupted is looked up first, while nothing else goes on.
    pub(super) async fn start_again(
        &mut self,
        ended_by: End,
        excused: &mut BTreeSet<String>,
    ) -> anyhow::Result<()> {
        let directory = self.directory.clone();
        match &mut self.kind {
            Kind::Manager { child, kubeconfig, .. } => {
                tainted::collect(&client(kubeconfig).await?, &directory, excused).await?;
                *child = manager(&self.capt, &self.place, kubeconfig, self.tool.as_deref())?;
            }
            Kind::Home(old) => {
                if ended_by == End::Stop {
                    let mut quiet = home(&self.capt, &self.place, &["--engine", "crossplane"])?;
                    tainted::collect(&quiet.client().await?, &directory, excused).await?;
                    quiet.signal(Signal::TERM)?;
                    quiet.wait(STOPPED_WITHIN)?;
                }
                *old = home(&self.capt, &self.place, &[])?;
                tainted::collect(&old.client().await?, &directory, excused).await?;
            }
        }
        Ok(())
    }

    /// Where Terraform works.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    fn messages(&self) -> PathBuf {
        self.place.join("messages")
    }
}

/// Kills every process that works in the directory, and those that they start meanwhile.
fn kill_all_in(directory: &Path) -> anyhow::Result<()> {
    let deadline = Instant::now() + STOPPED_WITHIN;
    loop {
        let processes = processes_in(directory)?;
        if processes.is_empty() {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "processes do not die: {processes:?}");
        for (process, _) in processes {
            let process = i32::try_from(process).ok().and_then(Pid::from_raw);
            // Gone already is as good.
            let _ = process.map(|process| kill_process(process, Signal::KILL));
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Kind::Manager { child, .. } = &mut self.kind {
            // Both fail when it has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn home(capt: &Path, place: &Path, arguments: &[&str]) -> anyhow::Result<Home> {
    Ok(Home::start_with(capt, &place.join("home"), &place.join("messages"), arguments)?)
}
