use super::*;

const TEMPLATE: &str = "
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: WorkspaceTemplate
metadata: {name: t}
spec:
  template:
    spec:
      forProvider:
        source: Inline
        module: |
          output \"name\" {
            value = \"${cluster_name}\"
          }
";

fn warnings(user: &str) -> Vec<String> {
    let files =
        [File { name: "dir/template.yaml", text: TEMPLATE }, File { name: "dir/user.yaml", text: user }];
    told(&files).into_iter().filter(|line| line.contains("template.yaml")).collect()
}

#[rstest::rstest]
#[case::nobody("")]
#[case::a_control_plane(
    "apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: CAPTControlPlane
metadata: {name: a}
spec: {version: v1.34.0, workspaceTemplateRef: {name: t}}
"
)]
#[case::a_control_plane_of_a_class(
    "apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: CAPTControlPlaneTemplate
metadata: {name: a}
spec: {template: {spec: {workspaceTemplateRef: {name: t}}}}
"
)]
#[case::a_network(
    "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: CAPTCluster
metadata: {name: a}
spec: {region: eu-west-1, vpcTemplateRef: {name: t}}
"
)]
#[case::an_apply(
    "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: WorkspaceTemplateApply
metadata: {name: a}
spec: {templateRef: {name: t}, variables: {cluster_name: x}}
"
)]
#[case::an_apply_from_a_secret(
    "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: WorkspaceTemplateApply
metadata: {name: a}
spec: {templateRef: {name: t}, variablesFrom: [{variable: cluster_name, secretKeyRef: {name: s, key: k}}]}
"
)]
fn what_gives_a_variable_is_known_across_files(#[case] user: &str) {
    assert_eq!(warnings(user), Vec::<String>::new());
}

#[test]
fn an_apply_that_does_not_give_it_is_told() {
    let user = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: WorkspaceTemplateApply
metadata: {name: a}
spec: {templateRef: {name: t}}
";
    let told = warnings(user);
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(
        told[0].ends_with(
            "`${cluster_name}` has no value and stays as it is; perhaps `${CLUSTER_NAME}` is meant"
        )
    );
}
