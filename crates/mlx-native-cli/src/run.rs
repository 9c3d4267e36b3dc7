//! `mlx-native run`: one dispatch of a kernel from a file, with .npy arrays in and out.

use std::path::PathBuf;
use std::process::ExitCode;

use mlx_native::error::Slot;
use mlx_native::kernel_registry::FunctionConstants;
use mlx_native::{
    DeviceKind, Execution, KernelArgument, KernelRegistry, MTLSize, MlxBuffer, MlxDevice,
};

use crate::argument::{self, Spec};
use crate::{check, files, npy};

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
    /// Look for data races, values that nothing wrote, missed barriers, and shifts and indices out of
    /// range; slow. What is found is an error, and nothing is saved.
    #[arg(long)]
    check: bool,
    /// A buffer: I=@in.npy, I=@in.npy>out.npy, `I=f32[64,32]>out.npy` or I=u32:1024.
    #[arg(long = "arg", value_name = "I=SPEC")]
    args: Vec<String>,
    /// The bytes of a threadgroup argument.
    #[arg(long = "threadgroup-memory", value_name = "I=BYTES")]
    threadgroup_memory: Vec<String>,
    /// The value of a function constant: 0=bool:true, 1=u32:64.
    #[arg(long = "constant", value_name = "I=TYPE:VALUE")]
    constants: Vec<String>,
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
    let device = crate::open(arguments.device.as_deref())?;
    if arguments.check {
        if device.kind() != DeviceKind::Cpu {
            let kind = device.kind();
            return Err(format!(
                "--check runs on the CPU, not on {kind}; use --device cpu"
            ));
        }
        device.set_execution(Execution::Checked);
    }
    crate::stop_on_ctrl_c(&device)?;

    let mut bound = Vec::new();
    for text in &arguments.args {
        let (index, spec) = argument::indexed(text)?;
        let value = bind(&device, argument::parse(spec)?)?;
        if let Bound::Buffer(_, Some(path)) = &value {
            files::check(path)?;
        }
        bound.push((index, value));
    }
    let mut threadgroup_memory = Vec::new();
    for text in &arguments.threadgroup_memory {
        let (index, bytes) = argument::indexed(text)?;
        let bytes: u64 = bytes
            .parse()
            .map_err(|_| format!("`{bytes}` in `{text}` is no number of bytes"))?;
        threadgroup_memory.push((index, bytes));
    }
    let mut constants = FunctionConstants::new();
    for text in &arguments.constants {
        let (index, value) = argument::constant(text)?;
        if constants.insert(index, value).is_some() {
            return Err(format!("function constant {index} is given twice"));
        }
    }
    let size = |text: &str| argument::size(text).map(|[x, y, z]| MTLSize::new(x, y, z));
    let (grid, threadgroup) = (size(&arguments.grid)?, size(&arguments.threadgroup)?);

    let mut registry = KernelRegistry::new();
    registry.register_compilation(&arguments.kernel, compilation);
    let pipeline = registry
        .get_pipeline_with_constants(&arguments.kernel, device.metal_device(), &constants)
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
    if arguments.check {
        let kernel = &arguments.kernel;
        eprintln!("checked: kernel `{kernel}` does nothing that it must not");
    }
    Ok(ExitCode::SUCCESS)
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

/// Writes every array that was to be saved.
fn save(bound: &[(u64, Bound)]) -> Result<(), String> {
    let mut saved = Vec::new();
    for (_, value) in bound {
        let Bound::Buffer(buffer, Some(path)) = value else {
            continue;
        };
        let view = buffer.as_bytes().map_err(|error| error.to_string())?;
        let len = buffer.element_count() * buffer.dtype().size_of();
        let contents = view.get(..len).unwrap_or(&view);
        let file = npy::encode(buffer.dtype(), buffer.shape(), contents)?;
        saved.push((path.clone(), file));
    }
    files::write(&saved)
}
