//! Runs that end before their kernel does: faults, limits, constants that were not given. What the
//! checks find in faulty kernels is in the tests named `checked`.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use msl::exec::FaultKind;
use msl::interpret::{Dispatch, Error, run};

use super::{checked, compile, words};

#[test]
fn an_access_out_of_bounds_names_kernel_place_thread_and_index() {
    let source = "kernel void k(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
        out[i] = x[i + 1];
    }";
    let error = checked(source, &[&[0; 100]], 100, [100, 1, 1], [64, 1, 1]).unwrap_err();
    insta::assert_snapshot!(error, @"kernel `k`, test.metal:4:18, thread (99, 0, 0): reads 4 bytes at byte 400 (element 100 of 4 bytes) of `x`, which has 400 bytes");
    assert!(matches!(error, Error::Fault(fault) if fault.kind == FaultKind::OutOfBounds));
}

#[test]
fn what_is_lent_for_reading_is_not_written() {
    let source = "kernel void k(device float* out, device const float* x, uint i [[thread_position_in_grid]]) {
        device const float* q = x;
        device float* thread* p = (device float* thread*)&q;
        (*p)[i] = 1.0f;
    }";
    let error = checked(source, &[&[0; 10]], 10, [10, 1, 1], [10, 1, 1]).unwrap_err();
    assert!(error.to_string().contains("only for reading"), "{error}");
}

#[test]
fn runs_that_do_not_end_are_cut_short() {
    let source = "kernel void k(device int* out) { while (true) { out[0] += 1; } }";
    let (compilation, stop) = (compile(source), AtomicBool::new(true));
    let start = |step_limit, interrupt| {
        let mut out = [0; 4];
        let dispatch = Dispatch {
            grid: [1; 3],
            threadgroup: [1; 3],
            buffers: &mut [Some(&mut out)],
            threadgroup_memory: &[],
            constants: &BTreeMap::new(),
            check: false,
            step_limit,
            interrupt,
        };
        run(&compilation, "k", dispatch)
    };
    assert!(matches!(
        start(Some(1000), None),
        Err(Error::StepLimit { limit: 1000, .. })
    ));
    assert!(matches!(
        start(None, Some(&stop)),
        Err(Error::Interrupted { .. })
    ));
}

#[test]
fn function_constants_are_asked_for_when_they_are_used() {
    let source = "constant int n [[function_constant(3)]];
    constant bool given = is_function_constant_defined(n);
    kernel void k(device int* out) { out[0] = given ? 1 : 0; if (given) { out[0] = n; } else if (out[1] == 1) { out[0] = n; } }";
    let compilation = compile(source);
    let start = |constants: &BTreeMap<u32, Vec<u8>>, second: u8| {
        let mut out = [0, 0, 0, 0, second, 0, 0, 0];
        let dispatch = Dispatch {
            grid: [1; 3],
            threadgroup: [1; 3],
            buffers: &mut [Some(&mut out)],
            threadgroup_memory: &[],
            constants,
            check: true,
            step_limit: None,
            interrupt: None,
        };
        run(&compilation, "k", dispatch).map(|_| words(&out)[0])
    };
    let given = BTreeMap::from([(3, vec![77, 0, 0, 0])]);
    assert_eq!(start(&given, 0), Ok(77));
    assert_eq!(start(&BTreeMap::new(), 0), Ok(0));
    let error = start(&BTreeMap::new(), 1).unwrap_err();
    assert!(
        matches!(error, Error::MissingConstant { index: 3, .. }),
        "{error}"
    );
}
