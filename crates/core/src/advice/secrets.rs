//! Reasons that are about the credentials of clusters.
#![expect(non_upper_case_globals, reason = "entries have the names of their reasons")]

super::advice! {
    WaitingForConnectionSecret, "CAPTControlPlane: SecretsReady, Ready":
        "the Secret with the outputs of the control plane's module is not there yet"
        => "nothing: it comes when Terraform is done";
    ConnectionSecretNotFound, "CAPTControlPlane: SecretsReady, Ready":
        "the Secret with the outputs should be there by now (controlPlaneConfig.timeouts.controlPlaneTimeout)"
        => "see whether the Workspace is ready and writes the Secret that the message names, and whether something else \
            deletes it; it heals as soon as the Secret is there";
    RequiredFieldMissing, "CAPTControlPlane: SecretsReady, Ready":
        "the outputs lack something that a kubeconfig cannot be made without; the message names it"
        => "add the outputs `kubeconfig` and `cluster_certificate_authority_data` to the module; for EKS `cluster_name`, \
            `cluster_endpoint` and `cluster_certificate_authority_data` are enough";
    KubeconfigInvalid, "CAPTControlPlane: SecretsReady, Ready":
        "the kubeconfig or the certificate authority among the outputs cannot be used; the message says why and where"
        => "correct the output in the module: inline credentials, an https server, no files and no programs other than those \
            of EKS";
    EndpointUnavailable, "CAPTControlPlane: SecretsReady, Ready":
        "nobody says where the API server is reached"
        => "add the output `cluster_endpoint` (a URL such as https://host:443) to the module";
    SecretNotOwned, "CAPTControlPlane: SecretsReady, Ready; WorkspaceTemplateApply: Applied; Workspace: Event":
        "a Secret of a name that CAPT needs belongs to somebody else and is left alone"
        => "rename or delete the Secret that the message names, and CAPT makes its own at once";
    CredentialsExpired, "CAPTControlPlane: SecretsReady, Available":
        "the certificate or token in the kubeconfig among the outputs is no longer valid"
        => "let the module make a new one, for example by a changed variable; for EKS let the kubeconfig start \
            `aws eks get-token`, and CAPT renews tokens itself";
    CredentialsRejected, "CAPTControlPlane: SecretsReady, Reachable, Available":
        "the API server answers, but does not accept the credentials (401)"
        => "give the identity that the message names access to the cluster, for EKS by an access entry; or set \
            controlPlaneConfig.identity to a role that has it";
    CredentialsUnavailable, "CAPTControlPlane: SecretsReady, Ready":
        "CAPT could not make a token for the EKS cluster, and has none that is still valid"
        => "give CAPT AWS credentials (environment, IRSA, Pod Identity, instance) or set controlPlaneConfig.identity; \
            `capt doctor` says what it finds";
    SecretsWritten, "CAPTControlPlane: SecretsReady":
        "the Secrets of the control plane are there and equal to their source"
        => "nothing: this is how it should be; a warning in the message may be worth a look";
}
