//! Where a cluster's API server is reached.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

/// Where a cluster's API server is reached.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("(self.host == '') == (self.port == 0)").message("give both host and port of the endpoint, or neither"))]
pub struct Endpoint {
    /// Host name or address, without scheme and port.
    #[serde(default)]
    #[schemars(length(max = 512))]
    #[x_kube(validation = Rule::new("!self.matches('[/[:space:]]') && !self.matches('^[^:]*:[0-9]*$')").message("host must be a host name or address without https://, port and path, for example api.example.com; the port goes into its own field"))]
    pub host: String,
    /// Port.
    #[serde(default)]
    #[schemars(range(min = 0, max = 65535))]
    pub port: i32,
}
