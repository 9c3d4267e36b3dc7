//! The variables of running functions and the program's constants, read and written by their parts.

use std::rc::Rc;

use super::{Address, Datum, Evaluator, Outcome, failure};
use crate::diag::Span;
use crate::ir::{Handle, Module, Place, PlaceBase, Projection, Type};
use crate::sema::constant::{self, Constant};

impl<'m> Evaluator<'m> {
    /// Where a place is; only variables have addresses here.
    pub(super) fn address(&mut self, place: &Place, span: Span) -> Outcome<Address> {
        let depth = self.frames.len() - 1;
        let mut address = match place.base {
            PlaceBase::Local(local) => Address {
                frame: depth,
                local,
                path: Vec::new(),
            },
            PlaceBase::Pointer(pointer) => match self.datum(pointer, span)? {
                Datum::Pointer(address) => address,
                Datum::Constant(_) => return failure(span, "this pointer is null"),
            },
            PlaceBase::Threadgroup(_) => {
                return failure(span, "threadgroup memory only exists on the device");
            }
            PlaceBase::Constant(_) => {
                return failure(
                    span,
                    "a constant's element is only chosen when the kernel runs",
                );
            }
        };
        for step in &place.path {
            address.path.push(self.step_index(step, span)?);
        }
        Ok(address)
    }

    fn step_index(&mut self, step: &Projection, span: Span) -> Outcome<u32> {
        match step {
            Projection::Field(index) | Projection::Element(index) => Ok(*index),
            Projection::Index(value) => match u32::try_from(self.integer(*value, span)?) {
                Ok(index) => Ok(index),
                Err(_) => failure(span, "this index is outside its array"),
            },
        }
    }

    pub(super) fn load(&mut self, place: &Place, span: Span) -> Outcome<Datum> {
        if let PlaceBase::Constant(data) = place.base {
            return self.load_data(data, place, span);
        }
        let address = self.address(place, span)?;
        let known = self
            .frames
            .get(address.frame)
            .and_then(|f| f.locals.get(&address.local));
        let Some(datum) = known else {
            return failure(
                span,
                "it reads a variable whose value is only known when the kernel runs",
            );
        };
        match datum {
            Datum::Pointer(_) => Ok(datum.clone()),
            Datum::Constant(whole) => {
                let mut part = whole;
                for &index in &address.path {
                    match part.part(index as usize) {
                        Some(inner) => part = inner,
                        None => return failure(span, "this index is outside its array"),
                    }
                }
                Ok(Datum::Constant(part.clone()))
            }
        }
    }

    /// An element of a program-scope constant.
    fn load_data(
        &mut self,
        data: Handle<crate::ir::ConstantData>,
        place: &Place,
        span: Span,
    ) -> Outcome<Datum> {
        let module = self.module;
        let data = &module.constants[data];
        let (mut ty, mut at) = (data.ty, 0usize);
        for step in &place.path {
            let index = self.step_index(step, span)?;
            let (part, offset, len) = match &module.types[ty] {
                Type::Array(element, len) => (
                    *element,
                    index as usize * module.types.stride(*element) as usize,
                    *len,
                ),
                Type::Struct(of) => match module.types.structs[*of].fields.get(index as usize) {
                    Some(field) => (field.ty, field.offset as usize, u32::MAX),
                    None => return failure(span, "there is no such field"),
                },
                _ => return failure(span, "this part is only read when the kernel runs"),
            };
            if index >= len {
                return failure(span, "this index is outside its array");
            }
            (ty, at) = (part, at + offset);
        }
        match constant::read_bytes(&module.types, ty, data.bytes.get(at..).unwrap_or(&[])) {
            Some(value) => Ok(Datum::Constant(value)),
            None => failure(span, "this value is only read when the kernel runs"),
        }
    }

    pub(super) fn store(&mut self, place: &Place, value: Datum, span: Span) -> Outcome<()> {
        let address = self.address(place, span)?;
        let module = self.module;
        let Some(frame) = self.frames.get_mut(address.frame) else {
            return failure(span, "this variable is gone");
        };
        if address.local.index() < frame.first_local {
            return failure(span, "it changes a variable outside of the expression");
        }
        if address.path.is_empty() {
            frame.locals.insert(address.local, value);
            return Ok(());
        }
        let Datum::Constant(value) = value else {
            return failure(span, "an address is only known when the kernel runs");
        };
        let ty = frame.local_types[address.local].ty;
        let whole = frame
            .locals
            .entry(address.local)
            .or_insert_with(|| Datum::Constant(zero(module, ty)));
        let Datum::Constant(mut part) = std::mem::replace(whole, Datum::Constant(Constant::Int(0)))
        else {
            return failure(span, "an address has no parts");
        };
        let stored = replace_part(&mut part, &address.path, value);
        *whole = Datum::Constant(part);
        if stored {
            Ok(())
        } else {
            failure(span, "this index is outside its array")
        }
    }
}

/// Puts a value at the end of a path of parts.
fn replace_part(whole: &mut Constant, path: &[u32], value: Constant) -> bool {
    let Some((first, rest)) = path.split_first() else {
        *whole = value;
        return true;
    };
    let Constant::Composite(parts) = whole else {
        return false;
    };
    match Rc::make_mut(parts).get_mut(*first as usize) {
        Some(part) => replace_part(part, rest, value),
        None => false,
    }
}

/// All bytes zero.
pub(super) fn zero(module: &Module, ty: Handle<Type>) -> Constant {
    let types = &module.types;
    match &types[ty] {
        Type::Scalar(scalar) => Constant::zero(*scalar),
        Type::Vector(scalar, len, _) => {
            Constant::Composite(vec![Constant::zero(*scalar); usize::from(*len)].into())
        }
        Type::Matrix {
            scalar,
            columns,
            rows,
        } => {
            let column =
                Constant::Composite(vec![Constant::zero(*scalar); usize::from(*rows)].into());
            Constant::Composite(vec![column; usize::from(*columns)].into())
        }
        Type::Array(element, len) => {
            Constant::Composite(vec![zero(module, *element); (*len).min(1 << 20) as usize].into())
        }
        Type::Struct(of) => {
            let fields = types.structs[*of].fields.iter().map(|f| zero(module, f.ty));
            Constant::Composite(fields.collect())
        }
        _ => Constant::Int(0),
    }
}
