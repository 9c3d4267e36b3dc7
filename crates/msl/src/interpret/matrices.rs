//! 8x8 matrices that a SIMD-group holds together.
//!
//! Each lane holds two elements that are next to each other in a row. Of the lane's number, bits 1,
//! 2 and 4 say which row, bits 0 and 3 which pair of columns, as on Apple's GPUs (and as kernels
//! that use `thread_elements` expect):
//!
//! ```text
//! row    = bit 4 * 4 + bit 2 * 2 + bit 1
//! column = bit 3 * 4 + bit 0 * 2
//! ```
//!
//! An element of a product is the sum of its eight products, in order, on top of what is added;
//! all of that is computed in float and rounded once to the result's type.

use super::memory::{How, moved};
use super::thread::Thread;
use super::values::{Data, Number, Numbers};
use super::{Machine, Result, SIMD_WIDTH};
use crate::diag::Span;
use crate::ir::{Handle, SimdgroupMatrixOp, Type, Value};

/// Rows and columns.
const SIDE: usize = 8;

/// Row and first column of a lane's elements.
fn home(lane: usize) -> (usize, usize) {
    let bit = |n: usize| lane >> n & 1;
    (bit(4) * 4 + bit(2) * 2 + bit(1), bit(3) * 4 + bit(0) * 2)
}

/// Whether the lanes need each other's elements.
pub fn is_shared(op: SimdgroupMatrixOp) -> bool {
    use SimdgroupMatrixOp::{Multiply, MultiplyAccumulate};
    matches!(op, Multiply | MultiplyAccumulate)
}

/// The whole matrix, from the two elements of each active lane.
fn gathered(lanes: &[Option<Numbers>; SIMD_WIDTH]) -> [[f32; SIDE]; SIDE] {
    let mut matrix = [[0.0; SIDE]; SIDE];
    for (lane, elements) in lanes.iter().enumerate() {
        let (row, column) = home(lane);
        for (index, element) in elements.iter().flat_map(|all| all.iter()).enumerate() {
            matrix[row][column + index] = element.float();
        }
    }
    matrix
}

/// Each lane's elements of `a * b + c`.
pub fn product(args: &[[Option<Numbers>; SIMD_WIDTH]]) -> Vec<[Number; 2]> {
    let matrices: Vec<_> = args.iter().map(gathered).collect();
    let element = |row: usize, column: usize| {
        let (a, b) = (&matrices[0], &matrices[1]);
        let start = matrices.get(2).map_or(0.0, |c| c[row][column]);
        Number::Float((0..SIDE).fold(start, |sum, k| sum + a[row][k] * b[k][column]))
    };
    let lanes = (0..SIMD_WIDTH).map(home);
    lanes
        .map(|(row, column)| [element(row, column), element(row, column + 1)])
        .collect()
}

impl Machine<'_, '_> {
    /// An operation that each lane does by itself.
    pub fn matrix(
        &mut self,
        thread: &mut Thread,
        op: SimdgroupMatrixOp,
        args: &[Handle<Value>],
        (ty, span): (Handle<Type>, Span),
    ) -> Result<Data> {
        let lane = thread.index % SIMD_WIDTH;
        let (row, column) = home(lane);
        let size = self.shapes.size(ty);
        let (scalar, _) = self.shapes.vector(ty);
        match op {
            SimdgroupMatrixOp::Fill => {
                self.use_value(thread, args[0], span);
                let number = self.number(thread, args[0]);
                Ok(Data::of_numbers(scalar, &[number; 2], size))
            }
            SimdgroupMatrixOp::Diagonal => {
                self.use_value(thread, args[0], span);
                let number = self.number(thread, args[0]);
                let elements = [0, 1].map(|index| match row == column + index {
                    true => number,
                    false => Number::Float(0.0),
                });
                Ok(Data::of_numbers(scalar, &elements, size))
            }
            SimdgroupMatrixOp::Load => {
                let mut data = Data::zero(size);
                let part = scalar.size() as usize;
                for (index, from) in self.addresses(thread, args, span).into_iter().enumerate() {
                    let element = self.pointee(thread, args[0]);
                    let how = (span, How::Read);
                    let loaded = self.load(thread, from, (element, element), how)?;
                    data.put(index * part, &loaded, part);
                }
                Ok(data)
            }
            SimdgroupMatrixOp::Store => {
                self.use_value(thread, args[0], span);
                let element = self.pointee(thread, args[1]);
                let part = self.shapes.size(element);
                for (index, to) in
                    (self.addresses(thread, &args[1..], span).into_iter()).enumerate()
                {
                    let from = index * part..(index + 1) * part;
                    let data = thread.value(args[0]).part(from, part);
                    self.store(thread, to, element, &data, (span, How::Write))?;
                }
                Ok(Data::default())
            }
            SimdgroupMatrixOp::Elements => {
                let data = thread.value(args[0]);
                Ok(data.part(0..data.bytes.len().min(size), size))
            }
            SimdgroupMatrixOp::WithElements => {
                let data = thread.value(args[1]);
                Ok(data.part(0..data.bytes.len().min(size), size))
            }
            SimdgroupMatrixOp::Multiply | SimdgroupMatrixOp::MultiplyAccumulate => {
                Ok(Data::zero(size))
            }
        }
    }

    fn pointee(&self, thread: &Thread, pointer: Handle<Value>) -> Handle<Type> {
        let ty = self.type_of(thread, pointer);
        match self.module.types[ty] {
            Type::Pointer { pointee, .. } => pointee,
            _ => ty,
        }
    }

    /// Where a lane's two elements are in memory: pointer, elements per row, origin's column and
    /// row, whether rows and columns change places.
    fn addresses(&mut self, thread: &Thread, args: &[Handle<Value>], span: Span) -> [u64; 2] {
        for &arg in args {
            self.use_value(thread, arg, span);
        }
        let argument = |index: usize| self.number(thread, args[index]).integer();
        let (length, origin) = (argument(1), (argument(2), argument(3)));
        let transposes = argument(4) != 0;
        let stride = self.module.types.stride(self.pointee(thread, args[0]));
        let start = thread.value(args[0]).bits();
        let (row, column) = home(thread.index % SIMD_WIDTH);
        [column, column + 1].map(|column| {
            let (row, column) = match transposes {
                true => (column as i128, row as i128),
                false => (row as i128, column as i128),
            };
            let element = (row + origin.1)
                .wrapping_mul(length)
                .wrapping_add(column + origin.0);
            moved(start, element.wrapping_mul(stride.into()))
        })
    }
}
