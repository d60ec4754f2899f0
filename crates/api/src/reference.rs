//! References from CAPT's kinds to other objects.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

/// A `WorkspaceTemplate`, which may be shared between namespaces.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("self.name != ''").message("name is empty: write the name of a WorkspaceTemplate"))]
#[x_kube(validation = Rule::new("self.name == '' || self.name.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')").message("name must be written in lower case letters, digits, hyphens and dots, as names of objects are"))]
#[x_kube(validation = Rule::new("!has(self.__namespace__) || self.__namespace__ == '' || self.__namespace__.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')").message("namespace must be written in lower case letters, digits and hyphens, as names of namespaces are"))]
pub struct TemplateReference {
    /// The template's name.
    #[schemars(length(max = 253))]
    pub name: String,
    /// The template's namespace; that of the referring object if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub namespace: Option<String>,
}

/// A Secret that outputs are written to.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("self.name != ''").message("name is empty: write the name of the Secret that the outputs go to"))]
pub struct SecretTarget {
    /// The Secret's name.
    #[schemars(length(max = 253))]
    pub name: String,
    /// The Secret's namespace; that of the apply if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub namespace: Option<String>,
}

/// A Secret that must be there, with keys that must not be empty.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("self.name != ''").message("name is empty: write the name of the Secret to wait for"))]
#[x_kube(validation = Rule::new("self.name == '' || self.name.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')").message("name must be written in lower case letters, digits, hyphens and dots, as names of objects are"))]
#[x_kube(validation = Rule::new("!has(self.__namespace__) || self.__namespace__ == '' || self.__namespace__.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')").message("namespace must be written in lower case letters, digits and hyphens, as names of namespaces are"))]
pub struct SecretRequirement {
    /// The Secret's name.
    #[schemars(length(max = 253))]
    pub name: String,
    /// The Secret's namespace; that of the apply if nothing is said. Another namespace must have granted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub namespace: Option<String>,
    /// Keys that must be there and not empty. If none is named, the Secret must have some data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 253)))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    #[x_kube(validation = Rule::new("self.all(key, key != '')").message("keys must not be empty: write the names of keys of the Secret, or leave keys out"))]
    pub keys: Vec<String>,
}

/// A Workspace, by its own name or by that of the apply it is made from.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("self.name != ''").message("name is empty: write the name of a Workspace"))]
#[x_kube(validation = Rule::new("self.name == '' || self.name.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')").message("name must be written in lower case letters, digits, hyphens and dots, as names of objects are"))]
#[x_kube(validation = Rule::new("!has(self.__namespace__) || self.__namespace__ == '' || self.__namespace__.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')").message("namespace must be written in lower case letters, digits and hyphens, as names of namespaces are"))]
pub struct WorkspaceReference {
    /// The Workspace's name. If an apply of the same namespace makes a Workspace of this name, that one is meant, even
    /// where its name got a suffix because another namespace had taken it.
    #[schemars(length(max = 253))]
    pub name: String,
    /// The namespace of the apply that makes the Workspace, if it is another. (Workspaces themselves have none.)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub namespace: Option<String>,
}

/// A key of a `ConfigMap` or Secret.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("self.name != ''").message("name is empty: write the object's name"))]
#[x_kube(validation = Rule::new("self.key != ''").message("key is empty: write the key that holds the value"))]
#[x_kube(validation = Rule::new("self.name == '' || self.name.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')").message("name must be written in lower case letters, digits, hyphens and dots, as names of objects are"))]
#[x_kube(validation = Rule::new("!has(self.__namespace__) || self.__namespace__ == '' || self.__namespace__.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')").message("namespace must be written in lower case letters, digits and hyphens, as names of namespaces are"))]
pub struct KeySelector {
    /// The object's name.
    #[schemars(length(max = 253))]
    pub name: String,
    /// The key that holds the value.
    #[schemars(length(max = 253))]
    pub key: String,
    /// The object's namespace; that of the apply if nothing is said. Another namespace must have granted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub namespace: Option<String>,
}

/// An output of a Workspace.
#[derive(KubeSchema, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("self.name != ''").message("name is empty: write the name of a Workspace"))]
#[x_kube(validation = Rule::new("self.output != ''").message("output is empty: write the name of one of the Workspace's outputs"))]
#[x_kube(validation = Rule::new("self.name == '' || self.name.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')").message("name must be written in lower case letters, digits, hyphens and dots, as names of objects are"))]
#[x_kube(validation = Rule::new("!has(self.__namespace__) || self.__namespace__ == '' || self.__namespace__.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')").message("namespace must be written in lower case letters, digits and hyphens, as names of namespaces are"))]
pub struct OutputSelector {
    /// The Workspace's name, or that of the apply that makes it without `-apply`.
    #[schemars(length(max = 253))]
    pub name: String,
    /// The name of the output. Sensitive outputs are only in the connection Secret: use secretKeyRef for those.
    #[schemars(length(max = 253))]
    pub output: String,
    /// The namespace of the apply that makes the Workspace, if it is another. That namespace must have granted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub namespace: Option<String>,
}
