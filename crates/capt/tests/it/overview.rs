//! `capt describe`, `capt get` and `capt kubeconfig` against a real API server. The test plays the controllers.

mod describe;
mod get;
mod kubeconfig;
mod stage;
mod watch;
