//! Where a `ProviderConfig` says that states are kept.

use capt_api::crossplane::{ForProvider, ProviderConfigSpec};
use capt_api::names::STATE_SUFFIX;
use hcl_edit::expr::Expression;
use hcl_edit::parser::parse_body;
use hcl_edit::structure::{Block, Body};

use crate::module::{self, Format};
use crate::name::is_namespace_name;

/// The namespace that Terraform's kubernetes backend takes where none is said.
const DEFAULT_NAMESPACE: &str = "default";

/// The `ProviderConfig` that is meant where nothing is said; it need not be there.
pub const DEFAULT_CONFIG: &str = "default";

/// The beginning of the variables by which that backend is led to another cluster.
const ELSEWHERE: &str = "KUBE_";

/// What a backend is called that a `ProviderConfig` declares, where no more is known of it.
pub const DECLARED: &str = "declared";

/// Whether a backend that is on record is one that a `ProviderConfig` declares.
pub fn is_declared(backend: &str) -> bool {
    kind(backend) == DECLARED
}

/// What a backend that is on record is called, without what tells its places apart.
pub fn kind(backend: &str) -> &str {
    backend.split_once(':').map_or(backend, |(kind, _)| kind)
}

/// Whether the backend on record is the one that a plan was made with. An earlier version put no more on record than that there
/// is one which a `ProviderConfig` declares.
pub fn is_same(before: Option<&str>, now: Option<&str>) -> bool {
    let unknown = |backend: Option<&str>| backend == Some(DECLARED);
    let declared = before.is_some_and(is_declared) && now.is_some_and(is_declared);
    before == now || (declared && (unknown(before) || unknown(now)))
}

/// Where states are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Nobody says so: with CAPT beside the Workspace's apply, with Crossplane on a disk of its own.
    Nowhere,
    /// In Secrets of this cluster.
    Here(StatePlace),
    /// Somebody says so, and CAPT does not look there.
    Declared,
}

/// Where Terraform's kubernetes backend keeps a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatePlace {
    /// The namespace of its Secrets and of its lock.
    pub namespace: String,
    /// The end of their names.
    pub suffix: String,
}

impl StatePlace {
    /// The place of a state that CAPT keeps in this namespace.
    pub fn ours(namespace: &str) -> Self {
        Self { namespace: namespace.to_owned(), suffix: STATE_SUFFIX.to_owned() }
    }

    /// The place that is noted as `namespace/secret` for the state of this Terraform workspace.
    pub fn noted(note: &str, terraform_workspace: &str) -> Option<Self> {
        let (namespace, secret) = note.split_once('/')?;
        let suffix = secret.strip_prefix("tfstate-")?.strip_prefix(terraform_workspace)?.strip_prefix('-')?;
        let legal = is_namespace_name(namespace) && is_suffix(suffix);
        legal.then(|| Self { namespace: namespace.to_owned(), suffix: suffix.to_owned() })
    }

    /// The name of the Secret with the state of this Terraform workspace. What a user wrote goes into it: it may be no name at
    /// all.
    pub fn secret(&self, terraform_workspace: &str) -> String {
        format!("tfstate-{terraform_workspace}-{}", self.suffix)
    }

    /// What a `ProviderConfig` has to say so that Crossplane finds the state in this place.
    pub fn configuration(&self) -> String {
        format!(
            "terraform {{\n  backend \"kubernetes\" {{\n    namespace         = \"{}\"\n    secret_suffix     = \"{}\"\n    in_cluster_config = true\n  }}\n}}\n",
            self.namespace, self.suffix
        )
    }
}

/// Where the state of a Workspace with these fields is kept. Settings in a file count over what the configuration declares, as
/// they do for Terraform.
///
/// What cannot be read declares nothing here: Terraform will say what is wrong with it, and where only our reading of it is
/// too narrow, the engine keeps a backend that it finds declared all the same.
pub fn backend(config: &ProviderConfigSpec, workspace: &ForProvider) -> Backend {
    let settings = config.backend_file.as_deref().filter(|text| !text.trim().is_empty());
    let declared = config.configuration.as_deref().and_then(parse);
    let block = declared.as_ref().and_then(declaration);
    let Some(block) = block else {
        return if settings.is_some() { Backend::Declared } else { Backend::Nowhere };
    };
    let elsewhere = workspace.env.iter().any(|variable| variable.name.starts_with(ELSEWHERE));
    let is_kubernetes = block.ident.as_str() == "backend" && label(block) == Some("kubernetes");
    let found = Found::default().with(&block.body);
    let found = match settings {
        None => found,
        Some(text) => found.and_then(|found| found.with(&parse(text)?)),
    };
    match found.and_then(Found::place) {
        Some(place) if is_kubernetes && !elsewhere => Backend::Here(place),
        _ => Backend::Declared,
    }
}

