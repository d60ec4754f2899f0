use rstest::rstest;
use serde_json::json;

use super::*;
use crate::certificate::fixtures::{CA, OTHER_CA, base64};

const TOKEN: &str = "{token: abc}";
const SECRET: &str = "a/demo-eks-connection";

fn kubeconfig(server: &str, authority: &str, user: &str) -> String {
    let authority = base64(authority);
    format!(
        "{{apiVersion: v1, kind: Config, current-context: x, contexts: [{{name: x, context: {{cluster: c, user: u}}}}], \
         clusters: [{{name: c, cluster: {{server: '{server}', certificate-authority-data: {authority}}}}}], \
         users: [{{name: u, user: {user}}}]}}"
    )
}

fn given() -> Data {
    let kubeconfig = kubeconfig("https://api.example.com:6443", CA, TOKEN);
    data(&[
        (KUBECONFIG, &kubeconfig),
        (CERTIFICATE_AUTHORITY, &base64(CA)),
        (ENDPOINT, "https://api.example.com:6443"),
    ])
}

fn data(fields: &[(&str, &str)]) -> Data {
    fields.iter().map(|(name, value)| ((*name).to_owned(), ByteString(value.as_bytes().to_vec()))).collect()
}

fn with(field: &str, value: &str) -> Data {
    let mut data = given();
    data.insert(field.to_owned(), ByteString(value.as_bytes().to_vec()));
    data
}

fn without(field: &str) -> Data {
    let mut data = given();
    data.remove(field);
    data
}

fn control_plane(more: &serde_json::Value) -> CAPTControlPlane {
    let mut spec = json!({ "version": "1.34", "workspaceTemplateRef": { "name": "eks" } });
    for (field, value) in more.as_object().unwrap() {
        spec[field] = value.clone();
    }
    serde_json::from_value(json!({
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane",
        "metadata": { "name": "demo", "namespace": "a" }, "spec": spec,
    }))
    .unwrap()
}

fn workspace(outputs: &serde_json::Value) -> WorkspaceSeen {
    let facts = crate::apply::decide::WorkspaceFacts::default();
    WorkspaceSeen { facts, at_provider: Some(json!({ "outputs": outputs })) }
}

fn read_with(
    data: &Data,
    control_plane: &CAPTControlPlane,
    workspace: Option<&WorkspaceSeen>,
) -> Result<Source, Blocked> {
    let now = "2026-01-01T00:00:00Z".parse().unwrap();
    read(data, Surroundings { secret: SECRET, control_plane, workspace, network_region: None, now })
}

fn read_plain(data: &Data) -> Result<Source, Blocked> {
    read_with(data, &control_plane(&json!({})), None)
}

#[rstest]
#[case::no_kubeconfig(without(KUBECONFIG), Reason::RequiredFieldMissing, "lacks `kubeconfig`")]
#[case::an_empty_kubeconfig(with(KUBECONFIG, " \n"), Reason::RequiredFieldMissing, "lacks `kubeconfig`")]
#[case::no_authority(
    without(CERTIFICATE_AUTHORITY),
    Reason::RequiredFieldMissing,
    "lacks `cluster_certificate_authority_data`,"
)]
#[case::an_empty_authority(
    with(CERTIFICATE_AUTHORITY, ""),
    Reason::RequiredFieldMissing,
    "lacks `cluster_certificate_authority_data`,"
)]
#[case::neither(data(&[("x", "y")]), Reason::RequiredFieldMissing, "lacks `kubeconfig` and `cluster_certificate_authority_data`")]
#[case::authority_not_base64(
    with(CERTIFICATE_AUTHORITY, "%%%"),
    Reason::KubeconfigInvalid,
    "`cluster_certificate_authority_data` is neither PEM nor base64 of PEM"
)]
#[case::authority_not_pem(
    with(CERTIFICATE_AUTHORITY, "aGVsbG8="),
    Reason::KubeconfigInvalid,
    "`cluster_certificate_authority_data` is base64, but not of PEM"
)]
#[case::kubeconfig_not_yaml(
    with(KUBECONFIG, "a: [b"),
    Reason::KubeconfigInvalid,
    "the kubeconfig in Secret `a/demo-eks-connection` cannot be used"
)]
#[case::kubeconfig_of_another_kind(
    with(KUBECONFIG, "kind: Secret"),
    Reason::KubeconfigInvalid,
    "cannot be used"
)]
#[case::no_endpoint(
    without(ENDPOINT),
    Reason::EndpointUnavailable,
    "add an output of that name to the module"
)]
#[case::a_broken_endpoint(
    with(ENDPOINT, "http://x"),
    Reason::EndpointUnavailable,
    "field `cluster_endpoint`"
)]
#[case::an_expired_token(
    with(KUBECONFIG, &kubeconfig("https://api.example.com:6443", CA, "{token: eyJhbGciOiJub25lIn0.eyJleHAiOjE3MDAwMDAwMDB9.c2ln}")),
    Reason::CredentialsExpired,
    "expired at 2023-11-14T22:13:20Z"
)]
#[case::an_unknown_program(
    with(KUBECONFIG, &kubeconfig("https://api.example.com:6443", CA, "{exec: {apiVersion: client.authentication.k8s.io/v1, command: /x/gke-gcloud-auth-plugin}}")),
    Reason::KubeconfigInvalid,
    "gke-gcloud-auth-plugin"
)]
fn what_is_wrong_is_told_by_its_field(#[case] data: Data, #[case] reason: Reason, #[case] expected: &str) {
    let blocked = read_plain(&data).unwrap_err();
    assert_eq!(blocked.reason, reason, "{}", blocked.message);
    assert!(blocked.message.contains(expected), "{}", blocked.message);
    assert!(!blocked.message.contains("abc"), "{}", blocked.message);
}

