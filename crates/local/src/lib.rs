//! The real parts of a control plane on this machine: found, fetched or built, started and stopped.
//!
//! [`Parts::find`] answers with three binaries, whatever it takes to get them; [`ControlPlane::start`] makes a
//! Kubernetes API of them in one directory. Nothing here needs root, a container engine or kubectl, and nothing
//! outlives the process that asked for it.

mod cache;
mod cancellation;
mod catalog;
mod checksum;
mod control_plane;
mod download;
mod environment;
mod error;
mod finder;
mod go;
pub mod home;
pub mod private;
mod progress;
pub mod supervisor;
pub mod workload;

pub use cache::CacheError;
pub use cancellation::Cancellation;
pub use catalog::{Catalog, CatalogError, Download, GoBuild, Part};
pub use control_plane::{
    AuthorityError, ControlPlane, ControlPlaneOptions, Error, ExitWatcher, LockError, Ports, PortsError,
    StoreError,
};
pub use environment::{Environment, Platform};
pub use finder::{Attempt, FindError, Finder, Missing, Parts, Versions};
pub use progress::Progress;
pub use supervisor::{Helper, UnexpectedExit};
