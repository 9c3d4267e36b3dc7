//! Entry points: how each parameter is bound, and the limits that Metal sets.

use std::collections::HashMap;

use super::Checker;
use super::declarations::ConstantSource;
use super::scope::{Entity, FunctionId};
use super::types::{Kind, Qualified, Ty, space_name};
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, AddressSpace, Argument, Binding, Builtin, Scalar};
use crate::syntax::ast::{self, Attribute, BinaryOp, Expr, ExprKind, Name, Param, UnaryOp};
use crate::syntax::attributes::OF_KERNEL_PARAMETERS;

/// The most buffers that a kernel can have.
const BUFFER_LIMIT: u32 = 31;
/// Bytes of threadgroup memory that a kernel can have.
const THREADGROUP_BYTES: u64 = 32 << 10;
/// The most threads that a threadgroup can have.
const THREAD_LIMIT: i64 = 1024;

/// The deepest condition of an argument.
const CONDITION_DEPTH: usize = 16;

/// A kernel to be made, once everything is declared.
pub(super) struct KernelRequest<'a> {
    pub name: Name,
    pub function: FunctionId,
    pub span: Span,
    pub attributes: &'a [Attribute],
}

/// What an attribute name says about a thread, and whether it has up to three components.
fn builtin(name: &str) -> Option<(Builtin, bool)> {
    Some(match name {
        "thread_position_in_grid" => (Builtin::ThreadPositionInGrid, true),
        "thread_position_in_threadgroup" => (Builtin::ThreadPositionInThreadgroup, true),
        "thread_index_in_threadgroup" => (Builtin::ThreadIndexInThreadgroup, false),
        "thread_index_in_simdgroup" => (Builtin::ThreadIndexInSimdgroup, false),
        "thread_index_in_quadgroup" => (Builtin::ThreadIndexInQuadgroup, false),
        "simdgroup_index_in_threadgroup" => (Builtin::SimdgroupIndexInThreadgroup, false),
        "quadgroup_index_in_threadgroup" => (Builtin::QuadgroupIndexInThreadgroup, false),
        "threadgroup_position_in_grid" => (Builtin::ThreadgroupPositionInGrid, true),
        "threads_per_grid" => (Builtin::ThreadsPerGrid, true),
        "threads_per_threadgroup" => (Builtin::ThreadsPerThreadgroup, true),
        "dispatch_threads_per_threadgroup" => (Builtin::DispatchThreadsPerThreadgroup, true),
        "threadgroups_per_grid" => (Builtin::ThreadgroupsPerGrid, true),
        "threads_per_simdgroup" | "thread_execution_width" => (Builtin::ThreadsPerSimdgroup, false),
        "simdgroups_per_threadgroup" => (Builtin::SimdgroupsPerThreadgroup, false),
        "dispatch_simdgroups_per_threadgroup" => (Builtin::DispatchSimdgroupsPerThreadgroup, false),
        "quadgroups_per_threadgroup" => (Builtin::QuadgroupsPerThreadgroup, false),
        "grid_origin" => (Builtin::GridOrigin, true),
        _ => return None,
    })
}

/// Which numbers of a kind are taken, and by whom.
#[derive(Default)]
struct Slots {
    taken: HashMap<u32, Span>,
}

impl Slots {
    fn next_free(&self) -> u32 {
        (0..)
            .find(|n| !self.taken.contains_key(n))
            .unwrap_or(u32::MAX)
    }
}

impl<'a> Checker<'a> {
    /// Remembers a kernel that is not a template.
    pub(super) fn request_kernel(&mut self, function: &'a ast::Function, id: Option<FunctionId>) {
        let Some(id) = id else {
            return;
        };
        if self.functions[id].is_template || function.body.is_none() {
            return;
        }
        let name = self
            .host_name(&function.attributes)
            .unwrap_or_else(|| function.name.name.clone());
        self.kernels.push(KernelRequest {
            name,
            function: id,
            span: function.name.span,
            attributes: &function.attributes,
        });
    }

