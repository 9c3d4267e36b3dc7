//! Items: program scope, namespaces, aliases, program-scope variables and their values.

use std::rc::Rc;

use super::Checker;
use super::constant::{self, Constant};
use super::operand::{Lvalue, Operand, Repr};
use super::scope::{Entity, Environment, GlobalId, NamespaceId};
use super::types::{Kind, Qualified, StructId, Ty};
use crate::diag::{Diagnostic, Span};
use crate::ir::{self, AddressSpace, Handle, Op, Place, PlaceBase, Projection};
use crate::syntax::ast::{self, Expr, ExprKind, Item, ItemKind, Name};

/// A program-scope variable, or a static member.
pub(super) struct Global<'a> {
    pub name: Name,
    pub ty: Ty,
    pub namespace: NamespaceId,
    pub environment: Option<Rc<Environment<'a>>>,
    pub owner: Option<StructId>,
    pub horizon: usize,
    /// The alignment that the program asks for, or 0.
    pub align: u32,
    pub state: GlobalState<'a>,
    /// Where it lives, once something needs its address.
    pub data: Option<Handle<ir::ConstantData>>,
}

/// What is known of a program-scope variable's value.
#[derive(Clone)]
pub(super) enum GlobalState<'a> {
    Known(Constant),
    FunctionConstant(Handle<ir::FunctionConstant>),
    /// Computed from function constants, wherever it is used.
    Derived(&'a Expr),
    Failed,
}

/// Where the value of a function constant, or of a constant made of them, comes from.
pub(super) enum ConstantSource<'a> {
    Given(Handle<ir::FunctionConstant>),
    Derived(&'a Expr),
}

impl<'a> Checker<'a> {
    /// Declares items in order.
    pub(super) fn items(&mut self, items: &'a [Item]) {
        for item in items {
            self.deeper(item.span, |checker| checker.item(item));
        }
    }

    fn item(&mut self, item: &'a Item) {
        self.context.namespace = self.namespace;
        self.context.horizon = usize::MAX;
        match &item.kind {
            ItemKind::Function(function) => {
                let id = self.declare_function(function, None, None);
                if function.is_kernel {
                    self.request_kernel(function, id);
                }
            }
            ItemKind::Variable(variable) => self.declare_global(variable, None, None),
            ItemKind::Struct(ast) => {
                self.declare_struct(ast, item.span, None, None);
            }
            ItemKind::Namespace(name, items) => self.namespace_item(name.as_ref(), items),
            ItemKind::UsingNamespace(path) => {
                if let Some(used) = self.resolve_namespace(path) {
                    self.sequence += 1;
                    let since = self.sequence;
                    self.namespaces[self.namespace].using.push((used, since));
                }
            }
            ItemKind::Instantiation(function) => self.explicit_instantiation(function),
            _ => self.local_or_member_item(item, None, None),
        }
        self.context.block.clear();
    }

