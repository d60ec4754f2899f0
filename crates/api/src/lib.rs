//! What users write and read: the kinds of CAPT, and narrow views of the kinds of others.
//!
//! The docs of fields are the reference manual: they land in the CRDs. No client and no runtime in here.

#![expect(unreachable_pub, reason = "the KubeSchema derive repeats each struct inside a private module")]
#![expect(clippy::duplicated_attributes, reason = "each printcolumn has a type_")]

pub mod addon_stack;
pub mod before_destroy;
pub mod capi;
pub mod capt_cluster;
pub mod capt_control_plane;
pub mod crd;
pub mod crossplane;
pub mod endpoint;
pub mod engine_status;
pub mod flux;
pub mod names;
pub mod reference;
pub mod resource_set;
pub mod template_metadata;
pub mod workspace_template;
pub mod workspace_template_apply;

pub use addon_stack::{AddonStack, AddonStackBinding};
pub use capi::Cluster;
pub use capt_cluster::{CAPTCluster, CAPTClusterTemplate};
pub use capt_control_plane::{CAPTControlPlane, CAPTControlPlaneTemplate};
pub use crossplane::{ProviderConfig, Workspace};
pub use resource_set::{ClusterResourceSet, ClusterResourceSetBinding};
pub use workspace_template::WorkspaceTemplate;
pub use workspace_template_apply::WorkspaceTemplateApply;
