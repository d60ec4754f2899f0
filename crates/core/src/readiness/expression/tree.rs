//! The tree of an expression: parsed, checked, and made to pay for what it does.

use cel::IdedExpr;
use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedEntryExpr, MapEntryExpr, operators,
};
use cel::parser::{ParseErrors, PrattParser};

use super::{LONGEST_DETAIL, Problem, SELF, budget};
use crate::condition::cut;

/// How deeply brackets may be nested. The parser and the interpreter use the stack.
const DEEPEST_BRACKETS: u16 = 24;

/// How many calls deep the interpreter may go: it uses two kilobytes of the stack for each, and forty where nothing is
/// optimised.
const DEEPEST: usize = 24;

/// What costs a step of a loop beside what the loop does.
const STEP: usize = 4;

/// The functions that do not loop.
const FUNCTIONS: [&str; 12] = [
    "bool",
    "bytes",
    "contains",
    "double",
    "dyn",
    "endsWith",
    "int",
    "size",
    "startsWith",
    "string",
    "type",
    "uint",
];

/// What the parser turns into loops or tests.
const MACROS: [&str; 6] = [
    operators::HAS,
    operators::ALL,
    operators::EXISTS,
    operators::EXISTS_ONE,
    operators::FILTER,
    operators::MAP,
];

/// The names of types.
const TYPES: [&str; 10] =
    ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];

/// Operators that do not look at the whole of what they are given.
const CHEAP: [&str; 5] = [
    operators::CONDITIONAL,
    operators::LOGICAL_AND,
    operators::LOGICAL_OR,
    operators::LOGICAL_NOT,
    operators::NOT_STRICTLY_FALSE,
];

/// Operators that may look at the whole of what they are given.
const DEAR: [&str; 13] = [
    operators::ADD,
    operators::DIVIDE,
    operators::EQUALS,
    operators::GREATER,
    operators::GREATER_EQUALS,
    operators::IN,
    operators::LESS,
    operators::LESS_EQUALS,
    operators::MODULO,
    operators::MULTIPLY,
    operators::NEGATE,
    operators::NOT_EQUALS,
    operators::SUBSTRACT,
];

/// Every function, as a list for people.
pub(super) fn known_functions() -> String {
    let mut names: Vec<_> = FUNCTIONS.into_iter().chain(MACROS).collect();
    names.sort_unstable();
    names.join(", ")
}

/// Parses an expression. The other parser of the crate can be made to use up the stack.
pub(super) fn parse(text: &str) -> Result<IdedExpr, Problem> {
    PrattParser::new().max_recursion_depth(DEEPEST_BRACKETS).parse(text).map_err(|errors| syntax(&errors))
}

fn syntax(errors: &ParseErrors) -> Problem {
    if errors.errors.iter().any(|error| error.msg.contains("recursion limit")) {
        return Problem::TooDeep;
    }
    let first = errors.errors.iter().find(|error| error.pos.0 > 0);
    let (line, column) = first.map_or((1, 1), |error| error.pos);
    let detail = first.map_or("it is not complete", |error| error.msg.trim_start_matches("Syntax error: "));
    Problem::Syntax {
        line: line.unsigned_abs(),
        column: column.unsigned_abs(),
        detail: cut(&detail.replace("'<EOF>'", "the end").replace("<EOF>", "the end"), LONGEST_DETAIL),
    }
}

/// Checks names and depth, and puts a price on everything whose cost depends on the object.
pub(super) fn prepare(tree: IdedExpr) -> Result<IdedExpr, Problem> {
    Preparation::default().node(tree, 0)
}

#[derive(Default)]
struct Preparation {
    /// The variables of the loops around.
    variables: Vec<String>,
    /// How many nodes were seen.
    nodes: usize,
}