    /// The name in `[[host_name("..")]]`.
    pub(super) fn host_name(&self, attributes: &'a [Attribute]) -> Option<Name> {
        let attribute = attributes.iter().find(|a| &*a.name.name == "host_name")?;
        match attribute.args.first().map(|arg| &arg.kind) {
            Some(ExprKind::String(name)) => Some(name.clone()),
            _ => None,
        }
    }

    /// Lowers the kernels in source order and binds their parameters.
    pub(super) fn finish_kernels(&mut self) {
        let mut names: HashMap<Name, Span> = HashMap::new();
        for request in std::mem::take(&mut self.kernels) {
            if let Some(&first) = names.get(&request.name) {
                let error = Diagnostic::error(
                    request.span,
                    format!("there are two kernels named `{}`", request.name),
                )
                .with_related(first, "the first is here");
                self.fail(error);
                continue;
            }
            names.insert(request.name.clone(), request.span);
            self.finish_kernel(request);
        }
    }

    fn finish_kernel(&mut self, request: KernelRequest<'a>) {
        let id = request.function;
        let handle = self.lower_function(id, request.span);
        let Some(signature) = self.functions[id].signature.clone() else {
            return;
        };
        let ast = self.functions[id].ast;
        let instance = self.functions[id].instance_of.is_some();
        if instance {
            let name = self.functions[id].name.clone();
            self.instances.push((request.span, name));
        }
        if let Some(result) = signature
            .result
            .filter(|r| r.ty != Ty::VOID && !r.ty.is_error())
        {
            let name = self.type_name(result.ty);
            let span = ast.result.as_ref().map_or(ast.name.span, |r| r.span);
            self.fail(
                Diagnostic::error(span, format!("a kernel returns `void`, not `{name}`"))
                    .with_hint("write results to a `device` buffer"),
            );
        }
        let arguments = self.bind_arguments_of(ast, &signature.params);
        // The attribute may speak of template parameters.
        let max_threads = self
            .in_function_scope(id, |checker| checker.max_threads(&ast.attributes))
            .or_else(|| self.max_threads(request.attributes));
        if instance {
            self.instances.pop();
        }
        let Some(handle) = handle else {
            return;
        };
        self.check_threadgroup_memory(handle, ast.name.span);
        let mut arguments = arguments;
        if self.module.functions[handle].casts_away_const {
            count_as_written(&mut arguments);
        }
        self.module.kernels.push(ir::Kernel {
            name: request.name,
            function: handle,
            arguments,
            max_threads,
            span: request.span,
        });
    }

    fn max_threads(&mut self, attributes: &'a [Attribute]) -> Option<u32> {
        let attribute = attributes
            .iter()
            .find(|a| &*a.name.name == "max_total_threads_per_threadgroup")?;
        let arg = attribute.args.first()?;
        let value = self.constant_int(arg, "the number of threads")?;
        if !(1..=THREAD_LIMIT).contains(&value) {
            self.fail(Diagnostic::error(
                arg.span,
                format!("a threadgroup has 1 to {THREAD_LIMIT} threads"),
            ));
            return None;
        }
        Some(value as u32)
    }

    fn check_threadgroup_memory(&mut self, handle: ir::Handle<ir::Function>, span: Span) {
        let function = &self.module.functions[handle];
        let mut bytes = 0u64;
        for (_, variable) in function.threadgroup.iter() {
            let (size, align) = self.module.types.layout(variable.ty);
            bytes = bytes.next_multiple_of(u64::from(align.max(1))) + u64::from(size);
        }
        if bytes > THREADGROUP_BYTES {
            let largest = function
                .threadgroup
                .iter()
                .max_by_key(|(_, v)| self.module.types.layout(v.ty).0)
                .map(|(_, v)| (v.span, self.module.types.layout(v.ty).0));
            // The text may have other kernels; this one cannot be dispatched.
            let mut error = Diagnostic::warning(
                span,
                format!(
                    "this kernel has {bytes} bytes of threadgroup memory, and the limit is {THREADGROUP_BYTES}"
                ),
            );
            if let Some((span, size)) = largest {
                error = error.with_related(span, format!("this takes {size} bytes"));
            }
            self.fail(error);
        }
    }

