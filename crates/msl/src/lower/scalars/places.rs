//! Places: what a variable, a pointer and a path lead to, and how it is read and written.

use std::rc::Rc;

use super::{Home, Leaf, Scalars, THREAD_MEMORY_LIMIT};
use crate::diag::Span;
use crate::ir::{AddressSpace, Handle, Local, Packing, Place, PlaceBase, Projection, Type, Value};
use crate::lower::form::{Address, Compute, Indexed, Kind, Node, Reg, Slot};
use crate::lower::memory::runs;
use crate::lower::{Result, unsupported};

/// A part of a variable that lives in registers.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The variable.
    pub local: Handle<Local>,
    /// What the part is.
    pub ty: Handle<Type>,
    /// The part's first shape among those of the variable.
    first: usize,
    /// The indices on the way, outermost first.
    indices: Vec<Index>,
    /// Whether the last step was an index, so that a pointer to the part can be moved.
    is_element: bool,
}

/// An index: a constant and registers to add.
#[derive(Clone, Debug, Default)]
struct Index {
    constant: i64,
    terms: Vec<Reg>,
}

/// A step from a whole to a part.
#[derive(Clone, Copy, Debug)]
enum Step {
    Constant(u32),
    Register(Reg),
}

impl Scalars<'_> {
    /// What a place is: a part of a variable, or an address in memory, or (of a variable that stands
    /// for a value) nothing.
    pub(super) fn resolve(&mut self, place: &Place, span: Span) -> Result<Leaf> {
        let (mut leaf, mut ty) = match place.base {
            PlaceBase::Local(local) => (self.home(local)?, self.kernel.locals[local].ty),
            PlaceBase::Threadgroup(variable) => {
                let tag = self.threadgroup_slots.get(variable.index()).copied();
                let tag = tag.ok_or_else(|| {
                    unsupported(span, "internal: a threadgroup variable without memory")
                })?;
                let ty = self.kernel.threadgroup[variable].ty;
                (self.start_of(tag), ty)
            }
            PlaceBase::Constant(constant) => {
                let data = &self.module.constants[constant];
                let tag = match self.constant_slots.get(&constant.index()) {
                    Some(&tag) => tag,
                    None => {
                        let tag = self.new_tag(Slot::Constant {
                            bytes: data.bytes.clone(),
                            name: data.name.to_string(),
                        });
                        self.constant_slots.insert(constant.index(), tag);
                        tag
                    }
                };
                (self.start_of(tag), data.ty)
            }
            PlaceBase::Pointer(pointer) => self.pointee(pointer, span)?,
        };
        for projection in &place.path {
            let step = match projection {
                Projection::Field(i) | Projection::Element(i) => Step::Constant(*i),
                Projection::Index(value) => Step::Register(self.reg(*value)?),
            };
            (leaf, ty) = self.project(leaf, ty, step, span)?;
        }
        Ok(leaf)
    }

    fn start_of(&mut self, tag: u16) -> Leaf {
        Leaf::Address(Address {
            pointer: Some(self.base(tag)),
            index: None,
            offset: 0,
            is_private: false,
        })
    }

    /// What a pointer points at, and its type.
    fn pointee(&mut self, pointer: Handle<Value>, span: Span) -> Result<(Leaf, Handle<Type>)> {
        let Type::Pointer { space, pointee } = self.module.types[self.info(pointer).ty] else {
            let message = "internal: a place behind what is no pointer";
            return Err(unsupported(span, message));
        };
        let leaf = match self.pointer_leaf(pointer)? {
            Leaf::Register(reg) => Leaf::Address(Address {
                pointer: Some(reg),
                index: None,
                offset: 0,
                is_private: space == AddressSpace::Thread,
            }),
            other => other,
        };
        Ok((leaf, pointee))
    }

    /// The part of a place, and its type.
    fn project(
        &mut self,
        leaf: Leaf,
        ty: Handle<Type>,
        step: Step,
        span: Span,
    ) -> Result<(Leaf, Handle<Type>)> {
        let types = &self.module.types;
        let no_part = || {
            let name = types.name(ty);
            unsupported(span, format!("internal: `{name}` has no such part"))
        };
        // The part's type, and either the bytes of an element or the bytes before a field.
        let (part_ty, stride, field) = match types[ty] {
            Type::Array(element, _) => (Some(element), types.stride(element), None),
            Type::Vector(s, ..) => (types.find(&Type::Scalar(s)), s.size(), None),
            Type::Matrix { scalar, rows, .. } => {
                let column = Type::Vector(scalar, rows, Packing::Aligned);
                let bytes = scalar.size() * u32::from(rows).next_power_of_two();
                (types.find(&column), bytes, None)
            }
            Type::Struct(s) => {
                let Step::Constant(i) = step else {
                    return Err(no_part());
                };
                let field = types.structs[s].fields.get(i as usize);
                let field = field.ok_or_else(no_part)?;
                (Some(field.ty), 0, Some((s, i, field.offset)))
            }
            _ => (None, 0, None),
        };
        let part_ty = part_ty.ok_or_else(no_part)?;
        let leaf = match (leaf, step) {
            (Leaf::Part(mut part), _) => {
                part.ty = part_ty;
                part.is_element = field.is_none();
                match (field, step) {
                    (Some((s, i, _)), _) => {
                        let fields = &types.structs[s].fields;
                        let before = fields.iter().take(i as usize);
                        let before = before.map(|f| self.layouts.shape_count(f.ty));
                        part.first += before.sum::<usize>();
                    }
                    (None, Step::Constant(i)) => part.indices.push(Index {
                        constant: i64::from(i),
                        terms: Vec::new(),
                    }),
                    (None, Step::Register(reg)) => {
                        part.indices.push(Index::default());
                        self.add_to_index(&mut part, reg);
                    }
                }
                Leaf::Part(part)
            }
            (Leaf::Address(address), Step::Constant(i)) => {
                let bytes = match field {
                    Some((_, _, offset)) => i64::from(offset),
                    None => i64::from(i) * i64::from(stride),
                };
                let offset = address.offset + bytes;
                Leaf::Address(Address { offset, ..address })
            }
            (Leaf::Address(address), Step::Register(reg)) => {
                Leaf::Address(self.indexed(address, reg, stride)?)
            }
            (Leaf::Register(_), _) => return Err(no_part()),
        };
        Ok((leaf, part_ty))
    }

    fn add_to_index(&self, part: &mut Part, reg: Reg) {
        let Some(last) = part.indices.last_mut() else {
            return;
        };
        match self.integer(reg) {
            Some(constant) => last.constant += constant,
            None => last.terms.push(reg),
        }
    }

    /// The value of a register that is a constant integer.
    fn integer(&self, reg: Reg) -> Option<i64> {
        let bits = self.constant_bits.get(&reg)?;
        crate::lower::constant::integer_value(*bits, self.kind(reg).scalar())
    }

    /// A pointer moved by a number of pointees.
    pub(super) fn moved(
        &mut self,
        leaf: Leaf,
        index: Reg,
        pointee: Handle<Type>,
        space: AddressSpace,
    ) -> Result<Leaf> {
        let stride = self.module.types.stride(pointee);
        Ok(match leaf {
            Leaf::Part(part) if self.integer(index) == Some(0) => Leaf::Part(part),
            Leaf::Part(mut part) if part.is_element && part.ty == pointee => {
                self.add_to_index(&mut part, index);
                Leaf::Part(part)
            }
            Leaf::Part(part) => Leaf::Register(self.ask(part.local)),
            Leaf::Address(address) => Leaf::Address(self.indexed(address, index, stride)?),
            Leaf::Register(reg) => {
                let address = Address {
                    pointer: Some(reg),
                    index: None,
                    offset: 0,
                    is_private: space == AddressSpace::Thread,
                };
                Leaf::Address(self.indexed(address, index, stride)?)
            }
        })
    }

    /// A pointer seen as one to another type.
    pub(super) fn cast(&mut self, leaf: Leaf, pointee: Handle<Type>) -> Leaf {
        match leaf {
            Leaf::Part(part) if part.ty != pointee => Leaf::Register(self.ask(part.local)),
            other => other,
        }
    }

    /// An address moved by an index; one that has a computed index already is computed first.
    fn indexed(&mut self, address: Address, index: Reg, stride: u32) -> Result<Address> {
        if let Some(constant) = self.integer(index) {
            let offset = constant
                .wrapping_mul(i64::from(stride))
                .wrapping_add(address.offset);
            return Ok(Address { offset, ..address });
        }
        if address.index.is_none() {
            return Ok(Address {
                index: Some((index, stride)),
                ..address
            });
        }
        let base = Address {
            offset: 0,
            ..address.clone()
        };
        let pointer = Some(self.pointer(&base)?);
        Ok(Address {
            pointer,
            index: Some((index, stride)),
            ..address
        })
    }

    fn home(&mut self, local: Handle<Local>) -> Result<Leaf> {
        let info = &self.kernel.locals[local];
        if let Home::Unset = self.homes[local.index()] {
            self.homes[local.index()] = if self.in_memory.contains(&local) {
                let (size, align) = self.module.types.layout(info.ty);
                let offset = self.out.private_size.next_multiple_of(align.max(4));
                self.out.private_size = offset.saturating_add(size);
                if self.out.private_size > THREAD_MEMORY_LIMIT {
                    let message = format!(
                        "the thread's variables that live in memory have more than {THREAD_MEMORY_LIMIT} bytes"
                    );
                    return Err(unsupported(info.span, message));
                }
                Home::Memory(offset)
            } else {
                let shapes = self.layouts.shapes(info.ty);
                let firsts = shapes
                    .iter()
                    .map(|shape| self.registers(shape.kind, shape.count(), true, info.span))
                    .collect::<Result<_>>()?;
                Home::Registers(firsts)
            };
        }
        Ok(match &self.homes[local.index()] {
            Home::Memory(offset) => Leaf::Address(Address {
                pointer: None,
                index: None,
                offset: i64::from(*offset),
                is_private: true,
            }),
            Home::Registers(_) => Leaf::Part(Part {
                local,
                ty: info.ty,
                first: 0,
                indices: Vec::new(),
                is_element: false,
            }),
            Home::Unset | Home::StandIn(_) => {
                let message = "internal: a variable without a home";
                return Err(unsupported(info.span, message));
            }
        })
    }

    /// The registers of a part, scalar by scalar: each is one of a group.
    fn elements(&self, part: &Part, span: Span) -> Result<Vec<Indexed>> {
        let internal = || unsupported(span, "internal: a part outside its variable");
        let Home::Registers(firsts) = &self.homes[part.local.index()] else {
            return Err(internal());
        };
        let shapes = self.layouts.shapes(self.kernel.locals[part.local].ty);
        self.layouts
            .order(part.ty)
            .into_iter()
            .map(|(shape, row)| {
                let number = part.first + shape;
                let (shape, base) = shapes
                    .get(number)
                    .zip(firsts.get(number))
                    .ok_or_else(internal)?;
                let (mut offset, mut terms) = (i64::from(row), Vec::new());
                for (depth, index) in part.indices.iter().enumerate() {
                    let stride = shape.stride(depth);
                    offset += index.constant.wrapping_mul(i64::from(stride));
                    terms.extend(index.terms.iter().map(|&reg| (reg, stride)));
                }
                Ok(Indexed {
                    base: *base,
                    count: shape.count(),
                    offset,
                    terms,
                    span,
                })
            })
            .collect()
    }

    pub(super) fn load(&mut self, place: &Place, span: Span) -> Result<Rc<[Leaf]>> {
        if let PlaceBase::Local(local) = place.base
            && let Home::StandIn(leaves) = &self.homes[local.index()]
        {
            let leaves = leaves.clone();
            return self.part_of_value(&leaves, self.kernel.locals[local].ty, place, span);
        }
        match self.resolve(place, span)? {
            Leaf::Part(part) => {
                let elements = self.elements(&part, span)?;
                elements
                    .into_iter()
                    .map(|element| self.get(element).map(Leaf::Register))
                    .collect()
            }
            Leaf::Address(address) => self.load_memory(place.ty, &address, span),
            Leaf::Register(_) => Err(unsupported(span, "internal: a load of a register")),
        }
    }

    /// Copies one scalar of a variable.
    fn get(&mut self, element: Indexed) -> Result<Reg> {
        let kind = self.kind(element.base);
        if element.terms.is_empty()
            && let Some(var) = constant_element(&element)
        {
            return self.compute(Compute::Copy, kind, vec![var]);
        }
        let dst = self.registers(kind, 1, false, element.span)?;
        self.emit(Node::GetIndexed { dst, element });
        Ok(dst)
    }

    /// The part of a value that a path of constant steps reaches.
    fn part_of_value(
        &self,
        leaves: &Rc<[Leaf]>,
        whole: Handle<Type>,
        place: &Place,
        span: Span,
    ) -> Result<Rc<[Leaf]>> {
        if place.path.is_empty() {
            return Ok(leaves.clone());
        }
        let internal = || unsupported(span, "internal: a part outside its value");
        let (mut ty, mut before) = (whole, 0);
        for projection in &place.path {
            let (Projection::Field(i) | Projection::Element(i)) = *projection else {
                return Err(internal());
            };
            let (part, offset) = self.value_part(ty, i).ok_or_else(internal)?;
            before += offset;
            ty = part;
        }
        let end = before + self.layouts.count(place.ty);
        let part = leaves.get(before as usize..end as usize);
        part.map(Rc::from).ok_or_else(internal)
    }

    /// A part of a value: its type, and how many scalars come before it.
    pub(super) fn value_part(&self, ty: Handle<Type>, i: u32) -> Option<(Handle<Type>, u32)> {
        let types = &self.module.types;
        match types[ty] {
            Type::Struct(s) => {
                let field = types.structs[s].fields.get(i as usize)?;
                Some((field.ty, self.layouts.before_field(s, i)))
            }
            Type::Array(element, _) => {
                Some((element, self.layouts.count(element).saturating_mul(i)))
            }
            Type::Vector(s, ..) => Some((types.find(&Type::Scalar(s))?, i)),
            Type::Matrix { scalar, rows, .. } => {
                let column = Type::Vector(scalar, rows, Packing::Aligned);
                Some((types.find(&column)?, u32::from(rows) * i))
            }
            _ => None,
        }
    }

    fn load_memory(
        &mut self,
        ty: Handle<Type>,
        address: &Address,
        span: Span,
    ) -> Result<Rc<[Leaf]>> {
        let leaves = self.layouts.in_memory(ty, span)?;
        let mut result = Vec::with_capacity(leaves.len());
        for run in runs(&leaves) {
            let (offset, kind) = run[0];
            let count = run.len() as u32;
            let dst = self.registers(kind, count, false, span)?;
            self.emit(Node::Load {
                dst,
                count,
                element: kind.scalar(),
                is_pointer: kind == Kind::Pointer,
                address: Address {
                    offset: address.offset + i64::from(offset),
                    ..address.clone()
                },
                span,
            });
            result.extend((dst..dst + count).map(Leaf::Register));
        }
        Ok(result.into())
    }

    pub(super) fn store(&mut self, place: &Place, regs: &[Reg], span: Span) -> Result<()> {
        match self.resolve(place, span)? {
            Leaf::Part(part) => {
                let elements = self.elements(&part, span)?;
                for (element, &value) in elements.into_iter().zip(regs) {
                    let var = constant_element(&element).filter(|_| element.terms.is_empty());
                    self.emit(match var {
                        Some(var) => Node::Set { var, value },
                        None => Node::SetIndexed { element, value },
                    });
                }
                Ok(())
            }
            Leaf::Address(address) => {
                let leaves = self.layouts.in_memory(place.ty, span)?;
                let mut rest = regs;
                for run in runs(&leaves) {
                    let (offset, kind) = run[0];
                    let Some((values, tail)) = rest.split_at_checked(run.len()) else {
                        return Err(unsupported(span, "internal: a store of too few parts"));
                    };
                    rest = tail;
                    self.emit(Node::Store {
                        values: values.to_vec(),
                        element: kind.scalar(),
                        address: Address {
                            offset: address.offset + i64::from(offset),
                            ..address.clone()
                        },
                        span,
                    });
                }
                Ok(())
            }
            Leaf::Register(_) => Err(unsupported(span, "internal: a store to a register")),
        }
    }
}

/// The variable that a constant index names, if there is one of it.
fn constant_element(element: &Indexed) -> Option<Reg> {
    (0..i64::from(element.count))
        .contains(&element.offset)
        .then(|| element.base + element.offset as Reg)
}
