//! Kernels: how each parameter is bound.

use super::Checker;
use super::constant::Constant;
use super::scope::FunctionId;
use super::types::{Kind, Qualified, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, AddressSpace, Argument, Binding, Builtin, Scalar};
use crate::syntax::ast::{self, Attribute, Name};

/// Buffers that a kernel can have.
const BUFFER_LIMIT: u32 = 31;
/// Bytes of threadgroup memory that a kernel's own variables can take.
const THREADGROUP_LIMIT: u64 = 32 << 10;

/// A kernel to be made once everything is declared.
pub(super) struct KernelRequest<'a> {
    pub ast: &'a ast::Function,
    pub function: FunctionId,
}

impl<'a> Checker<'a> {
    pub(super) fn request_kernel(&mut self, ast: &'a ast::Function, id: Option<FunctionId>) {
        if let (Some(function), Some(_)) = (id, &ast.body) {
            self.kernels.push(KernelRequest { ast, function });
        }
    }

    pub(super) fn finish_kernels(&mut self) {
        for request in std::mem::take(&mut self.kernels) {
            if self.functions[request.function].is_template {
                continue;
            }
            self.finish_kernel(&request);
        }
    }

    fn finish_kernel(&mut self, request: &KernelRequest<'a>) {
        let (ast, id) = (request.ast, request.function);
        let span = ast.name.span;
        let Some(signature) = self.functions[id].signature.clone() else {
            return;
        };
        if let Some(result) = signature
            .result
            .filter(|r| r.ty != Ty::VOID && !r.ty.is_error())
        {
            let name = self.type_name(result.ty);
            self.fail(
                Diagnostic::error(
                    span,
                    format!(
                        "a kernel returns nothing, and `{}` returns `{name}`",
                        ast.name.name
                    ),
                )
                .with_hint("declare it `kernel void`, and write results to a buffer"),
            );
        }
        let mut arguments = Vec::new();
        let mut used: Vec<(u32, Span)> = Vec::new();
        // Explicit indices are taken first; the rest gets what is free.
        let explicit: Vec<u32> = ast
            .params
            .iter()
            .filter_map(|p| p.attributes.iter().find(|a| &*a.name.name == "buffer"))
            .filter_map(|a| match a.args.first().map(|e| &e.kind) {
                Some(ast::ExprKind::Int(n, _)) => u32::try_from(*n).ok(),
                _ => None,
            })
            .collect();
        for (param, &ty) in ast.params.iter().zip(&signature.params) {
            let name = param
                .name
                .as_ref()
                .map_or_else(|| "unnamed".into(), |n| n.name.clone());
            let span = param.name.as_ref().map_or(param.span, |n| n.span);
            if let Some(binding) = self.binding(param, &name, ty, span, &explicit, &mut used) {
                arguments.push(Argument {
                    name,
                    binding,
                    span,
                });
            }
        }
        let max_threads = ast
            .attributes
            .iter()
            .find(|a| &*a.name.name == "max_total_threads_per_threadgroup")
            .and_then(|a| a.args.first())
            .and_then(|arg| self.constant_int(arg, "the number of threads"))
            .and_then(|n| u32::try_from(n).ok());
        let complete = arguments.len() == ast.params.len();
        let Some(function) = self.lower_function(id, span) else {
            return;
        };
        self.check_threadgroup_memory(function, span);
        if !complete {
            return;
        }
        let name = ast.name.name.clone();
        if self.module.kernels.iter().any(|k| k.name == name) {
            self.fail(Diagnostic::error(
                span,
                format!("there are two kernels named `{name}`"),
            ));
            return;
        }
        self.module.kernels.push(ir::Kernel {
            name,
            function,
            arguments,
            max_threads,
            span,
        });
    }

    fn check_threadgroup_memory(&mut self, function: ir::Handle<ir::Function>, span: Span) {
        let variables = &self.module.functions[function].threadgroup;
        let bytes: u64 = variables
            .iter()
            .map(|(_, v)| u64::from(self.module.types.layout(v.ty).0))
            .sum();
        if bytes > THREADGROUP_LIMIT {
            self.fail(
                Diagnostic::error(
                    span,
                    format!("this kernel's threadgroup variables take {bytes} bytes"),
                )
                .with_hint(format!("a threadgroup has {THREADGROUP_LIMIT} bytes")),
            );
        }
    }

