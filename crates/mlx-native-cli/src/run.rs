//! `mlx-native run`: one dispatch of a kernel from a file, with .npy arrays in and out.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use mlx_native::error::Slot;
use mlx_native::{DeviceKind, KernelArgument, KernelRegistry, MTLSize, MlxBuffer, MlxDevice};

use crate::argument::{self, Spec};
use crate::{check, npy};

/// What is run.
#[derive(clap::Args)]
pub struct Arguments {
    /// The file.
    #[arg(value_name = "FILE.metal")]
    file: PathBuf,
    /// The kernel.
    #[arg(long, value_name = "NAME")]
    kernel: String,
    /// Threads in each dimension.
    #[arg(long, value_name = "X[,Y[,Z]]")]
    grid: String,
    /// Threads of a threadgroup in each dimension.
    #[arg(long, value_name = "X[,Y[,Z]]")]
    threadgroup: String,
    /// Where to run it: cpu, cuda or metal; the best there is if left out.
    #[arg(long)]
    device: Option<String>,
    /// A buffer: I=@in.npy, I=@in.npy>out.npy, `I=f32[64,32]>out.npy` or I=u32:1024.
    #[arg(long = "arg", value_name = "I=SPEC")]
    args: Vec<String>,
    /// The bytes of a threadgroup argument.
    #[arg(long = "threadgroup-memory", value_name = "I=BYTES")]
    threadgroup_memory: Vec<String>,
}

enum Bound {
    Buffer(MlxBuffer, Option<PathBuf>),
    Bytes(Vec<u8>),
}

/// Runs the kernel and saves what was asked for; nothing is saved unless all of it can be.
pub fn run(arguments: &Arguments) -> Result<ExitCode, String> {
    let shown = arguments.file.display().to_string();
    let compilation = check::compile(&arguments.file)?
        .map_err(|problems| format!("{shown} does not compile\n{problems}"))?;
    let names: Vec<_> = compilation
        .module
        .kernels
        .iter()
        .map(|k| k.name.to_string())
        .collect();
    if !names.contains(&arguments.kernel) {
        return Err(format!(
            "{shown} has no kernel `{}`; it has {}",
            arguments.kernel,
            if names.is_empty() {
                "none".to_string()
            } else {
                names.join(", ")
            }
        ));
    }
    let device = open(arguments.device.as_deref())?;
    let interrupt = device.interrupt_handle();
    ctrlc::set_handler(move || interrupt.interrupt())
        .map_err(|error| format!("cannot watch for ctrl-c: {error}"))?;

    let mut bound = Vec::new();
    for text in &arguments.args {
        let (index, spec) = argument::indexed(text)?;
        bound.push((index, bind(&device, argument::parse(spec)?)?));
    }
    let mut threadgroup_memory = Vec::new();
    for text in &arguments.threadgroup_memory {
        let (index, bytes) = argument::indexed(text)?;
        let bytes: u64 = bytes
            .parse()
            .map_err(|_| format!("`{bytes}` in `{text}` is no number of bytes"))?;
        threadgroup_memory.push((index, bytes));
    }
    let size = |text: &str| argument::size(text).map(|[x, y, z]| MTLSize::new(x, y, z));
    let (grid, threadgroup) = (size(&arguments.grid)?, size(&arguments.threadgroup)?);

    let mut registry = KernelRegistry::new();
    let text = compilation
        .sources
        .files()
        .find(|source| source.name() == shown)
        .ok_or_else(|| format!("{shown} was compiled under another name"))?
        .text();
    registry.register_source(&arguments.kernel, text);
    let pipeline = registry
        .get_pipeline(&arguments.kernel, device.metal_device())
        .map_err(|error| error.to_string())?;
    for (index, value) in &bound {
        let written = pipeline
            .signature()
            .arguments
            .iter()
            .find(|a| a.slot == Slot::Buffer(*index as u32));
        if let (Bound::Bytes(_), Some(a)) = (value, written.filter(|a| a.writable)) {
            return Err(format!(
                "argument `{}` (buffer {index}) is written by the kernel; give it an array, not a scalar",
                a.name
            ));
        }
    }
    let mut encoder = device
        .command_encoder()
        .map_err(|error| error.to_string())?;
    let bindings: Vec<_> = bound
        .iter()
        .map(|(index, value)| {
            let argument = match value {
                Bound::Buffer(buffer, _) => KernelArgument::Buffer(buffer),
                Bound::Bytes(bytes) => KernelArgument::Bytes(bytes),
            };
            (*index, argument)
        })
        .collect();
    encoder.encode_with(pipeline, &bindings, &threadgroup_memory, grid, threadgroup);
    encoder
        .commit_and_wait()
        .map_err(|error| error.to_string())?;
    save(&bound)?;
    Ok(ExitCode::SUCCESS)
}

fn open(name: Option<&str>) -> Result<MlxDevice, String> {
    let device = match name {
        None => MlxDevice::new(),
        Some(name) => {
            let kind: DeviceKind = name.parse().map_err(|error| format!("{error}"))?;
            MlxDevice::open(kind)
        }
    };
    device.map_err(|error| error.to_string())
}

fn bind(device: &MlxDevice, spec: Spec) -> Result<Bound, String> {
    let (dtype, shape, bytes, output) = match spec {
        Spec::Scalars(bytes) => return Ok(Bound::Bytes(bytes)),
        Spec::File(input, output) => {
            let array = npy::read(&input)?;
            (array.dtype, array.shape, Some(array.bytes), output)
        }
        Spec::Zeros(dtype, shape, output) => (dtype, shape, None, output),
    };
    let count = shape
        .iter()
        .try_fold(dtype.size_of(), |all, &n| all.checked_mul(n));
    let count = count.ok_or_else(|| format!("an array of shape {shape:?} is too large"))?;
    let mut buffer = device
        .alloc_buffer(count.max(1), dtype, shape)
        .map_err(|error| error.to_string())?;
    if let Some(bytes) = bytes {
        let mut view = buffer.as_mut_bytes().map_err(|error| error.to_string())?;
        for (to, from) in view.iter_mut().zip(bytes) {
            *to = from;
        }
    }
    Ok(Bound::Buffer(buffer, output))
}

/// Writes every output beside its place first, and moves them there when all are complete.
fn save(bound: &[(u64, Bound)]) -> Result<(), String> {
    let mut ready = Vec::new();
    for (_, value) in bound {
        let Bound::Buffer(buffer, Some(path)) = value else {
            continue;
        };
        let view = buffer.as_bytes().map_err(|error| error.to_string())?;
        let len = buffer.element_count() * buffer.dtype().size_of();
        let file = npy::encode(
            buffer.dtype(),
            buffer.shape(),
            view.get(..len).unwrap_or(&view),
        )?;
        let failed =
            |error: &dyn std::fmt::Display| format!("cannot write {}: {error}", path.display());
        let folder = path
            .parent()
            .filter(|p| !p.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(|e| failed(&e))?;
        temporary.write_all(&file).map_err(|e| failed(&e))?;
        ready.push((temporary, path));
    }
    for (temporary, path) in ready {
        temporary
            .persist(path)
            .map_err(|e| format!("cannot write {}: {}", path.display(), e.error))?;
    }
    Ok(())
}
