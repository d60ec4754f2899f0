//! Workspaces that CAPT runs itself, with the real Terraform on the real API server.

mod lifecycle;
mod stage;
