//! What is in the way of handing a Workspace over, before anything is written.

use capt_api::Workspace;
use capt_api::crossplane::{FileFormat, ModuleSource, ProviderConfigSpec};
use capt_api::names::annotation;
use kube::ResourceExt;

use super::leaving::Leaving;
use super::{CAPT, CROSSPLANE, Handover, handover, is_paused};
use crate::tie;
use crate::workspace::backend::{Backend, DEFAULT_CONFIG, StatePlace, backend, declares};
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
    /// The Secret that the state is in, as `namespace/name`, where it is noted or the `ProviderConfig` leads to one of this cluster.
    pub fn secret(&self) -> Option<(String, String)> {
        let place = match self.backend() {
            Some(Backend::Here(place)) => place,
            Some(Backend::Declared) => return None,
            Some(Backend::Nowhere) | None => self.noted_place()?,
        };
        let secret = place.secret(&self.terraform_workspace());
        Some((place.namespace, secret))
    }

    /// Whether CAPT can take it over from Crossplane.
    pub fn can_be_taken(&self) -> Verdict {
        let metadata = &self.workspace.metadata;
        let wish = self.noted(annotation::RUN_BY);
        if handover(metadata) == Some(Handover::Taken) && wish.is_some_and(|wish| wish != CROSSPLANE) {
            return Verdict::NothingToDo;
        }
        // One that Crossplane is asked for is nobody's, until somebody says that it has put it down.
        if metadata.deletion_timestamp.is_some() && handover(metadata) != Some(Handover::Pausing) {
            return in_the_way("it is being deleted: whoever runs it takes it down");
        }
        if is_paused(metadata) {
            return Verdict::InTheWay(format!(
                "it is paused, and taken over it would be run: lift the pause first (kubectl annotate workspace {} {}-)",
                self.workspace.name_any(),
                annotation::CROSSPLANE_PAUSED
            ));
        }
        let made = traces(self.workspace).theirs;
        match (self.backend(), self.noted_place()) {
            (Some(Backend::Declared), _) => {
                Verdict::Possible("where the backend of its ProviderConfig keeps it".to_owned())
            }
            (Some(Backend::Here(place)), _) => {
                let title = self.title(&place);
                if made && !self.state_is_there {
                    return Verdict::InTheWay(format!(
                        "Crossplane has made something for it, but there is no Secret `{title}` with its state: let its ProviderConfig say where it is"
                    ));
                }
                Verdict::Possible(format!("Secret `{title}`"))
            }
            // CAPT has made it, and only says so.
            (Some(Backend::Nowhere) | None, Some(noted)) => {
                Verdict::Possible(format!("Secret `{}`", self.title(&noted)))
            }
            (None, None) => self.no_config(),
            (Some(Backend::Nowhere), None) => match (made, self.module_declares()) {
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
        let terraform_workspace = self.terraform_workspace();
        let told = self.workspace.status.as_ref().and_then(|status| status.engine.as_ref()?.state.as_ref());
        let leaving = Leaving {
            note: self.note,
            terraform_workspace: &terraform_workspace,
            config: &self.workspace.spec.provider_config_ref.name,
            backend: self.backend(),
            elsewhere: told.map(|state| state.backend.as_str()).filter(|backend| *backend != "kubernetes"),
            unnoted: None,
        };
        match leaving.check() {
            Err(what) => Verdict::InTheWay(what),
            Ok(Some(place)) if self.note.is_some() && !self.state_is_there && !self.is_loss_accepted() => {
                Verdict::InTheWay(format!(
                    "there is no Secret `{}` with its state, and Crossplane would make everything a second time: restore it (`capt state restore`), or annotate the Workspace with {}=true",
                    self.title(&place),
                    annotation::ACCEPT_MISSING_STATE
                ))
            }
            Ok(Some(place)) if self.note.is_some() => {
                Verdict::Possible(format!("Secret `{}`", self.title(&place)))
            }
            Ok(_) => Verdict::Possible("where its ProviderConfig or its module says".to_owned()),
        }
    }

    fn is_loss_accepted(&self) -> bool {
        self.noted(annotation::ACCEPT_MISSING_STATE) == Some("true")
    }

    fn noted_place(&self) -> Option<StatePlace> {
        StatePlace::noted(self.note?, &self.terraform_workspace())
    }

    fn title(&self, place: &StatePlace) -> String {
        format!("{}/{}", place.namespace, place.secret(&self.terraform_workspace()))
    }

    /// Where its `ProviderConfig` says that states are kept. The one that is meant where nothing is said need not be there.
    fn backend(&self) -> Option<Backend> {
        match self.config {
            Some(config) => Some(backend(config, &self.workspace.spec.for_provider)),
            None => {
                (self.workspace.spec.provider_config_ref.name == DEFAULT_CONFIG).then_some(Backend::Nowhere)
            }
        }
    }

    fn noted(&self, key: &str) -> Option<&str> {
        self.workspace.annotations().get(key).map(String::as_str)
    }

    fn terraform_workspace(&self) -> String {
        let named = self.noted(annotation::EXTERNAL_NAME).filter(|name| !name.is_empty());
        let kept_as =
            || self.noted(annotation::KEPT_AS).map_or_else(|| self.workspace.name_any(), ToOwned::to_owned);
        named.map_or_else(|| tie::label_value(&kept_as()), ToOwned::to_owned)
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
        let mut workspace = workspace(&[MADE, FOR_CAPT], &json!({}));
        workspace.spec.provider_config_ref.name = "theirs".to_owned();
        let subject = Subject { workspace: &workspace, config: None, note: None, state_is_there: true };
        assert!(is_in_the_way(&subject.can_be_taken(), "ProviderConfig `theirs` does not exist"));
        assert!(is_in_the_way(&subject.can_be_handed_back(), "ProviderConfig `theirs` does not exist"));
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
    fn what_capt_has_made_can_be_marked_as_its_own() {
        let mut workspace = workspace(&[], &json!({}));
        workspace.status =
            serde_json::from_value(json!({ "atProvider": { "outputs": { "a": 1 } } })).unwrap();
        let note = Some("team-a/tfstate-x-capt");
        let expected = Verdict::Possible("Secret `team-a/tfstate-x-capt`".to_owned());
        let silent = config("");
        for config in [None, Some(&silent)] {
            let subject = Subject { workspace: &workspace, config, note, state_is_there: true };
            assert_eq!(subject.can_be_taken(), expected);
            assert_eq!(subject.secret(), Some(("team-a".to_owned(), "tfstate-x-capt".to_owned())));
            let unnoted = Subject { note: None, ..subject };
            assert_eq!(unnoted.can_be_taken(), Verdict::Possible("nowhere yet".to_owned()));
        }
    }

    #[test]
    fn the_provider_config_that_is_meant_where_none_is_said_need_not_be_there() {
        let (made, config) = (workspace(&[MADE], &json!({})), config(""));
        for config in [None, Some(&config)] {
            let subject = Subject { workspace: &made, config, note: None, state_is_there: false };
            assert!(is_in_the_way(&subject.can_be_taken(), "own disk"));
        }
    }

    #[rstest]
    #[case::that_nobody_runs(&[FOR_CAPT, PAUSED, (annotation::HANDOVER, "pausing")], true)]
    #[case::that_crossplane_runs(&[], false)]
    fn a_workspace_that_is_deleted_can_be_taken_from_nobody_only(
        #[case] annotations: &[(&str, &str)],
        #[case] expected: bool,
    ) {
        let (mut workspace, config) = (workspace(annotations, &json!({})), config(HERE));
        workspace.metadata.deletion_timestamp =
            Some(serde_json::from_value(json!("2026-01-01T10:00:00Z")).unwrap());
        let subject =
            Subject { workspace: &workspace, config: Some(&config), note: None, state_is_there: true };
        assert_eq!(matches!(subject.can_be_taken(), Verdict::Possible(_)), expected);
    }

    #[test]
    fn a_state_that_is_missing_is_not_handed_back_before_that_is_accepted() {
        let (taken, config) = (workspace(&[TAKEN, FOR_CAPT, PAUSED], &json!({})), config(HERE));
        let note = Some("crossplane-system/tfstate-x-state");
        let subject = Subject { workspace: &taken, config: Some(&config), note, state_is_there: false };
        assert!(is_in_the_way(&subject.can_be_handed_back(), "there is no Secret"));
        let accepted =
            workspace(&[TAKEN, FOR_CAPT, PAUSED, (annotation::ACCEPT_MISSING_STATE, "true")], &json!({}));
        let subject = Subject { workspace: &accepted, ..subject };
        assert!(matches!(subject.can_be_handed_back(), Verdict::Possible(_)));
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