    fn binding(
        &mut self,
        param: &'a ast::Param,
        name: &Name,
        ty: Qualified,
        span: Span,
        explicit: &[u32],
        used: &mut Vec<(u32, Span)>,
    ) -> Option<Binding> {
        if ty.ty.is_error() {
            return None;
        }
        let builtin = param
            .attributes
            .iter()
            .find_map(|a| builtin(&a.name.name).map(|b| (a, b)));
        if let Some((attribute, builtin)) = builtin {
            return self.builtin_binding(attribute, builtin, ty, span);
        }
        for attribute in &param.attributes {
            if !matches!(
                &*attribute.name.name,
                "buffer" | "threadgroup" | "maybe_unused"
            ) {
                let message = format!(
                    "`[[{}]]` is no attribute of a kernel's parameter",
                    attribute.name.name
                );
                let known = BUILTINS
                    .iter()
                    .map(|(n, _)| *n)
                    .chain(["buffer", "threadgroup"]);
                let error = Diagnostic::error(attribute.name.span, message);
                let near = super::suggest::nearest(&attribute.name.name, known.collect::<Vec<_>>());
                self.fail(match near {
                    Some(near) => error.with_hint(format!("did you mean `[[{near}]]`?")),
                    None => error,
                });
                return None;
            }
        }
        let (space, pointee, is_const, is_reference) = match (
            ty.is_reference,
            self.types.kind(ty.ty),
        ) {
            (true, _) => (ty.space, ty.ty, ty.is_const, true),
            (
                false,
                Kind::Pointer {
                    space,
                    pointee,
                    is_const,
                },
            ) => (Some(space), pointee, is_const, false),
            _ => {
                let shown = self.type_name(ty.ty);
                self.fail(
                    Diagnostic::error(span, format!("the kernel cannot get `{name}` as a plain `{shown}`"))
                        .with_label("neither a buffer nor a position")
                        .with_hint(format!("write `constant {shown} &{name} [[buffer(n)]]`, or give it an attribute such as `[[thread_position_in_grid]]`")),
                );
                return None;
            }
        };
        let pointee = self.ir_type(pointee);
        let index_of = |kind: &str| param.attributes.iter().find(|a| &*a.name.name == kind);
        match space {
            Some(AddressSpace::Threadgroup) => {
                let index = match index_of("threadgroup") {
                    Some(attribute) => self.attribute_index(attribute)?,
                    None => 0,
                };
                Some(Binding::Threadgroup { index, pointee })
            }
            Some(space @ (AddressSpace::Device | AddressSpace::Constant)) => {
                let index = match index_of("buffer") {
                    Some(attribute) => self.attribute_index(attribute)?,
                    None => (0..)
                        .find(|i| !explicit.contains(i) && !used.iter().any(|(u, _)| u == i))?,
                };
                if index >= BUFFER_LIMIT {
                    self.fail(
                        Diagnostic::error(
                            span,
                            format!(
                                "buffer {index} is beyond the {BUFFER_LIMIT} that a kernel has"
                            ),
                        )
                        .with_hint("the indices are 0 to 30"),
                    );
                    return None;
                }
                if let Some((_, other)) = used.iter().find(|(u, _)| *u == index).copied() {
                    self.fail(
                        Diagnostic::error(span, format!("buffer {index} is taken already"))
                            .with_related(other, "by this parameter"),
                    );
                    return None;
                }
                used.push((index, span));
                let writable = space == AddressSpace::Device && !is_const;
                Some(Binding::Buffer {
                    index,
                    space,
                    writable,
                    pointee,
                    is_reference,
                })
            }
            _ => {
                self.fail(
                    Diagnostic::error(
                        span,
                        format!("`{name}` points to thread memory, which nobody outside has"),
                    )
                    .with_hint("a kernel's buffers are `device` or `constant`"),
                );
                None
            }
        }
    }

