//! Reasons of templates and of their applies.
#![expect(non_upper_case_globals, reason = "entries have the names of their reasons")]

super::advice! {
    TemplateNotFound, "WorkspaceTemplateApply: Applied, Ready":
        "the WorkspaceTemplate that spec.templateRef names does not exist or cannot be read"
        => "create it, or correct spec.templateRef (name, and namespace where it is in another one); \
            `kubectl get workspacetemplate -A` lists those that there are";
    TemplateInvalid, "WorkspaceTemplateApply: Applied, Ready":
        "no Workspace can be made from the template"
        => "edit the field of the WorkspaceTemplate that the message names; `capt validate -f FILE` shows the place";
    ModuleInvalid, "WorkspaceTemplate: Ready; WorkspaceTemplateApply: Applied, Ready":
        "the inline module is neither valid HCL nor valid JSON"
        => "mend the module at the line and column of the message; if Terraform takes it all the same, annotate the template \
            with `capt.cluster.x-k8s.io/skip-module-check=true`";
    TemplateValid, "WorkspaceTemplate: Ready":
        "the template can be used"
        => "nothing: this is how it should be";
    WaitingForSecrets, "WorkspaceTemplateApply: Applied, Ready":
        "a Secret of spec.waitForSecrets does not exist yet, or lacks keys that were asked for"
        => "nothing if something else makes the Secret; otherwise create it with the keys that the message names";
    WaitingForWorkspaces, "WorkspaceTemplateApply: Applied, Ready":
        "a Workspace of spec.waitForWorkspaces does not exist yet or is not ready"
        => "nothing: it goes on when that Workspace is ready; if it stays, look at that one with \
            `kubectl describe workspace NAME`";
    VariableMissing, "WorkspaceTemplateApply: Applied, Ready":
        "a source of spec.variablesFrom does not exist, has no such key or output, or a placeholder has no value"
        => "create the source or the key that the message names, correct the entry of spec.variablesFrom, or give the value \
            in spec.variables";
    VariableInvalid, "WorkspaceTemplateApply: Applied, Ready; AddonStackBinding: Ready":
        "the value of a variable or of an output cannot be used where it is needed"
        => "correct the value that the message names: JSON for lists and maps, text without control characters for values of \
            add-ons";
    ApprovalRequired, "WorkspaceTemplateApply: Applied; Workspace: ApprovalRequired, Synced":
        "a change waits until somebody has looked at it and says yes"
        => "read the plan with `capt plan workspace NAME`, then `capt approve workspace NAME`; the message also has the annotation that does the \
            same by kubectl";
    Pinned, "WorkspaceTemplateApply: Applied":
        "template or variables have changed, and spec.updatePolicy is Pinned, so that the Workspace stays as it is"
        => "nothing if it is to stay; otherwise set spec.updatePolicy to Automatic, or to Approve and approve the change";
    WorkspaceNotReady, "WorkspaceTemplateApply: Ready, Synced":
        "the Workspace is not ready yet, or no longer is; the message has its own words"
        => "nothing while Terraform works; if it has failed, `capt logs workspace NAME` shows what Terraform said, and a changed \
            template, variable or credential starts it again";
    WorkspaceMissing, "WorkspaceTemplateApply: Applied, Ready":
        "the Workspace is not there; it is made, or made again as soon as the old one is gone"
        => "nothing: it is made by itself; one that is stuck in deletion says why in `kubectl describe workspace NAME`";
    WorkspaceNotOwned, "WorkspaceTemplateApply: Applied, Ready":
        "a Workspace of the name that this apply needs belongs to somebody else and is left alone"
        => "give the apply another name, or, if nobody else uses that Workspace, annotate the apply with \
            `capt.cluster.x-k8s.io/adopt-workspace=NAME`";
    WorkspaceTooLarge, "WorkspaceTemplateApply: Applied, Ready":
        "module and variables together are more than the API server can store in one object"
        => "make the largest part smaller, which the message names, or let the module come from a repository: \
            `source: Remote` or `source: Flux`";
    WorkspaceKindMissing, "WorkspaceTemplateApply: Applied, Ready":
        "the kind Workspace (tf.upbound.io) is not installed, or has not been listed yet"
        => "install it with `capt crds --include terraform | kubectl apply --server-side -f -`, or install Crossplane's \
            provider-terraform";
    WaitingForDependents, "WorkspaceTemplateApply: Applied, Ready":
        "the apply is being deleted, and others still use what its Workspace made"
        => "delete the applies that the message names, or take their references to this one away";
    UpToDate, "WorkspaceTemplateApply: Applied, Synced":
        "the Workspace has the present template and variables"
        => "nothing: this is how it should be; variables that the module does not declare are named in the message";
    WorkspaceReady, "WorkspaceTemplateApply: Ready":
        "the infrastructure is there and its outputs are published"
        => "nothing: this is how it should be";
    WorkspaceCreated, "WorkspaceTemplateApply: Event":
        "the Workspace was made"
        => "nothing: Terraform comes next";
    WorkspaceUpdated, "WorkspaceTemplateApply: Event":
        "a change of template or variables was carried to the Workspace"
        => "nothing: Terraform comes next";
    WorkspaceAdopted, "WorkspaceTemplateApply: Event":
        "a Workspace that was there already was taken over"
        => "nothing: Terraform only plans first; if the plan is not empty, it waits for approval";
    WorkspaceRetained, "WorkspaceTemplateApply: Event":
        "the apply was deleted, and its Workspace stays as spec.retainWorkspaceOnDelete says"
        => "nothing; to destroy what it made, delete the Workspace: `kubectl delete workspace NAME`";
    WorkspaceMoved, "WorkspaceTemplateApply: Event":
        "the apply lives on in another management cluster, and its Workspace is removed here without a destroy"
        => "nothing: no Terraform runs for it here any more";
}
