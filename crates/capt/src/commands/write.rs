//! Writes that apply to exactly what was read, tried again where somebody else was faster.

use std::fmt::Debug;

use anyhow::{Context as _, bail};
use kube::api::{Patch, PatchParams};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Controllers write to the same objects all the time.
const ATTEMPTS: usize = 20;

/// Writes in the name of a verb: whoever looks at the managers of a field sees where it comes from.
pub(crate) struct Writer(pub(crate) &'static str);

impl Writer {
    /// Reads an object, and merges into it what `change` makes of it, if anything. An object that is gone is left alone.
    pub(crate) async fn change<K>(
        &self,
        api: &Api<K>,
        name: &str,
        doing: &str,
        mut change: impl FnMut(&K) -> anyhow::Result<Option<Value>>,
    ) -> anyhow::Result<Option<K>>
    where
        K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
    {
        for _ in 0..ATTEMPTS {
            let Some(found) = api.get_opt(name).await.with_context(|| doing.to_owned())? else {
                return Ok(None);
            };
            let Some(mut patch) = change(&found)? else { return Ok(Some(found)) };
            patch["metadata"]["uid"] = found.uid().into();
            patch["metadata"]["resourceVersion"] = found.resource_version().into();
            let parameters = PatchParams { field_manager: Some(self.0.to_owned()), ..PatchParams::default() };
            match api.patch(name, &parameters, &Patch::Merge(&patch)).await {
                Ok(written) => return Ok(Some(written)),
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                Err(error) => return Err(error).with_context(|| doing.to_owned()),
            }
        }
        bail!("{doing}: somebody else changes it all the time")
    }
}
