//! Our tokens for EKS beside those of AWS's own SDK for Go, which `parts/eks-token` makes.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use capt_eks::{Credentials, TokenRequest, mint, sts_host};
use fastrand::Rng;
use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use serde::Serialize;

use super::oracle;

const CASES: usize = 200;
const SEED: u64 = 20_260_301;
const REGIONS: [&str; 10] = [
    "af-south-1",
    "ap-southeast-4",
    "cn-northwest-1",
    "eu-isoe-west-1",
    "eusc-de-east-1",
    "us-east-1",
    "us-gov-east-1",
    "us-iso-east-1",
    "us-isob-east-1",
    "us-isof-south-1",
];
const NAME: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const SECRET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    access_key_id: String,
    secret_access_key: String,
    session_token: String,
    host: String,
    region: &'static str,
    cluster_name: String,
    now: i64,
}

/// The same keys at the same time make the same tokens, apart from the order of what is in them.
pub(super) fn agrees_with_the_sdk_for_go() -> anyhow::Result<()> {
    let mut random = Rng::with_seed(SEED);
    let cases: Vec<Case> = (0..CASES).map(|number| Case::random(&mut random, number)).collect();
    let theirs = oracle::ask("eks-token", &cases)?;
    for (case, theirs) in cases.iter().zip(&theirs) {
        let ours = case.mint()?;
        ensure!(
            content(&ours)? == content(theirs)?,
            "another token than that of the SDK for Go for {case:?}"
        );
    }
    println!("ok: {CASES} tokens for EKS are those of the AWS SDK for Go");
    Ok(())
}

impl Case {
    fn random(random: &mut Rng, number: usize) -> Self {
        let region = random.choice(REGIONS).unwrap_or("eu-west-1");
        let name = random.usize(0..100);
        let session = if number.is_multiple_of(2) { 0 } else { random.usize(1..700) };
        Self {
            access_key_id: format!("AKIA{}", text(random, &NAME[..26], 16)),
            secret_access_key: text(random, SECRET, 40),
            session_token: text(random, SECRET, session),
            host: sts_host(region),
            region,
            cluster_name: format!("{}{}", text(random, &NAME[..62], 1), text(random, NAME, name)),
            now: random.i64(1_000_000_000..4_000_000_000),
        }
    }

    fn mint(&self) -> anyhow::Result<String> {
        let session = Some(self.session_token.clone()).filter(|token| !token.is_empty());
        let credentials =
            Credentials::new(&self.access_key_id, &self.secret_access_key, session, None, "conformance");
        let request = TokenRequest { region: self.region, cluster_name: &self.cluster_name };
        let token = mint(&credentials, &request, Timestamp::from_second(self.now)?)?;
        Ok(token.value.expose_secret().to_owned())
    }
}

fn text(random: &mut Rng, alphabet: &str, length: usize) -> String {
    (0..length).filter_map(|_| random.choice(alphabet.bytes())).map(char::from).collect()
}

/// What is before the query, and the query without its order.
fn content(token: &str) -> anyhow::Result<(String, BTreeMap<String, String>)> {
    let encoded = token.strip_prefix("k8s-aws-v1.").context("a token with another beginning")?;
    let url = String::from_utf8(URL_SAFE_NO_PAD.decode(encoded)?)?;
    let (host, query) = url.split_once('?').context("a token without a query")?;
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    Ok((host.to_owned(), pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()))
}
