//! Copies of a state: listed, read, put back.

use capt_api::names::annotation;
use capt_terraform::Secret as Hidden;
use k8s_openapi::jiff::Timestamp;
use serde_json::json;

use super::{Content, Failure, StateOf, pack, unpack};
use crate::error::Error;
use crate::workspace::place::kept::aside;
use crate::workspace::snapshot::{self, Version};
use crate::workspace::state;

/// A copy of a state.
pub struct Snapshot {
    /// How often the state had been written.
    pub serial: u64,
    /// Names the state and all that follow from it.
    pub lineage: String,
    /// When it was taken.
    pub taken_at: Timestamp,
    kept: snapshot::Snapshot,
}

impl StateOf {
    /// The copies that there are, the newest first.
    pub async fn snapshots(&self) -> Result<Vec<Snapshot>, Failure> {
        let all = snapshot::all(&self.client, &self.place).await?;
        let told = all.into_iter().map(|kept| Snapshot {
            serial: kept.version.serial,
            lineage: kept.version.lineage.clone(),
            taken_at: kept.taken_at,
            kept,
        });
        Ok(told.collect())
    }

    /// What is in a copy, as Terraform wrote it; nothing when it is not whole or cannot be unpacked.
    pub async fn snapshot(&self, snapshot: &Snapshot) -> Result<Option<Hidden>, Failure> {
        let Some(packed) = snapshot::read(&self.client, &self.place, &snapshot.kept).await? else {
            return Ok(None);
        };
        Ok(aside(move || unpack(packed.expose())).await?)
    }

    /// Puts a state back in the place of the one that was read, of which a copy is made before. The copy that it comes from
    /// stays. The next plan waits for approval.
    pub async fn put_back(&self, read: &Content, text: Vec<u8>, from: &Snapshot) -> Result<(), Failure> {
        let spared: &Version = &from.kept.version;
        snapshot::take(&self.client, &self.place, &read.found, Some(spared)).await?;
        self.put(read, text, json!({ annotation::RESTORED_AT: now() })).await
    }

    /// Puts a state back where there is none.
    pub async fn make_again(&self, text: Vec<u8>) -> Result<(), Failure> {
        let packed = aside(move || pack(&text)).await?;
        let doing = format!("making the state in Secret `{}`", self.secret());
        let made = state::make(&self.client, &self.place, packed, Some(&now())).await;
        Ok(made.map_err(Error::api(doing))?)
    }
}

/// To the nanosecond, so that no two are the same.
fn now() -> String {
    format!("{:.9}", Timestamp::now())
}