    fn attribute_index(&mut self, attribute: &'a Attribute) -> Option<u32> {
        let Some(arg) = attribute.args.first() else {
            let name = &attribute.name.name;
            self.fail(
                Diagnostic::error(attribute.name.span, format!("`[[{name}]]` needs an index"))
                    .with_hint(format!("write `[[{name}(0)]]`")),
            );
            return None;
        };
        let value = self.constant_value(arg, Ty::INT, "an index")?;
        match value {
            Constant::Int(n) if (0..=65_535).contains(&n) => Some(n as u32),
            _ => {
                self.fail(Diagnostic::error(arg.span, "this is no index"));
                None
            }
        }
    }

    fn builtin_binding(
        &mut self,
        attribute: &'a Attribute,
        builtin: Builtin,
        ty: Qualified,
        span: Span,
    ) -> Option<Binding> {
        let most = if is_position(builtin) { 3 } else { 1 };
        match self.types.as_vector(ty.ty) {
            Some((Scalar::U32 | Scalar::U16, len)) if len <= most && !ty.is_reference => {
                Some(Binding::Builtin(builtin))
            }
            _ => {
                let (found, name) = (self.type_name(ty.ty), &attribute.name.name);
                let wanted = if most == 3 {
                    "`uint`, `uint2`, `uint3`, or the same of `ushort`"
                } else {
                    "`uint` or `ushort`"
                };
                self.fail(
                    Diagnostic::error(span, format!("`[[{name}]]` cannot be `{found}`"))
                        .with_hint(format!("it is {wanted}")),
                );
                None
            }
        }
    }
}

const BUILTINS: &[(&str, Builtin)] = &[
    ("thread_position_in_grid", Builtin::ThreadPositionInGrid),
    (
        "thread_position_in_threadgroup",
        Builtin::ThreadPositionInThreadgroup,
    ),
    (
        "thread_index_in_threadgroup",
        Builtin::ThreadIndexInThreadgroup,
    ),
    ("thread_index_in_simdgroup", Builtin::ThreadIndexInSimdgroup),
    ("thread_index_in_quadgroup", Builtin::ThreadIndexInQuadgroup),
    (
        "simdgroup_index_in_threadgroup",
        Builtin::SimdgroupIndexInThreadgroup,
    ),
    (
        "quadgroup_index_in_threadgroup",
        Builtin::QuadgroupIndexInThreadgroup,
    ),
    (
        "threadgroup_position_in_grid",
        Builtin::ThreadgroupPositionInGrid,
    ),
    ("threads_per_grid", Builtin::ThreadsPerGrid),
    ("threads_per_threadgroup", Builtin::ThreadsPerThreadgroup),
    (
        "dispatch_threads_per_threadgroup",
        Builtin::DispatchThreadsPerThreadgroup,
    ),
    ("threadgroups_per_grid", Builtin::ThreadgroupsPerGrid),
    ("threads_per_simdgroup", Builtin::ThreadsPerSimdgroup),
    ("thread_execution_width", Builtin::ThreadsPerSimdgroup),
    (
        "simdgroups_per_threadgroup",
        Builtin::SimdgroupsPerThreadgroup,
    ),
    (
        "dispatch_simdgroups_per_threadgroup",
        Builtin::DispatchSimdgroupsPerThreadgroup,
    ),
    (
        "quadgroups_per_threadgroup",
        Builtin::QuadgroupsPerThreadgroup,
    ),
    ("grid_origin", Builtin::GridOrigin),
];

fn builtin(name: &str) -> Option<Builtin> {
    BUILTINS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, builtin)| *builtin)
}

/// Whether it has a component for each dimension.
fn is_position(builtin: Builtin) -> bool {
    use Builtin::*;
    matches!(
        builtin,
        ThreadPositionInGrid
            | ThreadPositionInThreadgroup
            | ThreadgroupPositionInGrid
            | ThreadsPerGrid
            | ThreadsPerThreadgroup
            | DispatchThreadsPerThreadgroup
            | ThreadgroupsPerGrid
            | GridOrigin
    )
}