/// Whether a module in Terraform's own language declares where its state is kept.
pub fn declares(module: &str) -> bool {
    parse(module).as_ref().and_then(declaration).is_some()
}

fn parse(text: &str) -> Option<Body> {
    // Refuses what is too large or too deep for a parser.
    module::read(text, Format::Hcl).ok()?;
    parse_body(text.strip_prefix('\u{feff}').unwrap_or(text)).ok()
}

/// What declares a backend or `cloud`. `local` counts as none: its file would be lost.
fn declaration(body: &Body) -> Option<&Block> {
    let settings = body.blocks().filter(|block| block.ident.as_str() == "terraform");
    let mut blocks = settings.flat_map(|settings| settings.body.blocks());
    blocks.find(|block| match block.ident.as_str() {
        "cloud" => true,
        "backend" => label(block).is_some_and(|label| label != "local"),
        _ => false,
    })
}

fn label(block: &Block) -> Option<&str> {
    Some(block.labels.first()?.as_str())
}

/// What the kubernetes backend is told.
#[derive(Default)]
struct Found {
    namespace: Option<String>,
    suffix: Option<String>,
}

impl Found {
    /// Nothing where something is said that leads to another cluster or to other Secrets, or that is no plain value.
    fn with(mut self, body: &Body) -> Option<Self> {
        if body.blocks().next().is_some() {
            return None;
        }
        for attribute in body.attributes() {
            match (attribute.key.as_str(), &attribute.value) {
                ("namespace", Expression::String(text)) => self.namespace = Some(text.as_str().to_owned()),
                ("secret_suffix", Expression::String(text)) => self.suffix = Some(text.as_str().to_owned()),
                ("in_cluster_config", Expression::Bool(_)) => {}
                _ => return None,
            }
        }
        Some(self)
    }

    fn place(self) -> Option<StatePlace> {
        let namespace = self.namespace.unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
        let suffix = self.suffix.filter(|suffix| is_suffix(suffix))?;
        is_namespace_name(&namespace).then_some(StatePlace { namespace, suffix })
    }
}