    /// Items that can also stand in functions and structs.
    pub(super) fn local_or_member_item(
        &mut self,
        item: &'a Item,
        owner: Option<StructId>,
        environment: Option<Rc<Environment<'a>>>,
    ) {
        match &item.kind {
            ItemKind::Enum(ast) => self.declare_enum(ast, owner),
            ItemKind::Alias { name, ty, template } => {
                if template.is_some() {
                    self.declare_alias_template(name, ty, template.as_ref(), owner, environment);
                    return;
                }
                let ty = self.resolve(ty);
                let entity = if ty.ty.is_error() {
                    Entity::Poison
                } else {
                    Entity::Type(ty)
                };
                if let Kind::Struct(id) = self.types.kind(ty.ty)
                    && &*self.structs[id].name == "unnamed struct"
                {
                    self.structs[id].name = name.name.clone();
                    if let Some(ir) = self.structs[id].ir {
                        self.module.types.structs[ir].name = name.name.clone();
                    }
                }
                self.declare_anywhere(owner, name, entity);
            }
            ItemKind::StaticAssert(condition, message) => {
                self.static_assert(condition, message.as_ref())
            }
            ItemKind::UsingName(path) => {
                if let (Some(entity), Some(last)) = (self.resolve_path(path), path.segments.last())
                {
                    let shadows = owner.is_none() && self.context.in_function;
                    if shadows {
                        self.context.declare(last.ident.name.clone(), entity);
                    } else {
                        self.declare_anywhere(owner, &last.ident, entity);
                    }
                }
            }
            ItemKind::UsingNamespace(path) => {
                // In a function: as if it stood in the namespace around it.
                if let Some(used) = self.resolve_namespace(path) {
                    let namespace = self.context.namespace;
                    if !self.namespaces[namespace]
                        .using
                        .iter()
                        .any(|&(known, _)| known == used)
                    {
                        self.namespaces[namespace].using.push((used, 0));
                    }
                }
            }
            ItemKind::Struct(ast) => {
                let environment = environment.or_else(|| self.context.environment.clone());
                self.declare_struct(ast, item.span, owner, environment);
            }
            ItemKind::Function(function) => self.fail(
                Diagnostic::error(function.name.span, "a function cannot be declared here")
                    .with_hint("move it to program scope"),
            ),
            ItemKind::Variable(variable) => {
                if owner.is_none() {
                    self.fail(Diagnostic::error(
                        variable.span,
                        "a variable cannot be declared here",
                    ));
                }
            }
            ItemKind::Namespace(..) => {
                self.fail(Diagnostic::error(
                    item.span,
                    "a namespace can only stand at program scope",
                ));
            }
            ItemKind::Instantiation(_) => {
                self.fail(Diagnostic::error(
                    item.span,
                    "an instantiation can only stand at program scope",
                ));
            }
            ItemKind::Empty => {}
        }
    }

    fn namespace_item(&mut self, name: Option<&'a ast::Ident>, items: &'a [Item]) {
        let outer = self.namespace;
        let id = match name {
            // An unnamed namespace: its names are visible around it.
            None => outer,
            Some(name) => match self.namespaces[outer].names.get(&name.name) {
                Some((Entity::Namespace(id), _)) => *id,
                Some(_) => {
                    self.fail(Diagnostic::error(
                        name.span,
                        format!("`{}` is already declared as something else", name.name),
                    ));
                    return;
                }
                None => {
                    let id = self.namespaces.len();
                    self.namespaces.push(super::Namespace {
                        parent: Some(outer),
                        ..super::Namespace::default()
                    });
                    self.declare_in_namespace(outer, name, Entity::Namespace(id));
                    id
                }
            },
        };
        self.namespace = id;
        self.items(items);
        self.namespace = outer;
        self.context.namespace = outer;
    }

    fn resolve_namespace(&mut self, path: &'a ast::Path) -> Option<NamespaceId> {
        match self.resolve_path(path)? {
            Entity::Namespace(id) => Some(id),
            _ => {
                self.fail(Diagnostic::error(path.span, "this is not a namespace"));
                None
            }
        }
    }

    fn static_assert(&mut self, condition: &'a Expr, message: Option<&Name>) {
        let Some(value) = self.constant_value(condition, Ty::BOOL, "an assertion") else {
            return;
        };
        if value.truth() == Some(false) {
            let text = message.map_or_else(
                || "this assertion does not hold".to_string(),
                |m| format!("assertion failed: {m}"),
            );
            self.fail(Diagnostic::error(condition.span, text).with_label("this is false"));
        }
    }

    /// A variable at program scope.
    pub(super) fn declare_global(
        &mut self,
        variable: &'a ast::Variable,
        owner: Option<StructId>,
        environment: Option<Rc<Environment<'a>>>,
    ) {
        if variable.specialization.is_some() || variable.template.is_some() {
            self.declare_variable_template(variable, owner, environment);
            return;
        }
        let entity = match self.make_global(variable, owner, environment, self.namespace) {
            Some(id) => Entity::Global(id),
            None => Entity::Poison,
        };
        match owner {
            Some(owner) => self.declare_member(owner, &variable.name, entity),
            None => self.declare_in_namespace(self.namespace, &variable.name, entity),
        }
    }

