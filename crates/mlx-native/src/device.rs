//! Devices: where buffers live and kernels run.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::backend::Backend;
use crate::backend::cpu::CpuBackend;
use crate::buffer::MlxBuffer;
use crate::dtypes::{DType, Element};
use crate::encoder::CommandEncoder;
use crate::error::{MlxError, Result};
use crate::metal::DeviceRef;
use crate::queue::Queue;
use crate::sync::lock;

/// A sort of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    /// This machine's processor.
    Cpu,
    /// The NVIDIA GPU of this number.
    Cuda(usize),
    /// The Apple GPU.
    Metal,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
            Self::Metal => f.write_str("metal"),
        }
    }
}

impl FromStr for DeviceKind {
    type Err = MlxError;

    /// Reads `cpu`, `metal`, `cuda` (the first one) or `cuda:N`.
    fn from_str(text: &str) -> Result<Self> {
        let number = |digits: &str| digits.parse().ok().map(Self::Cuda);
        match text {
            "cpu" => Some(Self::Cpu),
            "metal" => Some(Self::Metal),
            "cuda" => Some(Self::Cuda(0)),
            _ => text.strip_prefix("cuda:").and_then(number),
        }
        .ok_or_else(|| {
            MlxError::InvalidArgument(format!(
                "`{text}` is no device; use cpu, metal, cuda or cuda:N"
            ))
        })
    }
}

/// A device. Clones are the same device.
///
/// Committed work runs in the order in which it was committed, whichever encoder or thread it came
/// from. Buffers and pipelines belong to the device that made them; two calls of [`MlxDevice::new`]
/// make two devices, which run side by side.
#[derive(Clone)]
pub struct MlxDevice {
    handle: DeviceRef,
}

/// How kernels run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Execution {
    /// As fast as the device can: a built-in kernel that has a native implementation uses it.
    #[default]
    Native,
    /// Every kernel by its text, so that the two can be compared.
    KernelText,
    /// Every kernel by its text, a thread after another, looking for what no kernel may do: data
    /// races, values that nothing wrote, barriers that not all threads reach, shifts and indices out
    /// of range, integer divisions by zero. What is found is [`MlxError::Misbehaved`]. It is slow,
    /// and for the CPU only: other devices refuse such work.
    Checked,
}

/// What all handles of a device share.
pub(crate) struct Shared {
    /// Different for every device of the process.
    pub id: u64,
    pub backend: Box<dyn Backend>,
    pub queue: Queue,
    pub execution: Mutex<Execution>,
    pub interrupt: InterruptHandle,
}

impl MlxDevice {
    /// The best device present: Metal, else CUDA, else the CPU.
    ///
    /// # Errors
    ///
    /// If not even the CPU can be used.
    ///
    /// ```
    /// let device = mlx_native::MlxDevice::new()?;
    /// println!("{}", device.name());
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn new() -> Result<Self> {
        Self::open(DeviceKind::Metal)
            .or_else(|_| Self::open(DeviceKind::Cuda(0)))
            .or_else(|_| Self::open(DeviceKind::Cpu))
    }

    /// A device of this kind.
    ///
    /// # Errors
    ///
    /// [`MlxError::DeviceUnavailable`] if the machine or this build has none.
    pub fn open(kind: DeviceKind) -> Result<Self> {
        let unavailable = |back_end: &str| {
            let reason = format!("this build has no {back_end} back end; use cpu");
            Err(MlxError::DeviceUnavailable { kind, reason })
        };
        let interrupt = InterruptHandle::default();
        match kind {
            DeviceKind::Cpu => Ok(Self::with_backend(
                Box::new(CpuBackend::new(interrupt.clone())),
                interrupt,
            )),
            DeviceKind::Cuda(_) => unavailable("CUDA"),
            DeviceKind::Metal => unavailable("Metal"),
        }
    }

    fn with_backend(backend: Box<dyn Backend>, interrupt: InterruptHandle) -> Self {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        Self {
            handle: DeviceRef {
                shared: Arc::new(Shared {
                    id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
                    backend,
                    queue: Queue::default(),
                    execution: Mutex::default(),
                    interrupt,
                }),
            },
        }
    }

    /// The device's name, for people.
    pub fn name(&self) -> &str {
        self.handle.name()
    }

    /// What sort of device it is.
    pub fn kind(&self) -> DeviceKind {
        self.handle.shared.backend.kind()
    }

