//! Statements and the places that they and loads reach. Operations are in `operations` and `library`.

use super::{Check, Validator, ensure};
use crate::ir::{Block, Handle, Packing, Place, PlaceBase, Projection, Scalar, Statement, Type};

impl Validator<'_> {
    fn scoped(&mut self, block: &Block) -> Check {
        let outer = self.defined.clone();
        let result = self.block(block);
        self.defined = outer;
        result
    }

    pub(super) fn block(&mut self, block: &Block) -> Check {
        for statement in block {
            self.statement(statement)?;
        }
        Ok(())
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

    pub(super) fn place(&self, place: &Place) -> Result<Handle<Type>, String> {
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

    pub(super) fn part(&self, ty: Handle<Type>, step: &Projection) -> Result<Handle<Type>, String> {
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
}
