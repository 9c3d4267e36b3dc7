//! Constants that need an address: their bytes become data of the module. Computing the constants is
//! the work of `evaluate`.

use crate::diag::Span;
use crate::ir::{self, AddressSpace, Handle, Place, PlaceBase, Projection};
use crate::sema::Checker;
use crate::sema::constant::{self, Constant};
use crate::sema::operand::{Lvalue, Operand};
use crate::sema::scope::GlobalId;
use crate::sema::types::Ty;
use crate::syntax::ast::Name;

impl<'a> Checker<'a> {
    /// A constant without a name, in memory.
    pub(in crate::sema) fn constant_place(
        &mut self,
        ty: Ty,
        value: Constant,
        span: Span,
    ) -> Operand<'a> {
        let data = self.store_constant("value".into(), ty, 0, &value);
        self.data_place(data, ty, value, span)
    }

    pub(super) fn data_place(
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
    pub(in crate::sema) fn constant_lvalue(
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
    pub(in crate::sema) fn store_constant(
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
}
