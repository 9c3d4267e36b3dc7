//! Checks the invariants that the module's documentation states.
//!
//! The type checker keeps them by construction; this finds its mistakes in tests, before a back end
//! trips over them. It is no substitute for the type checker: it knows nothing of the language.

use std::collections::HashSet;

use super::{
    AtomicOp, BinaryOp, Block, Function, Handle, Literal, MathFunction, Module, Op, Packing, Place,
    PlaceBase, Projection, Scalar, SimdOp, SimdgroupMatrixOp, Statement, Struct, Type, UnaryOp,
    Value,
};

/// Says what is wrong with a module, if anything is.
pub fn validate(module: &Module) -> Result<(), String> {
    for (handle, function) in module.functions.iter() {
        let mut validator = Validator {
            module,
            function,
            position: handle.index(),
            defined: HashSet::new(),
            loops: 0,
            breakables: 0,
        };
        validator
            .block(&function.body)
            .map_err(|message| format!("function `{}`: {message}", function.name))?;
    }
    for kernel in &module.kernels {
        let params = module.functions[kernel.function].params.len();
        if params != kernel.arguments.len() {
            return Err(format!(
                "kernel `{}` binds {} of {params} parameters",
                kernel.name,
                kernel.arguments.len()
            ));
        }
        for condition in kernel.arguments.iter().filter_map(|a| a.condition.as_ref()) {
            let mut all_bools = true;
            condition.visit(&mut |constant| {
                let ty = &module.types[module.function_constants[constant].ty];
                all_bools &= *ty == Type::Scalar(Scalar::Bool);
            });
            ensure(all_bools, || {
                format!("kernel `{}` has an argument by a number", kernel.name)
            })?;
        }
    }
    Ok(())
}

struct Validator<'m> {
    module: &'m Module,
    function: &'m Function,
    position: usize,
    /// The values that can be used here.
    defined: HashSet<Handle<Value>>,
    loops: usize,
    breakables: usize,
}

type Check = Result<(), String>;

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(message()) }
}

