//! From tree to typed IR: names, types, overloads, conversions, constants.
//!
//! One pass over the program's items declares them in order; then every kernel and function is
//! lowered, its callees first. Checking a body and writing its IR are one step: an expression comes
//! back as an `Operand` that knows its type. A template is lowered again for each set of
//! arguments, with its parameters bound in an environment, so no code here works on types that are
//! not known.
//!
//! An error gives a poisoned operand or type that later steps accept silently, so that one mistake
//! is reported once.

mod assignments;
mod builtins;
mod calls;
mod constant;
mod context;
mod conversions;
mod declarations;
mod evaluate;
mod expressions;
mod functions;
mod initialisers;
mod kernels;
mod members;
mod operand;
mod operators;
mod packs;
mod scope;
mod statements;
mod structs;
mod suggest;
mod templates;
mod type_names;
mod types;

use std::rc::Rc;

use crate::diag::{Diagnostic, Report, Span};
use crate::ir::{self, Module};
use crate::syntax::ast::{Name, TranslationUnit};

use context::Context;
use scope::{FAST, FunctionId, GLOBAL, METAL, Namespace, NamespaceId, PRECISE};
use types::{Ty, TypeTable};

/// Bytes of stack that the checker gets: deep nesting must end in a message, not in a crash.
const STACK_BYTES: usize = 512 << 20;
/// The deepest nesting of expressions, statements, types and instantiations, all together.
const DEPTH_LIMIT: usize = 3_000;

/// Checks a tree and makes its module; what is wrong goes to `report`.
pub fn check(unit: &TranslationUnit, report: &mut Report) -> Module {
    let worker = |report: &mut Report| {
        let mut checker = Checker::new(report);
        checker.program(unit);
        checker.module
    };
    std::thread::scope(|scope| {
        let handle = std::thread::Builder::new()
            .name("msl checker".to_string())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || worker(&mut *report));
        match handle.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(module)) => Some(module),
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => None,
        }
    })
    .unwrap_or_else(|| {
        report.push(Diagnostic::error(
            Span::default(),
            "the system has no memory left for the compiler's stack",
        ));
        Module::default()
    })
}

/// The state of a compilation.
struct Checker<'a> {
    report: &'a mut Report,
    module: Module,
    types: TypeTable,
    namespaces: Vec<Namespace<'a>>,
    functions: Vec<functions::FunctionInfo<'a>>,
    structs: Vec<structs::StructInfo<'a>>,
    enums: Vec<structs::EnumInfo>,
    globals: Vec<declarations::Global<'a>>,
    templates: Vec<templates::Template<'a>>,
    /// The functions that have a type of their own: template arguments.
    callables: Vec<FunctionId>,
    /// Results and parameters of the types of functions.
    function_types: Vec<(types::Qualified, Vec<types::Qualified>)>,
    /// The namespace whose items are being declared.
    namespace: NamespaceId,
    /// Counts declarations, so that a body sees only what stands before it.
    sequence: usize,
    context: Context<'a>,
    depth: usize,
    too_deep: bool,
    /// The instances being lowered, outermost first: where each was asked for, and its name.
    instances: Vec<(Span, Name)>,
    instance_count: usize,
    kernels: Vec<kernels::KernelRequest<'a>>,
    /// Set while a program-defined conversion is looked for: there is at most one in a row.
    converting: bool,
    /// Set when an expression reads a function constant.
    mentions_function_constant: bool,
    /// Set while something is only tried: errors are counted, not reported.
    silent: bool,
    silent_errors: usize,
}

impl<'a> Checker<'a> {
    fn new(report: &'a mut Report) -> Self {
        let namespace = |parent| Namespace {
            parent: Some(parent),
            ..Namespace::default()
        };
        let mut checker = Self {
            report,
            module: Module::default(),
            types: TypeTable::new(),
            namespaces: vec![
                Namespace::default(),
                namespace(GLOBAL),
                namespace(METAL),
                namespace(METAL),
            ],
            functions: Vec::new(),
            structs: Vec::new(),
            enums: Vec::new(),
            globals: Vec::new(),
            templates: Vec::new(),
            callables: Vec::new(),
            function_types: Vec::new(),
            namespace: GLOBAL,
            sequence: 0,
            context: Context::new(GLOBAL, usize::MAX),
            depth: 0,
            too_deep: false,
            instances: Vec::new(),
            instance_count: 0,
            kernels: Vec::new(),
            converting: false,
            mentions_function_constant: false,
            silent: false,
            silent_errors: 0,
        };
        let nested = [
            (GLOBAL, "metal", METAL),
            (METAL, "precise", PRECISE),
            (METAL, "fast", FAST),
        ];
        for (parent, name, id) in nested {
            checker.namespaces[parent]
                .names
                .insert(name.into(), (scope::Entity::Namespace(id), 0));
        }
        checker
    }

    /// Declares everything, then lowers every function that is not a template.
    fn program(&mut self, unit: &'a TranslationUnit) {
        self.items(&unit.items);
        for id in 0..self.functions.len() {
            self.lower_if_concrete(id);
        }
        self.finish_kernels();
    }

    /// Reports a problem, saying which template instance it is in.
    fn fail(&mut self, mut diagnostic: Diagnostic) {
        if self.silent {
            let is_error = diagnostic.severity == crate::diag::Severity::Error;
            self.silent_errors += usize::from(is_error);
            return;
        }
        const MOST_RELATED: usize = 3;
        for (span, name) in self.instances.iter().rev().take(MOST_RELATED) {
            diagnostic =
                diagnostic.with_related(*span, format!("in the instance `{name}` used here"));
        }
        self.report.push(diagnostic);
    }

