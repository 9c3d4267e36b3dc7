//! Streams: the work of tensors on one device, in order.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::buffer::MlxBuffer;
use crate::device::{Execution, MlxDevice};
use crate::dtypes::DType;
use crate::encoder::CommandEncoder;
use crate::error::{MlxError, Result};
use crate::kernel_registry::KernelRegistry;
use crate::metal::DeviceRef;
use crate::sync::lock;

/// Dispatches that are recorded before they are committed, so that a GPU is kept busy while the
/// host records the next ones.
const BATCH: usize = 64;

/// A device with the kernels and the recorded work of its tensors. Clones are the same stream.
///
/// Ops on tensors record work and return at once. It is committed a batch at a time, and when the
/// host reads a tensor.
///
/// ```
/// use mlx_native::{MlxDevice, Stream, Tensor};
///
/// let stream = Stream::new(&MlxDevice::new()?)?;
/// let x = Tensor::from_slice(&stream, &[1.0f32, 4.0], [2])?;
/// assert_eq!(x.sqrt()?.to_vec::<f32>()?, [1.0, 2.0]);
/// # Ok::<(), mlx_native::MlxError>(())
/// ```
#[derive(Clone)]
pub struct Stream {
    shared: Arc<Shared>,
}

struct Shared {
    /// Different for every stream of the process, for messages.
    number: u64,
    device: MlxDevice,
    execution: Execution,
    work: Mutex<Work>,
}

struct Work {
    encoder: CommandEncoder,
    registry: KernelRegistry,
    recorded: usize,
}

impl Stream {
    /// A stream of work on a device.
    ///
    /// # Errors
    ///
    /// If the device cannot make a command encoder.
    pub fn new(device: &MlxDevice) -> Result<Self> {
        Ok(Self::with(
            device,
            KernelRegistry::new(),
            device.execution(),
        ))
    }

    /// Another stream on the same device, which knows the same kernels now and runs them in this
    /// way.
    ///
    /// ```
    /// use mlx_native::{Execution, MlxDevice, Stream};
    /// let stream = Stream::new(&MlxDevice::new()?)?;
    /// let checked = stream.with_execution(Execution::Checked);
    /// assert_eq!(checked.execution(), Execution::Checked);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn with_execution(&self, execution: Execution) -> Self {
        let registry = lock(&self.shared.work).registry.clone();
        Self::with(self.device(), registry, execution)
    }

    fn with(device: &MlxDevice, registry: KernelRegistry, execution: Execution) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let work = Work {
            encoder: CommandEncoder::for_stream(device.metal_device().clone(), execution),
            registry,
            recorded: 0,
        };
        Self {
            shared: Arc::new(Shared {
                number: NEXT.fetch_add(1, Ordering::Relaxed),
                device: device.clone(),
                execution,
                work: Mutex::new(work),
            }),
        }
    }

    /// How its kernels run.
    pub fn execution(&self) -> Execution {
        self.shared.execution
    }

    /// The device.
    pub fn device(&self) -> &MlxDevice {
        &self.shared.device
    }

    /// Registers the text of a kernel in this stream's registry, in place of what had the name
    /// before: a built-in kernel too.
    pub fn register_source(&self, name: impl Into<String>, msl_source: impl Into<String>) {
        lock(&self.shared.work)
            .registry
            .register_source(name, msl_source);
    }

    /// Commits recorded work without waiting for it.
    ///
    /// # Errors
    ///
    /// What was wrong with recorded work.
    pub fn commit(&self) -> Result<()> {
        lock(&self.shared.work).commit()
    }

    /// Commits recorded work and waits until the device has done it.
    ///
    /// # Errors
    ///
    /// What was wrong with recorded work, or went wrong on the device since the last call. Reading
    /// a tensor that was to come of it stays an error, and of what is made from that.
    pub fn synchronize(&self) -> Result<()> {
        let mut work = lock(&self.shared.work);
        work.recorded = 0;
        work.encoder.commit_and_wait()
    }

    /// Records work.
    pub(crate) fn record(
        &self,
        dispatch: impl FnOnce(&mut CommandEncoder, &mut KernelRegistry, &DeviceRef) -> Result<()>,
    ) -> Result<()> {
        let mut work = lock(&self.shared.work);
        let Work {
            encoder, registry, ..
        } = &mut *work;
        dispatch(encoder, registry, self.shared.device.metal_device())?;
        if let Some(error) = encoder.take_error() {
            return Err(error);
        }
        work.recorded += 1;
        if work.recorded >= BATCH {
            work.commit()?;
        }
        Ok(())
    }

    /// A buffer of zeroes for this shape.
    pub(crate) fn allocate(&self, dtype: DType, shape: &[usize]) -> Result<MlxBuffer> {
        // A kernel may be bound to a tensor without elements; it then has room for one.
        let count = crate::buffer::element_count(dtype, shape)?.max(1);
        self.device()
            .alloc_buffer(count * dtype.size_of(), dtype, shape.to_vec())
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Refuses an argument on another stream than this one.
    pub(crate) fn expect(
        &self,
        operation: &'static str,
        argument: &'static str,
        found: &Self,
    ) -> Result<()> {
        if self.is(found) {
            return Ok(());
        }
        Err(MlxError::StreamMismatch {
            operation,
            argument,
            expected: self.to_string(),
            found: found.to_string(),
        })
    }
}

impl std::fmt::Display for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (number, device) = (self.shared.number, self.device().name());
        write!(f, "stream {number} of {device}")
    }
}

impl Work {
    fn commit(&mut self) -> Result<()> {
        self.recorded = 0;
        self.encoder.commit()
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream")
            .field("device", &self.device().name())
            .finish_non_exhaustive()
    }
}
