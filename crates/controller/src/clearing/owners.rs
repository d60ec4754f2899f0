//! Suspends what would bring back what is taken down.

use kube::api::DynamicObject;
use serde_json::json;

use super::objects::served;
use super::releases::Releases;
use crate::workload::{Failure, Talk};

const KUSTOMIZATION: [&str; 3] = [
    "kustomize.toolkit.fluxcd.io/v1",
    "kustomize.toolkit.fluxcd.io/v1beta2",
    "kustomize.toolkit.fluxcd.io/v1beta1",
];
const APPLICATION: [&str; 1] = ["argoproj.io/v1alpha1"];

/// Suspends Flux's `Kustomizations`, every `HelmRelease` that is not ours to uninstall, and Argo CD's automatic syncs.
pub(super) async fn suspend(talk: &Talk<'_>, found: &Releases<'_>) -> Result<(), Failure> {
    let suspended = json!({ "spec": { "suspend": true } });
    if let Some(kustomizations) = served(talk, &KUSTOMIZATION, "Kustomization").await? {
        for object in kustomizations.all().await?.iter().filter(|object| !is_suspended(object)) {
            kustomizations.change(object, &suspended).await?;
        }
    }
    if let Some(releases) = &found.served {
        let others = found.others.iter().filter(|object| !is_suspended(object));
        for object in others {
            releases.change(object, &suspended).await?;
        }
    }
    if let Some(applications) = served(talk, &APPLICATION, "Application").await? {
        let by_hand = json!({ "spec": { "syncPolicy": { "automated": null } } });
        for object in applications.all().await?.iter().filter(|object| is_automated(object)) {
            applications.change(object, &by_hand).await?;
        }
    }
    Ok(())
}

pub(super) fn is_suspended(object: &DynamicObject) -> bool {
    object.data["spec"]["suspend"] == json!(true)
}

fn is_automated(application: &DynamicObject) -> bool {
    !application.data["spec"]["syncPolicy"]["automated"].is_null()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_syncs_by_itself_is_stopped() {
        let application = |policy| -> DynamicObject {
            serde_json::from_value(json!({ "metadata": { "name": "a" }, "spec": { "syncPolicy": policy } }))
                .unwrap()
        };
        assert!(is_automated(&application(json!({ "automated": {} }))));
        assert!(!is_automated(&application(json!({}))));
        assert!(!is_automated(&application(json!(null))));
        let bare: DynamicObject = serde_json::from_value(json!({ "metadata": { "name": "a" } })).unwrap();
        assert!(!is_automated(&bare) && !is_suspended(&bare));
    }
}
