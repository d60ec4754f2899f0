use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use capt_testkit::DEADLINE;
use serde_json::{Value, json};

use super::stage::{Stage, cluster, condition};
use crate::up::CAPT;

/// A `capt describe --watch`, and the lines that it has printed.
struct Watch {
    child: Child,
    lines: Receiver<String>,
}

impl Watch {
    fn start(stage: &Stage, more: &[&str]) -> Self {
        let mut command = Command::new(CAPT);
        command.args(["describe", "cluster", "prod", "--watch", "--namespace", &stage.namespace]).args(more);
        command.arg("--kubeconfig").arg(stage.kubeconfig()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// Waits for a line with this in it.
    fn line_with(&self, text: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(DEADLINE);
            assert!(line.is_ok(), "there was no line with {text}");
            let line = line.unwrap();
            if line.contains(text) {
                return line;
            }
        }
    }

    fn end(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_a_line_until_the_cluster_is_gone() {
    let stage = Stage::set().await;
    let object = cluster("prod", "False", "NotAvailable");
    stage.put(object.clone()).await;
    let watch = Watch::start(&stage, &[]);

    assert!(watch.line_with("Cluster/prod").ends_with("◌ Cluster/prod  NotAvailable"));
    watch.line_with("✗ CAPTCluster/prod  ObjectDoesNotExist");
    stage.tell(&object, &json!({ "conditions": [condition("Available", "True", "Available", "")] })).await;
    assert!(watch.line_with("Cluster/prod").ends_with("✓ Cluster/prod  Available"));
    stage.delete(&object).await;

    assert_eq!(watch.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_get_a_document_for_every_change() {
    let stage = Stage::set().await;
    let object = cluster("prod", "False", "NotAvailable");
    stage.put(object.clone()).await;
    let watch = Watch::start(&stage, &["--output", "json"]);

    let first: Value = serde_json::from_str(&watch.line_with("{")).unwrap();
    stage.tell(&object, &json!({ "conditions": [condition("Available", "True", "Available", "")] })).await;
    let second: Value = serde_json::from_str(&watch.line_with("\"ready\":true")).unwrap();
    stage.delete(&object).await;

    assert_eq!((&first["ready"], &second["ready"]), (&json!(false), &json!(true)));
    assert_eq!(watch.end(), Some(0));
}
