//! Whether Crossplane would find the state of a Workspace that CAPT hands back to it. Otherwise it would make everything a second
//! time.

use crate::workspace::backend::{Backend, StatePlace, is_declared};

/// What decides whether Crossplane would find a state.
#[derive(Clone, Debug)]
pub struct Leaving<'facts> {
    /// Where CAPT has noted the state to be, as `namespace/secret`.
    pub note: Option<&'facts str>,
    /// The Terraform workspace.
    pub terraform_workspace: &'facts str,
    /// The name of the `ProviderConfig`.
    pub config: &'facts str,
    /// Where that says that states are kept, if it exists.
    pub backend: Option<Backend>,
    /// The backend that keeps the state, where that is on record and not CAPT's choice.
    pub elsewhere: Option<&'facts str>,
    /// Where CAPT keeps a state that is not noted yet.
    pub unnoted: Option<StatePlace>,
}

impl Leaving<'_> {
    /// Where the state is, as far as it is known, or what is in the way.
    pub fn check(&self) -> Result<Option<StatePlace>, String> {
        let Some(found) = &self.backend else {
            return Err(format!("ProviderConfig `{}` does not exist: create it", self.config));
        };
        if let Some(note) = self.note {
            let Some(noted) = StatePlace::noted(note, self.terraform_workspace) else {
                return Err(format!(
                    "its state is noted to be in Secret `{note}`, which is none of Terraform workspace `{}`",
                    self.terraform_workspace
                ));
            };
            return if *found == Backend::Here(noted.clone()) {
                Ok(Some(noted))
            } else {
                Err(self.not_found(&noted))
            };
        }
        match (found, self.elsewhere, &self.unnoted) {
            (Backend::Here(place), _, _) => Ok(Some(place.clone())),
            (Backend::Nowhere, Some(backend), _) if is_declared(backend) => Err(format!(
                "its state is where the backend of its ProviderConfig kept it, and ProviderConfig `{}` declares none any more: let it declare that again",
                self.config
            )),
            (Backend::Nowhere, None, Some(place)) => Err(self.not_found(place)),
            // The ProviderConfig or the module says it to whoever runs it, or there is none.
            (Backend::Declared | Backend::Nowhere, _, _) => Ok(None),
        }
    }

    fn not_found(&self, state: &StatePlace) -> String {
        format!(
            "its state is in Secret `{}/{}`, where ProviderConfig `{}` does not lead, so Crossplane would make everything a second time: let spec.configuration of its ProviderConfig say\n{}",
            state.namespace,
            state.secret(self.terraform_workspace),
            self.config,
            state.configuration()
        )
    }
}

/// Whether CAPT keeps a state where Crossplane would not look for it. A note that cannot be read leads nowhere.
pub fn keeps(note: Option<&str>, terraform_workspace: &str, backend: Option<&Backend>) -> bool {
    note.is_some_and(|note| match (StatePlace::noted(note, terraform_workspace), backend) {
        (Some(noted), Some(Backend::Here(found))) => noted != *found,
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::workspace::backend::DECLARED;

    fn here(namespace: &str, suffix: &str) -> StatePlace {
        StatePlace { namespace: namespace.to_owned(), suffix: suffix.to_owned() }
    }

    fn theirs() -> Backend {
        Backend::Here(here("crossplane-system", "state"))
    }

    const NOTED: Option<&str> = Some("crossplane-system/tfstate-x-state");
    const OURS: Option<&str> = Some("team-a/tfstate-x-capt");

    #[rstest]
    #[case::where_it_is_noted(NOTED, Some(theirs()), None, None)]
    #[case::never_made(None, Some(theirs()), None, None)]
    #[case::nothing_at_all(None, Some(Backend::Nowhere), None, None)]
    #[case::in_a_bucket(None, Some(Backend::Declared), Some(DECLARED), None)]
    #[case::where_the_module_says(None, Some(Backend::Nowhere), Some("s3"), None)]
    fn what_crossplane_finds_is_handed_back(
        #[case] note: Option<&str>,
        #[case] backend: Option<Backend>,
        #[case] elsewhere: Option<&str>,
        #[case] unnoted: Option<StatePlace>,
    ) {
        let leaving = Leaving { note, terraform_workspace: "x", config: "c", backend, elsewhere, unnoted };
        assert!(leaving.check().is_ok(), "{:?}", leaving.check());
    }

    #[rstest]
    #[case::without_a_config(NOTED, None, None, None, "does not exist")]
    #[case::in_another_secret(OURS, Some(theirs()), None, None, "secret_suffix     = \"capt\"")]
    #[case::no_longer_declared(NOTED, Some(Backend::Nowhere), None, None, "secret_suffix     = \"state\"")]
    #[case::noted_and_now_in_a_bucket(
        OURS,
        Some(Backend::Declared),
        Some("s3"),
        None,
        "namespace         = \"team-a\""
    )]
    #[case::noted_and_now_as_the_module_says(OURS, Some(Backend::Nowhere), Some("s3"), None, "does not lead")]
    #[case::a_note_that_cannot_be_read(
        Some("team-a/tfstate-y-capt"),
        Some(theirs()),
        None,
        None,
        "`team-a/tfstate-y-capt`"
    )]
    #[case::an_empty_note(Some(""), Some(Backend::Nowhere), None, None, "is noted")]
    #[case::of_a_config_that_declares_it_no_more(
        None,
        Some(Backend::Nowhere),
        Some(DECLARED),
        None,
        "declares none any more"
    )]
    #[case::kept_and_not_noted_yet(
        None,
        Some(Backend::Nowhere),
        None,
        Some(here("team-a", "capt")),
        "team-a/tfstate-x-capt"
    )]
    fn what_crossplane_would_not_find_stays(
        #[case] note: Option<&str>,
        #[case] backend: Option<Backend>,
        #[case] elsewhere: Option<&str>,
        #[case] unnoted: Option<StatePlace>,
        #[case] expected: &str,
    ) {
        let leaving = Leaving { note, terraform_workspace: "x", config: "c", backend, elsewhere, unnoted };
        let told = leaving.check().unwrap_err();
        assert!(told.contains(expected), "{told}");
    }

    #[rstest]
    #[case::no_note(None, None, false)]
    #[case::found(NOTED, Some(theirs()), false)]
    #[case::of_crossplane_and_no_longer_declared(NOTED, Some(Backend::Nowhere), true)]
    #[case::of_crossplane_and_in_a_bucket_now(NOTED, Some(Backend::Declared), true)]
    #[case::ours(OURS, Some(theirs()), true)]
    #[case::ours_without_a_config(OURS, None, true)]
    #[case::unreadable("team-a".into(), Some(theirs()), true)]
    fn a_state_is_kept_unless_crossplane_would_find_exactly_that(
        #[case] note: Option<&str>,
        #[case] backend: Option<Backend>,
        #[case] expected: bool,
    ) {
        assert_eq!(keeps(note, "x", backend.as_ref()), expected);
    }
}
