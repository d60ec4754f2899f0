//! Blocks that start a local management cluster of their own, save it and restore it.

use super::scene::{CTRL_C, Scene};

const OPERATIONS: &str = "docs/src/guides/operations.md";
const PASSPHRASE: &str = "correct horse battery staple\n";

/// In this order: one cluster lives through all of them.
pub(super) const SCENES: [Scene; 3] = [
    Scene {
        dialogue: &[("The management cluster is ready. In another terminal:", CTRL_C)],
        after: "capt status",
        ..Scene::new("docs/src/guides/homes.md", "capt up")
    },
    Scene {
        before: "export KUBECONFIG=~/.local/share/capt/kubeconfig
            kubectl apply -f examples/local
            eventually kubectl wait workspace demo-network demo-cluster --for=condition=Ready --timeout=1s
            unset KUBECONFIG",
        dialogue: &[("Passphrase:", PASSPHRASE), ("The same once more:", PASSPHRASE)],
        after: "head -1 home.age | grep age-encryption.org >/dev/null",
        ..Scene::new(OPERATIONS, "capt backup")
    },
    Scene {
        before: "capt down
            rm -r ~/.local/share/capt
            capt up --detach
            export KUBECONFIG=~/.local/share/capt/kubeconfig
            test -z \"$(kubectl get workspaces -o name)\"",
        dialogue: &[("Passphrase:", PASSPHRASE), ("Passphrase:", PASSPHRASE)],
        after: "kubectl wait workspace demo-network demo-cluster --for=condition=Synced --timeout=1s
            capt down",
        ..Scene::new(OPERATIONS, "capt restore")
    },
];
