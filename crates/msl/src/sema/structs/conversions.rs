//! Conversions that a program declares, and those to bases.

use super::UserConversion;
use crate::diag::{Diagnostic, Span};
use crate::ir::{AddressSpace, Projection};
use crate::sema::Checker;
use crate::sema::constant::Constant;
use crate::sema::conversions::Rank;
use crate::sema::operand::{Operand, Repr};
use crate::sema::scope::FunctionId;
use crate::sema::types::{Kind, StructId, Ty};

impl<'a> Checker<'a> {
    /// Whether a struct derives from another.
    pub(in crate::sema) fn is_base_of(&self, base: Ty, derived: Ty) -> bool {
        let (Kind::Struct(base), Kind::Struct(derived)) =
            (self.types.kind(base), self.types.kind(derived))
        else {
            return false;
        };
        self.base_path(derived, base)
            .is_some_and(|path| !path.is_empty())
    }

    /// The fields from a struct to one of its bases; empty bases have none.
    pub(super) fn base_path(
        &self,
        from: StructId,
        to: StructId,
    ) -> Option<Vec<(StructId, Option<u32>)>> {
        if from == to {
            return Some(Vec::new());
        }
        self.structs[from].bases.iter().find_map(|&(base, field)| {
            let mut path = self.base_path(base, to)?;
            path.insert(0, (base, field));
            Some(path)
        })
    }

    /// The base part of an object.
    pub(in crate::sema) fn base_object(
        &mut self,
        object: Operand<'a>,
        base: StructId,
        span: Span,
    ) -> Operand<'a> {
        let Kind::Struct(from) = self.types.kind(object.ty) else {
            return object;
        };
        let Some(path) = self.base_path(from, base) else {
            return Operand::poison(span);
        };
        let mut object = object;
        for (base, field) in path {
            let ty = self.structs[base].ty;
            object = match field {
                Some(index) => self.part(object, Projection::Field(index), index, ty, span),
                // An empty base has no bytes: any object of its type will do.
                None => {
                    let empty = self.zero_value(ty, span);
                    self.in_memory(empty)
                }
            };
        }
        object
    }

    /// A pointer to an object as one to its base.
    pub(in crate::sema) fn upcast(
        &mut self,
        pointer: Operand<'a>,
        base: Ty,
        space: AddressSpace,
        to: Ty,
    ) -> Operand<'a> {
        let span = pointer.span;
        let Kind::Struct(base) = self.types.kind(base) else {
            return Operand::poison(span);
        };
        let object = self.dereference(pointer, span);
        let part = self.base_object(object, base, span);
        if part.as_place().is_none_or(|lvalue| lvalue.space != space) {
            self.fail(Diagnostic::error(
                span,
                "a pointer to an empty base is not supported",
            ));
            return Operand::poison(span);
        }
        let pointer = self.address_of(part, span);
        Operand { ty: to, ..pointer }
    }

    /// The program's conversion of an operand to a type, if it has exactly one that fits.
    pub(in crate::sema) fn user_conversion(
        &mut self,
        operand: &Operand<'a>,
        to: Ty,
    ) -> Option<UserConversion> {
        if self.converting || matches!(operand.repr, Repr::List(_) | Repr::Functions(_)) {
            return None;
        }
        let from = self.types.kind(operand.ty);
        if !matches!(from, Kind::Struct(_)) && !matches!(self.types.kind(to), Kind::Struct(_)) {
            return None;
        }
        self.converting = true;
        let found = self.find_user_conversion(operand, to);
        self.converting = false;
        found
    }

    pub(super) fn find_user_conversion(
        &mut self,
        operand: &Operand<'a>,
        to: Ty,
    ) -> Option<UserConversion> {
        if let Kind::Struct(id) = self.types.kind(to) {
            let mut best: Option<(Rank, FunctionId)> = None;
            for function in self.structs[id].constructors.clone() {
                let args = std::slice::from_ref(operand);
                let concrete = if self.functions[function].is_template {
                    match self.deduce_instance(function, None, args) {
                        Some(instance) => instance,
                        None => continue,
                    }
                } else {
                    function
                };
                let Some(signature) = self.functions[concrete].signature.clone() else {
                    continue;
                };
                let takes_one = signature.required <= 1 && !signature.params.is_empty();
                let in_thread = signature
                    .object
                    .is_none_or(|(space, _)| space == AddressSpace::Thread);
                if !takes_one || !in_thread {
                    continue;
                }
                if let Some(rank) = self.passing_rank(operand, signature.params[0])
                    && best.is_none_or(|(known, _)| rank < known)
                {
                    best = Some((rank, concrete));
                }
            }
            if best.is_some() {
                return Some(UserConversion::Constructor);
            }
        }
        let Kind::Struct(id) = self.types.kind(operand.ty) else {
            return None;
        };
        let space = operand.as_place().map_or(AddressSpace::Thread, |l| l.space);
        let is_const = operand.as_place().is_some_and(|l| l.is_const);
        let mut best: Option<(Rank, FunctionId)> = None;
        for function in self.structs[id].conversions.clone() {
            let concrete = if self.functions[function].is_template {
                match self.deduce_conversion(function, to) {
                    Some(instance) => instance,
                    None => continue,
                }
            } else {
                function
            };
            let Some(signature) = self.functions[concrete].signature.clone() else {
                continue;
            };
            let Some((object_space, object_const)) = signature.object else {
                continue;
            };
            if object_space != space || (is_const && !object_const) {
                continue;
            }
            let Some(result) = signature.result else {
                continue;
            };
            let made = Operand {
                ty: result.ty,
                span: operand.span,
                repr: Repr::Constant(Constant::Bool(true)),
            };
            if let Some(rank) = self.implicit_rank(&made, to)
                && best.is_none_or(|(known, _)| rank < known)
            {
                best = Some((rank, concrete));
            }
        }
        best.map(|(_, function)| UserConversion::Operator(function))
    }

    /// Applies a conversion that was found.
    pub(in crate::sema) fn apply_user_conversion(
        &mut self,
        operand: Operand<'a>,
        to: Ty,
        way: UserConversion,
    ) -> Operand<'a> {
        let span = operand.span;
        match way {
            UserConversion::Constructor => self.construct(to, vec![operand], false, span),
            UserConversion::Operator(function) => {
                let made = self.call_user(function, Some(&operand), Vec::new(), span);
                if made.is_poison() {
                    return made;
                }
                self.converting = true;
                let made = self.convert(made, to, "the conversion");
                self.converting = false;
                made
            }
        }
    }
}
