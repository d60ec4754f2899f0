//! Kubeconfigs of EKS.

use rstest::rstest;

use super::super::eks::{is_cluster_name, is_region, is_role_arn, region_of_host};
use super::*;

fn exec(command: &str, arguments: &str, environment: &str) -> String {
    format!("exec:\n  command: {command}\n  args: [{arguments}]\n  env: [{environment}]")
}

#[rstest]
#[case::plain("aws", "eks, get-token, --cluster-name, demo", "", "demo", None, None)]
#[case::with_region(
    "aws",
    "eks, get-token, --cluster-name, demo, --region, eu-west-1",
    "",
    "demo",
    Some("eu-west-1"),
    None
)]
#[case::as_the_cli_writes_it(
    "aws",
    "--region, eu-west-1, eks, get-token, --cluster-name, demo, --output, json",
    "",
    "demo",
    Some("eu-west-1"),
    None
)]
#[case::with_role(
    "aws",
    "eks, get-token, --cluster-name, demo, --role-arn, 'arn:aws:iam::123456789012:role/path/admin'",
    "",
    "demo",
    None,
    Some("arn:aws:iam::123456789012:role/path/admin")
)]
#[case::attached_values(
    "aws",
    "eks, get-token, --cluster-name=demo, --region=us-gov-west-1",
    "",
    "demo",
    Some("us-gov-west-1"),
    None
)]
#[case::path_to_the_cli(
    "/usr/local/bin/aws",
    "eks, get-token, --cluster-name, demo, --no-cli-pager",
    "",
    "demo",
    None,
    None
)]
#[case::on_windows("'C:\\Tools\\aws.exe'", "eks, get-token, --cluster-name, demo", "", "demo", None, None)]
#[case::outpost("aws", "eks, get-token, --cluster-id, 1a2b-3c", "", "1a2b-3c", None, None)]
#[case::region_of_the_environment(
    "aws",
    "eks, get-token, --cluster-name, demo",
    "{name: AWS_DEFAULT_REGION, value: us-east-1}, {name: AWS_REGION, value: cn-north-1}",
    "demo",
    Some("cn-north-1"),
    None
)]
#[case::default_region(
    "aws",
    "eks, get-token, --cluster-name, demo",
    "{name: AWS_DEFAULT_REGION, value: us-east-1}",
    "demo",
    Some("us-east-1"),
    None
)]
#[case::region_given_twice(
    "aws",
    "eks, get-token, --cluster-name, demo, --region, eu-west-1",
    "{name: AWS_REGION, value: us-east-1}",
    "demo",
    Some("eu-west-1"),
    None
)]
#[case::harmless_environment(
    "aws",
    "eks, get-token, --cluster-name, demo",
    "{name: AWS_STS_REGIONAL_ENDPOINTS, value: regional}, {name: AWS_PROFILE, value: ''}",
    "demo",
    None,
    None
)]
#[case::authenticator("aws-iam-authenticator", "token, -i, demo", "", "demo", None, None)]
#[case::authenticator_with_role(
    "aws-iam-authenticator",
    "token, -r, 'arn:aws-cn:iam::123456789012:role/admin', --cluster-id, demo, --region, cn-north-1",
    "",
    "demo",
    Some("cn-north-1"),
    Some("arn:aws-cn:iam::123456789012:role/admin")
)]
#[case::authenticator_attached("aws-iam-authenticator", "token, -idemo, --cache", "", "demo", None, None)]
fn programs_for_eks_are_understood(
    #[case] command: &str,
    #[case] arguments: &str,
    #[case] environment: &str,
    #[case] cluster_name: &str,
    #[case] region: Option<&str>,
    #[case] role_arn: Option<&str>,
) {
    let expected = EksExec {
        cluster_name: cluster_name.to_owned(),
        region: region.map(ToOwned::to_owned),
        role_arn: role_arn.map(ToOwned::to_owned),
    };
    match user(&exec(command, arguments, environment)).unwrap() {
        User::EksExec(found) => assert_eq!(found, expected),
        other => panic!("{other:?}"),
    }
}

