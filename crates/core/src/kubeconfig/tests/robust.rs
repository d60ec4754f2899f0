//! No input does harm.

use proptest::prelude::*;

use super::*;
use crate::certificate::fixtures::{CLIENT, KEY};

/// A kubeconfig with every kind of credential in it.
fn whole() -> String {
    let user = format!(
        "token: hunter2
client-certificate-data: {}
client-key-data: {}
username: admin
password: hunter2
exec:
  command: aws
  args: [eks, get-token, --cluster-name, demo, --region, eu-west-1]
  env: [{{name: AWS_ACCESS_KEY_ID, value: hunter2}}]",
        base64(CLIENT),
        base64(KEY)
    );
    kubeconfig(&good_cluster(), &user)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(content in any::<Vec<u8>>()) {
        let _ = parse(&content);
    }

    #[test]
    fn any_text_is_read_or_refused(content in "[\\PC\n\t]{0,200}") {
        let _ = parse(content.as_bytes());
    }

    #[test]
    fn a_damaged_kubeconfig_is_read_or_refused_and_never_shown(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut content = whole().into_bytes();
        for (place, byte) in edits {
            let place = place.index(content.len());
            content[place] = byte;
        }
        let told = match parse(&content) {
            Ok(kubeconfig) => format!("{kubeconfig:?}"),
            Err(invalid) => format!("{invalid} {invalid:?}"),
        };
        prop_assert!(!told.contains("hunter2") && !told.contains(&base64(KEY)), "{}", told);
    }

    #[test]
    fn a_kubeconfig_without_some_lines_is_read_or_refused(keep in prop::collection::vec(any::<bool>(), 40)) {
        let whole = whole();
        let lines = whole.lines().zip(keep).filter(|(_, keep)| *keep).map(|(line, _)| format!("{line}\n"));
        let _ = parse(lines.collect::<String>().as_bytes());
    }
}
