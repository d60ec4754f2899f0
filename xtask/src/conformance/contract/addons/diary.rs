//! What happened when, by the resourceVersions of one API server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, ensure};
use kube::api::{Api, DynamicObject};
use kube::runtime::wait::await_condition;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::super::hands::SOON;
use super::super::home::Home;

const PAUSE: Duration = Duration::from_millis(100);

/// The first and the last version that something was true of.
type Entries = BTreeMap<String, (u64, u64)>;

/// Sees every version of some objects as long as it lives.
#[derive(Default)]
pub(super) struct Diary {
    entries: Arc<Mutex<Entries>>,
    watching: Vec<JoinHandle<()>>,
}

impl Drop for Diary {
    fn drop(&mut self) {
        for task in &self.watching {
            task.abort();
        }
    }
}

impl Diary {
    /// From now on notes what is true of each version of an object.
    pub(super) async fn watch(
        &mut self,
        objects: Api<DynamicObject>,
        name: &'static str,
        truths: fn(&Value) -> Vec<String>,
    ) -> anyhow::Result<()> {
        let looked = Arc::new(Notify::new());
        let (entries, looks) = (Arc::clone(&self.entries), Arc::clone(&looked));
        let see = move |object: Option<&DynamicObject>| {
            if let Some(object) = object {
                // What was an object is one.
                note(&entries, &serde_json::to_value(object).unwrap_or_default(), truths);
            }
            looks.notify_one();
            false
        };
        self.watching.push(tokio::spawn(async move {
            loop {
                // It ends only by an error, such as a connection that is lost.
                let _ = await_condition(objects.clone(), name, &see).await;
                sleep(PAUSE).await;
            }
        }));
        timeout(SOON, looked.notified()).await.with_context(|| format!("{name} cannot be watched"))
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Each of these became true, and each before the next.
    pub(super) async fn in_order(&self, home: &Home, truths: &[&str]) -> anyhow::Result<()> {
        let mut firsts = Vec::new();
        for truth in truths {
            let (first, _) = self.until(home, truth).await?;
            firsts.push((*truth, first));
        }
        rising(&firsts)
    }

    /// One was never true again once the other was.
    pub(super) async fn over(&self, home: &Home, past: &str, present: &str) -> anyhow::Result<()> {
        let (_, last) = self.until(home, past).await?;
        let (first, _) = self.until(home, present).await?;
        ensure!(last < first, "`{past}` was still true at {last}, after `{present}` at {first}");
        Ok(())
    }

    /// Everything that was ever true and begins so.
    pub(super) fn beginning(&self, start: &str) -> Vec<String> {
        self.entries().keys().filter(|truth| truth.starts_with(start)).cloned().collect()
    }

    async fn until(&self, home: &Home, truth: &str) -> anyhow::Result<(u64, u64)> {
        let deadline = Instant::now() + SOON;
        loop {
            let entry = self.entries().get(truth).copied();
            if let Some(entry) = entry {
                return Ok(entry);
            }
            home.still(deadline, &format!("`{truth}` was never seen")).await?;
        }
    }
}

fn note(entries: &Mutex<Entries>, object: &Value, truths: fn(&Value) -> Vec<String>) {
    let version = object["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok());
    let Some(version) = version else { return };
    let mut entries = entries.lock().unwrap_or_else(PoisonError::into_inner);
    for truth in truths(object) {
        let (_, last) = entries.entry(truth).or_insert((version, version));
        *last = version;
    }
}

/// Each is true for the first time after the one before.
fn rising(firsts: &[(&str, u64)]) -> anyhow::Result<()> {
    for pair in firsts.windows(2) {
        if let [(earlier, before), (later, after)] = pair {
            ensure!(before < after, "`{later}` came at {after}, and `{earlier}` only at {before}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::one_after_the_other(&[("flux", 3), ("values", 7), ("release", 8)], None)]
    #[case::at_once(&[("flux", 3), ("values", 3)], Some("`values` came at 3, and `flux` only at 3"))]
    #[case::the_wrong_way(&[("flux", 3), ("values", 9), ("release", 8)], Some("`release` came at 8, and `values` only at 9"))]
    fn what_comes_too_early_is_told(#[case] firsts: &[(&str, u64)], #[case] expected: Option<&str>) {
        assert_eq!(rising(firsts).err().map(|error| error.to_string()).as_deref(), expected);
    }

    #[test]
    fn the_first_and_the_last_version_are_kept() {
        let entries = Mutex::default();
        for (version, state) in [("4", "on"), ("10", "off"), ("12", "on")] {
            let object = json!({ "metadata": { "resourceVersion": version }, "state": state });
            note(&entries, &object, |object| vec![object["state"].to_string()]);
        }
        let expected = [("\"off\"".to_owned(), (10, 10)), ("\"on\"".to_owned(), (4, 12))];
        assert_eq!(entries.into_inner().unwrap(), Entries::from(expected));
    }
}
