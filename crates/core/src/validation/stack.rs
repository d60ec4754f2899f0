//! Stacks and sets of manifests, with what they bring.

mod clusters;
mod spec;

use std::collections::{BTreeMap, BTreeSet};

use capt_api::addon_stack::{Addon, ValuesSecret};
use capt_api::names::{RESOURCE_SET_SECRET_TYPE, group};
use capt_api::resource_set::{ResourceKind, ResourceReference, Strategy};
use capt_api::{AddonStack, ClusterResourceSet};

use self::clusters::Clusters;
use super::bundle::{self, Bundle, Part};
use super::catalog::Catalog;
use super::content::{Content, read_content};
use super::object::Object;
use super::reference::text;
use super::report::Report;
use crate::addon::route::{Route, route};

/// A set and where it stands.
type Set<'catalog> = (&'catalog Object, ClusterResourceSet);

/// What was read, by the place of its holder among the objects.
type Contents = BTreeMap<(String, ResourceKind, String), Content>;

/// What is done with each bundle.
pub(super) type Visit<'visit> = &'visit mut dyn FnMut(&Bundle<'_>, &mut Report<'_>);

/// Tells what is wrong with stacks, sets and what they bring.
pub(super) fn check(catalog: &Catalog<'_>, report: &mut Report<'_>) {
    walk(catalog, report, &mut bundle::check);
}

/// Goes through what stacks and sets bring, one bundle for each of them, and tells what is wrong on the way.
pub(super) fn walk(catalog: &Catalog<'_>, report: &mut Report<'_>, visit: Visit<'_>) {
    let sets: Vec<Set<'_>> = catalog
        .of(group::ADDONS, "ClusterResourceSet")
        .filter_map(|object| Some((object, object.typed()?)))
        .collect();
    let stacks: Vec<(&Object, AddonStack)> = catalog
        .of(group::ADDONS, "AddonStack")
        .filter_map(|object| Some((object, object.typed()?)))
        .collect();
    let contents = contents(&stacks, &sets, catalog, report);
    let mut taken = BTreeSet::new();
    for (object, stack) in &stacks {
        spec::check(object, &stack.spec, report);
        let bundled = of_stack(object, stack, &sets, &mut taken, catalog, report);
        bundled.visit(object, &contents, report, visit);
    }
    for (object, set) in &sets {
        if !taken.contains(&(object.namespace(), object.key.name.as_str())) {
            let parts =
                parts(object.namespace(), set.spec.resources.iter().map(|one| (one, false)), &contents);
            visit(
                &Bundle { about: object, parts, values: &[], outputs: None, kubernetes: Vec::new() },
                report,
            );
        }
        reconciled(object, set, &contents, report);
    }
}

/// Everything that stacks and sets name and the files have, each read once.
fn contents(
    stacks: &[(&Object, AddonStack)],
    sets: &[Set<'_>],
    catalog: &Catalog<'_>,
    report: &mut Report<'_>,
) -> Contents {
    let of_sets = sets.iter().flat_map(|(object, set)| {
        set.spec.resources.iter().map(|resource| (object.namespace(), resource.kind, resource.name.clone()))
    });
    let of_stacks = stacks.iter().flat_map(|(object, stack)| {
        let resources = stack.spec.addons.iter().flat_map(|addon| &addon.resources);
        resources.map(|resource| (object.namespace(), resource.kind, resource.name.clone()))
    });
    let named: BTreeSet<_> = of_sets.chain(of_stacks).collect();
    let mut contents = Contents::new();
    for (namespace, kind, name) in named {
        let holder = catalog.find("", kind.as_str(), namespace, &name);
        // A Secret of another type is not delivered, and told where it is named.
        let is_delivered = |holder: &&Object| {
            kind == ResourceKind::ConfigMap || text(holder, "type") == Some(RESOURCE_SET_SECRET_TYPE)
        };
        if let Some(holder) = holder.filter(is_delivered) {
            contents.insert((namespace.to_owned(), kind, name), read_content(holder, catalog, report));
        }
    }
    contents
}

fn parts<'facts>(
    namespace: &str,
    resources: impl Iterator<Item = (&'facts ResourceReference, bool)>,
    contents: &'facts Contents,
) -> Vec<Part<'facts>> {
    let part = |(resource, render): (&ResourceReference, bool)| {
        let key = (namespace.to_owned(), resource.kind, resource.name.clone());
        contents.get(&key).map(|content| Part { content, render })
    };
    resources.filter_map(part).collect()
}

