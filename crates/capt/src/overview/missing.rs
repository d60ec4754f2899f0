//! What is said of a Cluster that is not there.

use capt_api::Cluster;
use capt_core::near::nearest;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt};

/// How many namespaces are named.
const NAMED: usize = 3;

/// Says that there is no Cluster of this name, and which one may have been meant.
pub(crate) async fn no_such_cluster(client: &Client, namespace: &str, name: &str) -> anyhow::Error {
    let everywhere: Api<Cluster> = Api::all(client.clone());
    let here: Api<Cluster> = Api::namespaced(client.clone(), namespace);
    let listed = match everywhere.list_metadata(&ListParams::default()).await {
        Ok(listed) => Ok(listed),
        // Not everybody may look into every namespace.
        Err(_) => here.list_metadata(&ListParams::default()).await,
    };
    match listed {
        Ok(listed) => {
            let known = listed.items.iter().map(|one| (one.namespace().unwrap_or_default(), one.name_any()));
            anyhow::anyhow!(sentence(namespace, name, &known.collect::<Vec<_>>()))
        }
        Err(kube::Error::Api(status)) if status.is_not_found() => anyhow::anyhow!(
            "there is no Cluster `{name}`: the server does not know the kind; `capt up` runs a server that does, and \
             `capt crds --include cluster-api | kubectl apply --server-side -f -` installs it"
        ),
        Err(error) => anyhow::Error::new(error)
            .context(format!("there is no Cluster `{name}` in the namespace {namespace}; listing Clusters")),
    }
}

fn sentence(namespace: &str, name: &str, known: &[(String, String)]) -> String {
    let first = format!("there is no Cluster `{name}` in the namespace {namespace}");
    let elsewhere: Vec<_> =
        known.iter().filter(|(_, other)| other == name).map(|(place, _)| place.as_str()).collect();
    if !elsewhere.is_empty() {
        let shown = elsewhere.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        return format!("{first}; there is one in {shown}: write --namespace");
    }
    let here = known.iter().filter(|(place, _)| place == namespace).map(|(_, other)| other.as_str());
    match nearest(name, here) {
        Some(near) => format!("{first}: did you mean `{near}`?"),
        None if known.is_empty() => format!("{first}, nor any other"),
        None => format!("{first}: `capt get clusters --all-namespaces` lists those that are there"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_near_one(&[("default", "prod-2")], "did you mean `prod-2`?")]
    #[case::elsewhere(&[("team-a", "prod-1"), ("default", "prod-2")], "there is one in team-a: write --namespace")]
    #[case::none_at_all(&[], "nor any other")]
    #[case::others(&[("default", "staging")], "`capt get clusters --all-namespaces`")]
    #[case::a_near_one_elsewhere_is_not_meant(&[("team-a", "prod-2")], "`capt get clusters --all-namespaces`")]
    fn it_is_said_which_cluster_may_have_been_meant(#[case] known: &[(&str, &str)], #[case] expected: &str) {
        let known: Vec<_> =
            known.iter().map(|(place, name)| ((*place).to_owned(), (*name).to_owned())).collect();
        let told = sentence("default", "prod-1", &known);
        assert!(told.starts_with("there is no Cluster `prod-1` in the namespace default"), "{told}");
        assert!(told.contains(expected), "{told}");
    }
}
