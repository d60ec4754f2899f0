//! What is in the way of handing a Workspace over, before anything is written.

use capt_api::Workspace;
use capt_api::crossplane::{FileFormat, ModuleSource, ProviderConfigSpec};
use capt_api::names::annotation;
use kube::ResourceExt;

use super::{CAPT, CROSSPLANE, Handover, handover, is_paused};
use crate::workspace::backend::{Backend, StatePlace, backend, declares};
use crate::workspace::traces::traces;

/// A Workspace, and what its state depends on.
pub struct Subject<'facts> {
    /// The Workspace.
    pub workspace: &'facts Workspace,
    /// Its `ProviderConfig`, if it exists.
    pub config: Option<&'facts ProviderConfigSpec>,
    /// Where CAPT has noted its state to be, as `namespace/secret`.
    pub note: Option<&'facts str>,
    /// Whether the Secret with its state is there, for a state in Secrets of this cluster.
    pub state_is_there: bool,
}

/// Whether a Workspace can be handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is where it is wanted.
    NothingToDo,
    /// It can be handed over. Its state is there, in words.
    Possible(String),
    /// Something is in the way, and what to do about it.
    InTheWay(String),
}

impl Subject<'_> {
    /// The Secret that the state is in, as `namespace/name`, where the `ProviderConfig` leads to one of this cluster.
    pub fn secret(&self) -> Option<(String, String)> {
        match self.backend()? {
            Backend::Here(place) => {
                let secret = place.secret(&self.terraform_workspace());
                Some((place.namespace, secret))
            }
            Backend::Nowhere | Backend::Declared => None,
        }
    }

    /// Whether CAPT can take it over from Crossplane.
    pub fn can_be_taken(&self) -> Verdict {
        let metadata = &self.workspace.metadata;
        let wish = self.noted(annotation::RUN_BY);
        if handover(metadata) == Some(Handover::Taken) && wish.is_some_and(|wish| wish != CROSSPLANE) {
            return Verdict::NothingToDo;
        }
        if metadata.deletion_timestamp.is_some() {
            return in_the_way("it is being deleted: whoever runs it takes it down");
        }
        if is_paused(metadata) {
            return Verdict::InTheWay(format!(
                "it is paused, and taken over it would be run: lift the pause first (kubectl annotate workspace {} {}-)",
                self.workspace.name_any(),
                annotation::CROSSPLANE_PAUSED
            ));
        }
        let made = traces(self.workspace).made;
        match self.backend() {
            None => self.no_config(),
            Some(Backend::Declared) => {
                Verdict::Possible("where the backend of its ProviderConfig keeps it".to_owned())
            }
            Some(Backend::Here(place)) => {
                let title = format!("{}/{}", place.namespace, place.secret(&self.terraform_workspace()));
                if made && !self.state_is_there {
                    return Verdict::InTheWay(format!(
                        "Crossplane has made something for it, but there is no Secret `{title}` with its state: let its ProviderConfig say where it is"
                    ));
                }
                Verdict::Possible(format!("Secret `{title}`"))
            }
            Some(Backend::Nowhere) => match (made, self.module_declares()) {
                (_, Some(true)) => Verdict::Possible("where the backend of its module keeps it".to_owned()),
                (true, Some(false)) => in_the_way(
                    "Crossplane keeps its state on provider-terraform's own disk, since neither its ProviderConfig nor its module declares a backend: move the state into a backend, and let the ProviderConfig declare that",
                ),
                // The module is elsewhere: what it declares shows when it is planned, and nothing is made before.
                (true, None) => Verdict::Possible("where its module says".to_owned()),
                (false, _) => Verdict::Possible("nowhere yet".to_owned()),
            },
        }
    }

    /// Whether CAPT can hand it back to Crossplane.
    pub fn can_be_handed_back(&self) -> Verdict {
        let metadata = &self.workspace.metadata;
        if handover(metadata).is_none() && self.noted(annotation::RUN_BY) != Some(CAPT) {
            return Verdict::NothingToDo;
        }
        if metadata.deletion_timestamp.is_some() {
            return in_the_way("it is being deleted: whoever runs it takes it down");
        }
        let Some(found) = self.backend() else { return self.no_config() };
        let noted = self.note.and_then(|note| StatePlace::noted(note, &self.terraform_workspace()));
        match (noted, found) {
            (Some(noted), found) if found != Backend::Here(noted.clone()) => Verdict::InTheWay(format!(
                "its state is in Secret `{}/{}`, where ProviderConfig `{}` does not lead, so Crossplane would make everything a second time: let spec.configuration of its ProviderConfig say\n{}",
                noted.namespace,
                noted.secret(&self.terraform_workspace()),
                self.workspace.spec.provider_config_ref.name,
                noted.configuration()
            )),
            (Some(noted), _) => Verdict::Possible(format!(
                "Secret `{}/{}`",
                noted.namespace,
                noted.secret(&self.terraform_workspace())
            )),
            (None, _) => Verdict::Possible("where its ProviderConfig or its module says".to_owned()),
        }
    }

    fn backend(&self) -> Option<Backend> {
        Some(backend(self.config?, &self.workspace.spec.for_provider))
    }

    fn noted(&self, key: &str) -> Option<&str> {
        self.workspace.annotations().get(key).map(String::as_str)
    }

    fn terraform_workspace(&self) -> String {
        let named = self.noted(annotation::EXTERNAL_NAME).filter(|name| !name.is_empty());
        named.map_or_else(|| self.workspace.name_any(), ToOwned::to_owned)
    }

    /// Whether the module declares a backend, where that can be read.
    fn module_declares(&self) -> Option<bool> {
        let module = &self.workspace.spec.for_provider;
        let readable = module.source == ModuleSource::Inline
            && module.inline_format.unwrap_or_default() == FileFormat::Hcl;
        readable.then(|| declares(&module.module))
    }

    fn no_config(&self) -> Verdict {
        let name = &self.workspace.spec.provider_config_ref.name;
        Verdict::InTheWay(format!(
            "ProviderConfig `{name}` does not exist: create it, so that its state is found"
        ))
    }
}

