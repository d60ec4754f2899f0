//! Files with credentials.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use capt_api::crossplane::{CredentialsSource, ProviderCredentials};
use capt_api::names::Reason;
use capt_core::apply::Blocked;
use capt_core::grant::TargetKind;
use capt_terraform::{ExtraFile, Place, Secret};

use crate::stop::Stop;
use crate::workspace::inputs::objects::Objects;

/// Files that tools look for in the home directory.
const OF_HOME: [&str; 5] = [".git-credentials", ".terraformrc", ".netrc", "ssh-privatekey", "known_hosts"];

/// What a Secret could hold; nobody has larger credentials.
const LARGEST: u64 = 1024 * 1024;

/// The file that one entry of `credentials` makes. `field` is where the entry is written.
pub(super) async fn file(
    field: &str,
    entry: &ProviderCredentials,
    objects: &mut Objects<'_>,
) -> Result<ExtraFile, Stop> {
    let ProviderCredentials { filename, source, secret_ref, env, fs } = entry;
    let content = match (source, secret_ref, env, fs) {
        (CredentialsSource::None, ..) => Secret::default(),
        (CredentialsSource::Secret, Some(reference), ..) => {
            objects.value(&format!("{field}.secretRef"), TargetKind::Secret, reference).await?.content
        }
        (CredentialsSource::Environment, _, Some(variable), _) => {
            of_environment(&format!("{field}.env"), &variable.name, std::env::var_os(&variable.name))?
        }
        (CredentialsSource::Filesystem, _, _, Some(file)) => of_file(&format!("{field}.fs"), &file.path)?,
        (source, ..) => return Err(without_content(field, *source).into()),
    };
    Ok(ExtraFile { name: filename.clone(), place: place(filename), sensitive: true, content })
}

fn place(filename: &str) -> Place {
    if OF_HOME.contains(&filename) { Place::Home } else { Place::Module }
}

fn without_content(field: &str, source: CredentialsSource) -> Blocked {
    let problem = match source {
        CredentialsSource::Secret => "`source: Secret` needs secretRef with namespace, name and key",
        CredentialsSource::Environment => {
            "`source: Environment` needs env with the name of a variable of the manager"
        }
        CredentialsSource::Filesystem => {
            "`source: Filesystem` needs fs with the path of a file of the manager"
        }
        CredentialsSource::None | CredentialsSource::InjectedIdentity => {
            "`source: InjectedIdentity` has nothing to write into a file: use Secret, Environment or Filesystem, or take the entry out"
        }
    };
    Blocked::new(Reason::InvalidRun, format!("{field}: {problem}"))
}

fn of_environment(field: &str, name: &str, value: Option<OsString>) -> Result<Secret, Blocked> {
    value.map(|value| Secret::new(value.into_vec())).ok_or_else(|| {
        let message = format!(
            "{field}: the manager has no environment variable `{name}`: give it one, or use a Secret"
        );
        Blocked::new(Reason::InputMissing, message)
    })
}

fn of_file(field: &str, path: &str) -> Result<Secret, Blocked> {
    read(Path::new(path)).map(Secret::new).map_err(|error| {
        let message = format!(
            "{field}: file `{path}` of the manager cannot be read: {error}: mount it, or use a Secret"
        );
        Blocked::new(Reason::InputMissing, message)
    })
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    // A pipe or device could keep us waiting for ever.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut content = Vec::new();
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut content)?;
    if content.len() as u64 > LARGEST {
        return Err(io::Error::other("it is larger than 1 MiB"));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::absent("absent", "No such file")]
    #[case::a_directory("", "not a file")]
    #[case::a_link_to_a_device("device", "not a file")]
    #[case::too_large("large", "larger than")]
    fn a_file_that_cannot_be_used_is_named(#[case] name: &str, #[case] why: &str) {
        let directory = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/zero", directory.path().join("device")).unwrap();
        let large = File::create(directory.path().join("large")).unwrap();
        large.set_len(LARGEST + 1).unwrap();
        let path = directory.path().join(name);

        let blocked = of_file("the field", &path.to_string_lossy()).unwrap_err();

        assert_eq!(blocked.reason, Reason::InputMissing);
        assert!(blocked.message.starts_with("the field: file `"), "{}", blocked.message);
        assert!(blocked.message.contains(why), "{}", blocked.message);
    }

    #[test]
    fn a_file_is_read_through_the_links_of_a_mounted_volume() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("data"), b"\xffkey").unwrap();
        std::os::unix::fs::symlink("data", directory.path().join("link")).unwrap();
        let path = directory.path().join("link");
        assert_eq!(of_file("", &path.to_string_lossy()).unwrap(), Secret::new(*b"\xffkey"));
    }

    #[test]
    fn an_absent_variable_is_named() {
        let blocked = of_environment("the field", "TOKEN", None).unwrap_err();
        assert_eq!(blocked.reason, Reason::InputMissing);
        assert!(blocked.message.contains("`TOKEN`"), "{}", blocked.message);
        assert_eq!(of_environment("", "TOKEN", Some("x".into())).unwrap(), Secret::from("x"));
    }

    #[rstest]
    #[case(".git-credentials", Place::Home)]
    #[case(".terraformrc", Place::Home)]
    #[case(".netrc", Place::Home)]
    #[case("ssh-privatekey", Place::Home)]
    #[case("known_hosts", Place::Home)]
    #[case("aws-creds.ini", Place::Module)]
    fn a_file_goes_where_it_is_looked_for(#[case] name: &str, #[case] expected: Place) {
        assert_eq!(place(name), expected);
    }
}