#[rstest]
#[case::unknown(
    "/opt/gcloud/bin/gke-gcloud-auth-plugin",
    "",
    "",
    "",
    "runs `gke-gcloud-auth-plugin`, and CAPT runs no programs that a kubeconfig names; \
     give `token` or a client certificate, or for EKS plain `aws eks get-token`"
)]
#[case::wrapper(
    "aws-vault",
    "exec, p, --, aws, eks, get-token",
    "",
    "",
    "runs `aws-vault`, and CAPT runs no programs that a kubeconfig names; \
     give `token` or a client certificate, or for EKS plain `aws eks get-token`"
)]
#[case::no_command("''", "", "", "", "names no command; give `token`, or a client certificate")]
#[case::another_command(
    "aws",
    "s3, ls",
    "",
    ".args",
    "makes no token for an EKS cluster; write `aws eks get-token --cluster-name NAME --region REGION`"
)]
#[case::no_arguments(
    "aws",
    "",
    "",
    ".args",
    "makes no token for an EKS cluster; write `aws eks get-token --cluster-name NAME --region REGION`"
)]
#[case::no_cluster_name(
    "aws",
    "eks, get-token",
    "",
    ".args",
    "has no usable value for the name of the EKS cluster; correct it"
)]
#[case::no_value(
    "aws",
    "eks, get-token, --cluster-name",
    "",
    ".args",
    "has no usable value for the name of the EKS cluster; correct it"
)]
#[case::odd_cluster_name(
    "aws",
    "eks, get-token, --cluster-name, \"a\\r\\nb\"",
    "",
    ".args",
    "has no usable value for the name of the EKS cluster; correct it"
)]
#[case::odd_region(
    "aws",
    "eks, get-token, --cluster-name, demo, --region, evil.example.com/",
    "",
    ".args",
    "has no usable value for the region; correct it"
)]
#[case::odd_role(
    "aws",
    "eks, get-token, --cluster-name, demo, --role-arn, admin",
    "",
    ".args",
    "has no usable value for the role's ARN; correct it"
)]
#[case::unknown_option(
    "aws",
    "eks, get-token, --cluster-name, demo, --endpoint-url=http://hunter2",
    "",
    ".args",
    "has the option `--endpoint-url`, whose meaning CAPT cannot keep; remove it"
)]
#[case::external_id(
    "aws-iam-authenticator",
    "token, -i, demo, --external-id, hunter2",
    "",
    ".args",
    "has the option `--external-id`, whose meaning CAPT cannot keep; remove it"
)]
#[case::profile(
    "aws",
    "--profile, prod, eks, get-token, --cluster-name, demo",
    "",
    ".args",
    "uses the AWS profile `prod`, which CAPT does not have; \
     remove it, and name a role in spec.controlPlaneConfig.identity if one is needed"
)]
#[case::profile_in_the_environment(
    "aws",
    "eks, get-token, --cluster-name, demo",
    "{name: AWS_PROFILE, value: prod}",
    ".env[AWS_PROFILE]",
    "uses the AWS profile `prod`, which CAPT does not have; \
     remove it, and name a role in spec.controlPlaneConfig.identity if one is needed"
)]
#[case::keys_in_the_environment(
    "aws",
    "eks, get-token, --cluster-name, demo",
    "{name: AWS_SECRET_ACCESS_KEY, value: hunter2}",
    ".env[AWS_SECRET_ACCESS_KEY]",
    "gives the program an AWS identity, which CAPT does not take from a kubeconfig; \
     remove it, and name a role in spec.controlPlaneConfig.identity if one is needed"
)]
#[case::odd_region_in_the_environment(
    "aws",
    "eks, get-token, --cluster-name, demo",
    "{name: AWS_REGION, value: hunter2}",
    ".env[AWS_REGION]",
    "has no usable value for the region; correct it"
)]
#[case::argument_that_is_a_number(
    "aws",
    "eks, get-token, --cluster-name, 12",
    "",
    ".args[3]",
    "is not a text; put it in quotes"
)]
fn other_programs_are_refused(
    #[case] command: &str,
    #[case] arguments: &str,
    #[case] environment: &str,
    #[case] field: &str,
    #[case] expected: &str,
) {
    let told = user(&exec(command, arguments, environment)).unwrap_err().to_string();
    assert_eq!(told, format!("`users[admin].user.exec{field}` {expected}"));
}

#[test]
fn a_token_for_eks_is_known_by_its_beginning() {
    let kubeconfig = parse(kubeconfig(&good_cluster(), "token: k8s-aws-v1.abc").as_bytes()).unwrap();
    assert!(kubeconfig.is_eks() && matches!(kubeconfig.user, User::EksToken { .. }));
}