fn in_the_way(what: &str) -> Verdict {
    Verdict::InTheWay(what.to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    const HERE: &str = "terraform {\n  backend \"kubernetes\" {\n    namespace = \"crossplane-system\"\n    secret_suffix = \"state\"\n  }\n}\n";
    const S3: &str = "terraform {\n  backend \"s3\" {}\n}\n";
    const MADE: (&str, &str) = (annotation::EXTERNAL_CREATE_SUCCEEDED, "2026-01-01T10:00:00Z");
    const PAUSED: (&str, &str) = (annotation::CROSSPLANE_PAUSED, "true");
    const TAKEN: (&str, &str) = (annotation::HANDOVER, "taken");
    const FOR_CAPT: (&str, &str) = (annotation::RUN_BY, CAPT);

    fn workspace(annotations: &[(&str, &str)], module: &Value) -> Workspace {
        let annotations: serde_json::Map<String, Value> =
            annotations.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
        let mut object = json!({
            "apiVersion": "tf.upbound.io/v1beta1", "kind": "Workspace",
            "metadata": { "name": "x", "annotations": annotations },
            "spec": { "forProvider": { "source": "Inline", "module": "" } },
        });
        object["spec"]["forProvider"].as_object_mut().unwrap().extend(module.as_object().unwrap().clone());
        serde_json::from_value(object).unwrap()
    }

    fn config(configuration: &str) -> ProviderConfigSpec {
        serde_json::from_value(json!({ "configuration": configuration })).unwrap()
    }

    fn is_in_the_way(verdict: &Verdict, text: &str) -> bool {
        matches!(verdict, Verdict::InTheWay(what) if what.contains(text))
    }

    #[rstest]
    #[case::on_its_own_disk("", &[MADE], json!({}), false, "own disk")]
    #[case::without_its_state(HERE, &[MADE], json!({}), false, "crossplane-system/tfstate-x-state")]
    #[case::paused_by_its_user(HERE, &[MADE, PAUSED], json!({}), true, "lift the pause")]
    fn what_is_in_the_way_of_taking_over(
        #[case] configuration: &str,
        #[case] annotations: &[(&str, &str)],
        #[case] module: Value,
        #[case] state_is_there: bool,
        #[case] expected: &str,
    ) {
        let (workspace, config) = (workspace(annotations, &module), config(configuration));
        let subject = Subject { workspace: &workspace, config: Some(&config), note: None, state_is_there };
        let verdict = subject.can_be_taken();
        assert!(is_in_the_way(&verdict, expected), "{verdict:?}");
    }

    #[rstest]
    #[case::found(HERE, &[MADE], json!({}), "Secret `crossplane-system/tfstate-x-state`")]
    #[case::under_another_name(HERE, &[MADE, (annotation::EXTERNAL_NAME, "other")], json!({}), "Secret `crossplane-system/tfstate-other-state`")]
    #[case::in_a_bucket(S3, &[MADE], json!({}), "where the backend of its ProviderConfig keeps it")]
    #[case::as_the_module_says("", &[MADE], json!({ "module": S3 }), "where the backend of its module keeps it")]
    #[case::as_a_module_elsewhere_says("", &[MADE], json!({ "source": "Remote", "module": "git::https://example.org/m" }), "where its module says")]
    #[case::nothing_made_yet("", &[], json!({}), "nowhere yet")]
    fn what_can_be_taken_over(
        #[case] configuration: &str,
        #[case] annotations: &[(&str, &str)],
        #[case] module: Value,
        #[case] expected: &str,
    ) {
        let (workspace, config) = (workspace(annotations, &module), config(configuration));
        let subject =
            Subject { workspace: &workspace, config: Some(&config), note: None, state_is_there: true };
        assert_eq!(subject.can_be_taken(), Verdict::Possible(expected.to_owned()));
    }

    #[test]
    fn without_a_provider_config_nothing_is_known() {
        let workspace = workspace(&[MADE, FOR_CAPT], &json!({}));
        let subject = Subject { workspace: &workspace, config: None, note: None, state_is_there: true };
        assert!(is_in_the_way(&subject.can_be_taken(), "ProviderConfig `default` does not exist"));
        assert!(is_in_the_way(&subject.can_be_handed_back(), "ProviderConfig `default` does not exist"));
    }

    #[rstest]
    #[case::as_crossplane_keeps_it(HERE, Some("crossplane-system/tfstate-x-state"), None)]
    #[case::never_made(HERE, None, None)]
    #[case::elsewhere(S3, None, None)]
    #[case::as_capt_keeps_it("", Some("team-a/tfstate-x-capt"), Some("secret_suffix     = \"capt\""))]
    #[case::in_another_secret(HERE, Some("team-a/tfstate-x-capt"), Some("namespace         = \"team-a\""))]
    #[case::no_longer_declared(
        "",
        Some("crossplane-system/tfstate-x-state"),
        Some("secret_suffix     = \"state\"")
    )]
    fn what_crossplane_would_find_can_be_handed_back(
        #[case] configuration: &str,
        #[case] note: Option<&str>,
        #[case] in_the_way: Option<&str>,
    ) {
        let (workspace, config) = (workspace(&[TAKEN, FOR_CAPT, PAUSED], &json!({})), config(configuration));
        let subject = Subject { workspace: &workspace, config: Some(&config), note, state_is_there: true };
        let verdict = subject.can_be_handed_back();
        match in_the_way {
            None => assert!(matches!(verdict, Verdict::Possible(_)), "{verdict:?}"),
            Some(text) => assert!(is_in_the_way(&verdict, text), "{verdict:?}"),
        }
    }

    #[test]
    fn what_is_where_it_is_wanted_stays() {
        let taken = workspace(&[TAKEN, FOR_CAPT, PAUSED], &json!({}));
        let subject = Subject { workspace: &taken, config: None, note: None, state_is_there: false };
        assert_eq!(subject.can_be_taken(), Verdict::NothingToDo);
        let theirs = workspace(&[MADE], &json!({}));
        let subject = Subject { workspace: &theirs, config: None, note: None, state_is_there: false };
        assert_eq!(subject.can_be_handed_back(), Verdict::NothingToDo);
    }
}
