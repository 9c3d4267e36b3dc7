//! Runs kernels for the tests.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, which the lint does not know as such

use msl::exec::{Dispatch, Fault, Isa, Memory, Options, Program};

/// Compiles a text behind the usual header and runs kernel `k` on every instruction set: the output
/// is buffer 0, the inputs follow.
pub fn run<T: Copy + PartialEq + std::fmt::Debug>(
    source: &str,
    inputs: &mut [&mut [u8]],
    output: &mut [T],
    grid: [u64; 3],
    threadgroup: [u64; 3],
) -> Result<(), Fault> {
    let text = format!("#include <metal_stdlib>\nusing namespace metal;\n{source}");
    let compilation = msl::compile("test.metal", &text, &msl::syntax::Options::default())
        .unwrap_or_else(|d| panic!("{d}"));
    let initial = output.to_vec();
    let mut first: Option<Vec<T>> = None;
    for isa in Isa::available() {
        output.copy_from_slice(&initial);
        let options = Options {
            isa: Some(isa),
            ..Options::default()
        };
        let program = Program::with_options(&compilation, "k", &options).unwrap();
        let len = std::mem::size_of_val(output);
        let mut buffers = vec![Some(Memory {
            pointer: output.as_mut_ptr().cast(),
            len,
        })];
        for input in inputs.iter_mut() {
            buffers.push(Some(Memory {
                pointer: input.as_mut_ptr(),
                len: input.len(),
            }));
        }
        let dispatch = Dispatch {
            grid,
            threadgroup,
            buffers: &buffers,
            threadgroup_memory: &[(0, 4096)],
            interrupt: None,
        };
        // SAFETY: the buffers outlive the call and nothing else uses them meanwhile.
        unsafe { program.run(&dispatch) }?;
        match &first {
            None => first = Some(output.to_vec()),
            Some(known) => assert_eq!(known, output, "{} differs", isa.name()),
        }
    }
    Ok(())
}

pub fn bytes<T>(values: &mut [T]) -> &mut [u8] {
    let len = std::mem::size_of_val(values);
    // SAFETY: plain numbers seen as bytes.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), len) }
}
