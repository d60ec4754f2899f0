//! Which tool the binary is.

use std::fs;
use std::time::Duration;

use tokio::time::timeout;

use super::Settings;
use super::spawn;
use crate::binary::{BinaryError, Version, parse_version};
use crate::error::Error;
use crate::private;

/// What a tool may take to say its version, on a busy machine.
const ANSWERED_WITHIN: Duration = Duration::from_secs(60);

/// Asks the binary for its version.
pub(super) async fn read(settings: &Settings) -> Result<Version, Error> {
    let path = &settings.binary;
    let failed = |source| BinaryError::Start { path: path.clone(), source };
    let home = tempfile::tempdir_in(&settings.root).map_err(failed)?;
    let mut variables = settings.inherited.clone();
    variables.insert("HOME".into(), home.path().into());
    variables.insert("CHECKPOINT_DISABLE".into(), "1".into());
    let printed = home.path().join("version.out");
    let start = spawn::Start {
        program: path,
        arguments: &["version".into()],
        environment: &variables,
        directory: home.path(),
        stdin: std::process::Stdio::null(),
        stdout: private::empty(&printed).map_err(failed)?,
        stderr: private::empty(&home.path().join("version.err")).map_err(failed)?,
        expendable: true,
    };
    let mut child = spawn::spawn(start).map_err(failed)?;
    let Ok(ended) = timeout(ANSWERED_WITHIN, child.wait()).await else {
        child.kill().await.map_err(failed)?;
        let exit = format!("no answer within {} seconds", ANSWERED_WITHIN.as_secs());
        return Err(BinaryError::NoVersion { path: path.clone(), exit }.into());
    };
    let exit = ended.map_err(failed)?;
    let text = fs::read_to_string(&printed).map_err(failed)?;
    let version = parse_version(&text).filter(|_| exit.success());
    Ok(version.ok_or_else(|| BinaryError::NoVersion { path: path.clone(), exit: exit.to_string() })?)
}
