//! Variables of functions: their types, values, address spaces and names.

use crate::diag::Diagnostic;
use crate::ir::{AddressSpace, Block, Local, Place, PlaceBase, Statement};
use crate::sema::Checker;
use crate::sema::constant::Constant;
use crate::sema::operand::{Lvalue, Operand, Repr};
use crate::sema::scope::Entity;
use crate::sema::types::{Kind, Qualified, Ty, space_name};
use crate::syntax::ast::{self, Expr, ExprKind, Variable};

impl<'a> Checker<'a> {
    /// A local variable.
    pub(super) fn local_variable(&mut self, variable: &'a Variable) {
        let name = &variable.name;
        if variable.is_extern || variable.template.is_some() {
            self.fail(Diagnostic::error(
                variable.span,
                "this cannot be declared in a function",
            ));
            self.poison_variable(name);
            return;
        }
        self.refuse_function_constant(variable, "a local variable");
        let uses_auto = Self::mentions_auto(&variable.ty);
        let (declared, auto_value) = match (&variable.initial, uses_auto) {
            (Some(initial), true) => {
                let value = match &initial.kind {
                    ExprKind::Construct { ty, args, .. }
                        if Self::mentions_auto(ty) && args.len() == 1 =>
                    {
                        self.expression(&args[0])
                    }
                    ExprKind::InitList(items) if items.len() == 1 => self.expression(&items[0].1),
                    _ => self.expression(initial),
                };
                if value.is_poison() {
                    self.poison_variable(name);
                    return;
                }
                if let Repr::List(_) = value.repr {
                    self.fail(Diagnostic::error(
                        initial.span,
                        "`auto` takes no type from a list",
                    ));
                    self.poison_variable(name);
                    return;
                }
                if let Repr::Functions(set) = &value.repr {
                    let text = format!("`auto` takes no type from function `{}`", set.name);
                    self.fail(Diagnostic::error(initial.span, text));
                    self.poison_variable(name);
                    return;
                }
                (self.resolve_auto(&variable.ty, &value), Some(value))
            }
            _ => (self.resolve(&variable.ty), None),
        };
        if declared.ty.is_error() {
            // The initialiser may hold mistakes of its own.
            if let (Some(initial), None) = (&variable.initial, auto_value) {
                self.expression(initial);
            }
            self.poison_variable(name);
            return;
        }
        if declared.ty == Ty::VOID {
            self.fail(Diagnostic::error(
                variable.span,
                "a variable cannot be `void`",
            ));
            self.poison_variable(name);
            return;
        }
        if self.refuse_function_type(declared.ty, variable.span)
            || self.refuse_matrix(declared.ty, variable.span)
        {
            self.poison_variable(name);
            return;
        }
        match declared.space {
            Some(AddressSpace::Threadgroup) if !declared.is_reference => {
                self.threadgroup_variable(variable, declared);
                return;
            }
            Some(AddressSpace::Constant) if !declared.is_reference => {
                self.local_constant(variable, declared);
                return;
            }
            Some(AddressSpace::Device) if !declared.is_reference => {
                self.fail(
                    Diagnostic::error(
                        variable.span,
                        "a local variable cannot be in `device` memory",
                    )
                    .with_hint(
                        "device memory comes from buffers; declare a pointer or a thread variable",
                    ),
                );
                self.poison_variable(name);
                return;
            }
            _ => {}
        }
        if variable.is_static {
            self.fail(
                Diagnostic::error(variable.span, "a local variable cannot be `static`")
                    .with_hint("use `constexpr`, or a `constant` at program scope"),
            );
            self.poison_variable(name);
            return;
        }
        if declared.is_reference {
            self.bind_variable(variable, declared, auto_value);
            return;
        }
        let value = match (auto_value, &variable.initial) {
            (Some(value), _) => Some(value),
            (None, Some(initial)) if variable.is_constexpr => {
                self.constexpr_variable(variable, declared, initial);
                return;
            }
            (None, Some(initial)) => Some(self.initial_value(initial, declared.ty)),
            (None, None) => None,
        };
        if variable.is_constexpr {
            if let Some(value) = value {
                let mark = (self.context.locals.len(), self.context.values.len());
                let value = self.rvalue(value);
                match self.constant_of(&value, Block::new(), mark, "a constexpr variable") {
                    Some(known) => self.declare_known(variable, declared.ty, known),
                    None => self.poison_variable(name),
                }
            }
            return;
        }
        self.bind_variable(variable, declared, value);
    }

