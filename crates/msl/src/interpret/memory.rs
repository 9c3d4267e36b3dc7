//! Memory as separate objects, and every access to it checked.
//!
//! A buffer, a threadgroup variable, a program-scope constant and each call's own variables are
//! objects. A pointer is the number of an object and a distance in it, so an access beyond its
//! object never reaches another one.

use std::collections::VecDeque;
use std::rc::Rc;

use super::races::Access;
use super::thread::Thread;
use super::values::{Data, Origin};
use super::{Machine, Result};
use crate::diag::Span;
use crate::ir::{Handle, Place, PlaceBase, Projection, Type};
use crate::syntax::ast::Name;

/// The number of an object; 0 is none.
pub type ObjectNumber = usize;

/// Stands for where an index that its array does not have leads, once the checker has told: reading
/// there gives zeros and writing does nothing.
const NOWHERE: ObjectNumber = 1;

/// Low bits of a pointer: the signed distance from the start of its object.
const DISTANCE_BITS: u32 = 36;

/// Makes a pointer.
pub fn pointer(object: ObjectNumber, distance: i64) -> u64 {
    (object as u64) << DISTANCE_BITS | distance as u64 & ((1 << DISTANCE_BITS) - 1)
}

/// Takes a pointer apart.
pub fn parts(pointer: u64) -> (ObjectNumber, i64) {
    let unused = u64::BITS - DISTANCE_BITS;
    let distance = (pointer << unused) as i64 >> unused;
    ((pointer >> DISTANCE_BITS) as usize, distance)
}

/// A number that is greater for a pointer further on in the same object, even before its start.
pub fn order(pointer: u64) -> u64 {
    pointer ^ 1 << (DISTANCE_BITS - 1)
}

/// Moves a pointer by a number of bytes.
pub fn moved(from: u64, bytes: i128) -> u64 {
    let (object, distance) = parts(from);
    pointer(object, distance.wrapping_add(bytes as i64))
}

/// Which threads reach an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// All of the grid.
    Device,
    /// All of the grid, for reading.
    Constant,
    /// Those of one threadgroup.
    Threadgroup,
    /// One.
    Thread,
}

/// Where an object's bytes are.
#[derive(Debug)]
enum Storage {
    Own(Vec<u8>),
    /// The buffer of this index, lent to the dispatch.
    Buffer(usize),
    /// Nowhere any more: the call that it belonged to is over.
    Gone,
}

/// A piece of memory.
#[derive(Debug)]
pub struct Object {
    /// What the source calls it.
    pub name: Name,
    /// Which threads reach it.
    pub space: Space,
    /// Whether it may be written.
    pub writable: bool,
    storage: Storage,
    /// For each byte, where it comes from if nothing wrote it; empty if that is not tracked.
    pub undefined: Vec<Origin>,
}

/// All objects there are at a time.
#[derive(Debug)]
pub struct Memory<'d> {
    objects: Vec<Object>,
    /// Numbers to use again, the longest unused first.
    free: VecDeque<ObjectNumber>,
    buffers: &'d mut [Option<&'d mut [u8]>],
}

