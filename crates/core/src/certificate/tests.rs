use proptest::prelude::*;
use rstest::rstest;

use super::fixtures::{CA, CLIENT, KEY, OTHER_CA, base64};
use super::*;

#[rstest]
#[case::nothing("", Problem::Empty)]
#[case::only_blanks(" \n\t ", Problem::Empty)]
#[case::a_word("not-yet-known!", Problem::NeitherPemNorBase64)]
#[case::base64_cut_short("LS0tLS1CRUdJTiB", Problem::NeitherPemNorBase64)]
#[case::base64_of_something_else(&base64("hello"), Problem::NotPem)]
#[case::twice_base64(&base64(&base64(CA)), Problem::TwiceBase64)]
#[case::no_end("-----BEGIN CERTIFICATE-----\nMIIB", Problem::BrokenPem)]
#[case::in_one_line(&CA.replace('\n', ""), Problem::BrokenPem)]
#[case::line_breaks_written_out(&CA.replace('\n', "\\n"), Problem::BrokenPem)]
#[case::not_base64_inside(
    "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
    Problem::BrokenPem
)]
#[case::private_key(KEY, Problem::PrivateKey)]
#[case::private_key_in_base64(&base64(KEY), Problem::PrivateKey)]
#[case::private_key_beside_a_certificate(&format!("{CA}{KEY}"), Problem::PrivateKey)]
#[case::private_key_of_a_kind_of_its_own(
    &format!("{CA}{}", KEY.replace("PRIVATE", "OPENSSH PRIVATE")), Problem::PrivateKey
)]
#[case::public_key(&KEY.replace("PRIVATE", "PUBLIC"), Problem::OtherPem)]
#[case::kind_that_nobody_knows(&KEY.replace("PRIVATE KEY", "POEM"), Problem::OtherPem)]
#[case::no_certificate_inside(&KEY.replace("PRIVATE KEY", "CERTIFICATE"), Problem::NotCertificate)]
#[case::empty_certificate(
    "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
    Problem::NotCertificate
)]
#[case::one_good_and_one_bad(
    &format!("{CA}{}", KEY.replace("PRIVATE KEY", "CERTIFICATE")), Problem::NotCertificate
)]
fn what_is_no_certificate_is_refused(#[case] text: &str, #[case] expected: Problem) {
    assert_eq!(CertificateAuthority::parse(text.as_bytes()), Err(expected));
}

#[rstest]
#[case::pem(CA)]
#[case::base64_of_pem(&base64(CA))]
#[case::blanks_around(&format!("\n  {CA}  \n"))]
#[case::blanks_around_base64(&format!(" {}\n", base64(CA)))]
#[case::base64_in_lines(&base64(CA).replace('L', "L\n"))]
#[case::carriage_returns(&CA.replace('\n', "\r\n"))]
#[case::indented(&CA.replace('\n', "\n    "))]
#[case::words_before(&format!("# the CA\n{CA}"))]
#[case::twice_in_the_bundle(&format!("{CA}{CA}"))]
#[case::beside_something_else(&format!("{CA}{}", KEY.replace("PRIVATE KEY", "POEM")))]
fn the_same_certificate_is_found_however_it_is_written(#[case] text: &str) {
    let authority = CertificateAuthority::parse(text.as_bytes()).unwrap();
    assert_eq!(authority.pem(), CA);
    assert_eq!(authority, CertificateAuthority::parse(CA.as_bytes()).unwrap());
}

#[test]
fn bundles_are_equal_in_any_order_and_written_in_one() {
    let one = CertificateAuthority::parse(format!("{CA}{OTHER_CA}").as_bytes()).unwrap();
    let other = CertificateAuthority::parse(format!("{OTHER_CA}{CA}").as_bytes()).unwrap();
    assert_eq!(one, other);
    assert_eq!(one.pem(), other.pem());
    assert_ne!(one, CertificateAuthority::parse(CA.as_bytes()).unwrap());
    assert_eq!(CertificateAuthority::from_base64(&one.base64()), Ok(one));
}

#[rstest]
#[case::empty("", Problem::Empty)]
#[case::pem(CA, Problem::PemWithoutBase64)]
#[case::blank_inside(&base64(CA).replacen('L', "L ", 1), Problem::NotBase64)]
#[case::no_padding(&base64("-----BEGIN X-----").replace('=', ""), Problem::NotBase64)]
#[case::indented(&base64(&CA.replace("-----BEGIN", "  -----BEGIN")), Problem::OtherPem)]
fn a_kubeconfig_needs_what_every_client_reads(#[case] text: &str, #[case] expected: Problem) {
    assert_eq!(CertificateAuthority::from_base64(text), Err(expected));
}

#[test]
fn the_end_of_a_client_certificate_is_read() {
    let chain = base64(&format!("{CLIENT}{CA}"));
    let expected = Timestamp::from_second(1_735_689_600).unwrap();
    assert_eq!(ClientCertificate::from_base64(&chain).unwrap().expires_at(), expected);
}

#[rstest]
#[case::key(KEY, Ok(()))]
#[case::rsa(&KEY.replace("PRIVATE", "RSA PRIVATE"), Ok(()))]
#[case::key_after_its_curve(
    &format!("{}{}", KEY.replace("PRIVATE KEY", "EC PARAMETERS"), KEY.replace("PRIVATE", "EC PRIVATE")),
    Ok(())
)]
#[case::encrypted(&KEY.replace("PRIVATE", "ENCRYPTED PRIVATE"), Err(Problem::NoPrivateKey))]
#[case::certificate(CLIENT, Err(Problem::NoPrivateKey))]
#[case::no_pem("hunter2", Err(Problem::NotPem))]
fn keys_are_known_by_their_kind(#[case] text: &str, #[case] expected: Result<(), Problem>) {
    assert_eq!(check_private_key(&base64(text)), expected);
}

#[test]
fn sentences_name_the_field() {
    assert_eq!(
        Problem::NeitherPemNorBase64.sentence("cluster_certificate_authority_data"),
        "`cluster_certificate_authority_data` is neither PEM nor base64 of PEM; give what the cluster's certificate file holds"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in any::<Vec<u8>>()) {
        let _ = CertificateAuthority::parse(&bytes);
        let text = BASE64.encode(&bytes);
        let _ = (CertificateAuthority::from_base64(&text), ClientCertificate::from_base64(&text));
        let certificate = pem::certificate(&bytes);
        prop_assert_eq!(pem::certificates(certificate.as_bytes()), Ok(vec![bytes]));
    }

    #[test]
    fn a_damaged_certificate_is_read_or_refused(place in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut text = CLIENT.as_bytes().to_vec();
        let place = place.index(text.len());
        text[place] = byte;
        let _ = CertificateAuthority::parse(&text);
        let _ = ClientCertificate::from_base64(&BASE64.encode(&text));
    }
}
