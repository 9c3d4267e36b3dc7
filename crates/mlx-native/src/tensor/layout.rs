//! Layouts: where the elements of a tensor are in its storage. Only numbers, no memory.

use crate::error::{MlxError, Result};
use crate::ops::binary::Broadcast;
use crate::ops::copy::{MAX_RANK, View};

/// The shape of a tensor, and how many elements of storage lie between neighbours of each
/// dimension. A stride may be negative, or 0 where an element repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub shape: Vec<usize>,
    pub strides: Vec<isize>,
    /// The place of the first element.
    pub offset: usize,
}

impl Layout {
    /// Row-major order from the start of the storage.
    pub fn contiguous(shape: &[usize]) -> Self {
        Self {
            shape: shape.to_vec(),
            strides: row_major(shape),
            offset: 0,
        }
    }

    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    pub fn element_count(&self) -> usize {
        product(&self.shape)
    }

    /// Whether the elements lie in row-major order without gaps, wherever they start.
    pub fn is_dense(&self) -> bool {
        let expected = row_major(&self.shape);
        let mut dimensions = self.shape.iter().zip(self.strides.iter().zip(&expected));
        self.element_count() == 0 || dimensions.all(|(&n, (a, b))| n == 1 || a == b)
    }

    /// Whether the elements are the storage's first in row-major order: what most kernels take.
    pub fn is_contiguous(&self) -> bool {
        self.offset == 0 && self.is_dense()
    }

    /// The place of the element that is number `index` in row-major order.
    pub fn place_of(&self, mut index: usize) -> usize {
        let mut place = self.offset as isize;
        for (&length, &stride) in self.shape.iter().zip(&self.strides).rev() {
            place += (index % length) as isize * stride;
            index /= length;
        }
        place as usize
    }

    /// Dimension `order[i]` becomes dimension i.
    pub fn permute(&self, order: &[usize]) -> Self {
        Self {
            shape: order.iter().map(|&d| self.shape[d]).collect(),
            strides: order.iter().map(|&d| self.strides[d]).collect(),
            offset: self.offset,
        }
    }

    /// The elements `start`, `start + step`, ... of a dimension, `count` of them.
    pub fn slice(&self, dimension: usize, start: usize, step: isize, count: usize) -> Self {
        let mut layout = self.clone();
        layout.shape[dimension] = count;
        let stride = self.strides[dimension];
        // Where there is nothing, places mean nothing, and lengths beside a 0 may be enormous.
        if layout.element_count() > 0 {
            layout.offset = layout.offset.wrapping_add_signed(start as isize * stride);
        }
        // The step to a second element lies within the storage; without one it may be any number.
        if count > 1 {
            layout.strides[dimension] = stride.saturating_mul(step);
        }
        layout
    }

    /// The same elements repeated to a larger shape, if the shapes allow it: dimensions are matched
    /// from the last one, and those of length 1 repeat.
    pub fn broadcast_to(&self, shape: &[usize]) -> Option<Self> {
        let added = shape.len().checked_sub(self.rank())?;
        let mut strides = vec![0; added];
        for (d, &length) in shape[added..].iter().enumerate() {
            strides.push(match self.shape[d] {
                own if own == length => self.strides[d],
                1 => 0,
                _ => return None,
            });
        }
        Some(Self {
            shape: shape.to_vec(),
            strides,
            offset: self.offset,
        })
    }

    /// Another shape for the same elements in the same order, if no copy is needed.
    pub fn reshape(&self, shape: &[usize]) -> Option<Self> {
        self.is_dense().then(|| Self {
            offset: self.offset,
            ..Self::contiguous(shape)
        })
    }

    /// The layout as the copying kernels take it.
    pub fn to_view(&self, operation: &'static str) -> Result<View> {
        let (shape, [strides]) = collapse(&self.shape, [&self.strides]);
        let mut view = View {
            n: count(operation, self.element_count())?,
            rank: rank(operation, shape.len())?,
            offset: place(operation, self.offset)?,
            ..View::default()
        };
        for (d, (&length, &stride)) in shape.iter().zip(&strides).enumerate() {
            view.shape[d] = count(operation, length)?;
            view.stride[d] = distance(operation, stride)?;
        }
        self.check_reach(operation)?;
        Ok(view)
    }

    /// Two layouts of the same shape as the broadcasting kernels take them.
    pub fn to_broadcast(operation: &'static str, a: &Self, b: &Self) -> Result<Broadcast> {
        let (shape, [a_strides, b_strides]) = collapse(&a.shape, [&a.strides, &b.strides]);
        let mut broadcast = Broadcast {
            n: count(operation, a.element_count())?,
            rank: rank(operation, shape.len())?,
            a_offset: place(operation, a.offset)?,
            b_offset: place(operation, b.offset)?,
            ..Broadcast::default()
        };
        for (d, &length) in shape.iter().enumerate() {
            broadcast.shape[d] = count(operation, length)?;
            broadcast.a_stride[d] = distance(operation, a_strides[d])?;
            broadcast.b_stride[d] = distance(operation, b_strides[d])?;
        }
        a.check_reach(operation)?;
        b.check_reach(operation)?;
        Ok(broadcast)
    }

    /// Kernels compute places in 32 bits: the furthest one must fit.
    fn check_reach(&self, operation: &'static str) -> Result<()> {
        let furthest = |(&n, &stride): (&usize, &isize)| n.saturating_sub(1) as isize * stride;
        let reach: isize = self
            .shape
            .iter()
            .zip(&self.strides)
            .map(furthest)
            .filter(|&d| d > 0)
            .sum();
        place(operation, self.offset.saturating_add_signed(reach)).map(|_| ())
    }
}

