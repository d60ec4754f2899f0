//! What is wrong with a stack by itself, beyond its schema.

use capt_api::addon_stack::AddonStackSpec;
use capt_api::names::Reason;

use super::super::object::Object;
use super::super::report::Report;
use crate::addon::order::{Circle, order};
use crate::addon::stack::problem;
use crate::readiness::expression::Expression;

pub(super) fn check(object: &Object, spec: &AddonStackSpec, report: &mut Report<'_>) {
    match problem(spec) {
        Some((Reason::DependencyCycle, message)) => circle(object, spec, &message, report),
        Some((_, message)) => {
            let message = message.strip_prefix("spec.clusterSelector: ").unwrap_or(&message);
            report.error(object, "spec.clusterSelector", format!("`spec.clusterSelector`: {message}"));
        }
        None => {}
    }
    for (index, addon) in spec.addons.iter().enumerate() {
        for (number, check) in addon.readiness.iter().enumerate() {
            let expression = check.expression.as_deref().map(Expression::parse);
            if let Some(Err(problem)) = expression {
                let path = format!("spec.addons[{index}].readiness[{number}].expression");
                report.error(object, &path, problem.to_string());
            }
        }
    }
}

fn circle(object: &Object, spec: &AddonStackSpec, message: &str, report: &mut Report<'_>) {
    let Err(Circle(names)) = order(&spec.addons) else { return };
    let mut different = names.clone();
    different.sort_unstable();
    different.dedup();
    // The schema has a rule for an add-on that depends on itself.
    if different.len() < 2 {
        return;
    }
    let index = spec.addons.iter().position(|addon| names.contains(&addon.name)).unwrap_or_default();
    report.error(object, &format!("spec.addons[{index}].dependsOn"), message);
}
