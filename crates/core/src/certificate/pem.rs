//! Reading and writing PEM.

use base64::Engine as _;
use rustls_pki_types::pem::{PemObject as _, SectionKind};

use super::{BASE64, Problem};

/// Whether a text is meant to be PEM.
pub(super) fn is_pem(text: &[u8]) -> bool {
    contains(text, b"-----BEGIN ")
}

/// The lines of a text without the blanks around them, which a heredoc may have left.
pub(super) fn without_indentation(text: &[u8]) -> Vec<u8> {
    text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).collect::<Vec<_>>().join(&b'\n')
}

/// The certificates of a text in DER, in their order. Anything else is skipped, as clients do, but for keys.
pub(super) fn certificates(text: &[u8]) -> Result<Vec<Vec<u8>>, Problem> {
    // Also keys of kinds that the reader does not know.
    if contains(text, b"PRIVATE KEY-----") {
        return Err(Problem::PrivateKey);
    }
    let sections = sections(text)?.into_iter();
    let certificates: Vec<_> =
        sections.filter(|(kind, _)| *kind == SectionKind::Certificate).map(|(_, content)| content).collect();
    if certificates.is_empty() { Err(Problem::OtherPem) } else { Ok(certificates) }
}

/// Whether there is a private key that is not encrypted.
pub(super) fn has_private_key(text: &[u8]) -> Result<bool, Problem> {
    let is_key = |kind| {
        matches!(kind, SectionKind::PrivateKey | SectionKind::RsaPrivateKey | SectionKind::EcPrivateKey)
    };
    Ok(sections(text)?.into_iter().any(|(kind, _)| is_key(kind)))
}

fn sections(text: &[u8]) -> Result<Vec<(SectionKind, Vec<u8>)>, Problem> {
    // The reader's own errors quote the text.
    <(SectionKind, Vec<u8>)>::pem_slice_iter(text).collect::<Result<_, _>>().map_err(|_| Problem::BrokenPem)
}

/// A certificate in PEM.
pub(super) fn certificate(content: &[u8]) -> String {
    const LINE: usize = 64;
    let encoded = BASE64.encode(content);
    let mut text = String::from("-----BEGIN CERTIFICATE-----\n");
    let mut rest = encoded.as_str();
    while let Some((line, following)) = rest.split_at_checked(LINE) {
        text.extend([line, "\n"]);
        rest = following;
    }
    if !rest.is_empty() {
        text.extend([rest, "\n"]);
    }
    text + "-----END CERTIFICATE-----\n"
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