    /// A `static` member.
    pub(super) fn declare_static_member(
        &mut self,
        id: StructId,
        variable: &'a ast::Variable,
        environment: Option<Rc<Environment<'a>>>,
    ) {
        self.declare_global(variable, Some(id), environment);
    }

    pub(super) fn make_global(
        &mut self,
        variable: &'a ast::Variable,
        owner: Option<StructId>,
        environment: Option<Rc<Environment<'a>>>,
        namespace: NamespaceId,
    ) -> Option<GlobalId> {
        let index = variable
            .attributes
            .iter()
            .find(|a| &*a.name.name == "function_constant");
        let declared = match (&variable.initial, Self::mentions_auto(&variable.ty)) {
            (Some(initial), true) => {
                let (operand, _) = self.in_block(|checker| checker.expression(initial));
                if operand.is_poison() {
                    return None;
                }
                self.resolve_auto(&variable.ty, &operand)
            }
            _ => self.resolve(&variable.ty),
        };
        if declared.ty.is_error() {
            return None;
        }
        if !self.check_global_space(variable, declared) {
            return None;
        }
        let align = self.alignment_of(&variable.attributes, declared.ty);
        self.sequence += 1;
        let horizon = self.sequence;
        let id = self.globals.len();
        self.globals.push(Global {
            name: variable.name.name.clone(),
            ty: declared.ty,
            namespace,
            environment,
            owner,
            horizon,
            state: GlobalState::Failed,
            align,
            data: None,
        });
        if let Some(attribute) = index {
            self.function_constant(id, variable, attribute);
            return Some(id);
        }
        let Some(initial) = &variable.initial else {
            self.fail(
                Diagnostic::error(
                    variable.span,
                    format!("`{}` needs a value", variable.name.name),
                )
                .with_label("a constant that is never given one"),
            );
            return None;
        };
        self.initialise_global(id, initial);
        Some(id)
    }

    fn check_global_space(&mut self, variable: &'a ast::Variable, declared: Qualified) -> bool {
        let name = &variable.name.name;
        let hint = if variable.is_constexpr || declared.is_const {
            format!("declare it `constant`: `constant constexpr .. {name}`")
        } else {
            format!("declare it `constant`, or make `{name}` a local variable of the kernel")
        };
        let problem = match declared.space {
            Some(AddressSpace::Constant) => None,
            Some(AddressSpace::Threadgroup) => Some((
                "a threadgroup variable belongs in a kernel".to_string(),
                "declare it inside the kernel".to_string(),
            )),
            _ => Some((
                format!("program-scope variable `{name}` must be in the constant address space"),
                hint,
            )),
        };
        if let Some((message, hint)) = problem {
            self.fail(
                Diagnostic::error(variable.name.span, message)
                    .with_label("Metal has no writable program-scope variables")
                    .with_hint(hint),
            );
            return false;
        }
        true
    }

