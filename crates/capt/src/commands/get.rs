//! `capt get`: clusters, one line each.

use capt_core::overview::{Summary, overview, table};
use jiff::Timestamp;

use crate::cli::{GetArguments, GetTarget};
use crate::connection;
use crate::overview::{gather, gather_every, no_such_cluster};
use crate::printer::Printer;

pub(crate) async fn run(arguments: GetArguments, printer: Printer) -> anyhow::Result<()> {
    let GetTarget::Clusters { name, namespace, all_namespaces, connection } = arguments.target;
    let client = connection::find_for_person(&connection).await?.client;
    let namespace = connection::namespace(&client, namespace)?;
    let now = Timestamp::now();
    if let Some(name) = name {
        let Some(facts) = gather(&client, &namespace, &name).await? else {
            return Err(no_such_cluster(&client, &namespace, &name).await);
        };
        let summary = overview(&facts, now).summary;
        return printer.value(&summary, table(std::slice::from_ref(&summary), false, now).trim_end());
    }
    let scope = Some(namespace.as_str()).filter(|_| !all_namespaces);
    let facts = gather_every(&client, scope).await?;
    let clusters: Vec<Summary> = facts.iter().map(|facts| overview(facts, now).summary).collect();
    if let Some(doubt) = clusters.first().and_then(|cluster| cluster.unread.first()) {
        printer.warning(doubt);
    }
    if clusters.is_empty() {
        let place = scope.map_or_else(
            || "in any namespace".to_owned(),
            |namespace| format!("in the namespace {namespace}"),
        );
        printer.message(&format!("there is no Cluster {place}"));
        return printer.value_or_nothing(&clusters);
    }
    printer.value(&clusters, table(&clusters, all_namespaces, now).trim_end())
}
