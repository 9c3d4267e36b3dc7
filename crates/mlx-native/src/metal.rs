//! The two types of Metal's own API that the explicit layer speaks, the same on every platform.
//! It is not a binding to Metal: that is a back end.

use std::fmt;
use std::sync::Arc;

use crate::device::Shared;

/// A size in three dimensions: of a grid of threads, or of a threadgroup.
///
/// ```
/// let size = mlx_native::MTLSize::new(32, 8, 1);
/// assert_eq!((size.width, size.height, size.depth), (32, 8, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MTLSize {
    /// In x.
    pub width: u64,
    /// In y.
    pub height: u64,
    /// In z.
    pub depth: u64,
}

impl MTLSize {
    /// `width` by `height` by `depth`.
    pub const fn new(width: u64, height: u64, depth: u64) -> Self {
        Self {
            width,
            height,
            depth,
        }
    }

    pub(crate) const fn dimensions(self) -> [u64; 3] {
        [self.width, self.height, self.depth]
    }
}

/// The handle of a device that pipelines are compiled for; see
/// [`MlxDevice::metal_device`](crate::MlxDevice::metal_device).
#[derive(Clone)]
pub struct DeviceRef {
    pub(crate) shared: Arc<Shared>,
}

impl DeviceRef {
    /// The device's name, for people.
    pub fn name(&self) -> &str {
        self.shared.backend.name()
    }
}

impl fmt::Debug for DeviceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceRef")
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}
