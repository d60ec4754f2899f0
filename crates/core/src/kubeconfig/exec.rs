//! Programs that make tokens for EKS. They are not run: what their arguments say is enough to do their work.

use super::node::Node;
use super::problem::{Invalid, Problem, shown};
use super::{EksExec, eks};

/// What an option that takes a value means.
#[derive(Clone, Copy)]
enum Meaning {
    ClusterName,
    Region,
    RoleArn,
    Profile,
    Nothing,
}

/// A program, its words and its options.
struct Program {
    words: &'static [&'static str],
    options: &'static [(&'static str, Meaning)],
    flags: &'static [&'static str],
}

const AWS: Program = Program {
    words: &["eks", "get-token"],
    options: &[
        ("--cluster-name", Meaning::ClusterName),
        ("--cluster-id", Meaning::ClusterName),
        ("--region", Meaning::Region),
        ("--role-arn", Meaning::RoleArn),
        ("--profile", Meaning::Profile),
        ("--output", Meaning::Nothing),
        ("--color", Meaning::Nothing),
        ("--cli-read-timeout", Meaning::Nothing),
        ("--cli-connect-timeout", Meaning::Nothing),
    ],
    flags: &["--debug", "--no-paginate", "--no-cli-pager", "--no-cli-auto-prompt"],
};

const AUTHENTICATOR: Program = Program {
    words: &["token"],
    options: &[
        ("-i", Meaning::ClusterName),
        ("--cluster-id", Meaning::ClusterName),
        ("--region", Meaning::Region),
        ("-r", Meaning::RoleArn),
        ("--role", Meaning::RoleArn),
        ("-l", Meaning::Nothing),
        ("--log-format", Meaning::Nothing),
    ],
    flags: &["--cache", "--token-only"],
};

/// Variables that give the program an identity or a configuration that CAPT does not have.
const IDENTITY: [&str; 7] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_ROLE_ARN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
];

/// Reads the exec entry of a user.
pub(super) fn read(exec: &Node<'_>) -> Result<EksExec, Invalid> {
    let command = exec.field("command")?.text()?.ok_or_else(|| exec.invalid(Problem::NoCommand))?;
    let file_name = command.rsplit(['/', '\\']).next().unwrap_or_default();
    let program = match file_name.strip_suffix(".exe").unwrap_or(file_name) {
        "aws" => AWS,
        "aws-iam-authenticator" => AUTHENTICATOR,
        other => return Err(exec.invalid(Problem::ExecPlugin { command: shown(other) })),
    };
    let mut found = arguments(&exec.field("args")?, &program)?;
    let region = environment(&exec.field("env")?)?;
    found.region = found.region.or(region);
    Ok(found)
}

fn arguments(field: &Node<'_>, program: &Program) -> Result<EksExec, Invalid> {
    let invalid = |reason| field.invalid(reason);
    let items = field.items()?;
    let texts: Vec<_> =
        items.iter().map(|item| Ok(item.text()?.unwrap_or_default())).collect::<Result<_, Invalid>>()?;
    let mut texts = texts.into_iter();
    let (mut words, mut cluster_name, mut region, mut role_arn) = (Vec::new(), None, None, None);
    while let Some(text) = texts.next() {
        if !text.starts_with('-') {
            words.push(text);
            continue;
        }
        if program.flags.contains(&text) {
            continue;
        }
        let (name, attached) = parted(text);
        let known = program.options.iter().find(|(option, _)| *option == name);
        let (_, meaning) = known.ok_or_else(|| invalid(Problem::ExecOption { option: shown(name) }))?;
        let value = attached.or_else(|| texts.next()).unwrap_or_default();
        match meaning {
            Meaning::ClusterName => cluster_name = Some(value),
            Meaning::Region => region = Some(value),
            Meaning::RoleArn => role_arn = Some(value),
            Meaning::Profile => return Err(invalid(Problem::Profile { profile: shown(value) })),
            Meaning::Nothing => {}
        }
    }
    if words != program.words {
        return Err(invalid(Problem::ExecArguments));
    }
    let checked = |value: &str, is_legal: fn(&str) -> bool, what| {
        if is_legal(value) { Ok(value.to_owned()) } else { Err(invalid(Problem::ExecValue { what })) }
    };
    Ok(EksExec {
        cluster_name: checked(
            cluster_name.unwrap_or_default(),
            eks::is_cluster_name,
            "the name of the EKS cluster",
        )?,
        region: region.map(|value| checked(value, eks::is_region, "the region")).transpose()?,
        role_arn: role_arn.map(|value| checked(value, eks::is_role_arn, "the role's ARN")).transpose()?,
    })
}

/// An option and the value that is attached to it: `--region=x`, `-i=x` or `-ix`.
fn parted(text: &str) -> (&str, Option<&str>) {
    if let Some((name, value)) = text.split_once('=') {
        return (name, Some(value));
    }
    match text.split_at_checked(2) {
        Some((name, value)) if !text.starts_with("--") && !value.is_empty() => (name, Some(value)),
        _ => (text, None),
    }
}

/// The region that the program's environment tells.
fn environment(field: &Node<'_>) -> Result<Option<String>, Invalid> {
    let (mut region, mut default_region) = (None, None);
    for entry in field.items()? {
        let (name, value) = (entry.field("name")?.text()?, entry.field("value")?.text()?);
        let (Some(name), Some(value)) = (name, value) else { continue };
        let entry = entry.renamed(field.path_of(name));
        match name {
            "AWS_PROFILE" | "AWS_DEFAULT_PROFILE" => {
                return Err(entry.invalid(Problem::Profile { profile: shown(value) }));
            }
            "AWS_REGION" => region = Some((entry, value)),
            "AWS_DEFAULT_REGION" => default_region = Some((entry, value)),
            name if IDENTITY.contains(&name) => return Err(entry.invalid(Problem::ExecIdentity)),
            _ => {}
        }
    }
    match region.or(default_region) {
        Some((_, region)) if eks::is_region(region) => Ok(Some(region.to_owned())),
        Some((entry, _)) => Err(entry.invalid(Problem::ExecValue { what: "the region" })),
        None => Ok(None),
    }
}
