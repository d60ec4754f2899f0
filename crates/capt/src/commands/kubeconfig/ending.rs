//! What is said of credentials that end soon.

use std::time::Duration;

use capt_core::kubeconfig::Kubeconfig;
use capt_core::overview::age;
use jiff::Timestamp;

use super::secret::Found;
use crate::cli::KubeconfigArguments;

/// What ends later than this needs no word.
const SOON: Duration = Duration::from_secs(24 * 60 * 60);

/// Says when the credentials end, if that is soon, and how to get others.
pub(super) fn note(
    read: &Kubeconfig,
    found: &Found,
    arguments: &KubeconfigArguments,
    now: Timestamp,
) -> Option<String> {
    let end = found.times.map(|times| times.expires_at).or_else(|| read.user.expires_at())?;
    let name = &arguments.name;
    if end <= now {
        return Some(format!(
            "the credentials in it ended at {end:.0}: `capt describe cluster {name}` says why there are no new ones"
        ));
    }
    let soon = now.checked_add(SOON).is_ok_and(|soon| end < soon);
    let instead = match (found.for_people, found.times) {
        (true, _) => {
            format!("`capt kubeconfig {name} --user` gives one that gets tokens of your own by the AWS CLI")
        }
        (false, Some(_)) => "CAPT renews the Secret but not your copy: ask again then".to_owned(),
        (false, None) => "have the module make new ones".to_owned(),
    };
    soon.then(|| format!("the credentials in it end at {end:.0} (in {}); {instead}", age(now, end)))
}

#[cfg(test)]
mod tests {
    use capt_core::control_plane::secrets::Times;
    use clap::Parser as _;
    use rstest::rstest;

    use super::*;
    use crate::cli::{Arguments, Command};

    const KUBECONFIG: &str = "current-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n\
        clusters: [{name: a, cluster: {server: 'https://a'}}]\nusers: [{name: a, user: {token: hunter2}}]\n";

    #[rstest]
    #[case::it_does_not_end(None, false, None)]
    #[case::not_soon(Some("2026-01-04T00:00:00Z"), false, None)]
    #[case::soon(
        Some("2026-01-02T03:14:05Z"),
        false,
        Some("(in 10m); CAPT renews the Secret but not your copy")
    )]
    #[case::with_another_way(
        Some("2026-01-02T03:14:05Z"),
        true,
        Some("`capt kubeconfig prod --user` gives one")
    )]
    #[case::it_has_ended(
        Some("2026-01-02T03:04:05Z"),
        true,
        Some("ended at 2026-01-02T03:04:05Z: `capt describe cluster prod`")
    )]
    fn the_end_of_credentials_is_told_when_it_is_near(
        #[case] end: Option<&str>,
        #[case] for_people: bool,
        #[case] expected: Option<&str>,
    ) {
        let now = "2026-01-02T03:04:05Z".parse().unwrap();
        let times = end.map(|end| Times { expires_at: end.parse().unwrap(), renew_at: now });
        let content = KUBECONFIG.into();
        let found = Found { secret: "prod-kubeconfig".to_owned(), content, times, for_people };
        let typed = Arguments::parse_from(["capt", "kubeconfig", "prod"]);
        let Command::Kubeconfig(arguments) = typed.command else { panic!("another verb") };
        let read = capt_core::kubeconfig::parse(KUBECONFIG.as_bytes()).unwrap();

        let told = note(&read, &found, &arguments, now);

        match expected {
            None => assert_eq!(told, None),
            Some(expected) => {
                assert!(told.as_deref().is_some_and(|told| told.contains(expected)), "{told:?}");
            }
        }
    }
}
