//! The lock on a state, as Terraform's kubernetes backend takes it: a Lease without an end.

use capt_api::names::{annotation, label};
use capt_core::digest::short_digest;
use capt_core::workspace::lock::machine;
use capt_core::workspace::runner::{PodOfRunner, ProcessOfRunner, Runner, Starter};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use kube::{Api, ResourceExt};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Failure, StateOf};
use crate::error::Error;

/// What a lock is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A run of CAPT's changes the state.
    Apply,
    /// Something leaves the state.
    Migrate,
    /// An earlier state is put back.
    Restore,
}

impl Purpose {
    fn word(self) -> &'static str {
        match self {
            // Terraform's own word.
            Self::Apply => "OperationTypeApply",
            Self::Migrate => "capt migrate",
            Self::Restore => "capt state restore",
        }
    }

    /// Whether a lock was taken by a person in the same way.
    fn is_one(operation: &str) -> bool {
        [Self::Migrate, Self::Restore].iter().any(|purpose| purpose.word() == operation)
    }
}

/// Who takes a lock.
#[derive(Clone, Debug)]
pub struct Holder {
    /// What for.
    pub purpose: Purpose,
    /// A person's name.
    pub user: String,
    /// The machine.
    pub host: String,
    /// The Pod, for one that is in a Pod.
    pub pod: Option<PodOfRunner>,
    /// The process on that machine, where the machine can tell.
    pub process: Option<ProcessOfRunner>,
}

/// A lock that was taken.
#[derive(Debug)]
pub struct Lock {
    id: String,
}

/// What came of an attempt to take a lock.
#[derive(Debug)]
pub enum Attempt {
    /// It was taken.
    Taken(Lock),
    /// Somebody else has it.
    Held(Box<LockHolder>),
}

/// Somebody who has a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockHolder {
    /// The lock's identifier.
    pub id: String,
    /// `user@machine`.
    pub who: String,
    /// What for.
    pub operation: String,
    /// Since when, as it was written there.
    pub since: String,
    /// Who took it, where a person took it.
    pub alike: Option<Starter>,
    /// What took it, where that is written there so that its end can be proved.
    pub runner: Option<Runner>,
    version: String,
}

/// What Terraform writes about a lock.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Note {
    #[serde(rename = "ID")]
    id: String,
    operation: String,
    info: String,
    who: String,
    version: String,
    created: String,
    path: String,
}

impl StateOf {
    /// Takes the lock, if nobody has it.
    pub async fn lock(&self, holder: &Holder) -> Result<Attempt, Failure> {
        let leases = self.leases();
        let name = self.lease();
        let found = leases.get_opt(&name).await.map_err(Error::api(self.doing("reading")))?;
        match found {
            Some(lease) => match held(&lease) {
                Some(held) => Ok(Attempt::Held(Box::new(held))),
                None => self.hold(lease, holder).await,
            },
            None => self.make(holder).await,
        }
    }

    /// Who has the lock.
    pub async fn holder(&self) -> Result<Option<LockHolder>, Failure> {
        let found = self.leases().get_opt(&self.lease()).await.map_err(Error::api(self.doing("reading")))?;
        Ok(found.as_ref().and_then(held))
    }

    /// Takes a lock whose holder is known to be dead, if nothing has happened to it since.
    pub async fn take_over(&self, from: &LockHolder, holder: &Holder) -> Result<Attempt, Failure> {
        let found = self.leases().get_opt(&self.lease()).await.map_err(Error::api(self.doing("reading")))?;
        match found {
            Some(lease) if held(&lease).as_ref() == Some(from) => self.hold(lease, holder).await,
            Some(_) | None => self.lock(holder).await,
        }
    }

    /// Lets go of the lock. One that is somebody else's by now stays.
    pub async fn unlock(&self, lock: &Lock) -> Result<(), Failure> {
        self.force_unlock(&lock.id).await.map(drop)
    }

    /// Releases a lock of anybody; `false` where no lock of this identifier is held.
    pub async fn force_unlock(&self, id: &str) -> Result<bool, Failure> {
        let leases = self.leases();
        let name = self.lease();
        let found = leases.get_opt(&name).await.map_err(Error::api(self.doing("reading")))?;
        let Some(mut lease) = found.filter(|lease| held(lease).is_some_and(|held| held.id == id)) else {
            return Ok(false);
        };
        lease.annotations_mut().remove(annotation::LOCK_INFO);
        lease.spec.get_or_insert_default().holder_identity = None;
        let written = leases.replace(&name, &PostParams::default(), &lease).await;
        written.map_err(Error::api(self.doing("releasing")))?;
        Ok(true)
    }