impl<'d> Memory<'d> {
    /// With no object but those that are none.
    pub fn new(buffers: &'d mut [Option<&'d mut [u8]>]) -> Self {
        let mut memory = Self {
            objects: Vec::new(),
            free: VecDeque::new(),
            buffers,
        };
        for name in ["null", "nowhere"] {
            memory.own(name.into(), Space::Constant, Vec::new(), 0);
        }
        memory
    }

    fn add(&mut self, object: Object) -> ObjectNumber {
        match self.free.pop_front() {
            Some(number) => {
                self.objects[number] = object;
                number
            }
            None => {
                self.objects.push(object);
                self.objects.len() - 1
            }
        }
    }

    /// Adds an object that has these bytes; if they come from nowhere, `undefined` says so.
    pub fn own(
        &mut self,
        name: Name,
        space: Space,
        bytes: Vec<u8>,
        undefined: Origin,
    ) -> ObjectNumber {
        let tracked = if undefined == 0 { 0 } else { bytes.len() };
        self.add(Object {
            name,
            space,
            writable: space != Space::Constant,
            storage: Storage::Own(bytes),
            undefined: vec![undefined; tracked],
        })
    }

    /// Adds the buffer of this index.
    pub fn buffer(
        &mut self,
        name: Name,
        space: Space,
        index: usize,
        writable: bool,
    ) -> ObjectNumber {
        self.add(Object {
            name,
            space,
            writable,
            storage: Storage::Buffer(index),
            undefined: Vec::new(),
        })
    }

    /// Ends an object's life.
    pub fn release(&mut self, number: ObjectNumber) {
        self.objects[number].storage = Storage::Gone;
        self.free.push_back(number);
    }

    /// An object.
    pub fn object(&self, number: ObjectNumber) -> &Object {
        &self.objects[number]
    }

    fn bytes(&self, number: ObjectNumber) -> &[u8] {
        match &self.objects[number].storage {
            Storage::Own(bytes) => bytes,
            Storage::Buffer(index) => match self.buffers.get(*index) {
                Some(Some(bytes)) => bytes,
                _ => &[],
            },
            Storage::Gone => &[],
        }
    }

    fn bytes_mut(&mut self, number: ObjectNumber) -> &mut [u8] {
        match &mut self.objects[number].storage {
            Storage::Own(bytes) => bytes,
            Storage::Buffer(index) => match self.buffers.get_mut(*index) {
                Some(Some(bytes)) => bytes,
                _ => &mut [],
            },
            Storage::Gone => &mut [],
        }
    }

    /// The object and place of `size` bytes, or what is wrong with reading or writing them.
    fn locate(
        &self,
        pointer: u64,
        size: usize,
        writes: bool,
    ) -> Result<(ObjectNumber, usize), String> {
        let (number, distance) = parts(pointer);
        let verb = if writes { "writes" } else { "reads" };
        let object = match self.objects.get(number) {
            Some(object) if number > 0 => object,
            _ => return Err(format!("{verb} {size} bytes through a null pointer")),
        };
        let name = &object.name;
        if matches!(object.storage, Storage::Gone) {
            return Err(format!(
                "{verb} {size} bytes of `{name}`, whose function has returned"
            ));
        }
        if writes && !object.writable {
            return Err(format!(
                "writes {size} bytes at byte {distance} of `{name}`, which is there only for reading"
            ));
        }
        let len = self.bytes(number).len();
        let start = usize::try_from(distance).ok();
        match start {
            Some(start) if start.checked_add(size).is_some_and(|end| end <= len) => {
                Ok((number, start))
            }
            _ => {
                let element = match size as i64 {
                    size if size > 0 && distance % size == 0 => {
                        format!(" (element {} of {size} bytes)", distance / size)
                    }
                    _ => String::new(),
                };
                Err(format!(
                    "{verb} {size} bytes at byte {distance}{element} of `{name}`, which has {len} bytes"
                ))
            }
        }
    }
}

/// What an access does, for the search for races.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// An atomic load.
    AtomicRead,
    /// An atomic operation that writes.
    AtomicWrite,
}

impl How {
    fn writes(self) -> bool {
        matches!(self, Self::Write | Self::AtomicWrite)
    }
}

impl Machine<'_, '_> {
    /// A pointer to a place. One that is only pointed at may be just past the end of an array.
    pub fn resolve(
        &mut self,
        thread: &mut Thread,
        place: &Place,
        (span, is_pointed_at): (Span, bool),
    ) -> u64 {
        let function = &self.module.functions[thread.frame().function];
        let (mut address, mut ty) = match place.base {
            PlaceBase::Local(local) => {
                let object = self.local(thread, local);
                (pointer(object, 0), function.locals[local].ty)
            }
            PlaceBase::Threadgroup(variable) => {
                let object = self.threadgroup_variable(thread.frame().function, variable);
                (pointer(object, 0), function.threadgroup[variable].ty)
            }
            PlaceBase::Constant(constant) => {
                let object = self.constants[constant.index()];
                (pointer(object, 0), self.module.constants[constant].ty)
            }
            PlaceBase::Pointer(value) => {
                let ty = function.values[value].ty;
                let bits = thread.value(value).bits();
                self.use_value(thread, value, span);
                match self.module.types[ty] {
                    Type::Pointer { pointee, .. } => (bits, pointee),
                    _ => (bits, ty),
                }
            }
        };
        if place.path.is_empty() {
            ty = place.ty;
        }
        let mut whole = self.module.types[ty].clone();
        for projection in &place.path {
            let index = match *projection {
                Projection::Field(index) | Projection::Element(index) => index.into(),
                Projection::Index(value) => {
                    self.use_value(thread, value, span);
                    self.number(thread, value).integer()
                }
            };
            let Some(part) = self.shapes.part(&whole, index) else {
                break;
            };
            let beyond = i128::from(part.count) + i128::from(is_pointed_at);
            if !(0..beyond).contains(&index) && self.checker.is_some() {
                self.report_index(thread, span, index, part.count, &whole);
                return pointer(NOWHERE, 0);
            }
            address = moved(address, part.offset);
            whole = part.ty;
        }
        address
    }