impl Validator<'_> {
    fn ty(&self, value: Handle<Value>) -> Result<Handle<Type>, String> {
        if !self.defined.contains(&value) {
            return Err(format!(
                "%{} is used where it is not defined",
                value.index()
            ));
        }
        Ok(self.function.values[value].ty)
    }

    fn kind(&self, ty: Handle<Type>) -> &Type {
        &self.module.types[ty]
    }

    fn name(&self, ty: Handle<Type>) -> String {
        self.module.types.name(ty)
    }

    /// What a load of a type gives: packed vectors unpack.
    fn value_type_is(&self, memory: Handle<Type>, value: Handle<Type>) -> bool {
        if memory == value {
            return true;
        }
        match (self.kind(memory), self.kind(value)) {
            (Type::Vector(l, ll, Packing::Packed), Type::Vector(r, rl, Packing::Aligned)) => {
                l == r && ll == rl
            }
            _ => false,
        }
    }

    fn scoped(&mut self, block: &Block) -> Check {
        let outer = self.defined.clone();
        let result = self.block(block);
        self.defined = outer;
        result
    }

    fn block(&mut self, block: &Block) -> Check {
        for statement in block {
            self.statement(statement)?;
        }
        Ok(())
    }

    fn is_bool(&self, value: Handle<Value>) -> Check {
        let ty = self.ty(value)?;
        ensure(*self.kind(ty) == Type::Scalar(Scalar::Bool), || {
            format!("condition %{} is a {}", value.index(), self.name(ty))
        })
    }

    fn statement(&mut self, statement: &Statement) -> Check {
        match statement {
            Statement::Let(value, op) => {
                let ty = self.function.values[*value].ty;
                self.op(op, ty)
                    .map_err(|message| format!("%{}: {message}", value.index()))?;
                ensure(self.defined.insert(*value), || {
                    format!("%{} is defined twice", value.index())
                })
            }
            Statement::Store { place, value, .. } => {
                let ty = self.place(place)?;
                let given = self.ty(*value)?;
                ensure(self.value_type_is(ty, given), || {
                    format!("a {} is stored to a {}", self.name(given), self.name(ty))
                })?;
                ensure(!matches!(place.base, PlaceBase::Constant(_)), || {
                    "a constant is written".into()
                })
            }
            Statement::If {
                condition,
                accept,
                reject,
                ..
            } => {
                self.is_bool(*condition)?;
                self.scoped(accept)?;
                self.scoped(reject)
            }
            Statement::Loop {
                header,
                condition,
                body,
                step,
                ..
            } => {
                let outer = self.defined.clone();
                self.block(header)?;
                self.is_bool(*condition)?;
                self.defined = outer;
                self.loops += 1;
                self.breakables += 1;
                self.scoped(body)?;
                self.loops -= 1;
                self.breakables -= 1;
                self.scoped(step)
            }
            Statement::Switch { selector, arms, .. } => {
                let ty = self.ty(*selector)?;
                let is_integer = matches!(self.kind(ty), Type::Scalar(s) if s.is_integer());
                ensure(is_integer, || format!("a switch on a {}", self.name(ty)))?;
                self.breakables += 1;
                for arm in arms {
                    self.scoped(&arm.body)?;
                }
                self.breakables -= 1;
                Ok(())
            }
            Statement::Break(_) => ensure(self.breakables > 0, || "a stray break".into()),
            Statement::Continue(_) => ensure(self.loops > 0, || "a stray continue".into()),
            Statement::Return(value, _) => {
                let result = self.function.result;
                match value {
                    None => ensure(*self.kind(result) == Type::Void, || {
                        "a return without its value".into()
                    }),
                    Some(value) => {
                        let ty = self.ty(*value)?;
                        ensure(ty == result, || {
                            format!("a {} is returned as a {}", self.name(ty), self.name(result))
                        })
                    }
                }
            }
            Statement::Barrier { .. } => Ok(()),
        }
    }

    fn place(&self, place: &Place) -> Result<Handle<Type>, String> {
        let mut ty = match place.base {
            PlaceBase::Local(local) => self.function.locals[local].ty,
            PlaceBase::Threadgroup(local) => self.function.threadgroup[local].ty,
            PlaceBase::Constant(constant) => self.module.constants[constant].ty,
            PlaceBase::Pointer(pointer) => match self.kind(self.ty(pointer)?) {
                Type::Pointer { pointee, .. } => *pointee,
                _ => return Err("the base of a place is no pointer".into()),
            },
        };
        for step in &place.path {
            if let Projection::Index(index) = step {
                let index = self.ty(*index)?;
                let fits = matches!(
                    self.kind(index),
                    Type::Scalar(Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64)
                );
                ensure(fits, || format!("an index is a {}", self.name(index)))?;
            }
            ty = self.part(ty, step)?;
        }
        ensure(ty == place.ty, || {
            format!(
                "a place of type {} says {}",
                self.name(ty),
                self.name(place.ty)
            )
        })?;
        Ok(ty)
    }

    fn part(&self, ty: Handle<Type>, step: &Projection) -> Result<Handle<Type>, String> {
        let known = |kind: Type, message: &str| self.find(kind).ok_or_else(|| message.to_string());
        match (self.kind(ty), step) {
            (Type::Struct(of), Projection::Field(index)) => {
                let fields = &self.module.types.structs[*of].fields;
                fields
                    .get(*index as usize)
                    .map(|f| f.ty)
                    .ok_or_else(|| format!("there is no field {index}"))
            }
            (Type::Array(element, len), Projection::Element(index)) => {
                ensure(index < len, || format!("there is no element {index}"))?;
                Ok(*element)
            }
            (Type::Array(element, _), Projection::Index(_)) => Ok(*element),
            (Type::Vector(scalar, len, _), Projection::Element(index)) => {
                ensure(*index < u32::from(*len), || {
                    format!("there is no component {index}")
                })?;
                known(Type::Scalar(*scalar), "a component's type is unknown")
            }
            (Type::Vector(scalar, ..), Projection::Index(_)) => {
                known(Type::Scalar(*scalar), "a component's type is unknown")
            }
            (Type::Matrix { scalar, rows, .. }, Projection::Element(_) | Projection::Index(_)) => {
                known(
                    Type::Vector(*scalar, *rows, Packing::Aligned),
                    "a column's type is unknown",
                )
            }
            _ => Err(format!("a {} has no such part", self.name(ty))),
        }
    }

    /// The handle of a type, if the module has it.
    fn find(&self, kind: Type) -> Option<Handle<Type>> {
        self.module.types.find(&kind)
    }

    fn shape(&self, ty: Handle<Type>) -> Option<(Scalar, u8)> {
        self.module.types.as_vector(ty)
    }

    fn same(&self, values: &[Handle<Value>], ty: Handle<Type>) -> Check {
        for &value in values {
            let given = self.ty(value)?;
            ensure(given == ty, || {
                format!(
                    "an operand is a {}, not a {}",
                    self.name(given),
                    self.name(ty)
                )
            })?;
        }
        Ok(())
    }

    fn op(&self, op: &Op, ty: Handle<Type>) -> Check {
        match op {
            Op::Literal(literal) => {
                let fits = match (self.kind(ty), literal) {
                    (Type::Scalar(Scalar::Bool), Literal::Bool(_)) => true,
                    (Type::Scalar(s), Literal::Int(_)) => s.is_integer(),
                    (Type::Scalar(s), Literal::Float(_)) => s.is_float(),
                    _ => false,
                };
                ensure(fits, || {
                    format!("a literal {literal:?} of type {}", self.name(ty))
                })
            }
            Op::FunctionConstant(handle) => {
                ensure(self.module.function_constants[*handle].ty == ty, || {
                    "a function constant's type".into()
                })
            }
            Op::FunctionConstantDefined(_) => {
                ensure(*self.kind(ty) == Type::Scalar(Scalar::Bool), || {
                    "`defined` is a bool".into()
                })
            }
            Op::Zero => ensure(*self.kind(ty) != Type::Void, || {
                "a zero of type void".into()
            }),
            Op::Compose(parts) => self.compose(parts, ty),
            Op::Splat(value) => {
                let (from, to) = (self.shape(self.ty(*value)?), self.shape(ty));
                let fits =
                    matches!((from, to), (Some((l, 1)), Some((r, len))) if l == r && len > 1);
                ensure(fits, || "a splat's types".into())
            }
            Op::Extract(value, index) => {
                let whole = self.ty(*value)?;
                let step = match self.kind(whole) {
                    Type::Struct(_) => Projection::Field(*index),
                    _ => Projection::Element(*index),
                };
                let part = self.part(whole, &step)?;
                ensure(self.value_type_is(part, ty), || {
                    format!(
                        "part {index} of a {} is not a {}",
                        self.name(whole),
                        self.name(ty)
                    )
                })
            }
            Op::Swizzle(value, components) => {
                let fits = match (self.shape(self.ty(*value)?), self.shape(ty)) {
                    (Some((l, from)), Some((r, to))) => {
                        l == r
                            && usize::from(to) == components.len()
                            && components.iter().all(|&c| c < from)
                    }
                    _ => false,
                };
                ensure(fits, || "a swizzle's types".into())
            }
            Op::Unary(op, value) => {
                self.same(&[*value], ty)?;
                let scalar = self.shape(ty).map(|(s, _)| s);
                let fits = match op {
                    UnaryOp::Negate => scalar.is_some_and(|s| s != Scalar::Bool),
                    UnaryOp::LogicalNot => scalar == Some(Scalar::Bool),
                    UnaryOp::BitwiseNot => scalar.is_some_and(Scalar::is_integer),
                };
                ensure(fits, || format!("{op:?} of a {}", self.name(ty)))
            }
            Op::Binary(op, left, right) => self.binary(*op, *left, *right, ty),
            Op::Convert(value) => {
                let fits = match (self.shape(self.ty(*value)?), self.shape(ty)) {
                    (Some((_, l)), Some((_, r))) => l == r,
                    _ => false,
                };
                ensure(fits, || "a conversion's types".into())
            }
            Op::Bitcast(value) => self.bitcast(*value, ty),
            Op::Select {
                condition,
                accept,
                reject,
            } => {
                self.same(&[*accept, *reject], ty)?;
                let fits = match (self.shape(self.ty(*condition)?), self.shape(ty)) {
                    (Some((Scalar::Bool, 1)), Some(_)) => true,
                    (Some((Scalar::Bool, l)), Some((_, r))) => l == r,
                    _ => false,
                };
                ensure(fits, || "a select's types".into())
            }
            Op::Math(function, args) => self.math(*function, args, ty),
            Op::Load(place) => {
                let memory = self.place(place)?;
                ensure(self.value_type_is(memory, ty), || {
                    format!("a load of a {} as a {}", self.name(memory), self.name(ty))
                })?;
                ensure(
                    !matches!(self.kind(memory), Type::Void | Type::Atomic(_)),
                    || "a load of void or an atomic".into(),
                )
            }
            Op::AddressOf(place) => {
                let memory = self.place(place)?;
                let fits =
                    matches!(self.kind(ty), Type::Pointer { pointee, .. } if *pointee == memory);
                ensure(fits, || {
                    format!(
                        "the address of a {} as a {}",
                        self.name(memory),
                        self.name(ty)
                    )
                })
            }
            Op::Offset(pointer, count) => {
                self.same(&[*pointer], ty)?;
                ensure(matches!(self.kind(ty), Type::Pointer { .. }), || {
                    "an offset of no pointer".into()
                })?;
                let count = self.ty(*count)?;
                let fits = matches!(
                    self.kind(count),
                    Type::Scalar(Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64)
                );
                ensure(fits, || {
                    format!("a pointer moved by a {}", self.name(count))
                })
            }
            Op::PointerDifference(left, right) => {
                let (l, r) = (self.ty(*left)?, self.ty(*right)?);
                let fits = l == r && *self.kind(ty) == Type::Scalar(Scalar::I64);
                ensure(fits, || "a pointer difference's types".into())
            }
            Op::Call(callee, args) => {
                ensure(callee.index() < self.position, || {
                    "a callee comes after its caller".into()
                })?;
                let callee = &self.module.functions[*callee];
                ensure(callee.params.len() == args.len(), || {
                    format!("a call of `{}` with {} arguments", callee.name, args.len())
                })?;
                for (param, arg) in callee.params.iter().zip(args) {
                    let (wanted, given) = (callee.locals[*param].ty, self.ty(*arg)?);
                    ensure(wanted == given, || {
                        format!(
                            "`{}` is given a {} for a {}",
                            callee.name,
                            self.name(given),
                            self.name(wanted)
                        )
                    })?;
                }
                ensure(callee.result == ty, || {
                    format!("the result of `{}`", callee.name)
                })
            }
            Op::Simd(op, args) => self.simd(*op, args, ty),
            Op::Atomic { op, place, args } => self.atomic(*op, place, args, ty),
            Op::SimdgroupMatrix(op, args) => self.matrix(*op, args, ty),
        }
    }

    fn compose(&self, parts: &[Handle<Value>], ty: Handle<Type>) -> Check {
        let expected: Vec<Handle<Type>> = match self.kind(ty) {
            Type::Vector(scalar, len, _) => match self.find(Type::Scalar(*scalar)) {
                Some(scalar) => vec![scalar; usize::from(*len)],
                None => return Err("a scalar's type is unknown".into()),
            },
            Type::Matrix {
                scalar,
                columns,
                rows,
            } => match self.find(Type::Vector(*scalar, *rows, Packing::Aligned)) {
                Some(column) => vec![column; usize::from(*columns)],
                None => return Err("a column's type is unknown".into()),
            },
            Type::Array(element, len) => vec![*element; *len as usize],
            Type::Struct(of) => self.fields(*of),
            _ => return Err(format!("a {} has no parts", self.name(ty))),
        };
        ensure(expected.len() == parts.len(), || {
            format!("{} parts for a {}", parts.len(), self.name(ty))
        })?;
        for (&part, wanted) in parts.iter().zip(expected) {
            let given = self.ty(part)?;
            ensure(self.value_type_is(wanted, given), || {
                format!(
                    "a part of type {} for a {}",
                    self.name(given),
                    self.name(wanted)
                )
            })?;
        }
        Ok(())
    }

    fn fields(&self, of: Handle<Struct>) -> Vec<Handle<Type>> {
        self.module.types.structs[of]
            .fields
            .iter()
            .map(|f| f.ty)
            .collect()
    }

    fn binary(
        &self,
        op: BinaryOp,
        left: Handle<Value>,
        right: Handle<Value>,
        ty: Handle<Type>,
    ) -> Check {
        let (l, r) = (self.ty(left)?, self.ty(right)?);
        ensure(l == r, || {
            format!("{op:?} of a {} and a {}", self.name(l), self.name(r))
        })?;
        if op.is_comparison() {
            let len = match self.kind(l) {
                Type::Pointer { .. } => 1,
                _ => self.shape(l).map_or(0, |(_, len)| len),
            };
            return ensure(self.shape(ty) == Some((Scalar::Bool, len)), || {
                format!("{op:?} of {} gives a {}", self.name(l), self.name(ty))
            });
        }
        ensure(l == ty, || {
            format!("{op:?} of {} gives a {}", self.name(l), self.name(ty))
        })?;
        let Some((scalar, _)) = self.shape(l) else {
            return Err(format!("{op:?} of a {}", self.name(l)));
        };
        let fits = match op {
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide => {
                scalar != Scalar::Bool
            }
            BinaryOp::Remainder | BinaryOp::ShiftLeft | BinaryOp::ShiftRight => scalar.is_integer(),
            _ => !scalar.is_float(),
        };
        ensure(fits, || format!("{op:?} of a {}", self.name(l)))
    }

    fn bitcast(&self, value: Handle<Value>, ty: Handle<Type>) -> Check {
        let from = self.ty(value)?;
        let fits = match (self.kind(from), self.kind(ty)) {
            (Type::Pointer { space: l, .. }, Type::Pointer { space: r, .. }) => l == r,
            _ => match (self.shape(from), self.shape(ty)) {
                (Some((l, ll)), Some((r, rl))) => {
                    l.bits() * u32::from(ll) == r.bits() * u32::from(rl)
                }
                _ => false,
            },
        };
        ensure(fits, || {
            format!("a bitcast of a {} to a {}", self.name(from), self.name(ty))
        })
    }

    fn math(&self, function: MathFunction, args: &[Handle<Value>], ty: Handle<Type>) -> Check {
        use MathFunction as M;
        let name = function.name();
        ensure(args.len() == function.arity(), || {
            format!("`{name}` with {} operands", args.len())
        })?;
        let first = self.ty(args[0])?;
        let Some((scalar, len)) = self.shape(first) else {
            return Err(format!("`{name}` of a {}", self.name(first)));
        };
        let result = self.shape(ty);
        match function {
            M::Ilogb | M::FrexpExponent => ensure(
                scalar.is_float() && result == Some((Scalar::I32, len)),
                || format!("`{name}`'s types"),
            ),
            M::Ldexp => {
                let second = self.shape(self.ty(args[1])?);
                ensure(first == ty && second == Some((Scalar::I32, len)), || {
                    format!("`{name}`'s types")
                })
            }
            M::Isfinite | M::Isinf | M::Isnan | M::Isnormal | M::Signbit => {
                ensure(result == Some((Scalar::Bool, len)), || {
                    format!("`{name}`'s types")
                })
            }
            M::All | M::Any => ensure(
                scalar == Scalar::Bool && len > 1 && result == Some((Scalar::Bool, 1)),
                || format!("`{name}`'s types"),
            ),
            M::Dot => {
                self.same(&args[1..], first)?;
                ensure(result == Some((scalar, 1)) && len > 1, || {
                    format!("`{name}`'s types")
                })
            }
            M::Absdiff => {
                self.same(&args[1..], first)?;
                ensure(
                    result.is_some_and(|(s, l)| l == len && s.bits() == scalar.bits()),
                    || format!("`{name}`'s types"),
                )
            }
            M::ExtractBits | M::InsertBits => {
                let uints = &args[args.len() - 2..];
                for &value in uints {
                    let ty = self.ty(value)?;
                    ensure(*self.kind(ty) == Type::Scalar(Scalar::U32), || {
                        format!("`{name}`'s types")
                    })?;
                }
                self.same(&args[..args.len() - 2], ty)
            }
            _ => self.same(args, ty),
        }
    }

    fn simd(&self, op: SimdOp, args: &[Handle<Value>], ty: Handle<Type>) -> Check {
        use SimdOp as S;
        let lane = |value: Handle<Value>| -> Check {
            let ty = self.ty(value)?;
            ensure(
                matches!(self.kind(ty), Type::Scalar(Scalar::U16 | Scalar::U32)),
                || format!("a lane is a {}", self.name(ty)),
            )
        };
        let result = self.shape(ty);
        match (op, args) {
            (S::All | S::Any | S::QuadAll | S::QuadAny, [value]) => {
                self.is_bool(*value)?;
                ensure(result == Some((Scalar::Bool, 1)), || "a vote's type".into())
            }
            (S::Ballot, [value]) => {
                self.is_bool(*value)?;
                ensure(result == Some((Scalar::U64, 1)), || {
                    "a ballot's type".into()
                })
            }
            (S::ActiveThreadsMask, []) => {
                ensure(result == Some((Scalar::U64, 1)), || "a mask's type".into())
            }
            (S::IsFirst, []) => {
                ensure(result == Some((Scalar::Bool, 1)), || "a flag's type".into())
            }
            (S::ShuffleAndFillUp | S::ShuffleAndFillDown, [data, fill, distance]) => {
                self.same(&[*data, *fill], ty)?;
                lane(*distance)
            }
            (_, [data]) => self.same(&[*data], ty),
            (_, [data, other]) => {
                self.same(&[*data], ty)?;
                lane(*other)
            }
            _ => Err(format!("{op:?} with {} operands", args.len())),
        }
    }

    fn atomic(
        &self,
        op: AtomicOp,
        place: &Place,
        args: &[Handle<Value>],
        ty: Handle<Type>,
    ) -> Check {
        let memory = self.place(place)?;
        let Type::Atomic(scalar) = *self.kind(memory) else {
            return Err(format!("an atomic operation on a {}", self.name(memory)));
        };
        let count = match op {
            AtomicOp::Load => 0,
            AtomicOp::CompareExchange => 2,
            _ => 1,
        };
        ensure(args.len() == count, || {
            format!("{op:?} with {} operands", args.len())
        })?;
        for &arg in args {
            let ty = self.ty(arg)?;
            ensure(*self.kind(ty) == Type::Scalar(scalar), || {
                format!("{op:?} of a {}", self.name(ty))
            })?;
        }
        let fits = match op {
            AtomicOp::Store => *self.kind(ty) == Type::Void,
            _ => *self.kind(ty) == Type::Scalar(scalar),
        };
        ensure(fits, || format!("{op:?} gives a {}", self.name(ty)))
    }

    fn matrix(&self, op: SimdgroupMatrixOp, args: &[Handle<Value>], ty: Handle<Type>) -> Check {
        use SimdgroupMatrixOp as O;
        let count = match op {
            O::Fill | O::Diagonal | O::Elements => 1,
            O::Multiply | O::WithElements => 2,
            O::MultiplyAccumulate => 3,
            O::Load => 5,
            O::Store => 6,
        };
        ensure(args.len() == count, || {
            format!("matrix {op:?} with {} operands", args.len())
        })?;
        for &arg in args {
            self.ty(arg)?;
        }
        let is_matrix = |ty: Handle<Type>| matches!(self.kind(ty), Type::SimdgroupMatrix(_));
        let fits = match op {
            O::Store => *self.kind(ty) == Type::Void && is_matrix(self.ty(args[0])?),
            O::Elements => {
                is_matrix(self.ty(args[0])?) && self.shape(ty).is_some_and(|(_, len)| len == 2)
            }
            _ => is_matrix(ty),
        };
        ensure(fits, || format!("matrix {op:?}'s types"))
    }
}
