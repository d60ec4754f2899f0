//! Labels the Clusters whose releases left Terraform.

use std::collections::BTreeMap;

use capt_api::{Cluster, WorkspaceTemplateApply};
use kube::{Api, ResourceExt};
use serde_json::json;

use super::Work;
use crate::commands::migrate::WRITER;
use crate::commands::migrate::mark::Mark;

/// Puts the labels on each Cluster of which a release has left its state.
pub(super) async fn put(work: &Work<'_>) -> anyhow::Result<()> {
    for subject in work.subjects() {
        let key = &subject.key;
        let Some(cluster) = subject.cluster.as_ref().map(ResourceExt::name_any) else { continue };
        let applies: Api<WorkspaceTemplateApply> = Api::namespaced(work.client.clone(), &key.namespace);
        let Some(apply) = applies.get_opt(&key.name).await? else { continue };
        if Mark::of(&apply)?.is_none_or(|mark| mark.addresses.is_empty()) {
            continue;
        }
        let clusters: Api<Cluster> = Api::namespaced(work.client.clone(), &key.namespace);
        let doing = format!("labelling Cluster `{}/{cluster}`", key.namespace);
        let labels = &work.request.labels;
        WRITER
            .change(&clusters, &cluster, &doing, |cluster| {
                let lacking: BTreeMap<_, _> =
                    labels.iter().filter(|(key, _)| !cluster.labels().contains_key(*key)).collect();
                Ok((!lacking.is_empty()).then(|| json!({ "metadata": { "labels": lacking } })))
            })
            .await?;
    }
    Ok(())
}
