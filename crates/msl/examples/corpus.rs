//! Tries the compiler on folders of kernels: `cargo run --release -p msl --example corpus -- FOLDER...`
//!
//! Compiles every `.metal` file below the folders. An included file is looked for beside the file
//! that names it and in the folders above that one. Prints how many files and kernels compile (each
//! instantiation of a kernel template counts as one), then the reasons for the rest, the most
//! frequent first. `-D NAME` defines a macro, `-I FOLDER` is where
//! included files are looked for too. With `--explain TEXT`, also the whole messages that
//! contain the text. With `--build`, also makes every kernel ready for the CPU, its function
//! constants zero, and counts what the executor does not run yet as reasons.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use msl::diag::{Diagnostics, Report, Severity};

/// Why files are refused: one message, names and numbers aside.
#[derive(Default)]
struct Reason {
    count: usize,
    files: Vec<String>,
    example: String,
}

fn kernel_files(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if folder.is_file() {
        files.push(folder.to_path_buf());
        return Ok(());
    }
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            kernel_files(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "metal") {
            files.push(path);
        }
    }
    Ok(())
}

fn resolve(including: &str, wanted: &str, folders: &[PathBuf]) -> Option<(String, String)> {
    let above = Path::new(including).ancestors().skip(1);
    let above = above.filter(|a| !a.as_os_str().is_empty());
    let mut places = above.chain(folders.iter().map(PathBuf::as_path));
    places.find_map(|place| {
        // One name for each file, or `#pragma once` would not know it again.
        let file = place.join(wanted).canonicalize().ok()?;
        let text = std::fs::read_to_string(&file).ok()?;
        Some((file.display().to_string(), text))
    })
}

/// A message with what it quotes left out, so that the same problem of two names is one reason.
fn pattern(message: &str) -> String {
    let parts = message.split('`').enumerate();
    let kept: Vec<&str> = parts
        .map(|(i, part)| if i % 2 == 1 { "..." } else { part })
        .collect();
    kept.join("`")
}

fn errors(problems: &Diagnostics) -> impl Iterator<Item = &msl::diag::Diagnostic> {
    let list = problems.report.list().iter();
    list.filter(|d| d.severity == Severity::Error)
}

fn explain(problems: &Diagnostics, wanted: &str) {
    for error in errors(problems).filter(|d| d.message.contains(wanted)) {
        let mut report = Report::new();
        report.push(error.clone());
        let sources = problems.sources.clone();
        println!("{}", Diagnostics { sources, report });
    }
}

/// Makes the kernels ready for the CPU; how many are, and why the others are not.
fn build(compilation: &msl::Compilation, name: &str, reasons: &mut Reasons) -> usize {
    let mut options = msl::exec::Options::default();
    for (_, constant) in compilation.module.function_constants.iter() {
        let size = compilation.module.types.layout(constant.ty).0 as usize;
        options.constants.insert(constant.index, vec![0; size]);
    }
    let kernels = compilation.module.kernels.iter();
    let built = kernels.filter(|kernel| {
        match msl::exec::Program::with_options(compilation, &kernel.name, &options) {
            Ok(_) => true,
            Err(error) => {
                let message = match error {
                    msl::exec::BuildError::Unsupported { message, .. } => message,
                    other => other.to_string(),
                };
                note(reasons, name, &format!("to run on the CPU: {message}"));
                false
            }
        }
    });
    built.count()
}

type Reasons = BTreeMap<String, Reason>;

fn note(reasons: &mut Reasons, file: &str, message: &str) {
    let reason = reasons.entry(pattern(message)).or_default();
    reason.count += 1;
    if reason.files.last().is_none_or(|last| last != file) {
        reason.files.push(file.to_string());
    }
    reason.example = message.to_string();
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (mut folders, mut wanted, mut builds) = (Vec::new(), None, false);
    let (mut defines, mut includes) = (Vec::new(), Vec::new());
    while let Some(argument) = arguments.next() {
        match &*argument {
            "--explain" => wanted = arguments.next(),
            "--build" => builds = true,
            "-I" => includes.extend(arguments.next().map(PathBuf::from)),
            "-D" => defines.extend(arguments.next().map(|name| (name, "1".to_string()))),
            _ => folders.push(PathBuf::from(argument)),
        }
    }
    if folders.is_empty() {
        eprintln!("usage: corpus [--explain TEXT] [--build] [-D NAME]... [-I FOLDER]... FOLDER...");
        return ExitCode::FAILURE;
    }
    let lookup = move |from: &str, wanted: &str| resolve(from, wanted, &includes);
    let mut reasons = Reasons::new();
    for folder in &folders {
        let mut files = Vec::new();
        // A full path, so that the folders above an including file can be gone through.
        let root = folder.canonicalize();
        if let Err(error) = root.and_then(|root| kernel_files(&root, &mut files)) {
            eprintln!("cannot read {}: {error}", folder.display());
            return ExitCode::FAILURE;
        }
        files.sort();
        let (mut compiled, mut kernels, mut built) = (0, 0, 0);
        let start = Instant::now();
        for file in &files {
            let name = file.display().to_string();
            let Ok(text) = std::fs::read(file) else {
                eprintln!("cannot read {name}");
                continue;
            };
            let options = msl::syntax::Options {
                includes: Some(Arc::new(lookup.clone())),
                defines: defines.clone(),
            };
            match msl::compile(&name, &String::from_utf8_lossy(&text), &options) {
                Ok(compilation) => {
                    compiled += 1;
                    kernels += compilation.module.kernels.len();
                    if builds {
                        built += build(&compilation, &name, &mut reasons);
                    }
                }
                Err(problems) => {
                    for error in errors(&problems) {
                        note(&mut reasons, &name, &error.message);
                    }
                    if let Some(wanted) = &wanted {
                        explain(&problems, wanted);
                    }
                }
            }
        }
        println!(
            "{}: {compiled} of {} files, {kernels} kernels, {:.1} s",
            folder.display(),
            files.len(),
            start.elapsed().as_secs_f64()
        );
        if builds {
            println!("    {built} of them run on the CPU");
        }
    }
    let mut reasons: Vec<Reason> = reasons.into_values().collect();
    reasons.sort_by_key(|r| std::cmp::Reverse((r.files.len(), r.count)));
    for reason in &reasons {
        println!(
            "{:4} files, {:5} times: {}",
            reason.files.len(),
            reason.count,
            reason.example
        );
        if let Some(file) = reason.files.first() {
            println!("       first in {file}");
        }
    }
    ExitCode::SUCCESS
}
