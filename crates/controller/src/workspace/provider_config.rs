//! What a `ProviderConfig` adds to a run: credentials, configuration, and where the state is kept.

mod backend;
mod credentials;

use capt_api::ProviderConfig;
use capt_api::crossplane::ProviderConfigSpec;
use capt_api::names::Reason;
use capt_core::apply::Blocked;
use capt_core::name::is_object_name;
use capt_terraform::{ExtraFile, Place, Secret};
use kube::Api;

use super::inputs::objects::Objects;
use crate::error::Error;
use crate::index::Dependency;
use crate::stop::Stop;

/// The one that is meant where nothing is said; it need not be there.
const DEFAULT: &str = "default";

/// The file that Crossplane keeps the configuration in.
const CONFIGURATION_FILE: &str = "crossplane-provider-config.tf";

/// What a `ProviderConfig` adds to a run.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Additions {
    /// Files with credentials and configuration.
    pub(super) files: Vec<ExtraFile>,
    /// The settings of a backend that is declared; nothing where the state is CAPT's to keep.
    pub(super) declared_backend: Option<Secret>,
    /// Whether providers are kept for each Workspace by itself.
    pub(super) own_providers: bool,
}

/// Reads the `ProviderConfig` and everything that it refers to. It belongs to the cluster's administrators: what it refers to
/// needs no grant.
pub(super) async fn read(name: &str, objects: &mut Objects<'_>) -> Result<Additions, Stop> {
    if !is_object_name(name) {
        let message = format!("spec.providerConfigRef.name: `{name}` cannot be the name of a ProviderConfig");
        return Err(Blocked::new(Reason::InvalidRun, message).into());
    }
    objects.notes.on(Dependency::ProviderConfig(name.to_owned()));
    let api: Api<ProviderConfig> = Api::all(objects.context.client.clone());
    let found = api.get_opt(name).await.map_err(Error::api(format!("reading ProviderConfig `{name}`")))?;
    let Some(config) = found else {
        return if name == DEFAULT { Ok(Additions::default()) } else { Err(missing(name).into()) };
    };
    let mut files = Vec::new();
    for (index, entry) in config.spec.credentials.iter().enumerate() {
        let field = format!("ProviderConfig `{name}` spec.credentials[{index}]");
        files.push(credentials::file(&field, entry, objects).await?);
    }
    files.extend(configuration(&config.spec));
    Ok(Additions {
        files,
        declared_backend: declared_backend(&config.spec),
        own_providers: !config.spec.plugin_cache,
    })
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

/// A file with settings is for a backend that somebody declares; without one, the configuration may declare a backend.
fn declared_backend(spec: &ProviderConfigSpec) -> Option<Secret> {
    let settings = spec.backend_file.as_deref().filter(|text| !text.trim().is_empty());
    let declares = || spec.configuration.as_deref().is_some_and(backend::is_declared);
    settings.map(Secret::from).or_else(|| declares().then(Secret::default))
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

    #[rstest]
    #[case::nothing(json!({}), None)]
    #[case::blank(json!({ "backendFile": " \n", "configuration": "\n" }), None)]
    #[case::providers_only(json!({ "configuration": "provider \"aws\" {}" }), None)]
    #[case::settings(json!({ "backendFile": "bucket = \"b\"" }), Some("bucket = \"b\""))]
    #[case::declared(json!({ "configuration": S3 }), Some(""))]
    #[case::both(json!({ "configuration": S3, "backendFile": "bucket = \"b\"" }), Some("bucket = \"b\""))]
    fn the_state_is_kept_where_the_provider_config_says(
        #[case] fields: Value,
        #[case] expected: Option<&str>,
    ) {
        assert_eq!(declared_backend(&spec(fields)), expected.map(Secret::from));
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