    fn function_constant(
        &mut self,
        id: GlobalId,
        variable: &'a ast::Variable,
        attribute: &'a ast::Attribute,
    ) {
        let [arg] = &attribute.args[..] else {
            self.fail(
                Diagnostic::error(attribute.name.span, "a function constant needs its index")
                    .with_hint("write `[[function_constant(0)]]`"),
            );
            return;
        };
        let Some(index) = self.constant_int(arg, "the index of a function constant") else {
            return;
        };
        if !(0..=65_535).contains(&index) {
            self.fail(Diagnostic::error(
                arg.span,
                "the index of a function constant is 0 to 65535",
            ));
            return;
        }
        if let Some(initial) = &variable.initial {
            self.fail(
                Diagnostic::error(initial.span, "a function constant has no value of its own")
                    .with_hint("the program gives it one when it makes the pipeline"),
            );
            return;
        }
        let ty = self.globals[id].ty;
        if self.types.as_vector(ty).is_none() {
            let name = self.type_name(ty);
            self.fail(Diagnostic::error(
                variable.span,
                format!("a function constant is a scalar or vector, not `{name}`"),
            ));
            return;
        }
        let index = index as u32;
        let taken = self
            .module
            .function_constants
            .iter()
            .find(|(_, c)| c.index == index)
            .map(|(_, c)| c.name.clone());
        if let Some(other) = taken {
            self.fail(Diagnostic::error(
                arg.span,
                format!("function constant {index} is already `{other}`"),
            ));
            return;
        }
        let ir_type = self.ir_type(ty);
        let handle = self.module.function_constants.push(ir::FunctionConstant {
            name: variable.name.name.clone(),
            index,
            ty: ir_type,
        });
        self.globals[id].state = GlobalState::FunctionConstant(handle);
    }

    fn initialise_global(&mut self, id: GlobalId, initial: &'a Expr) {
        let global = &self.globals[id];
        let (namespace, environment, owner, horizon, ty) = (
            global.namespace,
            global.environment.clone(),
            global.owner,
            global.horizon,
            global.ty,
        );
        let mentions = self.mentions_function_constant;
        self.mentions_function_constant = false;
        let outcome = self.in_place_of(namespace, environment, owner, horizon, |checker| {
            checker.evaluate_initial(initial, ty)
        });
        let derived = std::mem::replace(&mut self.mentions_function_constant, mentions);
        self.globals[id].state = match outcome {
            Some((ty, value)) => {
                self.globals[id].ty = ty;
                GlobalState::Known(value)
            }
            None if derived => GlobalState::Derived(initial),
            None => GlobalState::Failed,
        };
    }

    /// An initialiser evaluated; the type may get its length from it.
    fn evaluate_initial(&mut self, initial: &'a Expr, ty: Ty) -> Option<(Ty, Constant)> {
        let mark = (self.context.locals.len(), self.context.values.len());
        let (operand, block) = self.in_block(|checker| {
            let operand = checker.initial_value(initial, ty);
            checker.rvalue(operand)
        });
        if operand.is_poison() {
            return None;
        }
        let ty = operand.ty;
        if let Some(value) = operand.as_constant() {
            return Some((ty, value.clone()));
        }
        if self.mentions_function_constant {
            return None;
        }
        let value = self.run_constant(
            &operand,
            block,
            mark,
            "the value of a program-scope constant",
        )?;
        Some((ty, value))
    }

    /// The value that a variable of this type gets from its initialiser.
    pub(super) fn initial_value(&mut self, initial: &'a Expr, ty: Ty) -> Operand<'a> {
        if let Kind::UnsizedArray(element) = self.types.kind(ty) {
            let ExprKind::InitList(items) = &initial.kind else {
                self.fail(Diagnostic::error(
                    initial.span,
                    "an array without a length needs a braced initialiser",
                ));
                return Operand::poison(initial.span);
            };
            let len = self.list_length(items, element);
            if len == 0 {
                self.fail(Diagnostic::error(
                    initial.span,
                    "an array cannot have 0 elements",
                ));
                return Operand::poison(initial.span);
            }
            let ty = self.types.intern(Kind::Array(element, len));
            return self.initialise_from_list(items, ty, initial.span);
        }
        match &initial.kind {
            ExprKind::InitList(items) => self.initialise_from_list(items, ty, initial.span),
            _ => {
                let value = self.expression(initial);
                if let (Kind::Array(..), false) = (self.types.kind(ty), value.is_poison()) {
                    if value.ty == ty && value.as_place().is_none() {
                        return value;
                    }
                    self.fail(
                        Diagnostic::error(initial.span, "an array needs a braced initialiser")
                            .with_hint("write `{..}`"),
                    );
                    return Operand::poison(initial.span);
                }
                self.convert(value, ty, "a variable")
            }
        }
    }

    /// How many elements a list has for an array without a length.
    fn list_length(&mut self, items: &'a [(Option<ast::Ident>, Expr)], element: Ty) -> u32 {
        let nested = items.iter().any(|(_, item)| {
            matches!(
                item.kind,
                ExprKind::InitList(_) | ExprKind::Construct { .. }
            )
        });
        match self.types.kind(element) {
            // `{1, 2, 3, 4}` for rows of two: the inner braces are left out.
            Kind::Array(_, len) if !nested && len > 0 => (items.len() as u32).div_ceil(len),
            _ => items.len() as u32,
        }
    }

    /// Where a bool of program scope gets its value from, if function constants say it.
    pub(super) fn constant_source(&self, id: GlobalId) -> Option<ConstantSource<'a>> {
        let global = &self.globals[id];
        match global.state {
            _ if global.ty != Ty::BOOL => None,
            GlobalState::FunctionConstant(handle) => Some(ConstantSource::Given(handle)),
            GlobalState::Derived(initial) => Some(ConstantSource::Derived(initial)),
            _ => None,
        }
    }

