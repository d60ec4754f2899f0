//! Names that a module uses and does not declare: Terraform refuses them before it plans anything.

use std::collections::BTreeSet;

use hcl_edit::Span as _;
use hcl_edit::expr::{Expression, ForExpr, Traversal, TraversalOperator};
use hcl_edit::structure::Body;
use hcl_edit::visit::{Visit, visit_for_expr, visit_traversal};

/// A name that is used and not declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Undeclared {
    /// What it would be: a `variable`, a `local`, or a `module`.
    pub(crate) what: &'static str,
    /// The name as it is written, for example `var.region`.
    pub(crate) reference: String,
    /// What there is of that kind, written in the same way.
    pub(crate) known: Vec<String>,
    /// The byte of the text at which it is, if that is known.
    pub(crate) offset: Option<usize>,
}

/// The names that a module uses and does not declare, each once. The module is all of its text.
pub(crate) fn undeclared(body: &Body) -> Vec<Undeclared> {
    let labels = |kind: &str| {
        let blocks = body.blocks().filter(|block| block.ident.as_str() == kind);
        blocks.filter_map(|block| Some(block.labels.first()?.as_str().to_owned())).collect()
    };
    let locals = body.blocks().filter(|block| block.ident.as_str() == "locals");
    let locals = locals.flat_map(|block| block.body.attributes()).map(|local| local.key.as_str().to_owned());
    let declared = [
        Declared { root: "var", what: "variable", names: labels("variable") },
        Declared { root: "local", what: "local", names: locals.collect() },
        Declared { root: "module", what: "module", names: labels("module") },
    ];
    let mut finder = Finder { declared, bound: Vec::new(), found: Vec::new() };
    finder.visit_body(body);
    finder.found
}

/// What a module declares of one kind.
struct Declared {
    /// How uses of it begin.
    root: &'static str,
    what: &'static str,
    names: BTreeSet<String>,
}

struct Finder {
    declared: [Declared; 3],
    /// Names of `for` expressions, which hide others.
    bound: Vec<String>,
    found: Vec<Undeclared>,
}

impl Visit for Finder {
    fn visit_traversal(&mut self, traversal: &Traversal) {
        let first = traversal.operators.first().map(hcl_edit::Decorated::value);
        if let (Expression::Variable(root), Some(TraversalOperator::GetAttr(name))) = (&traversal.expr, first)
            && !self.bound.iter().any(|bound| bound == root.as_str())
            && let Some(Declared { root, what, names }) =
                self.declared.iter().find(|declared| declared.root == root.as_str())
            && !names.contains(name.as_str())
        {
            let reference = format!("{root}.{}", name.as_str());
            if !self.found.iter().any(|found| found.reference == reference) {
                let known = names.iter().map(|name| format!("{root}.{name}")).collect();
                let offset = traversal.span().or_else(|| traversal.expr.span()).map(|span| span.start);
                self.found.push(Undeclared { what, reference, known, offset });
            }
        }
        visit_traversal(self, traversal);
    }

    fn visit_for_expr(&mut self, expression: &ForExpr) {
        let intro = &expression.intro;
        let before = self.bound.len();
        self.bound
            .extend(intro.key_var.iter().chain([&intro.value_var]).map(|name| name.as_str().to_owned()));
        visit_for_expr(self, expression);
        self.bound.truncate(before);
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::parse;
    use super::*;

    #[rstest]
    #[case::declared("variable \"a\" {}\noutput \"o\" { value = var.a }", &[])]
    #[case::a_variable("variable \"region\" {}\noutput \"o\" { value = var.regoin }", &["var.regoin"])]
    #[case::in_a_template("output \"o\" { value = \"x-${var.a}-${local.b}\" }", &["var.a", "local.b"])]
    #[case::in_a_heredoc("output \"o\" {\n  value = <<-EOT\n    ${var.a}\n  EOT\n}", &["var.a"])]
    #[case::twice("output \"o\" { value = [var.a, var.a.b] }", &["var.a"])]
    #[case::in_a_nested_block("resource \"x\" \"y\" {\n  a {\n    b = module.m.c\n  }\n}", &["module.m"])]
    #[case::a_local("locals {\n  a = local.c\n  c = 1\n}", &[])]
    #[case::hidden_by_a_for("output \"o\" { value = [for var in [1] : var.x] }", &[])]
    #[case::of_others("output \"o\" { value = each.value + data.a.b.c + path.module + self.x }", &[])]
    fn names_that_nobody_declares_are_found(#[case] text: &str, #[case] expected: &[&str]) {
        let found = undeclared(&parse(text).unwrap());
        let names: Vec<_> = found.iter().map(|found| found.reference.as_str()).collect();
        assert_eq!(names, expected);
    }
}
