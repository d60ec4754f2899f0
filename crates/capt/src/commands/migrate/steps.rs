//! Carries out a plan. Each step finds out for itself what is left of it to do.

mod labels;
mod pause;
mod resume;
mod runs;
mod states;
mod template;

use kube::Client;

use super::survey::{Standing, Subject, Survey};
use super::{Request, named, plan};
use crate::printer::Printer;

/// What every step needs.
struct Work<'run> {
    client: &'run Client,
    request: &'run Request,
    survey: &'run Survey,
    printer: Printer,
}

impl Work<'_> {
    fn subjects(&self) -> impl Iterator<Item = &Subject> {
        self.survey.subjects.iter().filter(|subject| subject.standing == Standing::Present)
    }
}

/// Does everything in its order, and answers with what is left to do for the user.
pub(super) async fn carry_out(
    client: &Client,
    request: &Request,
    survey: &Survey,
    printer: Printer,
) -> anyhow::Result<Vec<String>> {
    let work = Work { client, request, survey, printer };
    if work.is_open() {
        let releases = named(&request.which.releases);
        printer.message(&format!("pausing what uses WorkspaceTemplate `{}`", survey.template_name()));
        pause::pause(&work).await?;
        runs::wait(&work).await?;
        printer.message(&format!("taking {releases} out of states"));
        states::forget(&work).await?;
        printer.message(&format!("taking {releases} out of WorkspaceTemplate `{}`", survey.template_name()));
        template::edit(&work).await?;
    }
    states::release(&work).await?;
    labels::put(&work).await?;
    printer.message("lifting the pause");
    resume::resume(&work).await
}

impl Work<'_> {
    /// Whether something is in a state or in the template still. If not, only the pause may be left.
    fn is_open(&self) -> bool {
        let (which, _) = plan::which(self.survey, self.request);
        self.subjects().any(|subject| !subject.inventory.releases.is_empty())
            || template::edited(&self.survey.template, &which).is_ok_and(|text| text.is_some())
    }
}
