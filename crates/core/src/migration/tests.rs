mod bad_input;
mod layout;
mod ordering;
mod outputs;
mod properties;
mod provider;
mod styles;

use super::{Edit, Problem, Releases, Which, plan_edit};

fn which(names: &[&str]) -> Which {
    let releases = Releases::Named(names.iter().map(|&name| name.to_owned()).collect());
    Which { releases, drop_provider: false }
}

fn all() -> Which {
    Which { releases: Releases::All, drop_provider: false }
}

/// Edits a module, and shows that only what was cut is missing and that a second edit finds nothing to do.
fn edited(text: &str, which: &Which) -> Edit {
    let edit = plan_edit(text, which).unwrap_or_else(|problem| panic!("{problem:?}"));
    let mut rest = text.to_owned();
    for cut in edit.cuts.iter().rev() {
        rest.replace_range(cut.clone(), "");
    }
    assert_eq!(edit.text, rest + &edit.appended);
    let again = plan_edit(&edit.text, which).unwrap_or_else(|problem| panic!("{problem:?}"));
    assert_eq!((again.text.as_str(), again.changes()), (edit.text.as_str(), false));
    assert_eq!(again.removed, Vec::<String>::new());
    edit
}

fn refused(text: &str, which: &Which) -> Problem {
    plan_edit(text, which).expect_err("a module that is refused")
}
