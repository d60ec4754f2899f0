//! Blocks that are run beside `capt demo`.

use super::scene::{CTRL_C, Scene};

const CLUSTERS: &str = "docs/src/guides/clusters.md";
const MIGRATION: &str = "docs/src/guides/migration.md";
const MOVING: &str = "docs/src/guides/moving.md";
const OPERATIONS: &str = "docs/src/guides/operations.md";

/// What starts the demo.
pub(super) const README: Scene = Scene {
    dialogue: &[("The cluster is there", CTRL_C)],
    after: "if capt status; then echo 'the demo still runs' >&2; exit 1; fi",
    ..Scene::new("README.md", "cargo run -- demo")
};
pub(super) const QUICK_START: Scene = Scene::new("docs/src/quick-start.md", "cargo run -- demo");

/// In the order of the pages.
pub(super) const SCENES: [Scene; 11] = [
    Scene {
        before: "cp examples/clusterclass/cluster.yaml cluster.yaml
            cat examples/clusterclass/clusterclass.yaml > class.yaml
            for file in network control-plane; do echo ---; cat examples/eks/$file.yaml; done >> class.yaml
            kubectl apply -f cluster.yaml
            # As the Cluster API core writes it.
            kubectl patch cluster classy-1 --subresource=status --type merge -p '{\"status\":{\"conditions\":[{
                \"type\":\"TopologyReconciled\",\"status\":\"False\",\"reason\":\"ReconcileFailed\",
                \"message\":\"region cannot be changed\",\"lastTransitionTime\":\"2026-11-16T12:00:00Z\"}]}}'
            exec > >(tee printed)",
        after: "grep 'region cannot be changed' printed >/dev/null
            grep 'Cluster/classy-1' printed >/dev/null
            kubectl delete cluster classy-1
            rm cluster.yaml class.yaml printed",
        ..Scene::new(CLUSTERS, "capt validate -f cluster.yaml")
    },
    Scene {
        before: "kubectl apply -f $FIXTURES/eks.yaml
            eventually kubectl wait workspace karpenter-1 --for=condition=Ready --timeout=1s
            kubectl annotate workspacetemplateapply karpenter-1-apply cluster.x-k8s.io/paused=
            # As if Terraform had installed the release, too.
            kubectl get secret tfstate-karpenter-1-capt -o json > secret.json
            jq -r .data.tfstate secret.json | base64 -d | gunzip | jq -c '.resources += [{mode:\"managed\",type:\"helm_release\",
                name:\"karpenter\",provider:\"provider[\\\"registry.opentofu.org/hashicorp/helm\\\"]\",
                instances:[{schema_version:1,attributes:{id:\"karpenter\"},sensitive_attributes:[]}]}]' > state
            jq --arg state \"$(gzip < state | base64 -w0)\" '.data.tfstate = $state' secret.json | kubectl replace -f -
            sed 's/#RELEASE/resource \"helm_release\" \"karpenter\" { chart = \"karpenter\" }/' $FIXTURES/eks.yaml | kubectl apply -f -
            rm secret.json state
            exec > >(tee printed)",
        after: "grep '^-resource \"helm_release\" \"karpenter\"' printed >/dev/null
            kubectl get workspacetemplate eks -o jsonpath='{.spec}' | grep helm_release >/dev/null
            rm printed",
        ..Scene::new(MIGRATION, "capt migrate helm-release karpenter --template eks --dry-run")
    },
    Scene {
        after: "if kubectl get workspacetemplate eks -o jsonpath='{.spec}' | grep helm_release; then exit 1; fi
            kubectl get secret tfstate-karpenter-1-capt -o jsonpath='{.data.tfstate}' | base64 -d | gunzip > state
            if grep helm_release state; then exit 1; fi
            rm state",
        ..Scene::new(MIGRATION, "capt migrate helm-release karpenter --template eks --yes")
    },
    Scene {
        before: "kubectl create namespace team-a
            kubectl create configmap -n team-a mine
            kubectl create secret generic -n team-a mine
            kubectl label configmap,secret -n team-a mine app=addons",
        after: "for kind in configmap secret; do
                test \"$(kubectl get $kind -n team-a -l clusterctl.cluster.x-k8s.io/move -o name)\" = $kind/mine
            done",
        ..Scene::new(MOVING, "kubectl label configmap,secret")
    },
    Scene {
        before: "echo '{\"apiVersion\":\"cluster.x-k8s.io/v1beta2\",\"kind\":\"Cluster\",
            \"metadata\":{\"name\":\"demo\",\"namespace\":\"team-a\"},\"spec\":{\"paused\":true}}' | kubectl apply -f -",
        after: "test -z \"$(kubectl get cluster -n team-a demo -o jsonpath='{.spec.paused}')\"
            kubectl delete cluster -n team-a demo",
        ..Scene::new(MOVING, "kubectl patch cluster -n team-a demo")
    },
    Scene {
        // The second command ends by itself: nothing runs.
        dialogue: &[("Cluster/demo", CTRL_C)],
        ..Scene::new(OPERATIONS, "capt describe cluster demo --watch")
    },
    Scene {
        before: "sed s/REVISION/first/ $FIXTURES/prod-1.yaml | kubectl apply -f -
            for workspace in prod-1-vpc prod-1-eks-controlplane; do
                eventually kubectl wait workspace $workspace --for=condition=Ready --timeout=1s
                apply=$(kubectl get workspacetemplateapply -o name | grep $workspace)
                kubectl patch $apply --type merge -p '{\"spec\":{\"protectedResources\":[\"*\"]}}'
            done
            sed s/REVISION/second/ $FIXTURES/prod-1.yaml | kubectl apply -f -
            for workspace in prod-1-vpc prod-1-eks-controlplane; do
                eventually kubectl wait workspace $workspace --for=condition=ApprovalRequired --timeout=1s
            done",
        dialogue: &[("Write yes to go on:", "yes\n"), ("Write yes to go on:", "yes\n")],
        after: "for workspace in prod-1-vpc prod-1-eks-controlplane; do
                eventually kubectl wait workspace $workspace --for=condition=ApprovalRequired=False --timeout=1s
                kubectl get workspace $workspace -o jsonpath='{.spec.forProvider.module}' | grep second >/dev/null
            done",
        ..Scene::new(OPERATIONS, "capt plan workspace prod-1-eks-controlplane")
    },
    Scene {
        before: "sed s/REVISION/third/ $FIXTURES/prod-1.yaml | kubectl apply -f -
            eventually kubectl wait workspace prod-1-eks-controlplane --for=condition=ApprovalRequired --timeout=1s
            hash=$(kubectl get workspace prod-1-eks-controlplane -o jsonpath='{.status.engine.plan.hash}')",
        stands_for: &[("HASH", "\"$hash\"")],
        after: "eventually kubectl wait workspace prod-1-eks-controlplane --for=condition=ApprovalRequired=False --timeout=1s
            capt approve cluster prod-1 --yes --wait",
        ..Scene::new(OPERATIONS, "kubectl annotate --overwrite workspace prod-1-eks-controlplane")
    },
    Scene {
        before: "mkdir templates
            sed s/REVISION/fourth/ $FIXTURES/prod-1.yaml > all.yaml
            sed '/^kind: Cluster$/,$!d' all.yaml | sed '1i apiVersion: cluster.x-k8s.io/v1beta2' > cluster.yaml
            sed '/^apiVersion: cluster.x-k8s.io/,$d' all.yaml > templates/templates.yaml
            exec > >(tee printed)",
        // The Cluster alone changes nothing, so that the last command ends with 0.
        after: "grep 'terraform_data.control_plane' printed >/dev/null
            code=0; capt plan -f templates/ --detailed-exitcode || code=$?; test $code = 3
            rm -r all.yaml cluster.yaml templates printed",
        ..Scene::new(OPERATIONS, "capt plan -f cluster.yaml -f templates/")
    },
    Scene {
        before: "serial=$(capt state list workspace prod-1-eks-controlplane --output json | jq '[.workspaces[0].snapshots[].serial] | min')",
        stands_for: &[("SERIAL", "\"$serial\"")],
        dialogue: &[("Write yes to go on:", "yes\n")],
        after: "eventually kubectl wait workspace prod-1-eks-controlplane --for=condition=ApprovalRequired --timeout=1s",
        ..Scene::new(OPERATIONS, "capt state restore workspace prod-1-eks-controlplane")
    },
    Scene {
        stands_for: &[("NAME", "demo")],
        ..Scene::new("docs/src/guides/troubleshooting.md", "capt describe cluster NAME")
    },
];
