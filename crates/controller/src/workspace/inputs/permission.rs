//! What a Workspace may refer to.
//!
//! One that nobody derived was written by an administrator, who may refer to anything. One that is derived from an apply may
//! refer to what its apply may: to its own namespace, to what is granted to that, and to what the author of its template
//! wrote down of the template's own namespace.

use capt_api::WorkspaceTemplate;
use capt_api::crossplane::KeyReference;
use capt_core::grant::{Reference, Target, TargetKind};
use serde_json::Value;

use super::objects::check_name;
use crate::context::Context;
use crate::grants::Grants;
use crate::index::{Dependency, Dependent, Name, Notes};
use crate::stop::Stop;
use crate::store::Held;
use crate::workspace::place::Place;

/// What a Workspace may refer to.
pub(super) struct Permission<'r> {
    /// Nothing where the Workspace may refer to anything.
    limited: Option<Limited<'r>>,
}

struct Limited<'r> {
    grants: Grants<'r>,
    template: Option<Held<WorkspaceTemplate>>,
}

impl<'r> Permission<'r> {
    pub(super) fn of(place: &'r Place, context: &'r Context, notes: &'r Notes<'r, Dependent>) -> Self {
        let limited = place.apply.as_ref().map(|owner| {
            let namespace = owner.key.namespace.as_str();
            Limited {
                grants: Grants { namespace, context, notes },
                template: template(namespace, &owner.key.name, context, notes),
            }
        });
        Self { limited }
    }

    /// Refuses a key of an object that the Workspace may not refer to.
    pub(super) async fn for_key(
        &self,
        field: &str,
        kind: TargetKind,
        reference: &KeyReference,
    ) -> Result<(), Stop> {
        let target = Target::new(kind, &reference.namespace, &reference.name);
        check_name(field, &target)?;
        self.check(field, target, |spec| holds_key(spec, kind, reference)).await
    }

    /// Refuses a source of Flux that the Workspace may not refer to.
    pub(super) async fn for_source(&self, field: &str, target: Target, module: &str) -> Result<(), Stop> {
        self.check(field, target, |spec| holds_source(spec, module)).await
    }

    async fn check(
        &self,
        field: &str,
        target: Target,
        is_held: impl FnOnce(&Value) -> bool,
    ) -> Result<(), Stop> {
        let Some(Limited { grants, template }) = &self.limited else { return Ok(()) };
        let vouched = template.as_ref().is_some_and(|template| {
            template.metadata.namespace.as_deref() == Some(&target.namespace)
                && is_held(&template.spec.template.spec)
        });
        if vouched {
            return Ok(());
        }
        grants.permit(&Reference { field: field.to_owned(), target }).await
    }
}

/// The template that an apply names at present.
fn template(
    namespace: &str,
    apply: &str,
    context: &Context,
    notes: &Notes<'_, Dependent>,
) -> Option<Held<WorkspaceTemplate>> {
    notes.on(Dependency::Apply(Name::new(namespace, apply)));
    let apply = context.applies.get(Some(namespace), apply)?;
    let reference = &apply.spec.template_ref;
    let namespace = reference.namespace.as_deref().filter(|given| !given.is_empty()).unwrap_or(namespace);
    notes.on(Dependency::Template(Name::new(namespace, &reference.name)));
    context.templates.get(Some(namespace), &reference.name)
}

/// Whether the author of the template wrote down this very reference, at whichever place of the list it is by now.
fn holds_key(spec: &Value, kind: TargetKind, reference: &KeyReference) -> bool {
    let selector = if kind == TargetKind::Secret { "secretKeyRef" } else { "configMapKeyRef" };
    let KeyReference { namespace, name, key } = reference;
    let is_same = |held: &Value| {
        [("namespace", namespace), ("name", name), ("key", key)]
            .into_iter()
            .all(|(part, wanted)| held.get(part).and_then(Value::as_str) == Some(wanted))
    };
    ["/forProvider/env", "/forProvider/varFiles"]
        .into_iter()
        .filter_map(|list| spec.pointer(list)?.as_array())
        .flatten()
        .filter_map(|entry| entry.get(selector))
        .any(is_same)
}

fn holds_source(spec: &Value, module: &str) -> bool {
    let field = |pointer| spec.pointer(pointer).and_then(Value::as_str);
    field("/forProvider/source") == Some("Flux") && field("/forProvider/module") == Some(module)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn reference(name: &str, key: &str) -> KeyReference {
        KeyReference { namespace: "platform".to_owned(), name: name.to_owned(), key: key.to_owned() }
    }

    fn spec() -> Value {
        json!({ "forProvider": {
            "source": "Flux",
            "module": "GitRepository::platform/modules",
            "env": [
                { "name": "A", "value": "x" },
                { "name": "B", "secretKeyRef": { "namespace": "platform", "name": "s", "key": "k" } },
                { "name": "C", "secretKeyRef": { "namespace": "platform", "name": "${chosen}", "key": "k" } },
            ],
            "varFiles": [{ "configMapKeyRef": { "namespace": "platform", "name": "m", "key": "k" } }],
        } })
    }

    #[rstest]
    #[case::written_down(TargetKind::Secret, "s", "k", true)]
    #[case::in_another_list(TargetKind::ConfigMap, "m", "k", true)]
    #[case::another_key(TargetKind::Secret, "s", "admin", false)]
    #[case::another_kind(TargetKind::ConfigMap, "s", "k", false)]
    #[case::chosen_by_the_apply(TargetKind::Secret, "root", "k", false)]
    fn the_template_s_author_vouches_for_what_is_written_down(
        #[case] kind: TargetKind,
        #[case] name: &str,
        #[case] key: &str,
        #[case] expected: bool,
    ) {
        assert_eq!(holds_key(&spec(), kind, &reference(name, key)), expected);
        assert!(!holds_key(&Value::Null, kind, &reference(name, key)));
    }

    #[test]
    fn the_template_s_author_vouches_for_the_module_that_is_written_down() {
        assert!(holds_source(&spec(), "GitRepository::platform/modules"));
        assert!(!holds_source(&spec(), "GitRepository::platform/others"));
        assert!(!holds_source(&Value::Null, "GitRepository::platform/modules"));
    }
}