    pub(super) fn poison_variable(&mut self, name: &ast::Ident) {
        self.context.declare(name.name.clone(), Entity::Poison);
    }

    pub(super) fn declare_local(&mut self, name: &ast::Ident, entity: Entity<'a>) {
        if let Some(Entity::Local(_) | Entity::Known(..) | Entity::Type(_)) =
            self.context.declare(name.name.clone(), entity)
        {
            self.fail(
                Diagnostic::error(
                    name.span,
                    format!("`{}` is already declared in this block", name.name),
                )
                .with_label("declared again"),
            );
        }
    }

    /// Gives a variable its name, place and first value.
    pub(super) fn bind_variable(
        &mut self,
        variable: &'a Variable,
        declared: Qualified,
        value: Option<Operand<'a>>,
    ) {
        let name = &variable.name;
        if declared.is_reference {
            if self.alignment_of(&variable.attributes, Ty::ERROR) > 0 {
                self.fail(
                    Diagnostic::error(variable.span, "a reference has no alignment of its own")
                        .with_hint("align what it refers to"),
                );
            }
            match self.reference_target(variable, declared, value) {
                Some(lvalue) => self.declare_local(name, Entity::Local(lvalue)),
                None => self.poison_variable(name),
            }
            return;
        }
        let span = name.span;
        let value = match value {
            Some(value) => {
                let value = match self.types.kind(declared.ty) {
                    // Its own length became the variable's.
                    Kind::UnsizedArray(_) => value,
                    _ => self.convert(value, declared.ty, "a variable"),
                };
                if value.is_poison() {
                    self.poison_variable(name);
                    return;
                }
                Some(value)
            }
            None => self.implicit_value(variable, declared),
        };
        let ty = match (&value, self.types.kind(declared.ty)) {
            (Some(value), Kind::UnsizedArray(_)) => value.ty,
            (None, Kind::UnsizedArray(_)) => {
                self.fail(Diagnostic::error(
                    variable.span,
                    "an array needs a length or an initialiser",
                ));
                self.poison_variable(name);
                return;
            }
            _ => declared.ty,
        };
        if let Kind::Atomic(_) = self.types.kind(ty) {
            self.fail(
                Diagnostic::error(
                    variable.span,
                    "an atomic must be in device or threadgroup memory",
                )
                .with_hint("declare it `threadgroup`"),
            );
            self.poison_variable(name);
            return;
        }
        let known = value
            .as_ref()
            .filter(|_| declared.is_const)
            .and_then(|v| v.as_constant().cloned());
        let align = self.alignment_of(&variable.attributes, ty);
        // An object just made for this variable becomes it, unless it lies elsewhere.
        let made = value
            .as_ref()
            .filter(|_| align == 0)
            .and_then(Operand::as_place)
            .and_then(|lvalue| match lvalue.place.base {
                PlaceBase::Local(local)
                    if lvalue.is_temporary && lvalue.place.path.is_empty() && lvalue.ty == ty =>
                {
                    Some(local)
                }
                _ => None,
            });
        let ir_type = self.ir_type(ty);
        let (memory_type, path) = self.aligned_type(ir_type, align);
        let local = match made {
            Some(local) => {
                self.context.locals[local] = Local {
                    name: name.name.clone(),
                    ty: ir_type,
                    span,
                };
                local
            }
            None => self.context.local(name.name.clone(), memory_type, span),
        };
        let place = Place {
            base: PlaceBase::Local(local),
            path,
            ty: ir_type,
        };
        if let (Some(value), None) = (&value, made) {
            let value = self.rvalue(value.clone());
            let value = self.value(&value);
            self.context.push(Statement::Store {
                place: place.clone(),
                value,
                span: variable.span,
            });
        }
        let lvalue = Lvalue {
            place,
            ty,
            space: AddressSpace::Thread,
            is_const: declared.is_const,
            swizzle: None,
            elements: None,
            known,
            is_temporary: false,
        };
        self.declare_local(name, Entity::Local(lvalue));
    }

