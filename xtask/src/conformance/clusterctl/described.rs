//! What `clusterctl describe cluster` shows of our objects.

use super::eyes::{SOON, until};
use super::life::NAME;
use super::{Site, ok};

const NETWORK: &str = "CAPTCluster";
const CONTROL_PLANE: &str = "CAPTControlPlane";

/// What is waited for, with its reason: the network has no template yet.
pub(super) async fn while_it_waits(site: &Site) -> anyhow::Result<()> {
    let expected =
        [(NETWORK, ["False", "TemplateNotFound"]), (CONTROL_PLANE, ["False", "WaitingForNetwork"])];
    until(SOON, async || Ok(shows(&describe(site, &[]).await?, &expected))).await?;
    ok("describe: our objects say what they wait for");
    Ok(())
}

/// The tree with our kinds, which are all right, and with all that they tell.
pub(super) async fn when_it_is_there(site: &Site) -> anyhow::Result<()> {
    let expected = [
        ("Cluster", ["True", "Available"]),
        (NETWORK, ["True", "NetworkReady"]),
        (CONTROL_PLANE, ["True", "ControlPlaneReady"]),
    ];
    // The Cluster may have been told before its parts were looked at for the last time.
    until(SOON, async || Ok(shows(&describe(site, &[]).await?, &expected))).await?;
    until(SOON, async || {
        let tree = describe(site, &["--show-conditions", "all"]).await?;
        let missing = ["VPCReady", "SecretsReady", "Reachable", "Paused"]
            .into_iter()
            .find(|type_| !tree.contains(type_));
        Ok(missing.map_or(Ok(()), |type_| Err(format!("{type_} is not shown:\n{tree}"))))
    })
    .await?;
    ok("describe: a tree with our objects, which are ready, and their conditions");
    Ok(())
}

async fn describe(site: &Site, more: &[&str]) -> anyhow::Result<String> {
    let question = [&["describe", "cluster", NAME], more].concat();
    Ok(site.clusterctl.run(&question).await?.data)
}

/// Whether the line of each kind has these words.
fn shows(tree: &str, expected: &[(&str, [&str; 2])]) -> Result<(), String> {
    for (kind, words) in expected {
        let object = format!("{kind} default/{NAME}");
        let is_line = |line: &&str| line.trim_start_matches(['│', '├', '└', '─', ' ']).starts_with(&object);
        let line = tree.lines().find(is_line).unwrap_or_default();
        let has = |word: &str| line.split_whitespace().any(|found| found == word);
        if !words.iter().all(|word| has(word)) {
            return Err(format!("{object} is not shown with {words:?}:\n{tree}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "\
NAME                                  REPLICAS  AVAILABLE  READY  STATUS  REASON
Cluster default/first                                             True    Available
├─CAPTCluster default/first                                       True    NetworkReady
└─CAPTControlPlane default/first, 1.34                            False   WaitingForNetwork
";

    #[test]
    fn each_kind_has_its_own_line() {
        assert_eq!(
            shows(TREE, &[("Cluster", ["True", "Available"]), (NETWORK, ["True", "NetworkReady"])]),
            Ok(())
        );
        assert!(shows(TREE, &[(CONTROL_PLANE, ["True", "WaitingForNetwork"])]).is_err());
    }
}
