//! `capt up`: a management cluster on this machine.

mod announcement;
mod background;

use anyhow::Context;

use crate::cli::UpArguments;
use crate::home::{self, Home};
use crate::printer::Printer;
use crate::signals::Stop;
use announcement::{Announcement, End};

pub(crate) async fn run(arguments: UpArguments, printer: Printer) -> anyhow::Result<()> {
    let UpArguments { detach, in_background, home } = arguments;
    let stop = Stop::on_signals().context("listening for signals")?;
    if detach {
        return background::start(&home, printer, &stop).await;
    }
    if in_background {
        // The terminal that this was started from may close.
        rustix::process::setsid().context("leaving the terminal")?;
    }
    let announce = async |home: Home<'_>| {
        let announcement = Announcement::of(home);
        if in_background {
            return printer.text(&announcement.line()?);
        }
        announcement.print(&End::CtrlC, printer)
    };
    home::run(&home, printer, &stop, announce).await
}