    fn bind_arguments_of(&mut self, ast: &'a ast::Function, types: &[Qualified]) -> Vec<Argument> {
        let mut buffers = Slots::default();
        let mut groups = Slots::default();
        let mut explicit = Vec::new();
        for param in &ast.params {
            let mut slot = None;
            for (name, slots, limit) in [
                ("buffer", &mut buffers, BUFFER_LIMIT),
                ("threadgroup", &mut groups, BUFFER_LIMIT),
            ] {
                let Some(attribute) = param.attributes.iter().find(|a| &*a.name.name == name)
                else {
                    continue;
                };
                slot = self.explicit_slot(attribute, slots, limit, name);
            }
            explicit.push(slot);
        }
        let mut builtins: HashMap<Builtin, Span> = HashMap::new();
        let mut arguments = Vec::new();
        for ((param, &ty), slot) in ast.params.iter().zip(types).zip(explicit) {
            let binding = self.bind(param, ty, slot, &mut buffers, &mut groups, &mut builtins);
            if let Some(binding) = binding {
                arguments.push(Argument {
                    name: param
                        .name
                        .as_ref()
                        .map_or_else(|| "unnamed".into(), |n| n.name.clone()),
                    binding,
                    condition: self.argument_condition(param),
                    span: param.span,
                });
            }
        }
        arguments
    }

    fn explicit_slot(
        &mut self,
        attribute: &'a Attribute,
        slots: &mut Slots,
        limit: u32,
        what: &str,
    ) -> Option<u32> {
        let span = attribute.name.span;
        let Some(arg) = attribute.args.first() else {
            self.fail(
                Diagnostic::error(span, format!("`{what}` needs an index"))
                    .with_hint(format!("write `[[{what}(0)]]`")),
            );
            return None;
        };
        let index = self.constant_int(arg, "an index")?;
        if !(0..i64::from(limit)).contains(&index) {
            self.fail(
                Diagnostic::error(arg.span, format!("there is no {what} {index}"))
                    .with_label(format!("the indices are 0 to {}", limit - 1)),
            );
            return None;
        }
        let index = index as u32;
        if let Some(&other) = slots.taken.get(&index) {
            self.fail(
                Diagnostic::error(arg.span, format!("{what} {index} is already taken"))
                    .with_related(other, "by this parameter"),
            );
            return None;
        }
        slots.taken.insert(index, arg.span);
        Some(index)
    }

    fn bind(
        &mut self,
        param: &'a Param,
        ty: Qualified,
        slot: Option<u32>,
        buffers: &mut Slots,
        groups: &mut Slots,
        builtins: &mut HashMap<Builtin, Span>,
    ) -> Option<Binding> {
        if ty.ty.is_error() {
            return None;
        }
        let mut of_buffer = false;
        for attribute in &param.attributes {
            let name = &*attribute.name.name;
            if let Some((builtin, has_components)) = builtin(name) {
                return self.bind_builtin(param, ty, attribute, builtin, has_components, builtins);
            }
            match name {
                "buffer" | "threadgroup" => of_buffer = true,
                "function_constant" => {}
                _ => self.report_attribute(attribute),
            }
        }
        self.bind_memory(param, ty, slot, of_buffer, buffers, groups)
    }

