//! The command line of mlx-native. Errors are one plain sentence on stderr with exit status 1;
//! wrong usage gives 2.

mod argument;
mod check;
mod npy;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mlx_native::{DeviceKind, MlxDevice};

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
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Devices => devices(),
        Command::Check { files, json } => check::check(&files, json),
        Command::Run(arguments) => run::run(&arguments),
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