impl Preparation {
    fn node(&mut self, node: IdedExpr, depth: usize) -> Result<IdedExpr, Problem> {
        if depth > DEEPEST {
            return Err(Problem::TooDeep);
        }
        self.nodes += 1;
        if let Some(root) = self.root_of_path(&node.expr) {
            return if self.is_known(root) { Ok(node) } else { Err(Problem::UnknownName(root.to_owned())) };
        }
        let inside = depth + 1;
        let expr = match node.expr {
            Expr::Literal(literal) => Expr::Literal(literal),
            Expr::Select(mut select) => {
                *select.operand = self.node(*select.operand, inside)?;
                Expr::Select(select)
            }
            Expr::Call(call) => Expr::Call(self.call(call, inside)?),
            Expr::List(mut list) => {
                list.elements = self.paid(list.elements, inside)?;
                Expr::List(list)
            }
            Expr::Map(mut map) => {
                let entries = map.entries.into_iter();
                map.entries = entries.map(|entry| self.entry(entry, inside)).collect::<Result<_, _>>()?;
                Expr::Map(map)
            }
            Expr::Comprehension(comprehension) => self.comprehension(*comprehension, inside)?,
            Expr::Struct(of) => return Err(Problem::UnknownType(of.type_name)),
            // A name is a path, and what the parser cannot read is an error of its own.
            Expr::Ident(_) | Expr::Unspecified => return Err(Problem::UnknownName(String::new())),
        };
        Ok(IdedExpr { id: node.id, expr })
    }

    /// The name that a path such as `self.status.replicas` or `has(self.status)` starts with. The interpreter follows a path in
    /// one call.
    fn root_of_path<'tree>(&mut self, expr: &'tree Expr) -> Option<&'tree str> {
        let mut at = match expr {
            Expr::Select(select) => &select.operand.expr,
            other => other,
        };
        loop {
            match at {
                Expr::Ident(name) => return Some(name),
                Expr::Select(select) if !select.test => at = &select.operand.expr,
                _ => return None,
            }
            self.nodes += 1;
        }
    }

    fn is_known(&self, name: &str) -> bool {
        name == SELF || TYPES.contains(&name) || self.variables.iter().any(|variable| variable == name)
    }

    fn call(&mut self, call: CallExpr, depth: usize) -> Result<CallExpr, Problem> {
        let CallExpr { func_name, target, args } = call;
        let name = func_name.as_str();
        let (target, args) = if CHEAP.contains(&name) {
            (None, args.into_iter().map(|arg| self.node(arg, depth)).collect::<Result<_, _>>()?)
        } else if name == operators::INDEX {
            let mut args = args.into_iter();
            let container = args.next().map(|container| self.node(container, depth));
            let index = args.next().map(|index| self.node(index, depth + 1).map(budget::index));
            (None, container.into_iter().chain(index).collect::<Result<_, _>>()?)
        } else if DEAR.contains(&name) || FUNCTIONS.contains(&name) {
            let target = self.paid(target.map(|target| *target), depth)?.pop();
            (target.map(Box::new), self.paid(args, depth)?)
        } else {
            return Err(Problem::UnknownFunction(func_name));
        };
        Ok(CallExpr { func_name, target, args })
    }

    fn entry(&mut self, entry: IdedEntryExpr, depth: usize) -> Result<IdedEntryExpr, Problem> {
        let EntryExpr::MapEntry(MapEntryExpr { key, value, optional }) = entry.expr else {
            return Err(Problem::UnknownType(String::new()));
        };
        let [key, value] = [key, value].map(|part| self.paid_one(part, depth));
        let expr = EntryExpr::MapEntry(MapEntryExpr { key: key?, value: value?, optional });
        Ok(IdedEntryExpr { id: entry.id, expr })
    }

    /// A loop pays for all of its steps before the first one. What the parser made is left as it is, since the interpreter
    /// knows it by its shape: the first value, the test, the result, and how a step joins them.
    fn comprehension(&mut self, mut comprehension: ComprehensionExpr, depth: usize) -> Result<Expr, Problem> {
        let range = self.node(comprehension.iter_range, depth + 1)?;
        let outer = self.variables.len();
        let nodes = self.nodes;
        self.variables.extend([comprehension.iter_var.clone(), comprehension.accu_var.clone()]);
        comprehension.loop_step = self.node(comprehension.loop_step, depth)?;
        self.variables.truncate(outer);
        comprehension.iter_range = budget::paid(range, self.nodes - nodes + STEP);
        Ok(Expr::Comprehension(Box::new(comprehension)))
    }

    fn paid(
        &mut self,
        nodes: impl IntoIterator<Item = IdedExpr>,
        depth: usize,
    ) -> Result<Vec<IdedExpr>, Problem> {
        nodes.into_iter().map(|node| self.paid_one(node, depth)).collect()
    }

    fn paid_one(&mut self, node: IdedExpr, depth: usize) -> Result<IdedExpr, Problem> {
        // Paying is a call of its own.
        self.node(node, depth + 1).map(|node| budget::paid(node, 0))
    }
}
