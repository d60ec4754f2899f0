use serde_json::Value;

use crate::{capt, printed};

#[test]
fn the_version_is_one_line() {
    assert_eq!(printed(capt().arg("version")), concat!("capt ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn programs_are_told_the_versions_of_the_parts_as_well() {
    let json: Value = serde_json::from_str(&printed(capt().args(["version", "--output", "json"]))).unwrap();
    let yaml: Value = serde_saphyr::from_str(&printed(capt().args(["--output", "yaml", "version"]))).unwrap();

    assert_eq!(json, yaml);
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    let parts: Vec<_> = json["parts"].as_object().unwrap().keys().collect();
    assert_eq!(parts, ["etcd", "kube-apiserver", "kube-controller-manager", "tofu"]);
}
