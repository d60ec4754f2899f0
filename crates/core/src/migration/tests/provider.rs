use rstest::rstest;

use super::{Which, all, edited};

const MODULE: &str = "terraform {
  required_providers {
    aws = { source = \"hashicorp/aws\" }
    # of helm
    helm = {
      source  = \"hashicorp/helm\"
      version = \"~> 2.0\"
    }
  }
}

# of helm
provider \"helm\" {
  kubernetes {
    host = module.eks.cluster_endpoint
  }
}

provider \"helm\" {
  alias = \"other\"
}

resource \"helm_release\" \"a\" {
  provider = helm.other
}
";

fn dropping() -> Which {
    Which { drop_provider: true, ..all() }
}

#[test]
fn a_provider_that_nobody_needs_goes_when_it_is_asked_for() {
    let expected = "terraform {\n  required_providers {\n    aws = { source = \"hashicorp/aws\" }\n  }\n}\n";
    assert_eq!(edited(MODULE, &dropping()).text, expected);
}

#[test]
fn it_stays_when_nobody_asks() {
    assert!(edited(MODULE, &all()).text.contains("provider \"helm\""));
}

#[test]
fn it_goes_when_the_releases_have_gone_before() {
    let without = edited(MODULE, &all()).text;
    assert_eq!(edited(&without, &dropping()).text, edited(MODULE, &dropping()).text);
}

#[rstest]
#[case::data("data \"helm_template\" \"x\" {\n}\n", "data \"helm_template\" \"x\"")]
#[case::handed_on("module \"m\" {\n  providers = {\n    helm = helm.other\n  }\n}\n", "module \"m\"")]
#[case::handed_on_by_another_name("module \"m\" {\n  providers = { h = helm }\n}\n", "module \"m\"")]
#[case::chosen("resource \"x\" \"y\" {\n  provider = helm\n}\n", "resource \"x\" \"y\"")]
fn it_stays_where_something_needs_it(#[case] more: &str, #[case] block: &str) {
    let edit = edited(&format!("{MODULE}{more}"), &dropping());
    assert!(edit.text.contains("provider \"helm\""), "{}", edit.text);
    let told = format!("provider \"helm\" stays: `{block}` on line 26 needs it");
    assert!(edit.remarks.contains(&told), "{:?}", edit.remarks);
}
