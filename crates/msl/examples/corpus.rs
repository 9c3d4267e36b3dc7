//! Tries the compiler on folders of kernels: `cargo run --release -p msl --example corpus -- FOLDER...`
//!
//! Compiles every `.metal` file below the folders. An included file is looked for beside the file
//! that names it and in the folders above that one. Prints how many files and kernels compile (each
//! instantiation of a kernel template counts as one), then the reasons for the rest, the most
//! frequent first. With `--explain TEXT`, also the whole messages that contain the text.

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

fn resolve(including: &str, wanted: &str) -> Option<(String, String)> {
    let above = Path::new(including).ancestors().skip(1);
    above.filter(|a| !a.as_os_str().is_empty()).find_map(|a| {
        // One name for each file, or `#pragma once` would not know it again.
        let file = a.join(wanted).canonicalize().ok()?;
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

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (mut folders, mut wanted) = (Vec::new(), None);
    while let Some(argument) = arguments.next() {
        if argument == "--explain" {
            wanted = arguments.next();
        } else {
            folders.push(PathBuf::from(argument));
        }
    }
    if folders.is_empty() {
        eprintln!("usage: corpus [--explain TEXT] FOLDER...");
        return ExitCode::FAILURE;
    }
    let mut reasons = BTreeMap::<String, Reason>::new();
    for folder in &folders {
        let mut files = Vec::new();
        // A full path, so that the folders above an including file can be gone through.
        let root = folder.canonicalize();
        if let Err(error) = root.and_then(|root| kernel_files(&root, &mut files)) {
            eprintln!("cannot read {}: {error}", folder.display());
            return ExitCode::FAILURE;
        }
        files.sort();
        let (mut compiled, mut kernels) = (0, 0);
        let start = Instant::now();
        for file in &files {
            let name = file.display().to_string();
            let Ok(text) = std::fs::read(file) else {
                eprintln!("cannot read {name}");
                continue;
            };
            let options = msl::syntax::Options {
                includes: Some(Arc::new(resolve)),
                ..Default::default()
            };
            match msl::compile(&name, &String::from_utf8_lossy(&text), &options) {
                Ok(compilation) => {
                    compiled += 1;
                    kernels += compilation.module.kernels.len();
                }
                Err(problems) => {
                    for error in errors(&problems) {
                        let reason = reasons.entry(pattern(&error.message)).or_default();
                        reason.count += 1;
                        if reason.files.last() != Some(&name) {
                            reason.files.push(name.clone());
                        }
                        reason.example.clone_from(&error.message);
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
