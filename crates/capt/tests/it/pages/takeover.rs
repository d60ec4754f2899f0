//! Blocks that are run in a management cluster without `capt up`: as the Go implementation leaves it, and with `capt manager`.

use std::fs;

use capt_testkit::TestCluster;

use super::scene::{CTRL_C, Scene, block_of};
use super::{Reader, blocks, cluster_with_kinds};
use crate::migrate::from_go::Left;

const MIGRATION: &str = "docs/src/guides/migration.md";
const MOVING: &str = "docs/src/guides/moving.md";

/// While no manager runs.
pub(super) const BEFORE_MANAGER: [Scene; 4] = [
    Scene {
        before: "exec > >(tee printed)",
        after: "grep 'edited-apply' printed >/dev/null
            rm printed",
        ..Scene::new(MIGRATION, "capt migrate from-go --dry-run")
    },
    Scene {
        after: "test -z \"$(kubectl get crd workspacetemplateapplies.infrastructure.cluster.x-k8s.io \\
                -o jsonpath='{.metadata.labels.cluster\\.x-k8s\\.io/v1beta1}')\"",
        ..Scene::new(MIGRATION, "capt migrate from-go --yes")
    },
    Scene {
        before: "kubectl apply -f $FIXTURES/left-behind.yaml",
        after: "if kubectl get workspace demo-eks-controlplane; then exit 1; fi",
        ..Scene::new(MOVING, "kubectl get workspaces")
    },
    Scene {
        before: "for side in from to; do
                kubectl --kubeconfig $side.kubeconfig create namespace team-a
                kubectl --kubeconfig $side.kubeconfig create secret generic -n team-a tfstate-demo-vpc-capt --from-literal=tfstate=$side
            done",
        after: "test \"$(kubectl --kubeconfig to.kubeconfig get secret -n team-a tfstate-demo-vpc-capt -o jsonpath='{.data.tfstate}' | base64 -d)\" = from
            kubectl --kubeconfig to.kubeconfig get workspace demo-vpc -o yaml | grep reconcile-requested-at >/dev/null
            if kubectl --kubeconfig from.kubeconfig get secret -n team-a tfstate-demo-vpc-capt; then exit 1; fi
            kubectl delete workspace demo-vpc
            rm from.kubeconfig to.kubeconfig state.json",
        ..Scene::new(MOVING, "kubectl --kubeconfig from.kubeconfig get secret")
    },
];

/// The manager, until Ctrl-C, which ends jq too.
pub(super) const MANAGER: Scene = Scene {
    before: "sed s/REVISION/first/ $FIXTURES/prod-1.yaml | kubectl apply -f -",
    ..Scene::new("docs/src/guides/operations.md", "capt manager")
};

/// While a manager runs.
pub(super) const BESIDE_MANAGER: Scene = Scene {
    before: "eventually kubectl wait workspacetemplateapply --all-namespaces --field-selector metadata.name=edited-apply \\
            --for=jsonpath='{.status.pendingDigest}' --timeout=1s
        namespace=$(kubectl get workspacetemplateapply --all-namespaces --field-selector metadata.name=edited-apply \\
            -o jsonpath='{.items[0].metadata.namespace}')",
    stands_for: &[("NAMESPACE", "\"$namespace\""), ("NAME", "edited-apply")],
    dialogue: &[("Write yes to go on:", "yes\n")],
    after: "eventually kubectl wait workspace edited --for=jsonpath='{.spec.forProvider.vars[0].value}'=r --timeout=1s",
    ..Scene::new(MIGRATION, "kubectl get workspacetemplateapplies")
};

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_of_the_go_implementation_is_taken_over_as_the_pages_say() {
    let left = Left::behind().await;
    let other = TestCluster::shared().await;
    let reader = Reader::new();
    let kubeconfig = left.kubeconfig();
    reader.use_cluster(&kubeconfig);
    fs::write(reader.path("checkout/to.kubeconfig"), kubeconfig).unwrap();
    fs::write(reader.path("checkout/from.kubeconfig"), other.control_plane().kubeconfig()).unwrap();
    let play = move || {
        let blocks = blocks();
        for scene in &BEFORE_MANAGER {
            reader.play(scene, block_of(scene, &blocks));
        }
        let manager = reader.start("capt manager --leader-elect=false --diagnostics-address none");
        reader.play(&BESIDE_MANAGER, block_of(&BESIDE_MANAGER, &blocks));
        manager.types(CTRL_C);
        let (screen, code) = manager.end();
        assert_eq!(code, Some(0), "{screen}");
    };
    tokio::task::spawn_blocking(play).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_is_read_as_the_pages_say() {
    let cluster = cluster_with_kinds().await;
    let reader = Reader::new();
    reader.use_cluster(&cluster.control_plane().kubeconfig());
    let play = move || {
        let manager = reader.start(&MANAGER.script(block_of(&MANAGER, &blocks())));
        // The last of the fields that jq prints of an object.
        let written = manager.until("\"target\": \"audit\"");
        assert!(written.contains("\"action\": \"written\""), "{written}");
        manager.types(CTRL_C);
        let (screen, code) = manager.end();
        assert_ne!(code, Some(0), "jq ends by Ctrl-C: {screen}");
    };
    tokio::task::spawn_blocking(play).await.unwrap();
}
