//! What runs Workspaces, which may still be on its way: nothing needs it before the controllers start.

use std::path::PathBuf;

use anyhow::Context;
use capt_local::Progress;
use tokio::sync::oneshot;

use crate::cli::{EngineArguments, EngineChoice};
use crate::engine::binary;
use crate::thread::spawn;

/// The binary, or the promise of one.
pub(super) enum Terraform {
    /// Running Workspaces is not for us.
    NotOurs,
    There(PathBuf),
    Coming(oneshot::Receiver<anyhow::Result<PathBuf>>),
}

impl Terraform {
    /// Whether it has to be got first.
    pub(super) fn is_missing(arguments: &EngineArguments) -> anyhow::Result<bool> {
        match arguments.choice {
            EngineChoice::Crossplane => Ok(false),
            EngineChoice::Auto | EngineChoice::Process => Ok(binary::at_hand(arguments)?.is_none()),
        }
    }

    /// Begins to get it where it is not at hand.
    pub(super) fn begin(arguments: &EngineArguments, progress: Progress) -> anyhow::Result<Self> {
        Ok(match arguments.choice {
            EngineChoice::Crossplane => Self::NotOurs,
            EngineChoice::Auto | EngineChoice::Process => match binary::at_hand(arguments)? {
                Some(path) => Self::There(path),
                None => Self::Coming(spawn(move || binary::fetch(&progress))),
            },
        })
    }

    /// Waits for it; `None` where running Workspaces is not for us.
    pub(super) async fn get(self) -> anyhow::Result<Option<PathBuf>> {
        match self {
            Self::NotOurs => Ok(None),
            Self::There(path) => Ok(Some(path)),
            Self::Coming(path) => path.await.context("a thread ended without an answer")?.map(Some),
        }
    }
}
