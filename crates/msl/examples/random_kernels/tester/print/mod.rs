//! A program as text, in the Metal Shading Language or in C++.
//!
//! Only what the kernel uses is printed. Both texts are nearly the same: what C++ leaves undefined
//! or names differently goes through the functions of the prelude that `cpp.rs` has.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::program::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Metal,
    Cpp,
}

/// The kernel `k` and all that it needs.
pub fn print(program: &Program, dialect: Dialect) -> String {
    let mut printer = Printer {
        program,
        dialect,
        used: Used::default(),
    };
    let body = printer.block(&program.body, 1);
    let mut functions = Vec::new();
    for (index, function) in program.functions.iter().enumerate().rev() {
        if printer.used.functions.contains(&index) {
            functions.push(printer.function(index, function));
        }
    }
    for (index, fields) in program.structs.iter().enumerate().rev() {
        if printer.used.structs.contains(&index) {
            functions.push(printer.structure(index, fields));
        }
    }
    functions.extend(printer.folds());
    functions.reverse();
    let kernel = printer.kernel(&body);
    let head = match dialect {
        Dialect::Metal => "#include <metal_stdlib>\nusing namespace metal;\n",
        Dialect::Cpp => "",
    };
    format!("{head}{}{kernel}", functions.concat())
}

#[derive(Default)]
struct Used {
    functions: BTreeSet<usize>,
    structs: BTreeSet<usize>,
    folds: BTreeSet<Scalar>,
    builtins: BTreeSet<Builtin>,
    parameters: BTreeSet<Parameters>,
    exchange: bool,
    tally: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Parameters {
    Out,
    Data,
    Reals,
    Arguments,
    Counters,
}

struct Printer<'a> {
    program: &'a Program,
    dialect: Dialect,
    used: Used,
}

const BARRIER: &str = "threadgroup_barrier(mem_flags::mem_threadgroup);";