    /// The condition in `[[function_constant(name)]]`.
    fn argument_condition(&mut self, param: &'a Param) -> Option<ir::Condition> {
        let named = |a: &&Attribute| &*a.name.name == "function_constant";
        let attribute = param.attributes.iter().find(named)?;
        let condition = match &attribute.args[..] {
            [arg] => self.constant_condition(arg, 0),
            _ => None,
        };
        if condition.is_none() {
            self.fail(
                Diagnostic::error(
                    attribute.name.span,
                    "`function_constant` takes the name of a function constant",
                )
                .with_label("this is not a bool made of function constants by `!`, `&&` and `||`")
                .with_hint("declare it: `constant bool name [[function_constant(0)]];`"),
            );
        }
        condition
    }

    fn constant_condition(&mut self, expr: &'a Expr, depth: usize) -> Option<ir::Condition> {
        if depth > CONDITION_DEPTH {
            return None;
        }
        let part =
            |checker: &mut Self, inner| checker.constant_condition(inner, depth + 1).map(Box::new);
        match &expr.kind {
            ExprKind::Unary(UnaryOp::LogicalNot, inner) => {
                Some(ir::Condition::Not(part(self, inner)?))
            }
            ExprKind::Binary(BinaryOp::LogicalAnd, left, right) => {
                Some(ir::Condition::And(part(self, left)?, part(self, right)?))
            }
            ExprKind::Binary(BinaryOp::LogicalOr, left, right) => {
                Some(ir::Condition::Or(part(self, left)?, part(self, right)?))
            }
            ExprKind::Path(path) => {
                let Some(Entity::Global(id)) = self.resolve_path(path) else {
                    return None;
                };
                match self.constant_source(id)? {
                    ConstantSource::Given(handle) => Some(ir::Condition::Constant(handle)),
                    ConstantSource::Derived(initial) => self.constant_condition(initial, depth + 1),
                }
            }
            _ => None,
        }
    }

    fn report_attribute(&mut self, attribute: &Attribute) {
        let name = &*attribute.name.name;
        if attribute.is_hint() {
            return;
        }
        let graphics = matches!(
            name,
            "stage_in"
                | "texture"
                | "sampler"
                | "color"
                | "position"
                | "vertex_id"
                | "instance_id"
                | "user"
                | "id"
        );
        let mut error = Diagnostic::error(
            attribute.name.span,
            format!("`{name}` is not an attribute of a kernel's parameter here"),
        );
        if graphics {
            error = error.with_label("only compute kernels with buffers are supported");
        } else if let Some(near) =
            super::suggest::nearest(name, OF_KERNEL_PARAMETERS.iter().copied())
        {
            error = error.with_hint(format!("did you mean `{near}`?"));
        }
        self.fail(error);
    }

    fn bind_builtin(
        &mut self,
        param: &'a Param,
        ty: Qualified,
        attribute: &'a Attribute,
        builtin: Builtin,
        has_components: bool,
        builtins: &mut HashMap<Builtin, Span>,
    ) -> Option<Binding> {
        let name = &attribute.name.name;
        let shape = self.types.as_vector(ty.ty).filter(|_| !ty.is_reference);
        let fits = shape.is_some_and(|(scalar, len)| {
            matches!(scalar, Scalar::U16 | Scalar::U32)
                && (len == 1 || (has_components && len <= 3))
        });
        if !fits {
            let given = self.type_name(ty.ty);
            let wanted = if has_components {
                "`uint`, `uint2`, `uint3`, `ushort`, `ushort2` or `ushort3`"
            } else {
                "`uint` or `ushort`"
            };
            self.fail(
                Diagnostic::error(param.ty.span, format!("`{name}` cannot be a `{given}`"))
                    .with_hint(format!("declare it {wanted}")),
            );
            return None;
        }
        if let Some(&first) = builtins.get(&builtin) {
            let error = Diagnostic::error(
                attribute.name.span,
                format!("`{name}` is given to two parameters"),
            )
            .with_related(first, "the first is here");
            self.fail(error);
            return None;
        }
        builtins.insert(builtin, attribute.name.span);
        Some(Binding::Builtin(builtin))
    }

