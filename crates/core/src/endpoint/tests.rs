use proptest::prelude::*;
use rstest::rstest;

use super::*;

#[rstest]
#[case::nothing("", Problem::Empty)]
#[case::only_blanks(" \n\t", Problem::Empty)]
#[case::endless(&"a".repeat(10_000), Problem::TooLong)]
#[case::blank_inside("https://abc example.com", Problem::Character)]
#[case::line_break_inside("https://abc\n.example.com", Problem::Character)]
#[case::control_character("https://abc\u{0}.example.com", Problem::Character)]
#[case::unicode_blank("https://abc\u{2003}.example.com", Problem::Character)]
#[case::plain_http("http://abc.example.com", Problem::PlainHttp)]
#[case::plain_http_in_capitals("HTTP://abc.example.com", Problem::PlainHttp)]
#[case::another_scheme("ftp://abc.example.com", Problem::OtherScheme)]
#[case::no_scheme_before_the_slashes("://abc.example.com", Problem::OtherScheme)]
#[case::user("https://admin@abc.example.com", Problem::UserInfo)]
#[case::user_and_password("https://admin:hunter2@abc.example.com:6443", Problem::UserInfo)]
#[case::user_without_scheme("admin@abc.example.com", Problem::UserInfo)]
#[case::query("https://abc.example.com?x=1", Problem::Query)]
#[case::query_after_path("https://abc.example.com/a?x=1#y", Problem::Query)]
#[case::fragment("https://abc.example.com/#x", Problem::Fragment)]
#[case::no_host("https://", Problem::NoHost)]
#[case::no_host_but_port(":6443", Problem::NoHost)]
#[case::no_host_but_path("https:///path", Problem::NoHost)]
#[case::slashes_only("//abc.example.com", Problem::NoHost)]
#[case::in_quotes("\"https://abc.example.com\"", Problem::OtherScheme)]
#[case::host_in_quotes("\"abc.example.com\"", Problem::Host)]
#[case::not_ascii("https://ünïcode.example.com", Problem::Host)]
#[case::percent_encoded("https://abc%2eexample.com", Problem::Host)]
#[case::empty_label("https://abc..example.com", Problem::Host)]
#[case::hyphen_at_an_edge("https://-abc.example.com", Problem::Host)]
#[case::placeholder("https://${endpoint}", Problem::Host)]
#[case::too_large_a_number("https://999.1.1.1", Problem::Host)]
#[case::too_few_numbers("https://10.1", Problem::Host)]
#[case::overlong_label(&format!("https://{}.com", "a".repeat(64)), Problem::Host)]
#[case::overlong_name(&format!("https://{}com", "abcdefg.".repeat(32)), Problem::Host)]
#[case::bracket_left_open("https://[::1", Problem::Host)]
#[case::text_after_bracket("https://[::1]x", Problem::Host)]
#[case::name_in_brackets("https://[abc.example.com]", Problem::Host)]
#[case::zone("https://[fe80::1%25eth0]", Problem::Host)]
#[case::bare_ipv6("2001:db8::1", Problem::Ipv6WithoutBrackets)]
#[case::port_zero("https://abc.example.com:0", Problem::Port)]
#[case::port_too_large("https://abc.example.com:65536", Problem::Port)]
#[case::port_empty("https://abc.example.com:", Problem::Port)]
#[case::port_with_sign("https://abc.example.com:+443", Problem::Port)]
#[case::port_of_letters("abc:https", Problem::Port)]
#[case::back_slash("https://abc.example.com\\@evil.example.com", Problem::Path)]
#[case::angle_brackets("https://abc.example.com/<script>", Problem::Path)]
fn what_is_no_address_is_refused(#[case] text: &str, #[case] expected: Problem) {
    assert_eq!(parse(text), Err(expected));
}

#[rstest]
#[case::url("https://abc.example.com", "abc.example.com", 443)]
#[case::port("https://127.0.0.1:21040", "127.0.0.1", 21040)]
#[case::last_port("https://abc.example.com:65535", "abc.example.com", 65535)]
#[case::slash_at_the_end("https://abc.example.com/", "abc.example.com", 443)]
#[case::capitals("HTTPS://ABC.gr7.EXAMPLE.com", "abc.gr7.example.com", 443)]
#[case::dot_at_the_end("https://abc.example.com.:6443", "abc.example.com", 6443)]
#[case::ipv6("https://[2001:DB8:0::1]:6443", "2001:db8::1", 6443)]
#[case::ipv6_without_port("[::1]", "::1", 443)]
#[case::host_alone("abc.example.com", "abc.example.com", 443)]
#[case::short_host_and_port("abc:6443", "abc", 6443)]
#[case::blanks_around(" https://abc.example.com\n", "abc.example.com", 443)]
#[case::underscore("https://my_cluster.example.com", "my_cluster.example.com", 443)]
fn endpoints_are_read(#[case] text: &str, #[case] host: &str, #[case] port: u16) {
    let server = parse(text).unwrap();
    assert_eq!((server.host(), server.port(), server.has_path()), (host, port, false));
    assert_eq!(server.endpoint(), Endpoint { host: host.to_owned(), port: i32::from(port) });
}

#[rstest]
#[case::no_scheme("abc.example.com:6443", Problem::NoScheme)]
#[case::blanks_around("https://abc.example.com\n", Problem::Character)]
#[case::empty("", Problem::Empty)]
fn a_kubeconfig_needs_a_whole_url(#[case] text: &str, #[case] expected: Problem) {
    assert_eq!(parse_url(text), Err(expected));
}

#[test]
fn a_path_is_kept_in_the_url_and_left_out_of_the_endpoint() {
    let server = parse_url("https://rancher.example.com/k8s/clusters/c-1/").unwrap();
    assert!(server.has_path());
    assert_eq!(server.path(), "/k8s/clusters/c-1");
    assert_eq!(server.to_string(), "https://rancher.example.com/k8s/clusters/c-1");
    assert_eq!(server.endpoint(), Endpoint { host: "rancher.example.com".to_owned(), port: 443 });
}

#[rstest]
#[case::default_port("abc.example.com:443", "https://ABC.example.com/", true)]
#[case::path("https://abc.example.com/a", "https://abc.example.com/b", true)]
#[case::spelling_of_an_address("[::0:1]", "https://[::1]", true)]
#[case::another_port("https://abc.example.com:6443", "https://abc.example.com", false)]
#[case::another_host("https://a.example.com", "https://b.example.com", false)]
fn servers_are_compared_by_host_and_port(#[case] one: &str, #[case] other: &str, #[case] expected: bool) {
    assert_eq!(parse(one).unwrap().same_address(&parse(other).unwrap()), expected);
}

#[rstest]
#[case::plain_http(
    Problem::PlainHttp,
    "`cluster_endpoint` begins with http://, which would send credentials in clear text; use https://"
)]
#[case::empty(
    Problem::Empty,
    "`cluster_endpoint` is empty; give the URL of the API server, such as https://api.example.com:6443"
)]
fn sentences_name_the_field(#[case] problem: Problem, #[case] expected: &str) {
    assert_eq!(problem.sentence("cluster_endpoint"), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_read_is_written_so_that_it_reads_the_same(
        text in "(https?://)?[a-zA-Z0-9.\\-_\\[\\]:@]{0,20}(:[0-9]{0,6})?[/?#a-z.%\\\\]{0,8}",
    ) {
        if let Ok(server) = parse(&text) {
            prop_assert_eq!(parse_url(&server.to_string()), Ok(server));
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let _ = parse(&text);
        let _ = parse_url(&text);
    }
}