fn of_stack<'catalog>(
    object: &'catalog Object,
    stack: &AddonStack,
    sets: &'catalog [Set<'catalog>],
    taken: &mut BTreeSet<(&'catalog str, &'catalog str)>,
    catalog: &Catalog<'_>,
    report: &mut Report<'_>,
) -> Bundled {
    let namespace = object.namespace();
    let near = || sets.iter().filter(|(set, _)| set.namespace() == namespace);
    let mut resources: Vec<(ResourceReference, bool)> = Vec::new();
    for (index, addon) in stack.spec.addons.iter().enumerate() {
        match route(&object.key.name, addon, near().map(|(_, set)| set)) {
            Route::Theirs { sets: names } => {
                for (set_object, set) in near().filter(|(set, _)| names.contains(&set.key.name)) {
                    taken.insert((namespace, set_object.key.name.as_str()));
                    resources.extend(set.spec.resources.iter().cloned().map(|resource| (resource, false)));
                }
            }
            Route::Missing { message } => nobody(object, index, addon, &message, catalog, report),
            Route::Direct | Route::Ours { .. } | Route::Nothing => resources.extend(own(addon)),
        }
    }
    resources.dedup();
    let clusters = Clusters::of(object, stack, catalog);
    clusters::outputs(object, stack, &clusters, report);
    let values = stack.spec.addons.iter().flat_map(|addon| addon.values.clone()).collect();
    Bundled { resources, values, outputs: clusters.known_outputs(), kubernetes: clusters.versions() }
}

/// What a stack brings to its clusters.
struct Bundled {
    resources: Vec<(ResourceReference, bool)>,
    values: Vec<ValuesSecret>,
    outputs: Option<BTreeSet<String>>,
    kubernetes: Vec<String>,
}

impl Bundled {
    fn visit(self, object: &Object, contents: &Contents, report: &mut Report<'_>, visit: Visit<'_>) {
        let Self { resources, values, outputs, kubernetes } = self;
        let resources = resources.iter().map(|(resource, render)| (resource, *render));
        let parts = parts(object.namespace(), resources, contents);
        let bundle = Bundle { about: object, parts, values: &values, outputs: outputs.as_ref(), kubernetes };
        visit(&bundle, report);
    }
}

fn own(addon: &Addon) -> impl Iterator<Item = (ResourceReference, bool)> {
    addon.resources.iter().map(|resource| {
        (ResourceReference { kind: resource.kind, name: resource.name.clone() }, resource.render)
    })
}

/// An add-on that no set of the files brings.
fn nobody(
    object: &Object,
    index: usize,
    addon: &Addon,
    message: &str,
    catalog: &Catalog<'_>,
    report: &mut Report<'_>,
) {
    if !catalog.is_elsewhere("ClusterResourceSet", object.namespace(), &addon.name) {
        let message = format!(
            "add-on `{}`: in these files {message}; or say `--elsewhere ClusterResourceSet` if it is in the cluster already",
            addon.name
        );
        report.warning(object, &format!("spec.addons[{index}].gateLabel"), message);
    }
}

/// Objects of Flux in a set that Cluster API would keep changing.
fn reconciled(object: &Object, set: &ClusterResourceSet, contents: &Contents, report: &mut Report<'_>) {
    if set.spec.strategy != Strategy::Reconcile {
        return;
    }
    let parts =
        parts(object.namespace(), set.spec.resources.iter().map(|resource| (resource, false)), contents);
    let mut objects = parts.iter().flat_map(|part| &part.content.objects);
    let of_flux = objects.find(|object| object.key.group().ends_with(".toolkit.fluxcd.io"));
    if let Some(of_flux) = of_flux {
        let what = if of_flux.secret { "objects of Flux".to_owned() } else { of_flux.key.to_string() };
        report.warning(
            object,
            "spec.strategy",
            format!(
                "`Reconcile` of Cluster API takes finalizers and annotations off {what} that Flux has put there; write \
                 `strategy: ApplyOnce`"
            ),
        );
    }
}
