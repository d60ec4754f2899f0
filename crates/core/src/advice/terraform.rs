//! Reasons of Workspaces and of the runs that bring them in line.
#![expect(non_upper_case_globals, reason = "entries have the names of their reasons")]

super::advice! {
    Creating, "Workspace: Ready":
        "the infrastructure has never been complete yet; the message says how far Terraform is or what is wrong"
        => "nothing while a run goes on; otherwise do what the message says; `capt logs workspace NAME` has what Terraform printed";
    ReconcileError, "Workspace: Synced":
        "the last attempt to bring the infrastructure in line failed; the message says at what"
        => "do what the message says; the Event of the same time has the exact reason (`kubectl describe workspace NAME`), and \
            `capt logs workspace NAME` all that Terraform printed";
    InitFailed, "Workspace: Event":
        "terraform init failed: a provider or module could not be had, or the backend not be reached"
        => "see `capt logs workspace NAME`; correct source and version of providers and modules, or give CAPT a way to the registry \
            (proxies of its environment are passed on)";
    PlanFailed, "Workspace: Event":
        "terraform plan failed: the module is wrong, a variable is missing, or the cloud refused to be asked"
        => "see `capt logs workspace NAME`; correct module, variables or credentials, and it is planned again by itself";
    ApplyFailed, "Workspace: Event":
        "terraform apply failed half way; what was made is in the state"
        => "see `capt logs workspace NAME` and remove the cause (quota, rights, a name that is taken); it is tried again with growing \
            pauses, and at once when something changes";
    ModuleUnavailable, "Workspace: Event":
        "the module could not be fetched from where spec.forProvider.module says"
        => "check address, version and access; credentials for it go into the ProviderConfig as `.git-credentials`";
    InvalidRun, "Workspace: Event":
        "something that would go into Terraform cannot be used: an argument, an annotation, a file, a ProviderConfig"
        => "correct the field that the message names, in the template if the Workspace comes from one";
    InputMissing, "Workspace: Event":
        "a Secret, ConfigMap or key that goes into Terraform does not exist"
        => "create what the message names, or take the reference out of the template or ProviderConfig";
    ProviderConfigMissing, "Workspace: Event":
        "the ProviderConfig that spec.providerConfigRef names does not exist"
        => "create it, or take providerConfigRef out of the template";
    SourceNotReady, "Workspace: Event":
        "the Flux source that the module comes from has no artifact yet, or it cannot be fetched"
        => "look at the source with `flux get sources all -A`; it is taken up as soon as it has an artifact";
    PolicyInvalid, "Workspace: Event":
        "spec.managementPolicies permit actions but not Observe, which all of them need"
        => "add Observe, or write `managementPolicies: [\"*\"]`";
    NotPermitted, "Workspace: Event":
        "nothing is there yet, and spec.managementPolicies do not permit Create"
        => "add Create to spec.managementPolicies of the template, if CAPT is to make it";
    TerraformUnavailable, "Workspace: Event":
        "there is no OpenTofu or Terraform that can be started"
        => "name one with `--terraform-binary`, or put `tofu` or `terraform` into PATH or the directory of CAPT_ASSETS; in a \
            pod it has to be in the image; `capt doctor` shows what is found";
    WorkingDirectoryFailed, "Workspace: Event":
        "a file in the working directory of a run could not be read or written"
        => "make room on that disk or give the user of CAPT the right to write there; the directory is that of \
            `--terraform-directory`, or `terraform` in the data directory of `capt up`";
    TerraformFailed, "Workspace: Event":
        "a command of Terraform other than init, plan and apply failed"
        => "see `capt logs workspace NAME`; it is tried again with growing pauses";
    OutputUnreadable, "Workspace: Event":
        "what Terraform printed cannot be read, although it ended well"
        => "use a version of OpenTofu or Terraform that CAPT knows (`capt version --output json`), and no wrapper script that \
            prints lines of its own";
    OutputsRefused, "Workspace: Event":
        "the outputs cannot be published: they are too large, or the Secret for them cannot be written"
        => "take large outputs out of the module, or correct writeConnectionSecretToRef as the message says";
    TimedOut, "Workspace: Event":
        "a command that changes nothing (init, plan, output) took longer than half an hour and was ended"
        => "see `capt logs workspace NAME` for what it waited for; it is tried again by itself";
    Interrupted, "Workspace: Event":
        "a run was asked to stop, because CAPT stops or the Workspace changed; what it had begun is saved"
        => "nothing: the next start goes on from there";
    PlanStale, "Workspace: Event":
        "the saved plan no longer fits the state, so that it cannot be applied"
        => "nothing: it is planned again at once";
    ReconcilePaused, "Workspace: Synced":
        "the Workspace is paused by annotation or empty managementPolicies, or frozen because its apply is paused or moved"
        => "take `crossplane.io/paused` off the Workspace, or the pause off its apply or Cluster; delete a Workspace whose apply \
            was moved to another cluster: nothing is destroyed by that";
    Available, "Workspace: Ready; Cluster: Available, ControlPlaneAvailable":
        "what was asked for is there and can be used"
        => "nothing: this is how it should be";
    ReconcileSuccess, "Workspace: Synced":
        "the last attempt to bring the infrastructure in line succeeded"
        => "nothing: this is how it should be";
    Planned, "Workspace: Event":
        "a plan is there, also one that an earlier manager left behind"
        => "nothing: what comes next is told";
    Applying, "Workspace: Event":
        "a plan is being applied"
        => "nothing; to watch it, `capt logs workspace NAME -f`";
    Applied, "Workspace: Event; ClusterResourceSet: ResourcesApplied":
        "what was planned or asked for is in place"
        => "nothing: this is how it should be";
    Destroying, "Workspace: Event":
        "the infrastructure is being destroyed"
        => "nothing; to watch it, `capt logs workspace NAME -f`";
    Destroyed, "Workspace: Event":
        "nothing of the infrastructure is left"
        => "nothing: this is how it should be";
    Orphaned, "Workspace: Event":
        "the Workspace is gone, and its infrastructure and state stay, as deletionPolicy or managementPolicies say"
        => "nothing; to look after it again, make a Workspace of the same name";
    Dropped, "Workspace: Event":
        "the Workspace was let go without a destroy, because its apply lives on in another cluster or is gone"
        => "nothing: the other cluster looks after the infrastructure";
    TakenOver, "Workspace: Event":
        "the Workspace is run by CAPT from now on; Crossplane is paused for it and has put it down"
        => "nothing; to give it back, `capt migrate to-crossplane NAME`";
    HandedBack, "Workspace: Event":
        "the Workspace is run by Crossplane from now on, and CAPT keeps nothing of it but copies of its state"
        => "nothing; to take it over again, `capt migrate from-crossplane NAME`";
    HandBackRefused, "Workspace: Event":
        "the Workspace is to be handed back to Crossplane, which would not find its state, or is not there"
        => "let the ProviderConfig of the Workspace say where the state is, as the message shows; to leave it with CAPT, \
            annotate it with `capt.cluster.x-k8s.io/run-by=capt`";
    HandoverUnanswered, "Workspace: Event":
        "nobody runs the Workspace: Crossplane was asked to put it down, and has not said that it has"
        => "see whether provider-terraform runs and what its log says; if it is stopped, \
            `capt migrate from-crossplane NAME --provider-stopped`";
}
