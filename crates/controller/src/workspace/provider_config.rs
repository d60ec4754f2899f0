//! What a `ProviderConfig` adds to a run: credentials, configuration, and where the state is kept.

mod credentials;

use std::sync::OnceLock;

use capt_api::ProviderConfig;
use capt_api::crossplane::{ForProvider, ProviderConfigSpec};
use capt_api::names::Reason;
use capt_core::apply::Blocked;
use capt_core::name::is_object_name;
use capt_core::workspace::backend::{Backend, DEFAULT_CONFIG, StatePlace, backend};
use capt_terraform::{ExtraFile, Place, Secret};
use kube::Api;

use super::inputs::objects::Objects;
use crate::error::Error;
use crate::index::Dependency;
use crate::stop::Stop;

/// The file that Crossplane keeps the configuration in.
const CONFIGURATION_FILE: &str = "crossplane-provider-config.tf";

/// What a `ProviderConfig` adds to a run.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Additions {
    /// Files with credentials and configuration.
    pub(super) files: Vec<ExtraFile>,
    /// Where the state is kept.
    pub(super) backend: Keeping,
    /// Whether providers are kept for each Workspace by itself.
    pub(super) own_providers: bool,
}

/// Where a `ProviderConfig` says that states are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Keeping {
    /// It says nothing: the state is CAPT's to keep.
    #[default]
    Ours,
    /// In Secrets of this cluster.
    Here(StatePlace),
    /// By the backend that is declared, which has these settings beside.
    Declared(Secret),
}

impl Keeping {
    /// What the `ProviderConfig` says, without its settings.
    pub(super) fn backend(&self) -> Backend {
        match self {
            Self::Ours => Backend::Nowhere,
            Self::Here(place) => Backend::Here(place.clone()),
            Self::Declared(_) => Backend::Declared,
        }
    }
}

/// Reads the `ProviderConfig` and everything that it refers to. It belongs to the cluster's administrators: what it refers to
/// needs no grant.
pub(super) async fn read(
    name: &str,
    workspace: &ForProvider,
    located: &OnceLock<Keeping>,
    objects: &mut Objects<'_>,
) -> Result<Additions, Stop> {
    if !is_object_name(name) {
        let message = format!("spec.providerConfigRef.name: `{name}` cannot be the name of a ProviderConfig");
        return Err(Blocked::new(Reason::InvalidRun, message).into());
    }
    objects.notes.on(Dependency::ProviderConfig(name.to_owned()));
    let api: Api<ProviderConfig> = Api::all(objects.context.client.clone());
    let found = api.get_opt(name).await.map_err(Error::api(format!("reading ProviderConfig `{name}`")))?;
    let Some(config) = found else {
        if name != DEFAULT_CONFIG {
            return Err(missing(name).into());
        }
        let _ = located.set(Keeping::Ours);
        return Ok(Additions::default());
    };
    let backend = keeping(&config.spec, workspace);
    // Where the state is counts even if something else cannot be read.
    let _ = located.set(backend.clone());
    let mut files = Vec::new();
    for (index, entry) in config.spec.credentials.iter().enumerate() {
        let field = format!("ProviderConfig `{name}` spec.credentials[{index}]");
        files.push(credentials::file(&field, entry, objects).await?);
    }
    files.extend(configuration(&config.spec));
    Ok(Additions { files, backend, own_providers: !config.spec.plugin_cache })
}

fn missing(name: &str) -> Blocked {
    let message = format!(
        "spec.providerConfigRef: ProviderConfig `{name}` does not exist: create it, or leave providerConfigRef out"
    );
    Blocked::new(Reason::ProviderConfigMissing, message)
}

fn configuration(spec: &ProviderConfigSpec) -> Option<ExtraFile> {
    let content = spec.configuration.as_deref().filter(|text| !text.trim().is_empty())?;
    Some(ExtraFile {
        name: CONFIGURATION_FILE.to_owned(),
        place: Place::Module,
        sensitive: false,
        content: Secret::from(content),
    })
}

fn keeping(spec: &ProviderConfigSpec, workspace: &ForProvider) -> Keeping {
    let settings = spec.backend_file.as_deref().filter(|text| !text.trim().is_empty());
    match backend(spec, workspace) {
        Backend::Nowhere => Keeping::Ours,
        Backend::Here(place) => Keeping::Here(place),
        Backend::Declared => Keeping::Declared(settings.map(Secret::from).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn spec(fields: Value) -> ProviderConfigSpec {
        serde_json::from_value(fields).unwrap()
    }

    const S3: &str = "terraform {\n  backend \"s3\" {}\n}\n";
    const HERE: &str = "terraform {\n  backend \"kubernetes\" {\n    secret_suffix = \"s\"\n  }\n}\n";

    fn declared(settings: &str) -> Keeping {
        Keeping::Declared(Secret::from(settings))
    }

    #[rstest]
    #[case::nothing(json!({}), Keeping::Ours)]
    #[case::settings(json!({ "backendFile": "bucket = \"b\"" }), declared("bucket = \"b\""))]
    #[case::declared(json!({ "configuration": S3 }), declared(""))]
    #[case::both(json!({ "configuration": S3, "backendFile": "bucket = \"b\"" }), declared("bucket = \"b\""))]
    #[case::in_this_cluster(json!({ "configuration": HERE }), Keeping::Here(StatePlace { namespace: "default".to_owned(), suffix: "s".to_owned() }))]
    fn the_state_is_kept_where_the_provider_config_says(#[case] fields: Value, #[case] expected: Keeping) {
        let workspace = serde_json::from_value(json!({ "source": "Inline", "module": "" })).unwrap();
        assert_eq!(keeping(&spec(fields), &workspace), expected);
    }

    #[test]
    fn configuration_goes_beside_the_module() {
        assert_eq!(configuration(&spec(json!({ "configuration": "" }))), None);
        let file = configuration(&spec(json!({ "configuration": "provider \"aws\" {}" }))).unwrap();
        assert_eq!((file.name.as_str(), file.place), ("crossplane-provider-config.tf", Place::Module));
        assert_eq!(file.content, Secret::from("provider \"aws\" {}"));
    }

    #[test]
    fn a_missing_one_is_named() {
        let blocked = missing("aws");
        assert_eq!(blocked.reason, Reason::ProviderConfigMissing);
        assert!(blocked.message.contains("ProviderConfig `aws`"), "{}", blocked.message);
    }
}
