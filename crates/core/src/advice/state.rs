//! Reasons that are about states, their locks, and what differs from them.
#![expect(non_upper_case_globals, reason = "entries have the names of their reasons")]

super::advice! {
    StateMissing, "Workspace: Event":
        "the Terraform state that was there is gone, and without it everything would be made a second time"
        => "restore it with `capt state restore workspace NAME --snapshot SERIAL`; if there is really nothing left, annotate the Workspace with \
            `capt.cluster.x-k8s.io/accept-missing-state=true`";
    StateForked, "Workspace: Event":
        "an interrupted run and somebody else both wrote the state; CAPT keeps the version of the run as a snapshot and uses the stored one"
        => "compare both with `capt state list workspace NAME` and `capt state show workspace NAME`; approve the next plan to go on with the \
            stored version, or put the other one back with `capt state restore workspace NAME --snapshot SERIAL`";
    InterruptedCalls, "Workspace: InterruptedCalls":
        "the container or machine that ran Terraform died during an apply; the message names the calls that were in flight, and objects that were \
            made and that CAPT cannot import"
        => "look for each of them in the cloud; import or delete what you find, then annotate the Workspace as the message says";
    NoInterruptedCalls, "Workspace: InterruptedCalls":
        "the result of every call is known, or a person has checked it"
        => "nothing is to be done";
    StateLeftBehind, "Workspace: Event":
        "a run began in the moment in which its apply was moved to another cluster, and wrote its state here, where nobody uses it"
        => "approve nothing at the target; copy the Secret that the message names over the one at the target, as the guide to moving says, \
            then delete it here";
    StateNotOwned, "Workspace: Event":
        "the state of this name belongs to another Workspace"
        => "give this Workspace a name of its own for its state with the annotation `crossplane.io/external-name=NAME`";
    StatePushFailed, "Workspace: Event":
        "an apply ended while its state could not be stored; the state is in a file, and nothing else is done until it is \
            stored"
        => "make the backend reachable, and it is stored by itself; do not remove the working directory that the message \
            names";
    StatePushed, "Workspace: Event":
        "a state that could not be stored after an apply is stored now"
        => "nothing: this is how it should be";
    StateNearLimit, "Workspace: StateLarge":
        "the state nears the mebibyte that a Secret can hold"
        => "divide the module into two templates, or declare a backend of its own in the module or its ProviderConfig";
    StateSizeFine, "Workspace: StateLarge":
        "the state is far from the size that a Secret can hold"
        => "nothing: this is how it should be";
    NoBackend, "Workspace: Event":
        "the module insists on a backend that would be lost with its working directory"
        => "take the `backend \"local\"` block out of the module, or declare a remote backend";
    Locked, "Workspace: Locked":
        "somebody else holds the lock on the state; the message says who and since when"
        => "wait for that run; if it is known to be dead, `kubectl annotate --overwrite workspace NAME \
            capt.cluster.x-k8s.io/force-unlock=ID` releases exactly that lock";
    NotLocked, "Workspace: Locked":
        "nobody else holds the lock on the state"
        => "nothing: this is how it should be";
    OrphanedLockReleased, "Workspace: Event":
        "a lock was released, because the process that held it is known to be dead"
        => "nothing: it was safe";
    LockForced, "Workspace: Event":
        "a lock was released, because the annotation force-unlock named it"
        => "take the annotation `capt.cluster.x-k8s.io/force-unlock` away again, and see that no other run was at work";
    DriftDetected, "Workspace: Drifted":
        "the infrastructure was changed behind Terraform's back, or a change is not permitted, and neither is put right"
        => "read the difference with `capt plan workspace NAME`; put it right outside, change the template, or set spec.driftPolicy of \
            the apply to Correct";
    NoDrift, "Workspace: Drifted":
        "the infrastructure is as it was applied"
        => "nothing: this is how it should be";
    NothingPending, "Workspace: ApprovalRequired":
        "no plan waits for approval"
        => "nothing: this is how it should be";
}