#[rstest]
#[case::told(" --region, eu-west-1", Some("eu-west-1"))]
#[case::by_the_host("", Some("ap-northeast-1"))]
fn the_region_is_the_users_or_else_the_hosts(#[case] arguments: &str, #[case] expected: Option<&str>) {
    let cluster = "server: https://ABC.gr7.ap-northeast-1.eks.amazonaws.com";
    let user = exec("aws", &format!("eks, get-token, --cluster-name, demo,{arguments}"), "");
    let kubeconfig = parse(kubeconfig(cluster, &user).as_bytes()).unwrap();
    assert_eq!(kubeconfig.eks_region(), expected);
}

#[rstest]
#[case::usual("abc.gr7.ap-northeast-1.eks.amazonaws.com", Some("ap-northeast-1"))]
#[case::government("abc.sk1.us-gov-west-1.eks.amazonaws.com", Some("us-gov-west-1"))]
#[case::china("abc.yl4.cn-north-1.eks.amazonaws.com.cn", Some("cn-north-1"))]
#[case::china_as_documented("abc.cn-north-1.amazonwebservices.com.cn", Some("cn-north-1"))]
#[case::isolated("abc.gr7.us-iso-east-1.eks.c2s.ic.gov", Some("us-iso-east-1"))]
#[case::european("abc.gr7.eusc-de-east-1.eks.amazonaws.eu", Some("eusc-de-east-1"))]
#[case::dual_stack("abc.gr7.eks.us-west-2.api.aws", Some("us-west-2"))]
#[case::dual_stack_without_service("abc.us-west-2.api.aws", Some("us-west-2"))]
#[case::dual_stack_in_china("abc.cn-north-1.api.amazonwebservices.com.cn", Some("cn-north-1"))]
#[case::no_region("eks.amazonaws.com", None)]
#[case::nothing_before_the_region("us-west-2.eks.amazonaws.com", None)]
#[case::not_a_region("abc.gr7.eks.amazonaws.com", None)]
#[case::another_domain("abc.gr7.us-west-2.eks.amazonaws.com.example.com", None)]
#[case::another_ending("abc.gr7.us-west-2.myeks.amazonaws.com", None)]
#[case::own_name("api.example.com", None)]
#[case::nothing("", None)]
fn hosts_of_eks_tell_their_region(#[case] host: &str, #[case] expected: Option<&str>) {
    assert_eq!(region_of_host(host), expected);
}

#[rstest]
#[case::usual("ap-northeast-1", true)]
#[case::long("us-isob-east-1", true)]
#[case::two_digits("us-west-12", true)]
#[case::no_number("us-west", false)]
#[case::no_direction("us-1", false)]
#[case::capitals("US-WEST-1", false)]
#[case::dot("us-west.evil-1", false)]
#[case::empty_part("us--1", false)]
#[case::nothing("", false)]
fn regions_are_told_from_what_could_lead_anywhere(#[case] text: &str, #[case] expected: bool) {
    assert_eq!(is_region(text), expected);
}

#[rstest]
#[case::usual("my-cluster_1", true)]
#[case::nothing("", false)]
#[case::hyphen_first("-a", false)]
#[case::line_break("a\nb", false)]
#[case::overlong(&"a".repeat(101), false)]
fn cluster_names_are_as_eks_takes_them(#[case] text: &str, #[case] expected: bool) {
    assert_eq!(is_cluster_name(text), expected);
}

#[rstest]
#[case::usual("arn:aws:iam::123456789012:role/admin", true)]
#[case::with_a_path("arn:aws-us-gov:iam::123456789012:role/a/b+c=d", true)]
#[case::user("arn:aws:iam::123456789012:user/admin", false)]
#[case::session("arn:aws:sts::123456789012:assumed-role/a/b", false)]
#[case::short_account("arn:aws:iam::1:role/admin", false)]
#[case::no_name("arn:aws:iam::123456789012:role/", false)]
#[case::blank("arn:aws:iam::123456789012:role/a b", false)]
fn roles_are_known_by_their_arn(#[case] text: &str, #[case] expected: bool) {
    assert_eq!(is_role_arn(text), expected);
}
