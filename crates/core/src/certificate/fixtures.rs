//! Certificates for tests, of a key that everybody knows.

use base64::Engine as _;

/// A CA as kubeadm makes it (serial number 0), valid until 2099.
pub(crate) const CA: &str = "\
-----BEGIN CERTIFICATE-----
MIIBDDCBv6ADAgECAgEAMAUGAytlcDAVMRMwEQYDVQQDEwprdWJlcm5ldGVzMCAX
DTI0MDEwMTAwMDAwMFoYDzIwOTkwMTAxMDAwMDAwWjAVMRMwEQYDVQQDEwprdWJl
cm5ldGVzMCowBQYDK2VwAyEAO2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ
2imjMjAwMA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFBOeOUDmS1SRciCI2aDX
QWKPyCbgMAUGAytlcANBAMYjVEEp7fwpUV8OLA4HinCqe5lsR+Febzph92gIJiaS
wh7UjOiiTTdh9zvSuHeEClxKC6kba28DM/R2knTvtw4=
-----END CERTIFICATE-----
";

/// Another CA, valid until 2034.
pub(crate) const OTHER_CA: &str = "\
-----BEGIN CERTIFICATE-----
MIIBADCBs6ADAgECAgEBMAUGAytlcDAQMQ4wDAYDVQQDEwVvdGhlcjAeFw0yNDAx
MDEwMDAwMDBaFw0zNDAxMDEwMDAwMDBaMBAxDjAMBgNVBAMTBW90aGVyMCowBQYD
K2VwAyEAO2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2imjMjAwMA8GA1Ud
EwEB/wQFMAMBAf8wHQYDVR0OBBYEFBOeOUDmS1SRciCI2aDXQWKPyCbgMAUGAytl
cANBACjlbM6AS4nN9rqR3X7VrrF40XDg983XAE8/x5XGmF7aWyK3oZHYi00Lko+3
5zUzidrXG2tQvC3fzG5ye0HjoA8=
-----END CERTIFICATE-----
";

/// A client's certificate, valid until the first second of 2025.
pub(crate) const CLIENT: &str = "\
-----BEGIN CERTIFICATE-----
MIH+MIGxoAMCAQICAQIwBQYDK2VwMCkxFzAVBgNVBAoTDnN5c3RlbTptYXN0ZXJz
MQ4wDAYDVQQDEwVhZG1pbjAeFw0yNDAxMDEwMDAwMDBaFw0yNTAxMDEwMDAwMDBa
MCkxFzAVBgNVBAoTDnN5c3RlbTptYXN0ZXJzMQ4wDAYDVQQDEwVhZG1pbjAqMAUG
AytlcAMhADtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdopMAUGAytlcANB
APLsKb17Upp1F7sVLfLi0UmbXE9zF3E8EoybuNeriTluwdziTWyiZK7U/PE40bYd
E1sWpFaP/GhwjHm3E50AXwQ=
-----END CERTIFICATE-----
";

/// PEM that says it is a private key.
pub(crate) const KEY: &str = "-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----\n";

/// Base64, as `base64encode()` makes it.
pub(crate) fn base64(text: &str) -> String {
    super::BASE64.encode(text)
}
