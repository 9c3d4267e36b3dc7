//! Kernels of other projects, where they are at hand: `MSL_CORPUS=dir cargo test -- --ignored`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diag::Diagnostics;
use crate::syntax::{Options, parse};

fn kernel_files(directory: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            kernel_files(&path, files);
        } else if is_kernel_file(&path) {
            files.push(path);
        }
    }
}

fn is_kernel_file(path: &Path) -> bool {
    let ends = |suffix| path.to_string_lossy().ends_with(suffix);
    // Some are parts of others that cannot stand alone.
    (ends(".metal") || ends(".h"))
        && !ends("_common.metal")
        && !ends("_nax.h")
        && !ends("conv/loader.h")
        && !path.to_string_lossy().contains("loader_channel")
}

/// Finds a file beside the including one or in a directory above it.
fn resolve(including: &str, path: &str) -> Option<(String, String)> {
    // Headers of Metal 4.
    if path == "metal_tensor" || path.starts_with("MetalPerformancePrimitives/") {
        return Some((path.to_string(), String::new()));
    }
    Path::new(including)
        .ancestors()
        .skip(1)
        .find_map(|directory| {
            let file = directory.join(path).canonicalize().ok()?;
            let text = std::fs::read_to_string(&file).ok()?;
            Some((file.display().to_string(), text))
        })
}

#[test]
#[ignore = "needs a directory of kernels in MSL_CORPUS"]
fn kernels_of_other_projects_parse() {
    let directory = std::env::var("MSL_CORPUS").unwrap();
    let mut files = Vec::new();
    kernel_files(Path::new(&directory), &mut files);
    files.sort();
    let options = Options {
        includes: Some(Arc::new(resolve)),
        ..Options::default()
    };
    let (mut bytes, mut failed) = (0, 0);
    let start = std::time::Instant::now();
    for file in &files {
        let text = String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned();
        let name = file.display().to_string();
        let (_, sources, report) = parse(&name, &text, &options);
        bytes += sources.files().map(|s| s.text().len()).sum::<usize>();
        if !report.list().is_empty() {
            failed += usize::from(report.has_errors());
            println!("{}", Diagnostics { sources, report });
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} files, {failed} failed, {bytes} bytes, {:.1} MB/s",
        files.len(),
        bytes as f64 / seconds / 1e6
    );
    assert_eq!(failed, 0);
}