/// The strides of row-major order. They are exact where there are elements; lengths beside a 0 may
/// be more than can be counted.
pub(crate) fn row_major(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1isize; shape.len()];
    for d in (1..shape.len()).rev() {
        let length = isize::try_from(shape[d].max(1)).unwrap_or(isize::MAX);
        strides[d - 1] = strides[d].saturating_mul(length);
    }
    strides
}

/// The number of elements of a shape, or of a part of one: 0 if any length is, whatever the others;
/// otherwise at most `usize::MAX`.
pub(crate) fn product(shape: &[usize]) -> usize {
    match shape.contains(&0) {
        true => 0,
        false => shape
            .iter()
            .fold(1, |product, &n| product.saturating_mul(n)),
    }
}

/// The shape that two shapes broadcast to: dimensions are matched from the last one, and those of
/// length 1 repeat.
pub(crate) fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let length = |shape: &[usize], d: usize| {
        let missing = rank - shape.len();
        d.checked_sub(missing).map_or(1, |d| shape[d])
    };
    (0..rank)
        .map(|d| match (length(a, d), length(b, d)) {
            (x, y) if x == y => Some(x),
            (1, y) => Some(y),
            (x, 1) => Some(x),
            _ => None,
        })
        .collect()
}

/// Drops dimensions of length 1 and merges neighbours that are one run in every operand, so that
/// kernels divide as little as possible.
fn collapse<const N: usize>(
    shape: &[usize],
    strides: [&[isize]; N],
) -> (Vec<usize>, [Vec<isize>; N]) {
    let mut merged: Vec<usize> = Vec::new();
    let mut merged_strides: [Vec<isize>; N] = std::array::from_fn(|_| Vec::new());
    for (d, &length) in shape.iter().enumerate() {
        if length == 1 {
            continue;
        }
        let runs_on = (0..N).all(|i| {
            merged_strides[i]
                .last()
                .is_some_and(|&outer| outer == strides[i][d] * length as isize)
        });
        match merged.last_mut() {
            Some(last) if runs_on => *last *= length,
            _ => {
                merged.push(length);
                merged_strides.iter_mut().for_each(|s| s.push(0));
            }
        }
        for (merged, own) in merged_strides.iter_mut().zip(strides) {
            if let Some(last) = merged.last_mut() {
                *last = own[d];
            }
        }
    }
    (merged, merged_strides)
}

fn too_large<T>(operation: &'static str, what: &str, value: impl std::fmt::Display) -> Result<T> {
    Err(MlxError::TooLarge {
        operation,
        message: format!("{what} {value}"),
    })
}

/// A count as kernels take it.
pub(crate) fn count(operation: &'static str, value: usize) -> Result<u32> {
    u32::try_from(value).or_else(|_| too_large(operation, "the element count is", value))
}

fn place(operation: &'static str, value: usize) -> Result<i32> {
    i32::try_from(value).or_else(|_| too_large(operation, "an element lies at", value))
}

fn distance(operation: &'static str, value: isize) -> Result<i32> {
    i32::try_from(value).or_else(|_| too_large(operation, "a stride is", value))
}

fn rank(operation: &'static str, value: usize) -> Result<u32> {
    match value {
        0..=MAX_RANK => Ok(value as u32),
        _ => too_large(operation, "dimensions that cannot be merged:", value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_broadcast_as_numpy_does() {
        assert_eq!(broadcast(&[2, 3], &[3]), Some(vec![2, 3]));
        assert_eq!(broadcast(&[4, 1], &[1, 5]), Some(vec![4, 5]));
        assert_eq!(broadcast(&[], &[2]), Some(vec![2]));
        assert_eq!(broadcast(&[0], &[1]), Some(vec![0]));
        assert_eq!(broadcast(&[2], &[3]), None);
        assert_eq!(broadcast(&[0], &[2]), None);
    }

    #[test]
    fn runs_merge_only_where_every_operand_runs_on() {
        let shape = [2, 3, 4, 1];
        let (merged, [a]) = collapse(&shape, [&[12, 4, 1, 9]]);
        assert_eq!((merged, a), (vec![24], vec![1]));
        let (merged, [a, b]) = collapse(&shape, [&[12, 4, 1, 9], &[4, 0, 1, 0]]);
        assert_eq!(merged, [2, 3, 4]);
        assert_eq!((a, b), (vec![12, 4, 1], vec![4, 0, 1]));
        let (merged, [a]) = collapse(&[2, 3], [&[-3, -1]]);
        assert_eq!((merged, a), (vec![6], vec![-1]));
        let (merged, [a]) = collapse(&[5, 6], [&[0, 0]]);
        assert_eq!((merged, a), (vec![30], vec![0]));
    }

    #[test]
    fn a_backward_slice_starts_at_its_last_element() {
        let layout = Layout::contiguous(&[4, 5]).slice(1, 4, -2, 3);
        assert_eq!(
            (layout.offset, layout.shape[1], layout.strides[1]),
            (4, 3, -2)
        );
        assert!(!layout.is_dense());
        assert!(Layout::contiguous(&[4, 5]).slice(0, 1, 1, 2).is_dense());
    }

    #[test]
    fn places_beyond_32_bits_are_refused() {
        let mut layout = Layout::contiguous(&[1 << 16, 1 << 16]);
        assert!(layout.to_view("copy").is_err());
        layout.strides = vec![0, 0];
        assert!(layout.to_view("copy").is_err(), "2^32 elements");
        let far = Layout {
            shape: vec![2],
            strides: vec![1 << 40],
            offset: 0,
        };
        assert!(matches!(
            far.to_view("copy"),
            Err(MlxError::TooLarge { .. })
        ));
    }
}
