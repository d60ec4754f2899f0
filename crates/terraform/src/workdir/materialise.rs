//! Writes the inputs of a run into its directory.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::stamp::{Beside, Initialised, Module, Stamp};
use super::{PROVIDER_LOCK, Workdir, backend, is_configuration, source};
use crate::binary::{Tool, Version};
use crate::error::Error;
use crate::fingerprint::{content_digest, digest, tree};
use crate::imports::{self, Import};
use crate::private;
use crate::run::{Backend, ExtraFile, Format, InvalidRun, Place, PullPolicy, Run, Source};
use crate::source_address;

/// Where `git` finds passwords, in the home directory.
const CREDENTIALS: &str = ".git-credentials";

impl Workdir {
    /// Whether the module has to be fetched by Terraform first. `refresh` says that a plan is about to be made.
    pub(crate) fn needs_fetch(&self, run: &Run, refresh: bool) -> bool {
        let Source::Remote { pull, address: _ } = &run.source else { return false };
        let there = Module::read(self).is_some_and(|stamp| stamp.source == source_digest(run));
        !there || (refresh && *pull == PullPolicy::Always)
    }

    /// Where a module is made before it takes the place of the old one.
    pub(crate) fn incoming(&self) -> std::path::PathBuf {
        self.path().join("module.new")
    }

    /// Makes the module that does not come from a remote address, if it is not there yet.
    pub(crate) fn place_module(&self, run: &Run) -> Result<(), Error> {
        let source_digest = match &run.source {
            Source::Remote { .. } => return Ok(()),
            Source::Inline { .. } => source_digest(run),
            Source::Directory { path } => tree(path).map_err(Error::file(path))?,
            Source::Archive { path } => content_digest(&fs::read(path).map_err(Error::file(path))?),
        };
        if Module::read(self).is_some_and(|stamp| stamp.source == source_digest) && self.module().is_dir() {
            return Ok(());
        }
        self.clear_incoming()?;
        source::unpack(&run.source, &self.incoming())?;
        self.accept_incoming(run, source_digest)
    }

    pub(crate) fn clear_incoming(&self) -> Result<(), Error> {
        let incoming = self.incoming();
        private::remove(&incoming).and_then(|()| private::directory(&incoming)).map_err(Error::file(incoming))
    }

    /// A remote module came.
    pub(crate) fn accept_fetched(&self, run: &Run) -> Result<(), Error> {
        let left = self.incoming().join(".terraform");
        private::remove(&left).map_err(Error::file(left))?;
        self.accept_incoming(run, source_digest(run))
    }

    fn accept_incoming(&self, run: &Run, source: String) -> Result<(), Error> {
        let (incoming, module) = (self.incoming(), self.module());
        let tree = tree(&incoming).map_err(Error::file(&incoming))?;
        private::sync(&incoming).map_err(Error::file(&incoming))?;
        // Whatever happens from here on, the old stamp says nothing about what is there.
        Module::remove(self)?;
        private::remove(&module).map_err(Error::file(&module))?;
        fs::rename(&incoming, &module).map_err(Error::file(&module))?;
        let entrypoint = self.entrypoint(run);
        if !entrypoint.is_dir() {
            return Err(InvalidRun::EntrypointMissing { entrypoint: run.entrypoint.clone() }.into());
        }
        Module { source, tree }.write(self)
    }

    /// Writes the files beside the module, the home directory, the variables and the backend. The answer is the kind of
    /// backend that the module declares itself, where it keeps that one.
    pub(crate) fn place_inputs(&self, run: &Run, tool: Tool, kept: bool) -> Result<Option<String>, Error> {
        self.create()?;
        let entrypoint = self.entrypoint(run);
        if !entrypoint.is_dir() {
            return Err(InvalidRun::EntrypointMissing { entrypoint: run.entrypoint.clone() }.into());
        }
        self.place_provider_lock(run)?;
        self.remove_beside()?;
        let beside = || run.files.iter().filter(|file| file.place == Place::Module);
        let names: Vec<String> = beside().map(|file| file.name.clone()).collect();
        if !names.is_empty() || Beside::read(self).is_some() {
            Beside { entrypoint: run.entrypoint.clone(), names }.write(self)?;
        }
        self.place_home(run)?;
        for file in beside() {
            put(&entrypoint.join(&file.name), file.content.expose())?;
        }
        for (path, content) in self.variable_files(run).iter().zip(&run.variables) {
            put(path, content.content.expose())?;
        }
        backend::write(self, run, tool, kept)
    }

    /// Writes what a plan imports beside the module.
    pub(crate) fn place_imports(&self, run: &Run, imports: &[Import]) -> Result<(), Error> {
        let path = self.entrypoint(run).join(imports::FILE);
        if imports.is_empty() {
            return private::remove(&path).map_err(Error::file(path));
        }
        let mut names = Beside::read(self).map(|beside| beside.names).unwrap_or_default();
        if !names.iter().any(|name| name == imports::FILE) {
            names.push(imports::FILE.to_owned());
        }
        Beside { entrypoint: run.entrypoint.clone(), names }.write(self)?;
        put(&path, imports::file(imports).as_bytes())
    }