#[test]
fn what_the_module_gave_passes_through() {
    let source = read_plain(&given()).unwrap();
    assert_eq!(source.endpoint, Endpoint { host: "api.example.com".to_owned(), port: 6443 });
    assert!(matches!(source.access, Access::AsGiven { expires_at: None, .. }));
    assert!(source.warnings.is_empty());
    assert!(!format!("{source:?}").contains("abc"), "secrets are not shown");
}

#[rstest]
#[case::the_output_comes_first(
    Some("https://out.example.com"),
    Some("https://field.example.com"),
    None,
    "out.example.com"
)]
#[case::then_the_secret(None, Some("https://field.example.com"), None, "field.example.com")]
#[case::an_output_that_is_broken_is_passed_over(
    Some("ftp://x"),
    Some("https://field.example.com"),
    None,
    "field.example.com"
)]
#[case::what_is_known_is_kept(None, None, Some("known.example.com"), "known.example.com")]
fn the_endpoint_is_found(
    #[case] output: Option<&str>,
    #[case] field: Option<&str>,
    #[case] known: Option<&str>,
    #[case] expected: &str,
) {
    let mut data = without(ENDPOINT);
    if let Some(field) = field {
        data.insert(ENDPOINT.to_owned(), ByteString(field.as_bytes().to_vec()));
    }
    let control_plane = match known {
        Some(host) => control_plane(&json!({ "controlPlaneEndpoint": { "host": host, "port": 443 } })),
        None => control_plane(&json!({})),
    };
    let workspace = output.map(|output| workspace(&json!({ ENDPOINT: output })));
    let source = read_with(&data, &control_plane, workspace.as_ref()).unwrap();
    assert_eq!(source.endpoint.host, expected);
    assert_eq!(source.server.host(), "api.example.com", "the credentials go where they say");
}

#[rstest]
#[case::another_server(
    with(ENDPOINT, "https://private.example.com"),
    "the kubeconfig leads to https://api.example.com:6443, and `cluster_endpoint` to https://private.example.com"
)]
#[case::another_authority(
    with(CERTIFICATE_AUTHORITY, OTHER_CA),
    "the kubeconfig trusts other certificates than `cluster_certificate_authority_data` holds"
)]
fn what_is_odd_but_legal_is_told(#[case] data: Data, #[case] expected: &str) {
    assert_eq!(read_plain(&data).unwrap().warnings, [expected]);
}

const EKS_HOST: &str = "https://ABC.gr7.eu-west-1.eks.amazonaws.com";

fn eks_of(source: Source) -> EksAccess {
    match source.access {
        Access::Eks(access) => access,
        Access::AsGiven { .. } => panic!("not EKS"),
    }
}

#[test]
fn eks_does_without_a_kubeconfig() {
    let data = data(&[(CERTIFICATE_AUTHORITY, &base64(CA)), (ENDPOINT, EKS_HOST), (CLUSTER_NAME, "prod")]);
    let access = eks_of(read_plain(&data).unwrap());
    assert_eq!((access.cluster_name.as_str(), access.region.as_str()), ("prod", "eu-west-1"));
    assert_eq!(access.role_arn, None);
}

#[test]
fn a_program_that_makes_tokens_for_eks_says_how_and_the_spec_says_who() {
    let exec = "{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: aws, \
                args: [--region, us-east-2, eks, get-token, --cluster-name, prod, --role-arn, 'arn:aws:iam::111122223333:role/theirs']}}";
    let data = with(KUBECONFIG, &kubeconfig(EKS_HOST, CA, exec));
    let access = eks_of(read_plain(&data).unwrap());
    assert_eq!((access.cluster_name.as_str(), access.region.as_str()), ("prod", "us-east-2"));
    assert_eq!(access.role_arn.as_deref(), Some("arn:aws:iam::111122223333:role/theirs"));
    let identity = json!({ "roleArn": "arn:aws:iam::111122223333:role/ours", "externalId": "x" });
    let control_plane = control_plane(&json!({ "controlPlaneConfig": { "identity": identity } }));
    let access = eks_of(read_with(&data, &control_plane, None).unwrap());
    assert_eq!(access.role_arn.as_deref(), Some("arn:aws:iam::111122223333:role/ours"));
    assert_eq!(access.external_id.as_deref(), Some("x"));
}

#[test]
fn a_token_for_eks_shows_what_the_cluster_is() {
    let data =
        with(KUBECONFIG, &kubeconfig("https://private.example.com", CA, "{token: k8s-aws-v1.aHR0cHM6Ly94}"));
    let blocked = read_plain(&data).unwrap_err();
    assert!(blocked.message.contains("write it into spec.controlPlaneConfig.region"), "{}", blocked.message);
    let control_plane = control_plane(&json!({ "controlPlaneConfig": { "region": "eu-north-1" } }));
    let access = eks_of(read_with(&data, &control_plane, None).unwrap());
    assert_eq!((access.cluster_name.as_str(), access.region.as_str()), ("demo", "eu-north-1"));
}
