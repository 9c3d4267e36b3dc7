//! The command line of mlx-native. Errors are one plain sentence on stderr with exit status 1;
//! wrong usage gives 2.

mod argument;
mod check;
mod files;
mod npy;
mod proof;
mod run;
mod train;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mlx_native::{DeviceKind, Execution, MlxDevice};

/// Metal kernels, checked and run on any machine.
#[derive(Parser)]
#[command(name = "mlx-native", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the devices that kernels can run on.
    Devices,
    /// List the ops: what they compute, their gradients and their kernels.
    Ops {
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// Prove that ops are right on this machine: forward against f64, backward against finite
    /// differences, and every check against wrong numbers.
    Verify {
        /// The ops; all of them if none is named.
        #[arg(value_name = "OP")]
        ops: Vec<String>,
        /// Where to run them: cpu, cuda or metal; the best there is if left out.
        #[arg(long)]
        device: Option<String>,
        /// Run kernel texts only, no native implementations.
        #[arg(long)]
        kernels_only: bool,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// Compile Metal files: list their kernels and arguments, or what is wrong with them.
    Check {
        /// The files.
        #[arg(required = true, value_name = "FILE.metal")]
        files: Vec<PathBuf>,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// Run a kernel of a Metal file on .npy arrays.
    Run(run::Arguments),
    /// Train a model.
    Train(train::Arguments),
}

/// How kernels run if only their texts are wanted, or not.
fn execution(kernels_only: bool) -> Execution {
    match kernels_only {
        true => Execution::KernelText,
        false => Execution::Native,
    }
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Devices => devices(),
        Command::Ops { json } => Ok(proof::list(json)),
        Command::Verify {
            ops,
            device,
            kernels_only,
            json,
        } => open(device.as_deref()).and_then(|device| {
            device.set_execution(execution(kernels_only));
            stop_on_ctrl_c(&device)?;
            proof::verify(&ops, &device, json)
        }),
        Command::Check { files, json } => check::check(&files, json),
        Command::Run(arguments) => run::run(&arguments),
        Command::Train(arguments) => train::train(&arguments),
    };
    match result {
        Ok(status) => status,
        Err(message) => {
            eprintln!("error: {}", message.trim_end());
            ExitCode::FAILURE
        }
    }
}

fn devices() -> Result<ExitCode, String> {
    for kind in [DeviceKind::Metal, DeviceKind::Cuda(0), DeviceKind::Cpu] {
        match MlxDevice::open(kind) {
            Ok(device) => println!("{kind}: {}", device.name()),
            Err(error) => println!("{kind}: {error}"),
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The device asked for, or the best there is.
fn open(device: Option<&str>) -> Result<MlxDevice, String> {
    let opened = match device {
        Some(text) => text.parse().and_then(MlxDevice::open),
        None => MlxDevice::new(),
    };
    opened.map_err(|error| error.to_string())
}

/// Ends the device's work when the user presses ctrl-c.
fn stop_on_ctrl_c(device: &MlxDevice) -> Result<(), String> {
    let interrupt = device.interrupt_handle();
    ctrlc::set_handler(move || interrupt.interrupt())
        .map_err(|error| format!("cannot watch for ctrl-c: {error}"))
}
