//! Other content that a person wants to see planned.

use capt_api::crossplane::{ForProvider, KeyReference};
use capt_core::apply::render::SECRET_FILE_KEY;

use super::{Failure, StateOf};
use crate::workspace::candidate::{self, Candidate};

impl StateOf {
    /// Writes down what is to be planned for a request, with the file of secret values that it refers to. The answer goes into
    /// the annotation `plan-candidate`.
    pub async fn put_candidate(
        &self,
        request: &str,
        for_provider: &ForProvider,
        values: Option<&str>,
    ) -> Result<String, Failure> {
        let content = Candidate { request, for_provider, values };
        let put = candidate::put(&self.client, &self.place, &content).await?;
        put.map_err(|blocked| Failure { sentence: blocked.message, conflict: false })
    }

    /// Where what is to be planned finds its file of secret values.
    pub fn candidate_values(&self) -> KeyReference {
        KeyReference {
            namespace: self.place.namespace.clone(),
            name: candidate::name(&self.place),
            key: SECRET_FILE_KEY.to_owned(),
        }
    }

    /// Takes away what was to be planned.
    pub async fn remove_candidate(&self) -> Result<(), Failure> {
        Ok(candidate::remove(&self.client, &self.place).await?)
    }
}
