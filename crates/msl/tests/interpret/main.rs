//! The interpreter against results worked out in Rust; the executor has tests of its own.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, which the lint does not know as such

mod control_flow;
mod errors;
mod together;
mod values;

use std::collections::BTreeMap;

use msl::Compilation;
use msl::interpret::{Dispatch, Error, Finding, run};

fn compile(source: &str) -> Compilation {
    let text = format!("#include <metal_stdlib>\nusing namespace metal;\n{source}");
    msl::compile("test.metal", &text, &msl::syntax::Options::default())
        .unwrap_or_else(|d| panic!("{d}"))
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

/// Runs kernel `k`, checked: buffer 0 is the output, of zeros, and the inputs follow.
fn checked(
    source: &str,
    inputs: &[&[u32]],
    len: usize,
    grid: [u64; 3],
    threadgroup: [u64; 3],
) -> Result<(Vec<u32>, Vec<Finding>), Error> {
    let mut out = vec![0; len * 4];
    let mut inputs: Vec<_> = inputs.iter().map(|input| bytes(input)).collect();
    let mut buffers: Vec<Option<&mut [u8]>> = vec![Some(&mut out)];
    buffers.extend(inputs.iter_mut().map(|input| Some(&mut input[..])));
    let dispatch = Dispatch {
        grid,
        threadgroup,
        buffers: &mut buffers,
        threadgroup_memory: &[(0, 4096)],
        constants: &BTreeMap::new(),
        check: true,
        step_limit: None,
        interrupt: None,
    };
    let findings = run(&compile(source), "k", dispatch)?;
    Ok((words(&out), findings))
}

/// As [`checked`], and nothing may be found.
fn clean(
    source: &str,
    inputs: &[&[u32]],
    len: usize,
    grid: [u64; 3],
    threadgroup: [u64; 3],
) -> Vec<u32> {
    let (out, findings) =
        checked(source, inputs, len, grid, threadgroup).unwrap_or_else(|error| panic!("{error}"));
    for finding in &findings {
        eprintln!("{finding}");
    }
    assert_eq!(findings.len(), 0);
    out
}

/// One row of threads in one threadgroup, one word of output each.
fn row(source: &str, threads: usize) -> Vec<u32> {
    let size = [threads as u64, 1, 1];
    clean(source, &[], threads, size, size)
}

fn signed(words: &[u32]) -> Vec<i32> {
    words.iter().map(|&word| word as i32).collect()
}
