//! `mlx-native check`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use msl::Compilation;
use msl::diag::{Diagnostics, Report, Severity, Sources};
use msl::ir::{Argument, Binding, Types};
use serde_json::{Value, json};

/// Compiles a file; includes are looked for beside the file that names them.
pub fn compile(path: &Path) -> Result<Result<Compilation, Diagnostics>, String> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read {name}: {e}"))?;
    let resolve = |from: &str, wanted: &str| {
        let path = Path::new(from).parent()?.join(wanted);
        let text = std::fs::read_to_string(&path).ok()?;
        Some((path.display().to_string(), text))
    };
    let options = msl::syntax::Options {
        includes: Some(Arc::new(resolve)),
        ..Default::default()
    };
    Ok(msl::compile(&name, &text, &options))
}

/// Checks files; exit status 1 if any is refused.
pub fn check(files: &[PathBuf], as_json: bool) -> Result<ExitCode, String> {
    let mut good = true;
    let mut documents = Vec::new();
    for path in files {
        match compile(path)? {
            Ok(compilation) => {
                let warnings = Diagnostics {
                    sources: compilation.sources.clone(),
                    report: compilation.warnings.clone(),
                };
                if as_json {
                    documents.push(json!({
                        "file": path.display().to_string(),
                        "kernels": kernels(&compilation),
                        "diagnostics": diagnostics(&warnings.sources, &warnings.report),
                    }));
                } else {
                    eprint!("{warnings}");
                    list(path, &compilation);
                }
            }
            Err(problems) => {
                good = false;
                if as_json {
                    documents.push(json!({
                        "file": path.display().to_string(),
                        "kernels": [],
                        "diagnostics": diagnostics(&problems.sources, &problems.report),
                    }));
                } else {
                    eprint!("{problems}");
                }
            }
        }
    }
    if as_json {
        println!("{}", json!({ "files": documents }));
    }
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn list(path: &Path, compilation: &Compilation) {
    println!(
        "{}: {} kernels",
        path.display(),
        compilation.module.kernels.len()
    );
    for kernel in &compilation.module.kernels {
        println!("  {}", kernel.name);
        for argument in &kernel.arguments {
            println!("    {}", describe(argument, &compilation.module.types));
        }
    }
}

fn describe(argument: &Argument, types: &Types) -> String {
    let name = &argument.name;
    match &argument.binding {
        Binding::Buffer {
            index,
            writable,
            pointee,
            ..
        } => {
            let access = if *writable {
                "read and written"
            } else {
                "read"
            };
            format!("buffer({index}) {name}: {}, {access}", types.name(*pointee))
        }
        Binding::Threadgroup { index, pointee } => {
            format!("threadgroup({index}) {name}: {}", types.name(*pointee))
        }
        Binding::Builtin(builtin) => format!("{name}: {builtin:?}"),
    }
}

fn kernels(compilation: &Compilation) -> Vec<Value> {
    let types = &compilation.module.types;
    let argument = |argument: &Argument| match &argument.binding {
        Binding::Buffer {
            index,
            writable,
            pointee,
            ..
        } => json!({
            "name": &*argument.name, "kind": "buffer", "index": index,
            "type": types.name(*pointee), "writable": writable,
        }),
        Binding::Threadgroup { index, pointee } => json!({
            "name": &*argument.name, "kind": "threadgroup", "index": index,
            "type": types.name(*pointee),
        }),
        Binding::Builtin(builtin) => json!({
            "name": &*argument.name, "kind": "builtin", "builtin": format!("{builtin:?}"),
        }),
    };
    let kernels = compilation.module.kernels.iter();
    kernels
        .map(|k| {
            let arguments: Vec<Value> = k.arguments.iter().map(argument).collect();
            json!({ "name": &*k.name, "arguments": arguments })
        })
        .collect()
}

fn diagnostics(sources: &Sources, report: &Report) -> Vec<Value> {
    let one = |d: &msl::diag::Diagnostic| {
        let place = sources.place(d.span);
        json!({
            "severity": match d.severity { Severity::Error => "error", Severity::Warning => "warning" },
            "message": d.message,
            "file": place.map(|(source, ..)| source.name()),
            "line": place.map(|(_, line, _)| line),
            "column": place.map(|(.., column)| column),
            "label": d.label,
            "hint": d.hint,
        })
    };
    report.list().iter().map(one).collect()
}
