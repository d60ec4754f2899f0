//! Where the STS of a region is. AWS is several worlds ("partitions") with domains of their own.

/// The beginning of the regions of a partition, its domain, and its domain for IPv6.
struct Partition {
    regions: &'static str,
    domain: &'static str,
    dual_stack_domain: &'static str,
}

/// Every partition whose domain is not that of [`COMMERCIAL`]. Those of the government share it.
const OTHERS: [Partition; 6] = [
    Partition {
        regions: "cn-",
        domain: "amazonaws.com.cn",
        dual_stack_domain: "api.amazonwebservices.com.cn",
    },
    Partition { regions: "eusc-", domain: "amazonaws.eu", dual_stack_domain: "api.amazonwebservices.eu" },
    Partition { regions: "us-iso-", domain: "c2s.ic.gov", dual_stack_domain: "api.aws.ic.gov" },
    Partition { regions: "us-isob-", domain: "sc2s.sgov.gov", dual_stack_domain: "api.aws.scloud" },
    Partition { regions: "eu-isoe-", domain: "cloud.adc-e.uk", dual_stack_domain: "api.cloud-aws.adc-e.uk" },
    Partition { regions: "us-isof-", domain: "csp.hci.ic.gov", dual_stack_domain: "api.aws.hci.ic.gov" },
];

const COMMERCIAL: Partition =
    Partition { regions: "", domain: "amazonaws.com", dual_stack_domain: "api.aws" };

/// The STS that answers for no region in particular.
const GLOBAL_HOST: &str = "sts.amazonaws.com";

fn partition(region: &str) -> &'static Partition {
    OTHERS.iter().find(|partition| region.starts_with(partition.regions)).unwrap_or(&COMMERCIAL)
}

/// The host of the STS of a region. The region is not checked; [`mint`](crate::mint) does.
pub fn sts_host(region: &str) -> String {
    format!("sts.{region}.{}", partition(region).domain)
}

/// Whether a host is an STS that may have been asked about a region.
pub(crate) fn is_sts_host(host: &str, region: &str) -> bool {
    let Partition { domain, dual_stack_domain, .. } = partition(region);
    host == GLOBAL_HOST
        || host == sts_host(region)
        || host == format!("sts-fips.{region}.{domain}")
        || host == format!("sts.{region}.{dual_stack_domain}")
}

/// What can be a region: it becomes a part of a host name.
pub(crate) fn is_region(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::empty("")]
    #[case::a_path("eu-west-1/")]
    #[case::another_host("x.example.com#")]
    #[case::a_login("a@b")]
    #[case::upper_case("EU-WEST-1")]
    #[case::a_new_line("eu-west-1\n")]
    #[case::not_ascii("eu-wést-1")]
    #[case::long(&"a".repeat(65))]
    fn what_could_lead_anywhere_is_no_region(#[case] text: &str) {
        assert!(!is_region(text));
    }

    #[rstest]
    #[case::commercial("eu-west-1", "sts.eu-west-1.amazonaws.com")]
    #[case::china("cn-north-1", "sts.cn-north-1.amazonaws.com.cn")]
    #[case::government("us-gov-west-1", "sts.us-gov-west-1.amazonaws.com")]
    #[case::secret_b("us-isob-east-1", "sts.us-isob-east-1.sc2s.sgov.gov")]
    #[case::european("eusc-de-east-1", "sts.eusc-de-east-1.amazonaws.eu")]
    #[case::not_known_yet("xx-new-1", "sts.xx-new-1.amazonaws.com")]
    fn a_region_is_asked_in_the_domain_of_its_partition(#[case] region: &str, #[case] host: &str) {
        assert!(is_region(region));
        assert_eq!(sts_host(region), host);
    }

    #[rstest]
    #[case::global("sts.amazonaws.com", "eu-west-1", true)]
    #[case::strict("sts-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1", true)]
    #[case::both_protocols("sts.eu-west-1.api.aws", "eu-west-1", true)]
    #[case::another_region("sts.eu-west-2.amazonaws.com", "eu-west-1", false)]
    #[case::another_service("s3.eu-west-1.amazonaws.com", "eu-west-1", false)]
    #[case::another_port("sts.eu-west-1.amazonaws.com:8443", "eu-west-1", false)]
    #[case::somebody_else("sts.eu-west-1.amazonaws.com.example", "eu-west-1", false)]
    fn only_an_sts_of_the_region_is_one(#[case] host: &str, #[case] region: &str, #[case] is: bool) {
        assert_eq!(is_sts_host(host, region), is);
    }
}