    /// Runs `work` one level deeper; `None` once the limit is reached, which is reported once.
    fn deeper<T>(&mut self, span: Span, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= DEPTH_LIMIT {
            if !self.too_deep {
                self.too_deep = true;
                self.fail(
                    Diagnostic::error(span, "this is nested too deeply for the compiler")
                        .with_hint("split the expression, or end the chain of calls earlier"),
                );
            }
            return None;
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        Some(result)
    }

    /// Runs `work` with a context of its own, and gives back what it left there.
    fn with_context<T>(
        &mut self,
        context: Context<'a>,
        work: impl FnOnce(&mut Self) -> T,
    ) -> (T, Context<'a>) {
        let outer = std::mem::replace(&mut self.context, context);
        let result = work(self);
        let inner = std::mem::replace(&mut self.context, outer);
        (result, inner)
    }

    /// Runs `work` writing to a block of its own, and gives back the block.
    fn in_block<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> (T, ir::Block) {
        let outer = std::mem::take(&mut self.context.block);
        let result = work(self);
        let block = std::mem::replace(&mut self.context.block, outer);
        (result, block)
    }

    /// Runs `work` in a nested scope of names.
    fn in_scope<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.context.scopes.push(std::collections::HashMap::new());
        let result = work(self);
        self.context.scopes.pop();
        result
    }

    /// The IR's name of a type.
    fn ir_type(&mut self, ty: Ty) -> ir::Handle<ir::Type> {
        use types::Kind;
        let int = ir::Scalar::I32;
        let of = match self.types.kind(ty) {
            Kind::Error | Kind::Void => ir::Type::Void,
            Kind::Scalar(scalar) => ir::Type::Scalar(scalar),
            Kind::Vector(scalar, len, packing) => ir::Type::Vector(scalar, len, packing),
            Kind::Matrix {
                scalar,
                columns,
                rows,
            } => ir::Type::Matrix {
                scalar,
                columns,
                rows,
            },
            Kind::Array(element, len) => ir::Type::Array(self.ir_type(element), len),
            Kind::UnsizedArray(element) => ir::Type::Array(self.ir_type(element), 0),
            Kind::Struct(id) => match self.structs[id].ir {
                Some(of) => ir::Type::Struct(of),
                None => ir::Type::Void,
            },
            Kind::Enum(id) => ir::Type::Scalar(self.enums[id].underlying),
            Kind::Pointer { space, pointee, .. } => ir::Type::Pointer {
                space,
                pointee: self.ir_type(pointee),
            },
            Kind::Atomic(scalar) => ir::Type::Atomic(scalar),
            Kind::SimdgroupMatrix(scalar) => ir::Type::SimdgroupMatrix(scalar),
            Kind::Nullptr => ir::Type::Pointer {
                space: ir::AddressSpace::Thread,
                pointee: self.module.types.scalar(ir::Scalar::U8),
            },
            Kind::MemFlags | Kind::MemoryOrder | Kind::Callable(_) | Kind::Function(_) => {
                ir::Type::Scalar(int)
            }
            Kind::SimdVote => ir::Type::Scalar(ir::Scalar::U64),
        };
        self.module.types.intern(of)
    }

    /// The type as the language spells it.
    fn type_name(&self, ty: Ty) -> String {
        use types::Kind;
        match self.types.kind(ty) {
            Kind::Error => "?".into(),
            Kind::Void => "void".into(),
            Kind::Scalar(scalar) => scalar.name().into(),
            Kind::Vector(scalar, len, ir::Packing::Aligned) => format!("{}{len}", scalar.name()),
            Kind::Vector(scalar, len, ir::Packing::Packed) => {
                format!("packed_{}{len}", scalar.name())
            }
            Kind::Matrix {
                scalar,
                columns,
                rows,
            } => format!("{}{columns}x{rows}", scalar.name()),
            Kind::Array(..) | Kind::UnsizedArray(_) => {
                let (mut element, mut lengths) = (ty, String::new());
                loop {
                    match self.types.kind(element) {
                        Kind::Array(inner, len) => {
                            lengths.push_str(&format!("[{len}]"));
                            element = inner;
                        }
                        Kind::UnsizedArray(inner) => {
                            lengths.push_str("[]");
                            element = inner;
                        }
                        _ => break,
                    }
                }
                format!("{}{lengths}", self.type_name(element))
            }
            Kind::Struct(id) => self.structs[id].name.to_string(),
            Kind::Enum(id) => self.enums[id].name.to_string(),
            Kind::Pointer {
                space,
                pointee,
                is_const,
            } => format!(
                "{}{} {} *",
                if is_const && space != ir::AddressSpace::Constant {
                    "const "
                } else {
                    ""
                },
                types::space_name(space),
                self.type_name(pointee)
            ),
            Kind::Atomic(scalar) => format!("atomic_{}", scalar.name()),
            Kind::SimdgroupMatrix(scalar) => format!("simdgroup_{}8x8", scalar.name()),
            Kind::Nullptr => "nullptr_t".into(),
            Kind::MemFlags => "mem_flags".into(),
            Kind::MemoryOrder => "memory_order".into(),
            Kind::SimdVote => "simd_vote".into(),
            Kind::Function(_) => "function type".into(),
            Kind::Callable(index) => {
                let function = self.callables.get(index).map(|&id| &self.functions[id]);
                function.map_or_else(|| "function".into(), |f| format!("function `{}`", f.name))
            }
        }
    }

    /// The result type as a list of instance names.
    fn name_of(text: impl AsRef<str>) -> Name {
        Name::from(text.as_ref())
    }
}

/// Shared by all who need a parsed signature.
type SharedSignature = Rc<functions::Signature>;