    /// What a program-scope variable comes to in an expression.
    pub(super) fn global_operand(&mut self, id: GlobalId, span: Span) -> Operand<'a> {
        let ty = self.globals[id].ty;
        match self.globals[id].state.clone() {
            GlobalState::Failed => Operand::poison(span),
            GlobalState::Known(value) => {
                let is_small = !matches!(self.types.kind(ty), Kind::Array(..) | Kind::Struct(_));
                if is_small {
                    return Operand::constant(ty, value, span);
                }
                let data = self.constant_data(id, &value);
                self.data_place(data, ty, value, span)
            }
            GlobalState::FunctionConstant(handle) => {
                self.mentions_function_constant = true;
                let ir_type = self.ir_type(ty);
                let value = self
                    .context
                    .emit(Op::FunctionConstant(handle), ir_type, span);
                Operand::value(ty, value, span)
            }
            GlobalState::Derived(initial) => {
                let global = &self.globals[id];
                let (namespace, environment, owner, horizon) = (
                    global.namespace,
                    global.environment.clone(),
                    global.owner,
                    global.horizon,
                );
                let value = self.in_place_of(namespace, environment, owner, horizon, |checker| {
                    checker.initial_value(initial, ty)
                });
                let value = self.rvalue(value);
                Operand { span, ..value }
            }
        }
    }

    /// A constant without a name, in memory.
    pub(super) fn constant_place(&mut self, ty: Ty, value: Constant, span: Span) -> Operand<'a> {
        let data = self.store_constant("value".into(), ty, 0, &value);
        self.data_place(data, ty, value, span)
    }

    fn data_place(
        &mut self,
        data: Handle<ir::ConstantData>,
        ty: Ty,
        value: Constant,
        span: Span,
    ) -> Operand<'a> {
        let lvalue = self.constant_lvalue(data, ty, value);
        Operand::place(ty, lvalue, span)
    }

    /// A constant's place in memory.
    pub(super) fn constant_data(
        &mut self,
        id: GlobalId,
        value: &Constant,
    ) -> Handle<ir::ConstantData> {
        if let Some(data) = self.globals[id].data {
            return data;
        }
        let global = &self.globals[id];
        let (name, ty, align) = (global.name.clone(), global.ty, global.align);
        let data = self.store_constant(name, ty, align, value);
        self.globals[id].data = Some(data);
        data
    }

    /// A constant where it lies in memory, its value being known too.
    pub(super) fn constant_lvalue(
        &mut self,
        data: Handle<ir::ConstantData>,
        ty: Ty,
        known: Constant,
    ) -> Lvalue {
        let ir_type = self.ir_type(ty);
        let is_wrapped = self.module.constants[data].ty != ir_type;
        Lvalue {
            place: Place {
                base: PlaceBase::Constant(data),
                path: is_wrapped
                    .then_some(Projection::Field(0))
                    .into_iter()
                    .collect(),
                ty: ir_type,
            },
            ty,
            space: AddressSpace::Constant,
            is_const: true,
            swizzle: None,
            elements: None,
            known: Some(known),
            is_temporary: false,
        }
    }

    /// A constant as data of the module.
    pub(super) fn store_constant(
        &mut self,
        name: Name,
        ty: Ty,
        align: u32,
        value: &Constant,
    ) -> Handle<ir::ConstantData> {
        let ir_type = self.ir_type(ty);
        let (memory_type, _) = self.aligned_type(ir_type, align);
        let size = self.module.types.layout(memory_type).0;
        let mut bytes = vec![0; size as usize];
        constant::write_bytes(&self.module.types, ir_type, value, &mut bytes);
        self.module.constants.push(ir::ConstantData {
            name,
            ty: memory_type,
            bytes,
        })
    }

    /// `is_function_constant_defined(name)`.
    pub(super) fn function_constant_defined(
        &mut self,
        args: &'a [Expr],
        span: Span,
    ) -> Operand<'a> {
        let entity = match args {
            [
                Expr {
                    kind: ExprKind::Path(path),
                    ..
                },
            ] => self.resolve_path(path),
            _ => None,
        };
        if let Some(Entity::Global(id)) = entity
            && let GlobalState::FunctionConstant(handle) = self.globals[id].state
        {
            self.mentions_function_constant = true;
            let ty = self.ir_type(Ty::BOOL);
            let value = self
                .context
                .emit(Op::FunctionConstantDefined(handle), ty, span);
            return Operand::value(Ty::BOOL, value, span);
        }
        self.fail(
            Diagnostic::error(
                span,
                "`is_function_constant_defined` takes the name of a function constant",
            )
            .with_hint("a program-scope `constant` variable with `[[function_constant(n)]]`"),
        );
        Operand::poison(span)
    }

    /// The value of a constant expression converted to a type.
    pub(super) fn constant_value(
        &mut self,
        expr: &'a Expr,
        ty: Ty,
        what: &str,
    ) -> Option<Constant> {
        let mark = (self.context.locals.len(), self.context.values.len());
        let (operand, block) = self.in_block(|checker| {
            let operand = checker.expression(expr);
            let operand = if ty == Ty::BOOL {
                checker.condition(operand)
            } else {
                checker.convert(operand, ty, what)
            };
            checker.rvalue(operand)
        });
        self.constant_of(&operand, block, mark, what)
    }

    /// The value of a constant expression of an integer type, whatever that is.
    pub(super) fn constant_int(&mut self, expr: &'a Expr, what: &str) -> Option<i64> {
        let mark = (self.context.locals.len(), self.context.values.len());
        let (operand, block) = self.in_block(|checker| {
            let operand = checker.expression(expr);
            checker.promoted(operand)
        });
        if operand.is_poison() {
            return None;
        }
        let is_integer = match self.types.kind(operand.ty) {
            Kind::Scalar(scalar) => !scalar.is_float(),
            Kind::Enum(_) => true,
            _ => false,
        };
        if !is_integer {
            let name = self.operand_type_name(&operand);
            self.fail(
                Diagnostic::error(expr.span, format!("{what} must be an integer"))
                    .with_label(format!("this is `{name}`")),
            );
            return None;
        }
        self.constant_of(&operand, block, mark, what)?.as_int()
    }

    /// The constant that an operand and the block before it come to.
    pub(super) fn constant_of(
        &mut self,
        operand: &Operand<'a>,
        block: ir::Block,
        mark: (usize, usize),
        what: &str,
    ) -> Option<Constant> {
        match &operand.repr {
            Repr::Poison => None,
            Repr::Constant(value) => Some(value.clone()),
            _ => self.run_constant(operand, block, mark, what),
        }
    }
}