    /// Removes the files that were written beside the module.
    pub(super) fn remove_beside(&self) -> Result<(), Error> {
        let Some(Beside { entrypoint, names }) = Beside::read(self) else { return Ok(()) };
        for path in names.iter().map(|name| self.module().join(&entrypoint).join(name)) {
            private::remove(&path).map_err(Error::file(path))?;
        }
        let directory = self.module().join(&entrypoint);
        private::remove_unfinished(&directory).map_err(Error::file(directory))
    }

    /// The lock file of the providers, where the module brings none: the one that was kept here, or else the one that
    /// was carried here.
    fn place_provider_lock(&self, run: &Run) -> Result<(), Error> {
        let (kept, lock) = (self.provider_lock(), self.entrypoint(run).join(PROVIDER_LOCK));
        if lock.exists() {
            return Ok(());
        }
        match (kept.exists(), &run.provider_lock) {
            (true, _) => fs::copy(kept, &lock).map(drop).map_err(Error::file(lock)),
            (false, Some(content)) => put(&lock, content.as_bytes()),
            (false, None) => Ok(()),
        }
    }

    /// Configuration of the tools that Terraform calls; files of the user's own take their place.
    pub(crate) fn place_home(&self, run: &Run) -> Result<(), Error> {
        let home = self.home();
        let credentials = home.join(CREDENTIALS);
        let login = match &run.source {
            Source::Remote { address, pull: _ } => {
                source_address::login(&String::from_utf8_lossy(address.expose()))
            }
            Source::Inline { .. } | Source::Directory { .. } | Source::Archive { .. } => None,
        };
        if login.is_some() || run.files.iter().any(|file| file.name == CREDENTIALS) {
            let path = credentials.to_string_lossy().replace('"', "\\\"");
            let helper = format!("[credential]\n\thelper = \"store --file={path}\"\n");
            put(&home.join(".gitconfig"), helper.as_bytes())?;
        }
        if let Some(source_address::Login { scheme, host, user, password }) = login {
            put(&credentials, format!("{scheme}://{user}:{password}@{host}\n").as_bytes())?;
            let machine = host.split(':').next().unwrap_or_default();
            put(
                &home.join(".netrc"),
                format!("machine {machine} login {user} password {password}\n").as_bytes(),
            )?;
        }
        let own = |file: &&ExtraFile| file.place == Place::Home;
        run.files.iter().filter(own).try_for_each(|file| put(&home.join(&file.name), file.content.expose()))
    }

    /// The files with variables, in their order.
    pub(crate) fn variable_files(&self, run: &Run) -> Vec<std::path::PathBuf> {
        let name = |(index, format): (usize, Format)| {
            let end = match format {
                Format::Hcl => "tfvars",
                Format::Json => "tfvars.json",
            };
            self.variables().join(format!("{index:03}.{end}"))
        };
        run.variables.iter().map(|file| file.format).enumerate().map(name).collect()
    }

    /// The digest of all that `init` depends on. Secrets that change often (tokens, a kubeconfig) are not in it.
    pub(crate) fn init_digest(
        &self,
        run: &Run,
        version: &Version,
        plugin_cache: Option<&Path>,
        kept: bool,
    ) -> String {
        let module = Module::read(self).map(|stamp| stamp.tree);
        let configuration: Vec<&ExtraFile> =
            run.files.iter().filter(|file| is_configuration(&file.name)).collect();
        let backend = match &run.backend {
            Backend::Kubernetes { .. } if kept => json!(["kept"]),
            Backend::Kubernetes { namespace, suffix, kubeconfig: _, declared: _ } => {
                json!(["kubernetes", namespace, suffix])
            }
            Backend::Local => json!(["local"]),
            Backend::Declared { .. } => json!(run.backend),
        };
        digest(&json!([
            module,
            run.entrypoint,
            configuration,
            backend,
            run.arguments.init,
            version,
            plugin_cache,
            self.path()
        ]))
    }

    pub(crate) fn is_initialised(&self, digest: &str) -> bool {
        self.data().join("terraform.tfstate").exists()
            && Initialised::read(self).is_some_and(|stamp| stamp.digest == digest)
    }

    pub(crate) fn set_initialised(&self, digest: Option<String>) -> Result<(), Error> {
        digest.map_or_else(|| Initialised::remove(self), |digest| Initialised { digest }.write(self))
    }
}

fn source_digest(run: &Run) -> String {
    digest(&json!(run.source))
}

fn put(path: &Path, content: &[u8]) -> Result<(), Error> {
    private::put(path, content).map_err(Error::file(path))
}
