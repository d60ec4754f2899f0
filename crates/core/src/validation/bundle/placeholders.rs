//! Placeholders in manifests.

use std::collections::{BTreeMap, BTreeSet};

use super::super::finding::Severity;
use super::super::object::Object;
use super::super::report::Report;
use super::{Item, Part};
use crate::manifest::Manifest;
use crate::manifest::render::{Inputs, Unrendered, render, variables};

/// What every cluster has.
const BUILT_IN: [&str; 4] = ["CLUSTER_NAME", "NAMESPACE", "WORKSPACE_NAME", "CLUSTER_ENDPOINT"];

/// What stands for a value that is not known here.
const STAND_IN: &str = "value";

/// The objects of a part with their placeholders replaced; tells of those that no cluster has a value for.
pub(super) fn check<'facts>(
    part: &Part<'facts>,
    outputs: Option<&BTreeSet<String>>,
    report: &mut Report<'_>,
) -> Vec<Item<'facts>> {
    let content = part.content;
    let manifests = if part.render {
        rendered(content.manifests.clone(), &content.objects, outputs, report)
    } else {
        for object in &content.objects {
            forgotten(object, report);
        }
        content.manifests.clone()
    };
    content.objects.iter().zip(manifests).map(|(object, manifest)| Item { object, manifest }).collect()
}

fn rendered(
    manifests: Vec<Manifest>,
    objects: &[Object],
    outputs: Option<&BTreeSet<String>>,
    report: &mut Report<'_>,
) -> Vec<Manifest> {
    let values: BTreeMap<String, String> =
        outputs.into_iter().flatten().map(|output| (output.clone(), STAND_IN.to_owned())).collect();
    let inputs = Inputs {
        cluster_name: STAND_IN,
        namespace: STAND_IN,
        workspace_name: Some(STAND_IN),
        endpoint: Some(STAND_IN),
        outputs: &values,
    };
    let mut known = variables(&inputs);
    let Unrendered { missing, .. } = match render(&manifests, &known) {
        Ok(rendered) => return rendered,
        Err(unrendered) => unrendered,
    };
    for one in missing {
        let told = match (&one.suggestion, outputs) {
            (Some(near), _) => Some(format!("perhaps `${{{near}}}` is meant")),
            (None, Some(_)) => Some(format!(
                "give the module an output of that name, or write `$${{{}}}` for what is to stay as it is",
                one.name
            )),
            // It may well be an output of a module that is not in the files.
            (None, None) => None,
        };
        let severity = if outputs.is_some() { Severity::Error } else { Severity::Warning };
        if let Some(what_to_do) = told {
            tell(objects, &one.name, severity, &format!("is not known for a cluster; {what_to_do}"), report);
        }
        known.insert(one.name, STAND_IN.to_owned());
    }
    render(&manifests, &known).unwrap_or(manifests)
}

/// Tells of the first place of a placeholder.
fn tell(objects: &[Object], name: &str, severity: Severity, message: &str, report: &mut Report<'_>) {
    let placeholder = format!("${{{name}}}");
    let found = objects.iter().find_map(|object| Some((object, path_to(object, &placeholder)?)));
    if let Some((object, path)) = found {
        report.tell_of(object, &path, severity, format!("`{placeholder}` {message}"));
    }
}

/// Placeholders of ours in what nobody renders.
fn forgotten(object: &Object, report: &mut Report<'_>) {
    for name in BUILT_IN {
        let placeholder = format!("${{{name}}}");
        if let Some(path) = path_to(object, &placeholder) {
            let message = format!(
                "`{placeholder}` stays as it is; write `render: true` beside this resource in an AddonStack, or take the value \
                 from a Secret of the stack"
            );
            report.warning(object, &path, message);
        }
    }
}

fn path_to(object: &Object, placeholder: &str) -> Option<String> {
    let escaped = format!("${placeholder}");
    let is_in = |text: &str| text.replace(&escaped, "").contains(placeholder);
    let mut texts = object.node.texts("").into_iter();
    texts.find(|(_, node)| node.text().is_some_and(is_in)).map(|(path, _)| path)
}