    /// What a variable without an initialiser holds, if its type says so.
    pub(super) fn implicit_value(
        &mut self,
        variable: &'a Variable,
        declared: Qualified,
    ) -> Option<Operand<'a>> {
        if let Kind::Struct(id) = self.types.kind(declared.ty) {
            if !self.structs[id].is_complete {
                let name = self.structs[id].name.clone();
                self.fail(Diagnostic::error(
                    variable.span,
                    format!("struct `{name}` is declared but not defined"),
                ));
                return None;
            }
            let has_defaults = self.structs[id].fields.iter().any(|f| f.default.is_some());
            if self.has_constructors(id) || has_defaults {
                return Some(self.construct_struct(id, Vec::new(), false, variable.name.span));
            }
        }
        if let Kind::Array(element, len) = self.types.kind(declared.ty)
            && let Kind::Struct(id) = self.types.kind(element)
            && (self.has_constructors(id)
                || self.structs[id].fields.iter().any(|f| f.default.is_some()))
            && len <= 4096
        {
            let one = self.construct_struct(id, Vec::new(), false, variable.name.span);
            let one = self.rvalue(one);
            let all = vec![one; len as usize];
            return Some(self.compose(declared.ty, all, variable.name.span));
        }
        if declared.is_const {
            self.fail(Diagnostic::error(
                variable.span,
                format!("`{}` is const, so it needs a value now", variable.name.name),
            ));
        }
        None
    }

    /// What a reference refers to.
    pub(super) fn reference_target(
        &mut self,
        variable: &'a Variable,
        declared: Qualified,
        value: Option<Operand<'a>>,
    ) -> Option<Lvalue> {
        let value = match (value, &variable.initial) {
            (Some(value), _) => value,
            (None, Some(initial)) => match &initial.kind {
                ExprKind::InitList(items) if items.len() == 1 => self.expression(&items[0].1),
                ExprKind::Construct {
                    args,
                    braced: false,
                    ..
                } if args.len() == 1 => self.expression(&args[0]),
                _ => self.expression(initial),
            },
            (None, None) => {
                self.fail(
                    Diagnostic::error(
                        variable.span,
                        format!("reference `{}` refers to nothing", variable.name.name),
                    )
                    .with_hint("a reference needs an initialiser"),
                );
                return None;
            }
        };
        if value.is_poison() {
            return None;
        }
        let Some(space) = declared.space else {
            let name = self.type_name(declared.ty);
            self.fail(
                Diagnostic::error(
                    variable.ty.span,
                    "a reference must say which address space it refers to",
                )
                .with_label("no address space")
                .with_hint(format!(
                    "write `thread {name} &`, `device {name} &` or another address space"
                )),
            );
            return None;
        };
        let target = Qualified {
            space: Some(space),
            ..declared
        };
        if let Some(lvalue) = value.as_place()
            && lvalue.swizzle.is_none()
            && value.ty == declared.ty
            && lvalue.space == space
            && (declared.is_const || (!lvalue.is_const && !lvalue.is_temporary))
        {
            let mut lvalue = lvalue.clone();
            lvalue.is_const |= declared.is_const;
            lvalue.is_temporary = false;
            return Some(lvalue);
        }
        if self.passing_rank(&value, target).is_some() && declared.is_const {
            let value = self.convert(value, declared.ty, "a reference");
            let value = self.rvalue(value);
            let value = self.in_memory(value);
            let mut lvalue = value.as_place()?.clone();
            lvalue.is_const = true;
            lvalue.is_temporary = false;
            return Some(lvalue);
        }
        let (wanted, given) = (self.type_name(declared.ty), self.operand_type_name(&value));
        let error = Diagnostic::error(
            value.span,
            format!("a `{} {wanted} &` cannot refer to this", space_name(space)),
        );
        let error = match value.as_place() {
            None => error.with_label(format!(
                "this `{given}` is a value, not something in memory"
            )),
            Some(lvalue) if !lvalue.is_plain() => {
                error.with_label("several components of a vector")
            }
            Some(lvalue) if lvalue.space != space => {
                error.with_label(format!("this is in `{}` memory", space_name(lvalue.space)))
            }
            Some(lvalue) if lvalue.is_const && !declared.is_const => error
                .with_label("this is const")
                .with_hint("make the reference const"),
            Some(_) => error.with_label(format!("this is `{given}`")),
        };
        self.fail(error);
        None
    }

    pub(super) fn threadgroup_variable(&mut self, variable: &'a Variable, declared: Qualified) {
        let name = &variable.name;
        if !self.context.is_kernel {
            self.fail(
                Diagnostic::error(
                    variable.span,
                    "a threadgroup variable can only be declared in a kernel",
                )
                .with_hint("declare it in the kernel and pass a `threadgroup` pointer"),
            );
            self.poison_variable(name);
            return;
        }
        if let Some(initial) = &variable.initial {
            self.fail(
                Diagnostic::error(
                    initial.span,
                    "a threadgroup variable cannot have an initialiser",
                )
                .with_label("all threads would write it")
                .with_hint("let one thread write it, then call `threadgroup_barrier`"),
            );
        }
        if let Kind::UnsizedArray(_) = self.types.kind(declared.ty) {
            self.fail(Diagnostic::error(
                variable.span,
                "a threadgroup array needs a length",
            ));
            self.poison_variable(name);
            return;
        }
        let ir_type = self.ir_type(declared.ty);
        let align = self.alignment_of(&variable.attributes, declared.ty);
        let (memory_type, path) = self.aligned_type(ir_type, align);
        let local = self.context.threadgroup.push(Local {
            name: name.name.clone(),
            ty: memory_type,
            span: name.span,
        });
        let lvalue = Lvalue {
            place: Place {
                base: PlaceBase::Threadgroup(local),
                path,
                ty: ir_type,
            },
            ty: declared.ty,
            space: AddressSpace::Threadgroup,
            is_const: declared.is_const,
            swizzle: None,
            elements: None,
            known: None,
            is_temporary: false,
        };
        self.declare_local(name, Entity::Local(lvalue));
    }

    /// A `constant` in a function: a program-scope constant that only the block sees.
    pub(super) fn local_constant(&mut self, variable: &'a Variable, declared: Qualified) {
        let name = &variable.name;
        let Some(initial) = &variable.initial else {
            self.fail(Diagnostic::error(
                variable.span,
                format!("`{}` needs a value", name.name),
            ));
            self.poison_variable(name);
            return;
        };
        match self.evaluated(initial, declared.ty) {
            Some((ty, known)) => {
                let is_small = !matches!(self.types.kind(ty), Kind::Array(..) | Kind::Struct(_));
                if is_small {
                    self.declare_local(name, Entity::Known(ty, known));
                    return;
                }
                let align = self.alignment_of(&variable.attributes, ty);
                let data = self.store_constant(name.name.clone(), ty, align, &known);
                let lvalue = self.constant_lvalue(data, ty, known);
                self.declare_local(name, Entity::Local(lvalue));
            }
            None => self.poison_variable(name),
        }
    }

    pub(super) fn constexpr_variable(
        &mut self,
        variable: &'a Variable,
        declared: Qualified,
        initial: &'a Expr,
    ) {
        match self.evaluated(initial, declared.ty) {
            Some((ty, known)) => self.declare_known(variable, ty, known),
            None => self.poison_variable(&variable.name),
        }
    }

    /// An initialiser's value at compile time; reports if it has none.
    pub(super) fn evaluated(&mut self, initial: &'a Expr, ty: Ty) -> Option<(Ty, Constant)> {
        let mark = (self.context.locals.len(), self.context.values.len());
        let (operand, block) = self.in_block(|checker| {
            let operand = checker.initial_value(initial, ty);
            checker.rvalue(operand)
        });
        let ty = operand.ty;
        let value = self.constant_of(&operand, block, mark, "a constexpr variable")?;
        Some((ty, value))
    }

    /// A constexpr variable: a name for a value, or a const variable if it has parts.
    pub(super) fn declare_known(&mut self, variable: &'a Variable, ty: Ty, known: Constant) {
        let is_small = !matches!(self.types.kind(ty), Kind::Array(..) | Kind::Struct(_));
        if is_small {
            self.alignment_of(&variable.attributes, ty);
            self.declare_local(&variable.name, Entity::Known(ty, known));
            return;
        }
        let value = Operand::constant(ty, known, variable.span);
        let declared = Qualified {
            is_const: true,
            ..Qualified::plain(ty)
        };
        self.bind_variable(variable, declared, Some(value));
    }
}
