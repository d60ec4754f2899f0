//! What EKS has of its own: hosts that tell their region, and the names that it takes.

/// The domains of EKS in all partitions, each after its region.
const DOMAINS: [&str; 11] = [
    "eks.amazonaws.com",
    "eks.amazonaws.com.cn",
    "eks.amazonaws.eu",
    "eks.c2s.ic.gov",
    "eks.sc2s.sgov.gov",
    "eks.csp.hci.ic.gov",
    "eks.cloud.adc-e.uk",
    "api.aws",
    "api.amazonwebservices.com.cn",
    "api.amazonwebservices.eu",
    "amazonwebservices.com.cn",
];

/// The region in the host name of an EKS cluster, such as `abc.gr7.ap-northeast-1.eks.amazonaws.com`.
pub fn region_of_host(host: &str) -> Option<&str> {
    let region = |domain: &&str| {
        let rest = host.strip_suffix(*domain)?.strip_suffix('.')?;
        let (_, region) = rest.rsplit_once('.')?;
        is_region(region).then_some(region)
    };
    DOMAINS.iter().find_map(region)
}

/// What can be a region. It becomes a part of host names.
pub fn is_region(text: &str) -> bool {
    let mut parts = text.split('-');
    let place = parts.next().is_some_and(|part| (2..=8).contains(&part.len()) && is_word(part));
    let number = parts
        .next_back()
        .is_some_and(|part| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()));
    let mut between = parts.peekable();
    text.len() <= 32 && place && number && between.peek().is_some() && between.all(is_word)
}

fn is_word(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// What EKS takes as the name of a cluster. It becomes a header.
pub fn is_cluster_name(text: &str) -> bool {
    text.len() <= 100
        && text.starts_with(|character: char| character.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// What can be the ARN of an IAM role.
pub fn is_role_arn(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"+=,.@-_/".contains(&byte);
    let account = |part: &str| part.len() == 12 && part.bytes().all(|byte| byte.is_ascii_digit());
    let partition = |part: &str| part.starts_with("aws");
    let role = |part: &str| {
        part.strip_prefix("role/").is_some_and(|name| !name.is_empty() && name.bytes().all(legal))
    };
    let parts: Vec<_> = text.splitn(6, ':').collect();
    match parts[..] {
        ["arn", in_partition, "iam", "", of_account, resource] => {
            text.len() <= 2048 && partition(in_partition) && account(of_account) && role(resource)
        }
        _ => false,
    }
}
