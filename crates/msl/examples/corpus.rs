//! Tries to compile every Metal file below some folders, for their users to know what runs here:
//!
//! ```sh
//! cargo run --release -p msl --example corpus -- FOLDER...
//! ```
//!
//! Includes are looked for beside the file that names them and from each folder above it, up to the
//! folder given. It prints how many files and kernels compile (each explicit instantiation is a
//! kernel), and why the others do not, the most frequent reason first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use msl::diag::Severity;

/// Why files do not compile.
#[derive(Default)]
struct Reason {
    problems: usize,
    files: Vec<String>,
    example: String,
}

fn main() -> ExitCode {
    let folders: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if folders.is_empty() {
        eprintln!("error: name at least one folder with Metal files");
        return ExitCode::from(2);
    }
    let mut reasons: BTreeMap<String, Reason> = BTreeMap::new();
    let (mut files, mut good, mut kernels) = (0, 0, 0);
    let start = Instant::now();
    for root in &folders {
        let mut found = Vec::new();
        if let Err(error) = find(root, &mut found) {
            eprintln!("error: cannot read {}: {error}", root.display());
            return ExitCode::FAILURE;
        }
        found.sort();
        for path in found {
            files += 1;
            match compile(root, &path) {
                Ok(count) => {
                    good += 1;
                    kernels += count;
                    println!("{}: {count} kernels", path.display());
                }
                Err(problems) => {
                    println!("{}: {} problems", path.display(), problems.len());
                    for (message, place) in problems {
                        let reason = reasons.entry(without_names(&message)).or_default();
                        reason.problems += 1;
                        let name = path.display().to_string();
                        if !reason.files.contains(&name) {
                            reason.files.push(name);
                        }
                        if reason.example.is_empty() {
                            reason.example = format!("{place}: {message}");
                        }
                    }
                }
            }
        }
    }
    println!(
        "\n{good} of {files} files compile, with {kernels} kernels, in {:.2} s",
        start.elapsed().as_secs_f64()
    );
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, reason)| std::cmp::Reverse((reason.files.len(), reason.problems)));
    for (message, reason) in reasons {
        println!(
            "{:>4} files, {:>5} times: {message}\n        {}",
            reason.files.len(),
            reason.problems,
            reason.example
        );
    }
    ExitCode::SUCCESS
}

fn find(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, found)?;
        } else if path.extension().is_some_and(|e| e == "metal") {
            found.push(path);
        }
    }
    Ok(())
}

/// The number of kernels, or each problem with its place.
fn compile(root: &Path, path: &Path) -> Result<usize, Vec<(String, String)>> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| vec![(e.to_string(), name.clone())])?;
    let root = root.to_path_buf();
    let resolve = move |from: &str, wanted: &str| {
        let above = Path::new(from).ancestors().skip(1);
        let within = above.take_while(|folder| folder.starts_with(&root));
        within.map(|folder| folder.join(wanted)).find_map(|path| {
            let text = std::fs::read_to_string(&path).ok()?;
            Some((path.display().to_string(), text))
        })
    };
    let options = msl::syntax::Options {
        includes: Some(Arc::new(resolve)),
        ..Default::default()
    };
    let compilation = msl::compile(&name, &text, &options).map_err(|problems| {
        let errors = problems.report.list().iter();
        errors
            .filter(|d| d.severity == Severity::Error)
            .map(|d| {
                let place = problems.sources.place(d.span);
                let place = place.map_or(name.clone(), |(source, line, column)| {
                    format!("{}:{line}:{column}", source.name())
                });
                (d.message.to_string(), place)
            })
            .collect::<Vec<_>>()
    })?;
    Ok(compilation.module.kernels.len())
}

/// A message with what stands in backticks left out, so that equal reasons are counted together.
fn without_names(message: &str) -> String {
    let parts = message.split('`').enumerate();
    parts
        .map(|(i, part)| if i % 2 == 0 { part } else { "``" })
        .collect()
}