impl Printer<'_> {
    fn type_name(&mut self, ty: &Type) -> String {
        match ty {
            Type::Scalar(scalar) => scalar.name().to_string(),
            Type::Vector(scalar, length) => format!("{}{length}", scalar.name()),
            Type::Struct(index) => {
                self.used.structs.insert(*index);
                format!("S{index}")
            }
            Type::Pointer(pointee, _) => format!("thread {}*", self.type_name(pointee)),
            Type::Array(..) => unreachable!("an array type has no name"),
        }
    }

    /// `T name`, the brackets of arrays after the name.
    fn declarator(&mut self, ty: &Type, name: &str) -> String {
        match ty {
            Type::Array(element, length) => self.declarator(element, &format!("{name}[{length}]")),
            _ => format!("{} {name}", self.type_name(ty)),
        }
    }

    fn reference(&mut self, ty: &Type, name: &str) -> String {
        let name = match ty {
            Type::Array(..) => format!("(&{name})"),
            _ => format!("&{name}"),
        };
        format!("thread {}", self.declarator(ty, &name))
    }

    fn structure(&mut self, index: usize, fields: &[Type]) -> String {
        let mut text = format!("struct S{index} {{ ");
        for (field, ty) in fields.iter().enumerate() {
            let _ = write!(text, "{}; ", self.declarator(ty, &format!("m{field}")));
        }
        text + "};\n"
    }

    fn function(&mut self, index: usize, function: &Function) -> String {
        let program = self.program;
        let mut parameters = Vec::new();
        for parameter in &function.parameters {
            let ty = &program.variables[parameter.variable];
            let name = format!("v{}", parameter.variable);
            parameters.push(match parameter.is_reference {
                true => self.reference(ty, &name),
                false => self.declarator(ty, &name),
            });
        }
        let body = self.block(&function.body, 1);
        let value = self.expression(&function.value);
        format!(
            "static {} f{index}({}) {{\n{body}    return {value};\n}}\n",
            self.type_name(&function.result),
            parameters.join(", ")
        )
    }

    /// `uint fold(T)` of each type of which it is used, the last needed first.
    fn folds(&mut self) -> Vec<String> {
        let used = std::mem::take(&mut self.used.folds);
        let narrow = used.contains(&Scalar::Half) || used.contains(&Scalar::Bfloat);
        let mut folds = Vec::new();
        for &scalar in &used {
            let name = scalar.name();
            let value = match scalar {
                Scalar::Half | Scalar::Bfloat => "fold(float(x))",
                Scalar::Float => continue,
                Scalar::Long | Scalar::Ulong => "uint(x) ^ uint(ulong(x) >> ulong(32))",
                _ => "uint(x)",
            };
            folds.push(format!(
                "static uint fold({name} x) {{ return {value}; }}\n"
            ));
        }
        if narrow || used.contains(&Scalar::Float) {
            folds.push(
                "static uint fold(float x) { return x != x ? 0x7fc00000u : as_type<uint>(x); }\n"
                    .to_string(),
            );
        }
        folds
    }

    fn kernel(&self, body: &str) -> String {
        if self.dialect == Dialect::Cpp {
            return format!(
                "static void k(uint* out, const uint* data, const float* reals, const uint* args, \
                 uint* counters, uint i, uint l, uint g, uint n) {{\n{body}}}\n"
            );
        }
        let mut parameters = Vec::new();
        for parameter in &self.used.parameters {
            parameters.push(match parameter {
                Parameters::Out => "device uint* out [[buffer(0)]]",
                Parameters::Data => "device const uint* data [[buffer(1)]]",
                Parameters::Reals => "device const float* reals [[buffer(2)]]",
                Parameters::Arguments => "constant uint* args [[buffer(3)]]",
                Parameters::Counters => "device atomic_uint* counters [[buffer(4)]]",
            });
        }
        let mut builtins = self.used.builtins.clone();
        if self.used.tally {
            builtins.insert(Builtin::Local);
        }
        for builtin in builtins {
            parameters.push(match builtin {
                Builtin::Position => "uint i [[thread_position_in_grid]]",
                Builtin::Local => "uint l [[thread_position_in_threadgroup]]",
                Builtin::Group => "uint g [[threadgroup_position_in_grid]]",
                Builtin::Size => "uint n [[threads_per_threadgroup]]",
                Builtin::Lane => "uint lane [[thread_index_in_simdgroup]]",
                Builtin::SimdGroup => "uint s [[simdgroup_index_in_threadgroup]]",
            });
        }
        let mut text = format!("kernel void k({}) {{\n", parameters.join(",\n    "));
        if self.used.exchange {
            let size = self.program.threadgroup;
            let _ = writeln!(text, "    threadgroup uint slots[{size}];");
        }
        if self.used.tally {
            let _ = writeln!(
                text,
                "    threadgroup atomic_uint tally[{COUNTERS}];\n    if (l == 0u) {{ \
                 for (uint c = 0u; c < {COUNTERS}u; c++) {{ \
                 atomic_store_explicit(&tally[c], 0u, memory_order_relaxed); }} }}\n    {BARRIER}"
            );
        }
        text + body + "}\n"
    }

    fn block(&mut self, block: &[Statement], depth: usize) -> String {
        block.iter().map(|s| self.statement(s, depth)).collect()
    }

    /// A block in braces, to follow what it belongs to on the same line.
    fn braced(&mut self, block: &[Statement], depth: usize) -> String {
        let inner = self.block(block, depth + 1);
        format!("{{\n{inner}{}}}", "    ".repeat(depth))
    }

    fn statement(&mut self, statement: &Statement, depth: usize) -> String {
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

    fn looped(&mut self, looped: &Loop, depth: usize) -> String {
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

    fn output(&mut self, slot: usize, value: &Expression, mix: bool) -> String {
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

    fn fold(&mut self, scalar: Scalar) {
        self.used.folds.insert(scalar);
    }

    /// The statements in which threads meet.
    fn together(&mut self, statement: &Statement) -> String {
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

    fn shuffle(
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

    fn initializer(&mut self, initializer: &Initializer) -> String {
        match initializer {
            Initializer::Value(value) => self.expression(value),
            Initializer::Braced(parts) => {
                let parts: Vec<String> = parts.iter().map(|p| self.initializer(p)).collect();
                format!("{{ {} }}", parts.join(", "))
            }
        }
    }

    fn index(&mut self, index: &Expression, length: u8) -> String {
        match index {
            Expression::Literal(_, value) => format!("{}", *value as u64 % u64::from(length)),
            _ => format!("{} % {length}u", self.expression(index)),
        }
    }

    fn place(&mut self, place: &Place) -> String {
        match place {
            Place::Variable(variable) => format!("v{variable}"),
            Place::Member(base, field) => format!("{}.m{field}", self.place(base)),
            Place::Element(base, index) => {
                let Type::Array(_, length) = self.program.type_of_place(base) else {
                    unreachable!("an element of what is no array");
                };
                let base = self.place(base);
                format!("{base}[{}]", self.index(index, length))
            }
            Place::Pointee(pointer, index) => {
                let Type::Pointer(_, length) = self.program.type_of(pointer) else {
                    unreachable!("the pointee of what is no pointer");
                };
                let text = match &**pointer {
                    Expression::Decay(array) => self.place(array),
                    pointer => self.expression(pointer),
                };
                match length {
                    1 => format!("(*{text})"),
                    _ => format!("{text}[{}]", self.index(index, length)),
                }
            }
            Place::Components(base, components) => {
                format!("{}.{}", self.place(base), letters(components))
            }
        }
    }

    fn expression(&mut self, expression: &Expression) -> String {
        use Expression as E;
        match expression {
            E::Literal(scalar, value) => literal(*scalar, *value),
            E::Splat(scalar, length, value) => {
                format!("{}{length}({})", scalar.name(), self.expression(value))
            }
            E::Compose(scalar, parts) => {
                let name = format!("{}{}", scalar.name(), parts.len());
                format!("{name}({})", self.list(parts))
            }
            E::Load(place) => self.place(place),
            E::AddressOf(place) => format!("(&{})", self.place(place)),
            E::Decay(place) => self.place(place),
            E::Unary(op, operand) => {
                let text = self.expression(operand);
                let text = match op {
                    Unary::Negate => format!("(-{text})"),
                    Unary::Not => format!("(!{text})"),
                    Unary::Complement => format!("(~{text})"),
                };
                self.narrowed(expression, text)
            }
            E::Binary(op, left, right) => self.binary(expression, *op, left, right),
            E::Components(all, op, left, right) => {
                let (left, right) = (self.expression(left), self.expression(right));
                let name = if *all { "all" } else { "any" };
                format!("{name}({left} {} {right})", symbol(*op))
            }
            E::And(left, right) => {
                format!("({} && {})", self.expression(left), self.expression(right))
            }
            E::Or(left, right) => {
                format!("({} || {})", self.expression(left), self.expression(right))
            }
            E::Choose(condition, accept, reject) => format!(
                "({} ? {} : {})",
                self.expression(condition),
                self.expression(accept),
                self.expression(reject)
            ),
            E::Convert(to, operand) => {
                let is_float = self.program.type_of(operand) == FLOAT;
                let (name, text) = (self.type_name(to), self.expression(operand));
                match to {
                    Type::Scalar(scalar)
                        if self.dialect == Dialect::Cpp && is_float && scalar.is_integer() =>
                    {
                        format!("saturated<{name}>({text})")
                    }
                    _ => format!("{name}({text})"),
                }
            }
            E::Reinterpret(to, operand) => {
                format!("as_type<{}>({})", to.name(), self.expression(operand))
            }
            E::Bits(operand) => {
                self.fold(Scalar::Float);
                format!("fold({})", self.expression(operand))
            }
            E::Swizzle(base, components) => {
                format!("{}.{}", self.expression(base), letters(components))
            }
            E::Call(function, arguments) => {
                self.used.functions.insert(*function);
                let mut texts = Vec::new();
                for argument in arguments {
                    texts.push(match argument {
                        Argument::Value(value) => self.expression(value),
                        Argument::Reference(place) => self.place(place),
                    });
                }
                format!("f{function}({})", texts.join(", "))
            }
            E::Math(name, operands) => {
                let prefix = match self.dialect {
                    Dialect::Metal => "",
                    Dialect::Cpp => "metal_",
                };
                let text = format!("{prefix}{name}({})", self.list(operands));
                self.narrowed(expression, text)
            }
            E::Assign(place, value) => {
                let place = self.place(place);
                format!("({place} = {})", self.expression(value))
            }
            E::Compound(place, op, value) => {
                let floating = self.program.type_of(expression) == FLOAT;
                let (place, value) = (self.place(place), self.expression(value));
                match defined(*op) {
                    Some(name) if self.dialect == Dialect::Cpp && !floating => {
                        format!("{name}_assign({place}, {value})")
                    }
                    _ => format!("({place} {}= {value})", symbol(*op)),
                }
            }
            E::Increment(place, how) => {
                let place = self.place(place);
                match how {
                    Increment::PrefixUp => format!("(++{place})"),
                    Increment::PrefixDown => format!("(--{place})"),
                    Increment::PostfixUp => format!("({place}++)"),
                    Increment::PostfixDown => format!("({place}--)"),
                }
            }
            E::Comma(first, last) => {
                format!("({}, {})", self.expression(first), self.expression(last))
            }
            E::Lanes(name, operand) => format!("{name}({})", self.expression(operand)),
            E::Builtin(builtin) => {
                self.used.builtins.insert(*builtin);
                match builtin {
                    Builtin::Position => "i",
                    Builtin::Local => "l",
                    Builtin::Group => "g",
                    Builtin::Size => "n",
                    Builtin::Lane => "lane",
                    Builtin::SimdGroup => "s",
                }
                .to_string()
            }
            E::Shared(index) => {
                self.used.parameters.insert(Parameters::Arguments);
                format!("args[{index}]")
            }
            E::Input(scalar, index) => {
                let (name, parameter) = match scalar {
                    Scalar::Float => ("reals", Parameters::Reals),
                    _ => ("data", Parameters::Data),
                };
                self.used.parameters.insert(parameter);
                format!("{name}[{}]", self.index(index, INPUTS as u8))
            }
        }
    }

    fn list(&mut self, expressions: &[Expression]) -> String {
        let texts: Vec<String> = expressions.iter().map(|e| self.expression(e)).collect();
        texts.join(", ")
    }

    fn binary(
        &mut self,
        whole: &Expression,
        op: Binary,
        left: &Expression,
        right: &Expression,
    ) -> String {
        let floating = self.program.type_of(left) == FLOAT;
        let (left, right) = (self.expression(left), self.expression(right));
        let text = match defined(op) {
            Some(name) if self.dialect == Dialect::Cpp && !floating => {
                format!("{name}({left}, {right})")
            }
            _ => format!("({left} {} {right})", symbol(op)),
        };
        match op.is_comparison() {
            true => text,
            false => self.narrowed(whole, text),
        }
    }

    /// Arithmetic on small integers is in `int`: converted back, so that each has its own type.
    fn narrowed(&mut self, whole: &Expression, text: String) -> String {
        match self.program.type_of(whole) {
            Type::Scalar(scalar) if scalar.promotes() => format!("{}({text})", scalar.name()),
            _ => text,
        }
    }
}

fn letters(components: &[u8]) -> String {
    components
        .iter()
        .map(|&c| char::from(b"xyzw"[usize::from(c)]))
        .collect()
}

/// The function of the C++ prelude for an operator that C++ leaves undefined for some integers.
fn defined(op: Binary) -> Option<&'static str> {
    match op {
        Binary::Divide => Some("divide"),
        Binary::Remainder => Some("remainder_of"),
        Binary::ShiftLeft => Some("shift_left"),
        Binary::ShiftRight => Some("shift_right"),
        _ => None,
    }
}

fn symbol(op: Binary) -> &'static str {
    match op {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::Remainder => "%",
        Binary::ShiftLeft => "<<",
        Binary::ShiftRight => ">>",
        Binary::BitAnd => "&",
        Binary::BitOr => "|",
        Binary::BitXor => "^",
        Binary::Equal => "==",
        Binary::NotEqual => "!=",
        Binary::Less => "<",
        Binary::LessEqual => "<=",
        Binary::Greater => ">",
        Binary::GreaterEqual => ">=",
    }
}

fn literal(scalar: Scalar, value: i64) -> String {
    match scalar {
        Scalar::Bool => (value != 0).to_string(),
        Scalar::Int if (0..=0x7fff_ffff).contains(&value) => value.to_string(),
        Scalar::Int => format!("int({:#x}u)", value as u32),
        Scalar::Uint => format!("{}u", value as u32),
        Scalar::Long | Scalar::Ulong if (0..=0x7fff_ffff).contains(&value) => {
            format!("{}({value})", scalar.name())
        }
        Scalar::Long | Scalar::Ulong => format!("{}({:#x}ul)", scalar.name(), value as u64),
        Scalar::Char => format!("char({})", value as i8),
        Scalar::Uchar => format!("uchar({})", value as u8),
        Scalar::Short => format!("short({})", value as i16),
        Scalar::Ushort => format!("ushort({})", value as u16),
        Scalar::Half | Scalar::Bfloat | Scalar::Float => {
            let text = format!("{:?}f", value as f32 * 0.25);
            match (scalar, value < 0) {
                (Scalar::Float, false) => text,
                (Scalar::Float, true) => format!("({text})"),
                _ => format!("{}({text})", scalar.name()),
            }
        }
    }
}