    /// A buffer of zeroes. `byte_len` may be more than the shape needs; kernels see all of it.
    ///
    /// # Errors
    ///
    /// If `byte_len` is 0 or less than `dtype` times `shape`, if that product overflows, or if the
    /// memory cannot be had. A shape without elements needs 1 byte.
    ///
    /// ```
    /// use mlx_native::{DType, MlxDevice};
    /// let device = MlxDevice::new()?;
    /// let buffer = device.alloc_buffer(24, DType::F32, vec![2, 3])?;
    /// assert_eq!(buffer.as_slice::<f32>()?[..], [0.0; 6]);
    /// assert!(device.alloc_buffer(20, DType::F32, vec![2, 3]).is_err());
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn alloc_buffer(
        &self,
        byte_len: usize,
        dtype: DType,
        shape: Vec<usize>,
    ) -> Result<MlxBuffer> {
        MlxBuffer::allocate(&self.handle, byte_len, dtype, shape)
    }

    /// A buffer with these elements.
    ///
    /// # Errors
    ///
    /// If `shape` does not have as many elements as `data`, or the memory cannot be had.
    ///
    /// ```
    /// let device = mlx_native::MlxDevice::new()?;
    /// let buffer = device.buffer_from_slice(&[1i32, 2, 3, 4], vec![2, 2])?;
    /// assert_eq!(buffer.as_slice::<i32>()?[3], 4);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn buffer_from_slice<T: Element>(
        &self,
        data: &[T],
        shape: Vec<usize>,
    ) -> Result<MlxBuffer> {
        let byte_len = size_of_val(data).max(1);
        crate::buffer::check_len("buffer_from_slice", T::DTYPE, &shape, data.len())?;
        let mut buffer = self.alloc_buffer(byte_len, T::DTYPE, shape)?;
        buffer.as_mut_slice::<T>()?.copy_from_slice(data);
        Ok(buffer)
    }

    /// An encoder, which records dispatches and commits them.
    ///
    /// # Errors
    ///
    /// If the device cannot make one; the CPU always can.
    pub fn command_encoder(&self) -> Result<CommandEncoder> {
        Ok(CommandEncoder::new(self.handle.clone()))
    }

    /// The handle that pipelines are compiled for.
    pub fn metal_device(&self) -> &DeviceRef {
        &self.handle
    }

    /// How kernels run: [`Execution::Native`] at first. It holds for encoders and streams made from
    /// now on, of all clones; those that are there keep what they were made with.
    ///
    /// ```
    /// use mlx_native::{Execution, MlxDevice};
    ///
    /// let device = MlxDevice::new()?;
    /// device.set_execution(Execution::KernelText);
    /// assert_eq!(device.execution(), Execution::KernelText);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn set_execution(&self, execution: Execution) {
        *lock(&self.handle.shared.execution) = execution;
    }

    /// How kernels run of encoders and streams made now; see [`set_execution`](Self::set_execution).
    pub fn execution(&self) -> Execution {
        *lock(&self.handle.shared.execution)
    }

    /// Whether the built-in kernel of this name has a native implementation here.
    ///
    /// ```
    /// let device = mlx_native::MlxDevice::open(mlx_native::DeviceKind::Cpu)?;
    /// assert!(device.has_native("matmul_f32") && !device.has_native("exp_f32"));
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn has_native(&self, kernel: &str) -> bool {
        self.handle.shared.backend.has_native(kernel)
    }

    /// A handle that ends running work from another thread.
    pub fn interrupt_handle(&self) -> InterruptHandle {
        self.handle.shared.interrupt.clone()
    }
}

impl fmt::Debug for MlxDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MlxDevice")
            .field("kind", &self.kind())
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

/// Ends a device's work early. Clones are the same handle.
///
/// Once interrupted, running and later work of the device ends with [`MlxError::Interrupted`],
/// until [`clear`](Self::clear) is called.
///
/// ```
/// let device = mlx_native::MlxDevice::new()?;
/// let handle = device.interrupt_handle();
/// std::thread::spawn(move || handle.interrupt()).join().ok();
/// assert!(device.interrupt_handle().is_interrupted());
/// # Ok::<(), mlx_native::MlxError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct InterruptHandle {
    flag: Arc<AtomicBool>,
}

impl InterruptHandle {
    /// Ends running work, and all later work until [`clear`](Self::clear).
    pub fn interrupt(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Lets work run again.
    pub fn clear(&self) {
        self.flag.store(false, Ordering::Relaxed);
    }

    /// Whether it is interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.flag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_as_they_are_printed() {
        for kind in [DeviceKind::Cpu, DeviceKind::Metal, DeviceKind::Cuda(3)] {
            assert_eq!(kind.to_string().parse::<DeviceKind>().unwrap(), kind);
        }
        assert_eq!("cuda".parse::<DeviceKind>().unwrap(), DeviceKind::Cuda(0));
        assert!("gpu".parse::<DeviceKind>().is_err() && "cuda:x".parse::<DeviceKind>().is_err());
    }
}