    fn bind_memory(
        &mut self,
        param: &'a Param,
        ty: Qualified,
        slot: Option<u32>,
        has_attribute: bool,
        buffers: &mut Slots,
        groups: &mut Slots,
    ) -> Option<Binding> {
        let (space, pointee, is_const) = if ty.is_reference {
            let Some(space) = ty.space else {
                let name = self.type_name(ty.ty);
                self.fail(
                    Diagnostic::error(
                        param.ty.span,
                        "a reference must say which address space it refers to",
                    )
                    .with_hint(format!("write `constant {name} &` or `device {name} &`")),
                );
                return None;
            };
            (space, ty.ty, ty.is_const)
        } else {
            match self.types.kind(ty.ty) {
                Kind::Pointer {
                    space,
                    pointee,
                    is_const,
                } => (space, pointee, is_const),
                Kind::Array(..) | Kind::UnsizedArray(_) => {
                    self.fail(
                        Diagnostic::error(param.ty.span, "a kernel's parameter cannot be an array")
                            .with_hint("declare a pointer: `device T *`"),
                    );
                    return None;
                }
                _ => {
                    self.report_by_value(param, ty, has_attribute);
                    return None;
                }
            }
        };
        let wants_group = space == AddressSpace::Threadgroup;
        let attribute = param
            .attributes
            .iter()
            .find(|a| matches!(&*a.name.name, "buffer" | "threadgroup"));
        if let Some(attribute) = attribute
            && (&*attribute.name.name == "threadgroup") != wants_group
        {
            let hint = if wants_group { "threadgroup" } else { "buffer" };
            self.fail(
                Diagnostic::error(
                    attribute.name.span,
                    format!(
                        "a pointer to `{}` memory is not a `{}`",
                        space_name(space),
                        attribute.name.name
                    ),
                )
                .with_hint(format!(
                    "write `[[{hint}(n)]]`, or change the address space"
                )),
            );
            return None;
        }
        if space == AddressSpace::Thread {
            self.fail(
                Diagnostic::error(param.ty.span, "a kernel cannot be given `thread` memory")
                    .with_hint("use `device`, `constant` or `threadgroup`"),
            );
            return None;
        }
        if attribute.is_some() && slot.is_none() {
            return None;
        }
        let slots = if wants_group { groups } else { buffers };
        let index = slot.unwrap_or_else(|| slots.next_free());
        slots.taken.insert(index, param.span);
        if index >= BUFFER_LIMIT {
            self.fail(Diagnostic::error(
                param.span,
                format!("a kernel can have {BUFFER_LIMIT} buffers, and this is one more"),
            ));
            return None;
        }
        let pointee = self.ir_type(pointee);
        Some(if wants_group {
            Binding::Threadgroup { index, pointee }
        } else {
            Binding::Buffer {
                index,
                space,
                writable: space == AddressSpace::Device && !is_const,
                pointee,
                is_reference: ty.is_reference,
            }
        })
    }

    fn report_by_value(&mut self, param: &'a Param, ty: Qualified, has_attribute: bool) {
        let given = self.type_name(ty.ty);
        let name = param.name.as_ref().map_or("x", |n| &*n.name);
        let error = Diagnostic::error(
            param.span,
            format!("parameter `{name}` of a kernel says not where its `{given}` comes from"),
        );
        let error = if has_attribute {
            error
                .with_label("a buffer is a pointer or a reference")
                .with_hint(format!("write `constant {given} & {name}` for one value"))
        } else {
            error
                .with_label("neither a pointer nor one of the thread's positions")
                .with_hint(format!(
                    "write `constant {given} & {name} [[buffer(n)]]`, or add an attribute such as `[[thread_position_in_grid]]`"
                ))
        };
        self.fail(error);
    }
}

/// Which of the `const` pointers lost it is not known, so each may be one that is written.
fn count_as_written(arguments: &mut [Argument]) {
    for argument in arguments {
        if let Binding::Buffer {
            space: AddressSpace::Device,
            writable,
            ..
        } = &mut argument.binding
        {
            *writable = true;
        }
    }
}
