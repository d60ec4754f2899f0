//! What goes into Terraform, made small enough to be kept.

use std::fs::{self, DirBuilder};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use capt_terraform::{Backend, Identity, Run, Secret as Hidden, Source};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use tempfile::NamedTempFile;

/// What is unpacked is not larger than this.
const LARGEST: u64 = 64 << 20;

/// What goes into Terraform, as it is kept.
pub(super) struct Packed {
    /// The run, compressed.
    pub(super) inputs: Vec<u8>,
    /// The archive that its module is in.
    pub(super) archive: Option<Vec<u8>>,
}

/// Why something could not be packed or unpacked.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// The run is not written as it should be. The cause is not carried: it may repeat a value.
    #[error("what went into a run cannot be read or written")]
    Format,
    /// The module is in an archive that is not there.
    #[error("the archive of the module is missing")]
    ArchiveMissing,
    /// A file could not be read or written.
    #[error("reading or writing an archive")]
    File(#[source] io::Error),
}

impl Packed {
    /// Packs a run, without what is made anew for every run.
    pub(super) fn new(mut run: Run) -> Result<Self, Error> {
        if let Backend::Kubernetes { kubeconfig, .. } = &mut run.backend {
            *kubeconfig = Hidden::default();
        }
        run.provider_lock = None;
        run.imports = Vec::new();
        let archive = match &run.source {
            Source::Archive { path } => Some(fs::read(path).map_err(Error::File)?),
            Source::Inline { .. } | Source::Remote { .. } | Source::Directory { .. } => None,
        };
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        serde_json::to_writer(&mut encoder, &run).map_err(|_| Error::Format)?;
        Ok(Self { inputs: encoder.finish().map_err(Error::File)?, archive })
    }

    /// How much there is to keep.
    pub(super) fn len(&self) -> usize {
        self.inputs.len() + self.archive.as_ref().map_or(0, Vec::len)
    }

    /// Unpacks the run alone.
    pub(super) fn run(&self) -> Result<Run, Error> {
        let mut text = Vec::new();
        let decoder = GzDecoder::new(self.inputs.as_slice());
        decoder.take(LARGEST).read_to_end(&mut text).map_err(|_| Error::Format)?;
        serde_json::from_slice(&text).map_err(|_| Error::Format)
    }

    /// Unpacks the run for this identity, its archive into the directory.
    pub(super) fn unpack(self, identity: &Identity, directory: &Path) -> Result<Run, Error> {
        let mut run = self.run()?;
        run.identity = identity.clone();
        if let Source::Archive { path } = &mut run.source {
            let archive = self.archive.ok_or(Error::ArchiveMissing)?;
            *path = put(directory, identity, &archive).map_err(Error::File)?;
        }
        Ok(run)
    }
}

/// Writes an archive, readable by its owner alone, whole or not at all.
fn put(directory: &Path, identity: &Identity, archive: &[u8]) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let path = directory.join(format!("kept-{identity}.tar.gz"));
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(archive)?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(path)
}
