//! The arguments of Terraform's commands.

use capt_api::crossplane::ForProvider;
use capt_api::names::Reason;
use capt_core::apply::Blocked;
use capt_terraform::Arguments;

/// How much all `vars` may be together. They travel in one environment variable, and Linux takes 128 KiB of that, in which
/// the user's other arguments have to fit as well.
const MOST_VARS: usize = 100 * 1024;

/// The arguments of each command, `vars` first: as with Crossplane, what comes later wins, files with variables included.
pub(super) fn arguments(for_provider: &ForProvider) -> Result<Arguments, Blocked> {
    let ForProvider { vars, init_args, plan_args, apply_args, destroy_args, .. } = for_provider;
    let vars: Vec<String> =
        vars.iter().map(|variable| format!("-var={}={}", variable.key, variable.value)).collect();
    if vars.iter().map(|argument| room(argument)).sum::<usize>() > MOST_VARS {
        return Err(refused("spec.forProvider.vars are too large together: use varmap or varFiles"));
    }
    for (field, given) in [
        ("vars", &vars),
        ("initArgs", init_args),
        ("planArgs", plan_args),
        ("applyArgs", apply_args),
        ("destroyArgs", destroy_args),
    ] {
        if let Some(index) = given.iter().position(|argument| argument.contains('\0')) {
            return Err(refused(format!("spec.forProvider.{field}[{index}] holds a zero byte: take it out")));
        }
    }
    Ok(Arguments {
        init: init_args.clone(),
        plan: [vars.as_slice(), plan_args].concat(),
        apply: apply_args.clone(),
        destroy: [vars.as_slice(), destroy_args].concat(),
    })
}

/// The bytes that an argument needs between single quotes, where each single quote of its own needs four.
fn room(argument: &str) -> usize {
    argument.len() + 3 * argument.matches('\'').count() + "'' ".len()
}

fn refused(message: impl Into<String>) -> Blocked {
    Blocked::new(Reason::InvalidRun, message)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn of(fields: &Value) -> Result<Arguments, Blocked> {
        let mut for_provider = json!({ "source": "Inline", "module": "a = 1" });
        for_provider.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        arguments(&serde_json::from_value(for_provider).unwrap())
    }

    fn var(value: &str) -> Value {
        json!({ "key": "x", "value": value })
    }

    #[rstest]
    #[case::one(&["a".repeat(MOST_VARS)])]
    #[case::together(&["a".repeat(MOST_VARS / 2), "b".repeat(MOST_VARS / 2)])]
    #[case::quotes_need_more(&["'".repeat(MOST_VARS / 4)])]
    fn too_much_is_refused(#[case] values: &[String]) {
        let vars: Vec<_> = values.iter().map(|value| var(value)).collect();
        let blocked = of(&json!({ "vars": vars })).unwrap_err();
        assert_eq!(blocked.reason, Reason::InvalidRun);
        assert_eq!(blocked.message, "spec.forProvider.vars are too large together: use varmap or varFiles");
    }

    #[test]
    fn what_just_fits_is_taken() {
        let value = "a".repeat(MOST_VARS - room("-var=x="));
        assert!(of(&json!({ "vars": [var(&value)] })).is_ok());
        assert!(of(&json!({ "vars": [var(&(value + "a"))] })).is_err());
    }

    #[rstest]
    #[case(json!({ "vars": [var("a"), var("secret\0")] }), "vars[1]")]
    #[case(json!({ "planArgs": ["-target=\0secret"] }), "planArgs[0]")]
    fn a_zero_byte_is_refused_and_the_value_not_told(#[case] fields: Value, #[case] field: &str) {
        let blocked = of(&fields).unwrap_err();
        assert!(blocked.message.contains(field), "{}", blocked.message);
        assert!(!blocked.message.contains("secret"), "{}", blocked.message);
    }

    #[test]
    fn variables_come_first_wherever_something_is_planned() {
        let arguments = of(&json!({
            "vars": [{ "key": "b", "value": "[1, \"2\"]" }, { "key": "a", "value": "" }],
            "initArgs": ["-upgrade"],
            "planArgs": ["-refresh=false"],
            "applyArgs": ["-parallelism=3"],
            "destroyArgs": ["-target=x.y"],
        }))
        .unwrap();
        assert_eq!(arguments.init, ["-upgrade"]);
        assert_eq!(arguments.plan, ["-var=b=[1, \"2\"]", "-var=a=", "-refresh=false"]);
        assert_eq!(arguments.apply, ["-parallelism=3"]);
        assert_eq!(arguments.destroy, ["-var=b=[1, \"2\"]", "-var=a=", "-target=x.y"]);
    }
}