    /// What is in memory there: `memory` says as what it is read, `ty` what the value is.
    pub fn load(
        &mut self,
        thread: &Thread,
        from: u64,
        (memory, ty): (Handle<Type>, Handle<Type>),
        (span, how): (Span, How),
    ) -> Result<Data> {
        if parts(from).0 == NOWHERE {
            return Ok(Data::zero(self.shapes.size(ty)));
        }
        let ranges = self.shapes.data(memory);
        let end = ranges.last().map_or(0, |range| range.end);
        let (number, start) = (self.memory.locate(from, end, false))
            .map_err(|message| self.fault(thread, span, message))?;
        let mut data = Data::zero(self.shapes.size(ty).max(end));
        let (object, bytes) = (self.memory.object(number), self.memory.bytes(number));
        for range in ranges.iter() {
            let there = start + range.start..start + range.end;
            data.bytes[range.clone()].copy_from_slice(&bytes[there.clone()]);
            if let (Some(checker), false) = (&mut self.checker, object.undefined.is_empty())
                && object.undefined[there.clone()].iter().any(|&o| o != 0)
            {
                data.undefined.resize(data.bytes.len(), 0);
                for (to, &from) in data.undefined[range.clone()]
                    .iter_mut()
                    .zip(&object.undefined[there])
                {
                    *to = match object.space {
                        Space::Threadgroup if from != 0 => checker.read_at(from, span),
                        _ => from,
                    };
                }
            }
        }
        self.record(thread, (number, start), memory, span, how);
        Ok(data)
    }

    /// Writes a value to memory of type `memory`.
    pub fn store(
        &mut self,
        thread: &Thread,
        to: u64,
        memory: Handle<Type>,
        data: &Data,
        (span, how): (Span, How),
    ) -> Result<()> {
        if parts(to).0 == NOWHERE {
            return Ok(());
        }
        let ranges = self.shapes.data(memory);
        let end = ranges.last().map_or(0, |range| range.end);
        let (number, start) = (self.memory.locate(to, end, true))
            .map_err(|message| self.fault(thread, span, message))?;
        let is_shared = self.memory.object(number).space != Space::Thread;
        if is_shared {
            self.use_data(thread, data, memory, span);
        }
        for range in ranges.iter() {
            let there = start + range.start..start + range.end;
            let bytes = self.memory.bytes_mut(number);
            bytes[there.clone()].copy_from_slice(&data.bytes[range.clone()]);
            let undefined = &mut self.memory.objects[number].undefined;
            if undefined.is_empty() {
                continue;
            }
            match data.undefined.get(range.clone()) {
                // What is shared has been reported.
                Some(from) if !is_shared => undefined[there].copy_from_slice(from),
                _ => undefined[there].fill(0),
            }
        }
        self.record(thread, (number, start), memory, span, how);
        Ok(())
    }

    /// Tells the checker of an access.
    fn record(
        &mut self,
        thread: &Thread,
        (number, start): (ObjectNumber, usize),
        memory: Handle<Type>,
        span: Span,
        how: How,
    ) {
        let Some(checker) = &mut self.checker else {
            return;
        };
        let object = self.memory.object(number);
        if !matches!(object.space, Space::Device | Space::Threadgroup) {
            return;
        }
        let access = Rc::new(Access {
            position: thread.position,
            index: thread.index,
            group: thread.group,
            passed: thread.passed,
            span,
            is_atomic: matches!(how, How::AtomicRead | How::AtomicWrite),
            writes: how.writes(),
        });
        let len = self.memory.bytes(number).len();
        let ranges = self.shapes.data(memory);
        let bytes = ranges.iter().cloned().flatten().map(|byte| start + byte);
        checker.record((number, len), object, bytes, &access);
    }
}
