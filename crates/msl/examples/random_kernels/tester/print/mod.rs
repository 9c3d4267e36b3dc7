//! A program as text, in the Metal Shading Language or in C++.
//!
//! Only what the kernel uses is printed. Both texts are nearly the same: what C++ leaves undefined
//! or names differently goes through the functions of the prelude that `cpp.rs` has.

mod expressions;
mod statements;

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

    fn fold(&mut self, scalar: Scalar) {
        self.used.folds.insert(scalar);
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
}
