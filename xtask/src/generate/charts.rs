//! What is generated of `charts/`: the CRDs as templates, and the rules of the roles.

use std::path::{Path, PathBuf};

use capt_api::crd::{Foreign, foreign, own};
use capt_controller::rbac::{own_namespace_rules, rules};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;

use super::rbac::{editor_rules, viewer_rules};
use super::{Files, HEADER};

/// The directory of the CRDs, as templates: what is in `crds/` of a chart is never upgraded.
pub(crate) const CRDS: &str = "charts/capt-crds/templates/crds";

/// The directory of the rules.
pub(crate) const RULES: &str = "charts/capt/files/rbac";

/// The value of the chart that says whether kinds of Terraform are part of it.
const TERRAFORM_KINDS: &str = "terraformKinds";

pub(super) fn add(files: &mut Files) -> anyhow::Result<()> {
    for crd in own() {
        files.insert(path(&crd), format!("{HEADER}---\n{}", template(crd)?));
    }
    for crd in foreign(Foreign::Terraform) {
        let path = path(&crd);
        let text = template(crd)?;
        files.insert(
            path,
            format!("{HEADER}{{{{- if .Values.{TERRAFORM_KINDS} }}}}\n---\n{text}{{{{- end }}}}\n"),
        );
    }
    let roles = [
        ("manager", rules()),
        ("own-namespace", own_namespace_rules()),
        ("viewer", viewer_rules()),
        ("editor", editor_rules()),
    ];
    for (role, rules) in roles {
        let path = Path::new(RULES).join(format!("{role}-rules.yaml"));
        files.insert(path, format!("{HEADER}{}", serde_saphyr::to_string(&rules)?));
    }
    Ok(())
}

fn path(crd: &CustomResourceDefinition) -> PathBuf {
    Path::new(CRDS).join(format!("{}.yaml", crd.name_any()))
}

/// A CRD that stays when the chart is uninstalled, since all objects of its kind would go with it.
fn template(mut crd: CustomResourceDefinition) -> anyhow::Result<String> {
    crd.annotations_mut().insert("helm.sh/resource-policy".to_owned(), "keep".to_owned());
    Ok(literal(&serde_saphyr::to_string(&crd)?))
}

/// A text in which Helm finds nothing to do.
fn literal(text: &str) -> String {
    text.replace("{{", r#"{{ "{{" }}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_capt_is_in_the_chart_and_stays_when_it_goes() {
        let mut files = Files::new();
        add(&mut files).unwrap();

        for crd in own().into_iter().chain(foreign(Foreign::Terraform)) {
            let text = &files[&path(&crd)];
            assert!(text.contains("helm.sh/resource-policy: keep"), "{}", crd.name_any());
        }
    }

    #[test]
    fn the_charts_have_the_version_of_capt() {
        for chart in ["capt", "capt-crds"] {
            let path = crate::repository::root().join(format!("charts/{chart}/Chart.yaml"));
            let text = std::fs::read_to_string(path).unwrap();
            let read: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
            for field in ["version", "appVersion"] {
                assert_eq!(read[field], env!("CARGO_PKG_VERSION"), "{field} of {chart}");
            }
        }
    }

    #[test]
    fn braces_in_a_description_are_not_for_helm() {
        assert_eq!(literal("a {{ .name }}"), r#"a {{ "{{" }} .name }}"#);
    }
}
