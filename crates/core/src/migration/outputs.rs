//! Outputs for what a release got from the module itself, so that a `HelmRelease` can get it from there.

mod settings;
mod template;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hcl_edit::expr::{Expression, Traversal};
use hcl_edit::structure::Block;
use hcl_edit::visit::{Visit, visit_for_expr, visit_traversal};

use self::settings::Setting;
use super::RELEASE;
use super::source::{Source, labels};
use crate::module::Module;

/// An output that the values of the `HelmRelease` need, and where charts of Karpenter take it.
struct Wanted {
    output: &'static str,
    paths: &'static [&'static [&'static str]],
    /// Whether a chart can do without it.
    optional: bool,
}

/// By the names that CAPT's values have. Older charts had them in other places.
const WANTED: [Wanted; 4] = [
    Wanted {
        output: "cluster_name",
        paths: &[&["settings", "clusterName"], &["settings", "aws", "clusterName"], &["clusterName"]],
        optional: false,
    },
    Wanted {
        output: "cluster_endpoint",
        paths: &[
            &["settings", "clusterEndpoint"],
            &["settings", "aws", "clusterEndpoint"],
            &["clusterEndpoint"],
        ],
        optional: false,
    },
    Wanted {
        output: "karpenter_iam_role_arn",
        paths: &[&["serviceAccount", "annotations", "eks.amazonaws.com/role-arn"]],
        optional: true,
    },
    Wanted {
        output: "karpenter_queue_name",
        paths: &[&["settings", "interruptionQueue"], &["settings", "aws", "interruptionQueueName"]],
        optional: true,
    },
];

/// An output to be written.
pub(super) struct Output {
    pub(super) name: &'static str,
    expression: String,
    sensitive: bool,
}

/// What a module needs beside what it has.
#[derive(Default)]
pub(super) struct Missing {
    pub(super) outputs: Vec<Output>,
    pub(super) remarks: Vec<String>,
}

/// The outputs that a release's values need and the module lacks.
pub(super) fn missing(source: &Source<'_>, release: &Block, module: &Module) -> Missing {
    let mut missing = Missing::default();
    let address = format!("{RELEASE}.{}", labels(release).get(1).copied().unwrap_or_default());
    if !is_karpenter(source, release) {
        missing.remarks.push(format!("{address}: write its values into its HelmRelease by hand"));
        return missing;
    }
    let read = settings::read(source, release);
    missing.remarks.extend(read.unread.iter().map(|what| {
        format!(
            "{address}: {what} cannot be read; write outputs for what the HelmRelease needs of it by hand"
        )
    }));
    let settings: BTreeMap<Vec<String>, Setting> =
        read.settings.into_iter().map(|setting| (setting.path.clone(), setting)).collect();
    for wanted in WANTED.iter().filter(|wanted| !module.outputs.contains_key(wanted.output)) {
        let found = wanted.paths.iter().find_map(|path| {
            let path: Vec<String> = path.iter().map(|&key| key.to_owned()).collect();
            settings.get(&path)
        });
        match (found, wanted.optional) {
            (Some(setting), _) => match output(setting, wanted.output, module) {
                Ok(output) => missing.outputs.push(output),
                Err(why) => missing.remarks.push(format!(
                    "{address}: write output \"{}\" by hand: its value {why}",
                    wanted.output
                )),
            },
            (None, false) => missing.remarks.push(format!(
                "{address}: write output \"{}\" by hand: no value was found for it",
                wanted.output
            )),
            (None, true) => missing.remarks.push(format!(
                "{address}: no value was found for output \"{}\"; write it by hand if the HelmRelease needs it",
                wanted.output
            )),
        }
    }
    missing
}

/// Whether a release is Karpenter itself, and not its CRDs.
fn is_karpenter(source: &Source<'_>, release: &Block) -> bool {
    let attribute = |key: &str| source.slice(&release.body.get_attribute(key)?.value);
    let label = labels(release).get(1).copied().unwrap_or_default();
    let words = [attribute("chart"), attribute("name"), Some(label)];
    let mentions = |word: &str| words.iter().flatten().any(|text| text.to_lowercase().contains(word));
    mentions("karpenter") && !mentions("crd")
}

fn output(setting: &Setting, name: &'static str, module: &Module) -> Result<Output, &'static str> {
    let mut finder = Finder { bound: Vec::new(), problem: None, variables: Vec::new() };
    for expression in &setting.parts {
        finder.visit_expr(expression);
    }
    if let Some(problem) = finder.problem {
        return Err(problem);
    }
    let hidden = |name: &String| module.variables.get(name).is_some_and(|variable| variable.sensitive);
    let sensitive = setting.sensitive || finder.variables.iter().any(hidden);
    Ok(Output { name, expression: setting.expression.clone(), sensitive })
}

/// Looks for what means something in the release's own block only.
struct Finder {
    bound: Vec<String>,
    problem: Option<&'static str>,
    variables: Vec<String>,
}

impl Finder {
    fn root(&mut self, root: &str) {
        let problem = match root {
            _ if self.bound.iter().any(|name| name == root) => return,
            "each" | "count" => "is another for each instance of the release",
            "self" => "refers to the release itself",
            RELEASE => "refers to a release that may leave",
            _ => return,
        };
        self.problem.get_or_insert(problem);
    }
}

impl Visit for Finder {
    fn visit_expr(&mut self, expression: &Expression) {
        if let Expression::Variable(name) = expression {
            self.root(name.as_str());
        }
        hcl_edit::visit::visit_expr(self, expression);
    }

    fn visit_traversal(&mut self, traversal: &Traversal) {
        use hcl_edit::expr::TraversalOperator::GetAttr;
        let first = traversal.operators.first().map(hcl_edit::Decorated::value);
        if let (Expression::Variable(root), Some(GetAttr(name))) = (&traversal.expr, first)
            && root.as_str() == "var"
        {
            self.variables.push(name.as_str().to_owned());
        }
        visit_traversal(self, traversal);
    }

    fn visit_for_expr(&mut self, expression: &hcl_edit::expr::ForExpr) {
        let intro = &expression.intro;
        let names = intro.key_var.iter().chain([&intro.value_var]);
        let before = self.bound.len();
        self.bound.extend(names.map(|name| name.as_str().to_owned()));
        visit_for_expr(self, expression);
        self.bound.truncate(before);
    }
}

/// The blocks of these outputs, with this line break, to be put behind this text.
pub(super) fn written(outputs: &[Output], before: &str, line_break: &str) -> String {
    let mut text = String::new();
    if !outputs.is_empty() && !before.is_empty() && !before.ends_with('\n') {
        text.push_str(line_break);
    }
    for output in outputs {
        let nothing_before =
            text.is_empty() && (before.is_empty() || before.ends_with("\n\n") || before.ends_with("\n\r\n"));
        if !nothing_before {
            text.push_str(line_break);
        }
        let Output { name, expression, sensitive } = output;
        // Writing to a String cannot fail.
        let _ = write!(text, "output \"{name}\" {{{line_break}  value");
        let equals = if *sensitive { "     = " } else { " = " };
        text.push_str(equals);
        if expression.contains('\n') {
            // Where a line ends an expression ends, unless it is in brackets.
            let _ = write!(text, "({expression}{line_break})");
        } else {
            text.push_str(expression);
        }
        text.push_str(line_break);
        if *sensitive {
            let _ = write!(text, "  sensitive = true{line_break}");
        }
        let _ = write!(text, "}}{line_break}");
    }
    text
}