    async fn make(&self, holder: &Holder) -> Result<Attempt, Failure> {
        let labels = [
            (label::MANAGED_BY, "terraform"),
            (label::TERRAFORM_STATE, "true"),
            (label::TERRAFORM_STATE_WORKSPACE, &self.place.terraform_workspace),
            (label::TERRAFORM_STATE_SUFFIX, self.place.state.suffix.as_str()),
        ];
        let (lock, text) = self.sign(holder);
        let lease = Lease {
            metadata: ObjectMeta {
                name: Some(self.lease()),
                labels: Some(labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into()),
                annotations: Some([(annotation::LOCK_INFO.to_owned(), text)].into()),
                ..ObjectMeta::default()
            },
            spec: Some(LeaseSpec { holder_identity: Some(lock.id.clone()), ..LeaseSpec::default() }),
        };
        let made = self.leases().create(&PostParams::default(), &lease).await;
        made.map_err(Error::api(self.doing("taking")))?;
        Ok(Attempt::Taken(lock))
    }

    /// Writes a holder into a lease, if it is still what was read.
    async fn hold(&self, mut lease: Lease, holder: &Holder) -> Result<Attempt, Failure> {
        let (lock, text) = self.sign(holder);
        lease.annotations_mut().insert(annotation::LOCK_INFO.to_owned(), text);
        lease.spec.get_or_insert_default().holder_identity = Some(lock.id.clone());
        let written = self.leases().replace(&self.lease(), &PostParams::default(), &lease).await;
        written.map_err(Error::api(self.doing("taking")))?;
        Ok(Attempt::Taken(lock))
    }

    fn sign(&self, holder: &Holder) -> (Lock, String) {
        let Holder { purpose, user, host, pod, process } = holder;
        let created = Timestamp::now().to_string();
        let info = match (pod, process) {
            (None, None) => String::new(),
            (None, Some(process)) => json!(process).to_string(),
            (Some(_), _) => json!(Runner { pod: pod.clone(), process: process.clone() }).to_string(),
        };
        let id = short_digest([host.as_str(), &info, &created, &self.place.workspace_uid], 32);
        let note = Note {
            id: id.clone(),
            operation: purpose.word().to_owned(),
            info,
            who: format!("{user}@{host}"),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            created,
            path: String::new(),
        };
        (Lock { id }, serde_json::to_string(&note).unwrap_or_default())
    }

    fn leases(&self) -> Api<Lease> {
        Api::namespaced(self.client.clone(), &self.place.state.namespace)
    }

    fn lease(&self) -> String {
        format!("lock-{}", self.place.state_secret())
    }

    fn doing(&self, verb: &str) -> String {
        format!("{verb} the lock on the state in Secret `{}`", self.secret())
    }
}

fn held(lease: &Lease) -> Option<LockHolder> {
    let id = lease.spec.as_ref()?.holder_identity.clone().filter(|id| !id.is_empty())?;
    let told = lease.annotations().get(annotation::LOCK_INFO);
    let note: Note = told.and_then(|told| serde_json::from_str(told).ok()).unwrap_or_default();
    let host = machine(&note.who).filter(|_| Purpose::is_one(&note.operation));
    let runner = runner(&note.info);
    let alike =
        host.map(|host| Starter { host: host.to_owned(), pod_namespace: None, runner: runner.clone() });
    Some(LockHolder {
        id,
        who: note.who,
        operation: note.operation,
        since: note.created,
        alike,
        runner,
        version: lease.resource_version().unwrap_or_default(),
    })
}

/// What took a lock, as it is written there. An earlier version wrote a number, by which nothing can be proved.
fn runner(info: &str) -> Option<Runner> {
    let process = serde_json::from_str::<ProcessOfRunner>(info).ok();
    if process.is_some() {
        return Some(Runner { pod: None, process });
    }
    serde_json::from_str::<Runner>(info).ok().filter(|runner| runner.pod.is_some())
}
