//! Reads values of Secrets and `ConfigMap`s: each object once, and noted before.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use capt_api::crossplane::KeyReference;
use capt_api::names::Reason;
use capt_core::apply::Blocked;
use capt_core::grant::{Target, TargetKind};
use capt_core::name::{is_namespace_name, is_object_name};
use capt_terraform::Secret;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{self, ConfigMap};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;

use crate::context::Context;
use crate::error::Error;
use crate::index::{Dependency, Dependent, Name, Notes};
use crate::stop::Stop;

/// What a key holds.
pub(in crate::workspace) struct Value {
    pub(in crate::workspace) content: Secret,
    /// Whether it came from a Secret.
    pub(in crate::workspace) sensitive: bool,
}

/// What is in an object; nothing where there is no such object.
type Data = Option<BTreeMap<String, Secret>>;

/// Reads on behalf of one Workspace.
pub(in crate::workspace) struct Objects<'r> {
    pub(in crate::workspace) context: &'r Context,
    pub(in crate::workspace) notes: &'r Notes<'r, Dependent>,
    read: HashMap<Dependency, Data>,
}

impl<'r> Objects<'r> {
    pub(in crate::workspace) fn new(context: &'r Context, notes: &'r Notes<'r, Dependent>) -> Self {
        Self { context, notes, read: HashMap::new() }
    }

    /// What a key of a Secret or `ConfigMap` holds. `field` is where the reference is written.
    pub(in crate::workspace) async fn value(
        &mut self,
        field: &str,
        kind: TargetKind,
        reference: &KeyReference,
    ) -> Result<Value, Stop> {
        let KeyReference { namespace, name, key } = reference;
        let target = Target::new(kind, namespace, name);
        check_name(field, &target)?;
        let sensitive = kind != TargetKind::ConfigMap;
        let dependency = if sensitive { Dependency::Secret } else { Dependency::ConfigMap };
        let dependency = dependency(Name::new(namespace, name));
        if !self.read.contains_key(&dependency) {
            self.notes.on(dependency.clone());
            let data = if sensitive {
                let secret = self.get::<v1::Secret>(namespace, name).await?;
                secret.map(|secret| contents(secret.data, |value| value.0))
            } else {
                let map = self.get::<ConfigMap>(namespace, name).await?;
                map.map(|map| contents(map.data, String::into_bytes))
            };
            self.read.insert(dependency.clone(), data);
        }
        match self.read.get(&dependency).and_then(Option::as_ref) {
            None => Err(missing(field, &target, None).into()),
            Some(data) => match data.get(key) {
                None => Err(missing(field, &target, Some(key)).into()),
                Some(content) => Ok(Value { content: content.clone(), sensitive }),
            },
        }
    }

    async fn get<K>(&self, namespace: &str, name: &str) -> Result<Option<K>, Error>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + DeserializeOwned + Debug,
    {
        let api = Api::<K>::namespaced(self.context.client.clone(), namespace);
        let doing = format!("reading {} `{namespace}/{name}`", K::kind(&()));
        api.get_opt(name).await.map_err(Error::api(doing))
    }
}

fn contents<T>(data: Option<BTreeMap<String, T>>, bytes: impl Fn(T) -> Vec<u8>) -> BTreeMap<String, Secret> {
    data.into_iter().flatten().map(|(key, value)| (key, Secret::new(bytes(value)))).collect()
}

/// Refuses what cannot be the name of an object: names become parts of addresses.
pub(in crate::workspace) fn check_name(field: &str, target: &Target) -> Result<(), Blocked> {
    let Target { kind, namespace, name } = target;
    if is_object_name(name) && is_namespace_name(namespace) {
        return Ok(());
    }
    let message = format!("{field}: `{namespace}/{name}` cannot be the name of a {kind}");
    Err(Blocked::new(Reason::InvalidRun, message))
}

fn missing(field: &str, target: &Target, key: Option<&str>) -> Blocked {
    let message = match key {
        None => format!("{field}: {target} does not exist: create it, or refer to another"),
        Some(key) => {
            format!("{field}: {target} has no key `{key}`: add it, or refer to a key that is there")
        }
    };
    Blocked::new(Reason::InputMissing, message)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_path("team-a", "../../secrets/x")]
    #[case::a_query("team-a", "x?watch=true")]
    #[case::path_as_namespace("team-a/secrets", "x")]
    #[case::empty("", "")]
    fn what_could_lead_anywhere_is_refused(#[case] namespace: &str, #[case] name: &str) {
        let target = Target::new(TargetKind::Secret, namespace, name);
        let blocked = check_name("spec.forProvider.env[0].secretKeyRef", &target).unwrap_err();
        assert_eq!(blocked.reason, Reason::InvalidRun);
        assert!(blocked.message.starts_with("spec.forProvider.env[0].secretKeyRef: "), "{}", blocked.message);
    }

    #[rstest]
    #[case::object(None, "Secret `a/b` does not exist")]
    #[case::key(Some("k"), "Secret `a/b` has no key `k`")]
    fn what_is_missing_is_told_by_field_and_object(#[case] key: Option<&str>, #[case] told: &str) {
        let blocked = missing("the field", &Target::new(TargetKind::Secret, "a", "b"), key);
        assert_eq!(blocked.reason, Reason::InputMissing);
        assert!(blocked.message.starts_with(&format!("the field: {told}")), "{}", blocked.message);
    }
}
