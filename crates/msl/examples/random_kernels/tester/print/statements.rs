//! Statements as text.

use std::fmt::Write;

use super::{BARRIER, Dialect, Parameters, Printer};
use crate::tester::program::*;

impl Printer<'_> {
    pub(super) fn block(&mut self, block: &[Statement], depth: usize) -> String {
        block.iter().map(|s| self.statement(s, depth)).collect()
    }

    /// A block in braces, to follow what it belongs to on the same line.
    pub(super) fn braced(&mut self, block: &[Statement], depth: usize) -> String {
        let inner = self.block(block, depth + 1);
        format!("{{\n{inner}{}}}", "    ".repeat(depth))
    }

    pub(super) fn statement(&mut self, statement: &Statement, depth: usize) -> String {
        let indent = "    ".repeat(depth);
        let text = match statement {
            Statement::Declare(variable, initializer) => {
                let ty = &self.program.variables[*variable];
                let declarator = self.declarator(ty, &format!("v{variable}"));
                format!("{declarator} = {};", self.initializer(initializer))
            }
            Statement::Refer(variable, place) => {
                let ty = &self.program.variables[*variable];
                let declarator = self.reference(ty, &format!("v{variable}"));
                format!("{declarator} = {};", self.place(place))
            }
            Statement::Evaluate(expression) => format!("{};", self.expression(expression)),
            Statement::If(condition, accept, reject) => {
                let condition = self.expression(condition);
                let mut text = format!("if ({condition}) {}", self.braced(accept, depth));
                if !reject.is_empty() {
                    let _ = write!(text, " else {}", self.braced(reject, depth));
                }
                text
            }
            Statement::Loop(looped) => self.looped(looped, depth),
            Statement::Late(late) => self.late(late, depth),
            Statement::Switch(selector, arms) => {
                let mut text = format!("switch ({}) {{\n", self.expression(selector));
                for arm in arms {
                    let _ = write!(text, "{indent}    ");
                    for value in &arm.values {
                        let _ = write!(text, "case {value}: ");
                    }
                    let label = if arm.is_default { "default: " } else { "" };
                    let ending = if arm.breaks { " break;" } else { "" };
                    let body = self.braced(&arm.body, depth + 1);
                    let _ = writeln!(text, "{label}{body}{ending}");
                }
                format!("{text}{indent}}}")
            }
            Statement::Block(block) => self.braced(block, depth),
            Statement::Break => "break;".to_string(),
            Statement::Continue => "continue;".to_string(),
            Statement::Return(None) => "return;".to_string(),
            Statement::Return(Some(value)) => format!("return {};", self.expression(value)),
            Statement::Output { slot, value, mix } => self.output(*slot, value, *mix),
            _ => self.together(statement),
        };
        format!("{indent}{text}\n")
    }

    pub(super) fn looped(&mut self, looped: &Loop, depth: usize) -> String {
        let counter = format!("v{}", looped.counter);
        let bound = match &looped.bound {
            Expression::Literal(_, rounds) => format!("{}u", *rounds as u64 % (ROUNDS + 1)),
            bound => format!("({} % {}u)", self.expression(bound), ROUNDS + 1),
        };
        let mut test = format!("{counter} < {bound}");
        if let Some(condition) = &looped.condition {
            let _ = write!(test, " && {}", self.expression(condition));
        }
        let inner = self.block(&looped.body, depth + 1);
        let indent = "    ".repeat(depth);
        let count = format!("{indent}    {counter}++;\n");
        let start = format!("uint {counter} = 0u");
        match looped.kind {
            LoopKind::For => {
                format!("for ({start}; {test}; {counter}++) {{\n{inner}{indent}}}")
            }
            LoopKind::While => {
                format!("{start};\n{indent}while ({test}) {{\n{count}{inner}{indent}}}")
            }
            LoopKind::DoWhile => {
                format!("{start};\n{indent}do {{\n{count}{inner}{indent}}} while ({test});")
            }
            LoopKind::Endless => format!(
                "{start};\n{indent}for (;;) {{\n{indent}    if (!({test})) {{ break; }}\n\
                 {count}{inner}{indent}}}"
            ),
        }
    }

    fn late(&mut self, late: &Late, depth: usize) -> String {
        let (indent, counter) = ("    ".repeat(depth), format!("v{}", late.counter));
        let name = format!("v{}", late.variable);
        let ty = &self.program.variables[late.variable];
        let declarator = self.declarator(ty, &name);
        let before = self.braced(&late.before, depth + 1);
        let value = self.expression(&late.value);
        let after = self.block(&late.after, depth + 1);
        format!(
            "{declarator};\n\
             {indent}for (uint {counter} = 0u; {counter} < {}u; {counter}++) {{\n\
             {indent}    if ({counter} > 0u) {before}\n\
             {indent}    {name} = {value};\n\
             {after}{indent}}}",
            late.rounds
        )
    }

    pub(super) fn output(&mut self, slot: usize, value: &Expression, mix: bool) -> String {
        self.used.parameters.insert(Parameters::Out);
        self.used.builtins.insert(Builtin::Position);
        let word = format!("out[i * {OUTPUTS}u + {slot}u]");
        let mut sum = match mix {
            true => format!("{word} * 31u + "),
            false => String::new(),
        };
        match self.program.type_of(value) {
            UINT => sum += &self.expression(value),
            Type::Vector(scalar, length) => {
                self.fold(scalar);
                for component in 0..length {
                    let part = Expression::Swizzle(Box::new(value.clone()), vec![component]);
                    let plus = if component > 0 { " * 7u + " } else { "" };
                    let part = self.expression(&part);
                    let _ = write!(sum, "{plus}fold({part})");
                }
            }
            Type::Scalar(scalar) => {
                self.fold(scalar);
                let _ = write!(sum, "fold({})", self.expression(value));
            }
            other => unreachable!("an output of {other:?}"),
        }
        format!("{word} = {sum};")
    }

    pub(super) fn fold(&mut self, scalar: Scalar) {
        self.used.folds.insert(scalar);
    }

    /// The statements in which threads meet.
    pub(super) fn together(&mut self, statement: &Statement) -> String {
        match statement {
            Statement::Exchange {
                into,
                value,
                distance,
            } => {
                self.used.exchange = true;
                self.used.builtins.extend([Builtin::Local, Builtin::Size]);
                format!(
                    "slots[l] = {}; {BARRIER} {} = slots[(l + {} % n) % n]; {BARRIER}",
                    self.expression(value),
                    self.place(into),
                    self.expression(distance)
                )
            }
            Statement::Shuffle {
                into,
                how,
                value,
                lane,
            } => self.shuffle(into, *how, value, lane),
            Statement::Count {
                device,
                counter,
                value,
            } => {
                let value = self.expression(value);
                if *device {
                    self.used.parameters.insert(Parameters::Counters);
                }
                self.used.tally |= !device;
                let array = if *device { "counters" } else { "tally" };
                match self.dialect {
                    Dialect::Metal => format!(
                        "atomic_fetch_add_explicit(&{array}[{counter}], {value}, memory_order_relaxed);"
                    ),
                    Dialect::Cpp => format!("{array}[{counter}] += {value};"),
                }
            }
            Statement::ReadCounter { into, counter } => {
                self.used.tally = true;
                format!(
                    "{BARRIER} {} = atomic_load_explicit(&tally[{counter}], memory_order_relaxed); {BARRIER}",
                    self.place(into)
                )
            }
            other => unreachable!("{other:?} is of one thread"),
        }
    }

    pub(super) fn shuffle(
        &mut self,
        into: &Place,
        how: Shuffle,
        value: &Expression,
        lane: &Expression,
    ) -> String {
        self.used
            .builtins
            .extend([Builtin::Size, Builtin::SimdGroup]);
        let (into, value) = (self.place(into), self.expression(value));
        let lane = self.expression(lane);
        // The last SIMD-group may not be full.
        let width = "min(32u, n - s * 32u)";
        let name = match how {
            Shuffle::From => "simd_shuffle",
            Shuffle::Broadcast => "simd_broadcast",
            Shuffle::Xor => "simd_shuffle_xor",
            Shuffle::Up => "simd_shuffle_up",
            Shuffle::Down => "simd_shuffle_down",
        };
        let there = match how {
            Shuffle::From | Shuffle::Broadcast => {
                return format!("{into} = {name}({value}, ushort({lane} % {width}));");
            }
            Shuffle::Xor => format!("(lane ^ distance) < {width}"),
            Shuffle::Up => "lane >= distance".to_string(),
            Shuffle::Down => format!("lane + distance < {width}"),
        };
        self.used.builtins.insert(Builtin::Lane);
        format!(
            "{{ uint distance = {lane} % 32u; uint other = {name}({value}, ushort(distance)); \
             if ({there}) {{ {into} = other; }} }}"
        )
    }
}
