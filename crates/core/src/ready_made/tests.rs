mod refused;
mod written;

use super::*;

/// Manifests in the shape of Flux's own, by hand: the smallest that will do.
fn flux(version: &str, releases: &str, repositories: &str) -> String {
    let object = |api: &str, kind: &str, name: &str, namespace: &str, spec: &str| {
        format!(
            "---\napiVersion: {api}\nkind: {kind}\nmetadata:\n  name: {name}\n{namespace}  labels:\n    app.kubernetes.io/part-of: flux\n    app.kubernetes.io/version: {version}\n{spec}"
        )
    };
    let versions = |list: &str| {
        list.split(' ')
            .map(|name| format!("  - name: {name}\n    served: true\n"))
            .collect::<Vec<_>>()
            .concat()
    };
    let definition = |name: &str, list: &str| {
        let spec = format!("spec:\n  versions:\n{}", versions(list));
        object("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, "", &spec)
    };
    let deployment = |name: &str| {
        object(
            "apps/v1",
            "Deployment",
            name,
            "  namespace: flux-system\n",
            "spec:\n  template:\n    spec:\n      containers: []\n",
        )
    };
    [
        object("v1", "Namespace", "flux-system", "", ""),
        definition("helmreleases.helm.toolkit.fluxcd.io", releases),
        definition("ocirepositories.source.toolkit.fluxcd.io", repositories),
        deployment("source-controller"),
        deployment("helm-controller"),
    ]
    .concat()
}

fn request<'text>(
    flux_manifests: &'text str,
    karpenter_version: &'text str,
    identity: Identity,
) -> Request<'text> {
    Request {
        flux_manifests,
        flux_version: None,
        karpenter_version,
        identity,
        namespace: "default",
        selector: ("addons", "base"),
    }
}