/// Whether Terraform can end names with it. After a number it would take a state for a part of another.
fn is_suffix(suffix: &str) -> bool {
    let plain = suffix.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    let last = suffix.rsplit('-').next().unwrap_or_default();
    plain && !last.is_empty() && !suffix.starts_with('-') && !last.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    #[rstest]
    #[case::capt_s_own(None, None, true)]
    #[case::the_same(Some("declared:1"), Some("declared:1"), true)]
    #[case::in_another_place(Some("declared:1"), Some("declared:2"), false)]
    #[case::as_an_earlier_version_put_it(Some("declared"), Some("declared:1"), true)]
    #[case::as_nobody_can_tell(Some("declared:1"), Some("declared"), true)]
    #[case::not_declared_any_more(Some("declared:1"), None, false)]
    #[case::declared_now(None, Some("declared:1"), false)]
    #[case::of_the_module(Some("s3"), Some("s3"), true)]
    #[case::of_the_module_before(Some("s3"), Some("declared:1"), false)]
    fn a_backend_that_changes_is_noticed(
        #[case] before: Option<&str>,
        #[case] now: Option<&str>,
        #[case] expected: bool,
    ) {
        assert_eq!(is_same(before, now), expected);
    }

    fn spec(fields: Value) -> ProviderConfigSpec {
        serde_json::from_value(fields).unwrap()
    }

    fn workspace(fields: &Value) -> ForProvider {
        let mut spec = json!({ "source": "Inline", "module": "" });
        spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        serde_json::from_value(spec).unwrap()
    }

    fn found(fields: Value) -> Backend {
        backend(&spec(fields), &workspace(&json!({})))
    }

    fn here(namespace: &str, suffix: &str) -> Backend {
        Backend::Here(StatePlace { namespace: namespace.to_owned(), suffix: suffix.to_owned() })
    }

    fn kubernetes(settings: &str) -> Value {
        json!({ "configuration": format!("terraform {{\n  backend \"kubernetes\" {{\n{settings}\n  }}\n}}\n") })
    }

    const S3: &str = "terraform {\n  backend \"s3\" {}\n}\n";

    #[rstest]
    #[case::nothing(json!({}), Backend::Nowhere)]
    #[case::blank(json!({ "backendFile": " \n", "configuration": "\n" }), Backend::Nowhere)]
    #[case::broken(json!({ "configuration": "terraform {\n  backend \"s3\" {" }), Backend::Nowhere)]
    #[case::too_deep(json!({ "configuration": "a {\n".repeat(100_000) }), Backend::Nowhere)]
    #[case::providers_only(json!({ "configuration": "provider \"aws\" {}" }), Backend::Nowhere)]
    #[case::commented_out(json!({ "configuration": "terraform {\n  # backend \"s3\" {}\n}\n" }), Backend::Nowhere)]
    #[case::in_another_block(json!({ "configuration": "provider \"x\" {\n  backend \"s3\" {}\n}\n" }), Backend::Nowhere)]
    #[case::local(json!({ "configuration": "terraform {\n  backend \"local\" {}\n}\n" }), Backend::Nowhere)]
    #[case::settings(json!({ "backendFile": "bucket = \"b\"" }), Backend::Declared)]
    #[case::declared(json!({ "configuration": S3 }), Backend::Declared)]
    #[case::both(json!({ "configuration": S3, "backendFile": "bucket = \"b\"" }), Backend::Declared)]
    #[case::cloud(json!({ "configuration": "terraform {\n  cloud {\n    organization = \"o\"\n  }\n}\n" }), Backend::Declared)]
    #[case::second_block(json!({ "configuration": format!("terraform {{}}\n{S3}") }), Backend::Declared)]
    #[case::byte_order_mark(json!({ "configuration": format!("\u{feff}{S3}") }), Backend::Declared)]
    fn a_declaration_is_found(#[case] fields: Value, #[case] expected: Backend) {
        assert_eq!(found(fields), expected);
    }

    #[rstest]
    #[case::whole(
        "secret_suffix = \"state\"\nnamespace = \"crossplane-system\"\nin_cluster_config = true",
        here("crossplane-system", "state")
    )]
    #[case::without_a_namespace(
        "secret_suffix = \"providerconfig-default\"",
        here("default", "providerconfig-default")
    )]
    #[case::without_a_suffix("namespace = \"a\"", Backend::Declared)]
    #[case::of_another_cluster("secret_suffix = \"s\"\nhost = \"https://example.org\"", Backend::Declared)]
    #[case::by_a_file("secret_suffix = \"s\"\nconfig_path = \"creds\"", Backend::Declared)]
    #[case::with_labels("secret_suffix = \"s\"\nlabels = { a = \"b\" }", Backend::Declared)]
    #[case::with_a_block("secret_suffix = \"s\"\nexec {\n  command = \"x\"\n}", Backend::Declared)]
    #[case::computed("secret_suffix = var.suffix", Backend::Declared)]
    #[case::a_template("secret_suffix = \"a-${var.b}\"", Backend::Declared)]
    #[case::a_path("secret_suffix = \"../x\"", Backend::Declared)]
    #[case::a_namespace_that_is_none("secret_suffix = \"s\"\nnamespace = \"a/b\"", Backend::Declared)]
    #[case::the_number_of_a_part("secret_suffix = \"s-1\"", Backend::Declared)]
    fn secrets_of_this_cluster_are_found(#[case] settings: &str, #[case] expected: Backend) {
        assert_eq!(found(kubernetes(settings)), expected);
    }

    #[rstest]
    #[case::adds("namespace = \"b\"", here("b", "s"))]
    #[case::replaces("secret_suffix = \"other\"", here("a", "other"))]
    #[case::leads_elsewhere("host = \"https://example.org\"", Backend::Declared)]
    #[case::broken("namespace = ", Backend::Declared)]
    fn a_file_counts_over_the_configuration(#[case] file: &str, #[case] expected: Backend) {
        let mut fields = kubernetes("secret_suffix = \"s\"\nnamespace = \"a\"");
        fields["backendFile"] = json!(file);
        assert_eq!(found(fields), expected);
    }

    #[test]
    fn an_environment_may_lead_to_another_cluster() {
        let config = spec(kubernetes("secret_suffix = \"s\""));
        let env = |name: &str| workspace(&json!({ "env": [{ "name": name, "value": "x" }] }));
        assert_eq!(backend(&config, &env("KUBE_CONFIG_PATH")), Backend::Declared);
        assert_eq!(backend(&config, &env("AWS_REGION")), here("default", "s"));
    }

    #[test]
    fn what_crossplane_is_to_be_told_leads_to_the_same_place() {
        let place = StatePlace::ours("team-a");
        let told = json!({ "configuration": place.configuration() });
        assert_eq!(found(told), Backend::Here(place));
    }

    #[rstest]
    #[case::ours("team-a/tfstate-x-capt", Some("capt"))]
    #[case::of_crossplane(
        "crossplane-system/tfstate-x-providerconfig-default",
        Some("providerconfig-default")
    )]
    #[case::of_another_workspace("a/tfstate-y-capt", None)]
    #[case::a_path("../../x/y", None)]
    #[case::no_suffix("a/tfstate-x-", None)]
    #[case::no_namespace("tfstate-x-capt", None)]
    #[case::empty("", None)]
    fn a_note_is_read(#[case] note: &str, #[case] suffix: Option<&str>) {
        let place = StatePlace::noted(note, "x");
        assert_eq!(place.as_ref().map(|place| place.suffix.as_str()), suffix);
        if let Some(place) = place {
            assert_eq!(format!("{}/{}", place.namespace, place.secret("x")), note);
        }
    }
}
