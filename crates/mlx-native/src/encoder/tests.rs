//! Encoding, ordering, views and errors, with kernels that are Rust functions.

use std::sync::Barrier;
use std::time::Duration;

use rayon::prelude::*;

use super::KernelArgument;
use crate::backend::Command;
use crate::error::{MlxError, Slot};
use crate::pipeline::Argument;
use crate::testing::*;
use crate::{DType, MTLSize};

fn size(width: u64) -> MTLSize {
    MTLSize::new(width, 1, 1)
}

/// What committing this one dispatch says.
fn refusal(bindings: &[(u64, KernelArgument<'_>)], threads: MTLSize, group: MTLSize) -> String {
    let device = cpu();
    let pipeline = increment(&device);
    let mut encoder = device.command_encoder().unwrap();
    encoder.encode_with(&pipeline, bindings, &[], threads, group);
    let message = encoder.commit_and_wait().unwrap_err().to_string();
    assert_eq!(encoder.commit_and_wait(), Ok(()), "the encoder is empty");
    message
}

#[test]
fn sizes_are_checked() {
    let says = |threads, group| refusal(&[], threads, group);
    let message = says(size(0), ONE);
    assert!(
        message.starts_with("kernel `increment`: the grid of 0 x 1 x 1 threads is empty"),
        "{message}"
    );
    let message = says(MTLSize::new(1, 1, 1 << 32), ONE);
    assert!(message.contains("too large; a dimension has at most 4294967295"));
    let message = says(ONE, MTLSize::new(1, 0, 1));
    assert!(message.contains("the threadgroup of 1 x 0 x 1 threads is empty"));
    let message = says(ONE, MTLSize::new(1025, 1, 1));
    assert!(message.contains("1025 x 1 x 1 = 1025 threads is too large"));
    let message = says(ONE, MTLSize::new(u64::MAX, u64::MAX, 2));
    assert!(message.contains("takes at most 1024"));
}

#[test]
fn a_kernel_can_ask_for_smaller_threadgroups() {
    let device = cpu();
    let mut small = signature("small", &[]);
    small.max_total_threads_per_threadgroup = 64;
    let small = pipeline(&device, small, |_| Ok(()));
    let mut encoder = device.command_encoder().unwrap();
    encoder.encode(&small, &[], size(128), size(64));
    encoder.commit_and_wait().unwrap();
    encoder.encode(&small, &[], size(128), size(65));
    let message = encoder.commit_and_wait().unwrap_err().to_string();
    assert!(message.contains("`small`") && message.contains("at most 64"));
}

#[test]
fn bindings_are_checked() {
    let device = cpu();
    let a = floats(&device, &[1.0]);
    let a = KernelArgument::from(&a);
    // Device identity is checked last, so these are of another device.
    let says = |bindings: &[(u64, KernelArgument<'_>)]| refusal(bindings, ONE, ONE);
    assert_eq!(
        says(&[(0, KernelArgument::Bytes(&[0; 4]))]),
        "kernel `increment`, argument `y` (buffer 1): nothing is bound; bind a buffer at buffer 1"
    );
    assert_eq!(
        says(&[(0, a), (1, a), (2, a)]),
        "kernel `increment`: buffer 2 is bound, but the kernel has no argument there; it has \
         `x` (buffer 0), `y` (buffer 1)"
    );
    assert_eq!(
        says(&[(0, a), (1, a), (0, a)]),
        "kernel `increment`, argument `x` (buffer 0): it is bound twice"
    );
    assert_eq!(
        says(&[(31, a)]),
        "kernel `increment`: buffer 31 is bound, but the highest index is 30"
    );
    assert!(says(&[(u64::MAX, a)]).contains("the highest index is 30"));
    let message = says(&[(0, a), (1, a)]);
    assert!(
        message.starts_with("kernel `increment`, argument `x` (buffer 0): the buffer belongs to"),
        "{message}"
    );
    let bytes = KernelArgument::Bytes(&[0; 4]);
    let message = says(&[(0, bytes), (1, bytes)]);
    assert!(message.contains("argument `y` (buffer 1): the kernel may write it"));
    let message = says(&[(0, KernelArgument::Bytes(&[0; 4097]))]);
    assert!(message.contains("argument `x` (buffer 0): 4097 bytes are bound without a buffer"));
    let message = says(&[(0, KernelArgument::Bytes(&[]))]);
    assert!(message.contains("`float` needs 1 bytes, but 0 are bound"));
}

#[test]
fn a_reference_needs_room_for_its_value() {
    let device = cpu();
    let mut wanted = signature("scalar", &[("n", false)]);
    wanted.arguments[0].least_bytes = 4;
    let scalar = pipeline(&device, wanted, |_| Ok(()));
    let short = device.alloc_buffer(3, DType::U8, vec![3]).unwrap();
    let mut encoder = device.command_encoder().unwrap();
    encoder.encode(&scalar, &[(0, &short)], ONE, ONE);
    assert_eq!(
        encoder.commit_and_wait().unwrap_err(),
        MlxError::InvalidBinding {
            kernel: "scalar".into(),
            argument: "n".into(),
            slot: Slot::Buffer(0),
            message: "`float` needs 4 bytes, but 3 are bound".into(),
        }
    );
}

#[test]
fn threadgroup_memory_is_checked() {
    let device = cpu();
    let mut wanted = signature("shared", &[]);
    wanted.static_threadgroup_memory = 1024;
    wanted.arguments.push(Argument {
        name: "scratch".into(),
        slot: Slot::Threadgroup(0),
        type_name: "float".into(),
        writable: true,
        least_bytes: 1,
    });
    let shared = pipeline(&device, wanted, |_| Ok(()));
    let says = |memory: &[(u64, u64)]| {
        let mut encoder = device.command_encoder().unwrap();
        encoder.encode_with(&shared, &[], memory, ONE, ONE);
        encoder.commit_and_wait().map_err(|e| e.to_string())
    };
    assert_eq!(says(&[(0, 31 * 1024)]), Ok(()));
    let argument = "kernel `shared`, argument `scratch` (threadgroup 0): ";
    for (memory, expected) in [
        (&[][..], "it has no length"),
        (&[(0, 0)], "it has no length"),
        (&[(0, 16), (0, 16)], "its length is given twice"),
        (
            &[(0, 31 * 1024 + 1)],
            "31745 bytes make 32784 bytes of threadgroup memory in all, and the most is 32768",
        ),
        (&[(0, u64::MAX)], "and the most is 32768"),
    ] {
        let message = says(memory).unwrap_err();
        assert!(
            message.starts_with(argument) && message.contains(expected),
            "{message}"
        );
    }
    let message = says(&[(0, 16), (1, 16)]).unwrap_err();
    assert!(message.contains("kernel `shared`: threadgroup memory 1 is given"));
}

#[test]
fn a_pipeline_of_another_device_is_refused() {
    let (here, there) = (cpu(), cpu());
    let foreign = fill(&there);
    let y = zeroes(&here, 1);
    let mut encoder = here.command_encoder().unwrap();
    encoder.encode(&foreign, &[(0, &y)], ONE, ONE);
    let message = encoder.commit_and_wait().unwrap_err().to_string();
    assert!(message.contains("`fill`") && message.contains("another device"));
    y.as_slice::<f32>().unwrap();
}

#[test]
fn one_error_stops_the_whole_list_and_the_first_is_told() {
    let device = cpu();
    let (fill, increment) = (fill(&device), increment(&device));
    let y = zeroes(&device, 1);
    let mut encoder = device.command_encoder().unwrap();
    encoder.encode(&fill, &[(0, &y)], ONE, ONE);
    encoder.encode(&increment, &[(0, &y)], ONE, ONE);
    encoder.encode(&fill, &[], ONE, ONE);
    let message = encoder.commit_and_wait().unwrap_err().to_string();
    assert!(message.contains("`increment`, argument `y`"), "{message}");
    assert_eq!(y.as_slice::<f32>().unwrap()[0], 0.0);
    encoder.encode(&fill, &[(0, &y)], ONE, ONE);
    encoder.commit_and_wait().unwrap();
    assert_eq!(y.as_slice::<f32>().unwrap()[0], 7.0);
}

#[test]
fn barriers_stand_only_between_dependent_dispatches() {
    let device = cpu();
    let increment = increment(&device);
    let [a, b, c, d] = [(); 4].map(|()| zeroes(&device, 1));
    let mut encoder = device.command_encoder().unwrap();
    let mut shape = |pairs: &[(&crate::MlxBuffer, &crate::MlxBuffer)]| {
        for (x, y) in pairs {
            encoder.encode(&increment, &[(0, x), (1, y)], ONE, ONE);
        }
        let letter = |command: &Command| match command {
            Command::Dispatch(_) => 'd',
            Command::Barrier => '|',
        };
        let shape: String = encoder.list.commands.iter().map(letter).collect();
        encoder.commit_and_wait().unwrap();
        shape
    };
    assert_eq!(
        shape(&[(&a, &b), (&a, &c), (&a, &d)]),
        "ddd",
        "shared reads"
    );
    assert_eq!(shape(&[(&a, &b), (&b, &c)]), "d|d", "read after write");
    assert_eq!(shape(&[(&a, &b), (&c, &b)]), "d|d", "write after write");
    assert_eq!(shape(&[(&a, &b), (&c, &a)]), "d|d", "write after read");
    // The barrier orders a -> b too, so the last one needs none.
    assert_eq!(shape(&[(&a, &b), (&c, &d), (&d, &a), (&b, &c)]), "dd|dd");
    assert_eq!(shape(&[(&a, &a), (&a, &a)]), "d|d", "in place");
    let other_name = b.reinterpret(DType::U32, vec![1]).unwrap();
    assert_eq!(shape(&[(&a, &b), (&other_name, &c)]), "d|d", "one memory");
}

#[test]
fn a_chain_gives_the_right_result() {
    let device = cpu();
    let increment = increment(&device);
    let (a, b) = (zeroes(&device, 100), zeroes(&device, 100));
    let mut encoder = device.command_encoder().unwrap();
    for _ in 0..50 {
        encoder.encode(&increment, &[(0, &a), (1, &b)], size(100), size(32));
        encoder.encode(&increment, &[(0, &b), (1, &a)], size(100), size(32));
    }
    encoder.commit_and_wait().unwrap();
    assert!(a.as_slice::<f32>().unwrap().iter().all(|&v| v == 100.0));
}

#[test]
fn a_view_stops_work_that_writes() {
    let device = cpu();
    let increment = increment(&device);
    let (mut x, y) = (floats(&device, &[1.0]), zeroes(&device, 1));
    let mut encoder = device.command_encoder().unwrap();

    let view = y.as_slice::<f32>().unwrap();
    encoder.encode(&increment, &[(0, &x), (1, &y)], ONE, ONE);
    assert_eq!(
        encoder.commit_and_wait().unwrap_err().to_string(),
        "kernel `increment`, argument `y` (buffer 1): the host has a view of the buffer, so it \
         cannot be written; drop the view before the work is committed"
    );
    assert_eq!(view[0], 0.0);
    drop(view);

    // Reading what the host only reads is fine.
    let view = x.as_slice::<f32>().unwrap();
    encoder.encode(&increment, &[(0, &x), (1, &y)], ONE, ONE);
    encoder.commit_and_wait().unwrap();
    drop(view);
    assert_eq!(y.as_slice::<f32>().unwrap()[0], 2.0);

    let other = x.clone();
    let view = x.as_mut_slice::<f32>().unwrap();
    encoder.encode(&increment, &[(0, &other), (1, &y)], ONE, ONE);
    assert_eq!(
        encoder.commit_and_wait().unwrap_err().to_string(),
        "kernel `increment`, argument `x` (buffer 0): the host has a mutable view of the buffer, \
         so it cannot be read; drop the view before the work is committed"
    );
    assert_eq!(
        other.as_slice::<f32>().unwrap_err(),
        MlxError::ViewConflict { mutable: true }
    );
    drop(view);
    let mut another = other.clone();
    let view = other.as_slice::<f32>().unwrap();
    let second = x.as_slice::<f32>().unwrap();
    assert_eq!(
        another.as_mut_slice::<f32>().unwrap_err(),
        MlxError::ViewConflict { mutable: false }
    );
    drop((view, second));
    another.as_mut_slice::<f32>().unwrap()[0] = 3.0;
}

#[test]
fn a_refused_list_runs_not_at_all_and_leaves_no_trace() {
    let device = cpu();
    let fill = fill(&device);
    let [mut a, b] = [(); 2].map(|()| zeroes(&device, 1));
    let mut encoder = device.command_encoder().unwrap();
    let view = b.as_slice::<f32>().unwrap();
    encoder.encode(&fill, &[(0, &a)], ONE, ONE);
    encoder.encode(&fill, &[(0, &b)], ONE, ONE);
    encoder.commit_and_wait().unwrap_err();
    assert_eq!(a.as_mut_slice::<f32>().unwrap()[0], 0.0);
    assert_eq!(view[0], 0.0);
}

#[test]
fn uncommitted_work_is_in_the_way_of_views() {
    let device = cpu();
    let increment = increment(&device);
    let (mut x, mut y) = (zeroes(&device, 1), zeroes(&device, 1));
    let mut encoder = device.command_encoder().unwrap();
    encoder.encode(&increment, &[(0, &x), (1, &y)], ONE, ONE);
    for error in [
        y.as_slice::<f32>().unwrap_err(),
        y.as_mut_slice::<f32>().unwrap_err(),
    ] {
        assert_eq!(
            error.to_string(),
            "kernel `increment` has been encoded to write this buffer and has not run yet; call \
             commit_and_wait first"
        );
    }
    x.as_slice::<f32>().unwrap();
    let message = x.as_mut_slice::<f32>().unwrap_err().to_string();
    assert!(message.contains("encoded to read this buffer"), "{message}");
    encoder.commit_and_wait().unwrap();
    x.as_mut_slice::<f32>().unwrap();
    assert_eq!(y.as_mut_slice::<f32>().unwrap()[0], 1.0);
}

#[test]
fn dropped_work_is_seen() {
    let device = cpu();
    let (fill, increment) = (fill(&device), increment(&device));
    let (x, mut y) = (zeroes(&device, 1), zeroes(&device, 1));
    let lose = |bindings: &[(u64, &crate::MlxBuffer)]| {
        let mut encoder = device.command_encoder().unwrap();
        encoder.encode(&increment, bindings, ONE, ONE);
    };
    let lost = "kernel `increment` was to write this buffer, but its encoder was dropped before \
                commit_and_wait";

    lose(&[(0, &x), (1, &y)]);
    x.as_slice::<f32>().unwrap();
    for _ in 0..2 {
        let message = y.as_slice::<f32>().unwrap_err().to_string();
        assert!(message.starts_with(lost), "{message}");
    }
    // Work that reads it would build on nothing.
    let mut encoder = device.command_encoder().unwrap();
    encoder.encode(&increment, &[(0, &y), (1, &x)], ONE, ONE);
    let message = encoder.commit_and_wait().unwrap_err().to_string();
    assert!(message.contains("argument `x` (buffer 0): kernel `increment` was to write"));
    // Work that writes it mends it, also for what follows in the same list.
    encoder.encode(&fill, &[(0, &y)], ONE, ONE);
    encoder.encode(&increment, &[(0, &y), (1, &x)], ONE, ONE);
    encoder.commit_and_wait().unwrap();
    assert_eq!(y.as_slice::<f32>().unwrap()[0], 7.0);
    assert_eq!(x.as_slice::<f32>().unwrap()[0], 8.0);

    // A mutable view reports it once.
    lose(&[(0, &x), (1, &y)]);
    assert!(y.as_mut_slice::<f32>().is_err());
    y.as_mut_slice::<f32>().unwrap();
    // A dispatch that was wrong anyway is lost as well.
    lose(&[(1, &y)]);
    assert!(y.as_slice::<f32>().is_err());
}

#[test]
fn a_fault_comes_from_the_wait_or_from_the_buffer() {
    let device = cpu();
    let (failing, fill) = (failing(&device), fill(&device));
    let mut y = zeroes(&device, 1);
    let mut encoder = device.command_encoder().unwrap();
    encoder.encode(&failing, &[(0, &y)], ONE, ONE);
    let message = encoder.commit_and_wait().unwrap_err().to_string();
    assert!(message.contains("`failing`") && message.contains("broken on purpose"));
    assert_eq!(y.as_slice::<f32>().unwrap()[0], -1.0, "told once is enough");

    encoder.encode(&failing, &[(0, &y)], ONE, ONE);
    encoder.commit().unwrap();
    let message = y.as_slice::<f32>().unwrap_err().to_string();
    assert!(
        message.contains("`failing` was to write") && message.contains("broken on purpose"),
        "{message}"
    );
    encoder.wait().unwrap_err();
    encoder.wait().unwrap();
    y.as_slice::<f32>().unwrap();

    encoder.encode(&failing, &[(0, &y)], ONE, ONE);
    encoder.commit().unwrap();
    drop(encoder);
    assert!(y.as_slice::<f32>().is_err());
    let mut encoder = device.command_encoder().unwrap();
    encoder.encode(&fill, &[(0, &y)], ONE, ONE);
    encoder.commit_and_wait().unwrap();
    assert_eq!(y.as_slice::<f32>().unwrap()[0], 7.0);

    encoder.encode(&failing, &[(0, &y)], ONE, ONE);
    encoder.commit().unwrap();
    drop(encoder);
    assert!(y.as_mut_slice::<f32>().is_err());
    y.as_mut_slice::<f32>().unwrap();
}

#[test]
fn what_follows_a_fault_does_not_run() {
    let device = cpu();
    let (failing, fill) = (failing(&device), fill(&device));
    let [y, z] = [(); 2].map(|()| zeroes(&device, 1));
    let mut encoder = device.command_encoder().unwrap();
    encoder.encode(&failing, &[(0, &y)], ONE, ONE);
    encoder.encode(&fill, &[(0, &z)], ONE, ONE);
    encoder.commit_and_wait().unwrap_err();
    assert_eq!(z.as_slice::<f32>().unwrap()[0], 0.0);
}

#[test]
fn views_wait_for_committed_work() {
    static STARTED: Barrier = Barrier::new(2);
    let device = cpu();
    let slow = pipeline(
        &device,
        signature("slow", &[("x", false), ("y", true)]),
        |arguments| {
            let y = arguments.write::<f32>(1)?;
            y[0] = 1.0;
            STARTED.wait();
            std::thread::sleep(Duration::from_millis(50));
            y[0] = 2.0;
            Ok(())
        },
    );
    let (mut x, mut y) = (zeroes(&device, 1), zeroes(&device, 1));
    for mutable in [false, true] {
        std::thread::scope(|scope| {
            let (a, b) = (x.clone(), y.clone());
            let (device, slow) = (&device, &slow);
            scope.spawn(move || {
                let mut encoder = device.command_encoder().unwrap();
                encoder.encode(slow, &[(0, &a), (1, &b)], ONE, ONE);
                encoder.commit_and_wait().unwrap();
            });
            STARTED.wait();
            // What the work only reads can be read at once, and written only afterwards.
            x.as_slice::<f32>().unwrap();
            if mutable {
                x.as_mut_slice::<f32>().unwrap();
                assert_eq!(y.as_mut_slice::<f32>().unwrap()[0], 2.0);
            } else {
                assert_eq!(y.as_slice::<f32>().unwrap()[0], 2.0);
            }
        });
    }
}

#[test]
fn an_interrupt_ends_work_until_it_is_cleared() {
    let device = cpu();
    let fill = fill(&device);
    let y = zeroes(&device, 1);
    let mut encoder = device.command_encoder().unwrap();
    let handle = device.interrupt_handle();
    handle.interrupt();
    encoder.encode(&fill, &[(0, &y)], ONE, ONE);
    assert_eq!(
        encoder.commit_and_wait().unwrap_err().to_string(),
        "kernel `fill` was interrupted"
    );
    handle.clear();
    encoder.encode(&fill, &[(0, &y)], ONE, ONE);
    encoder.commit_and_wait().unwrap();
}

#[test]
fn buffers_may_be_dropped_before_their_work_is_committed() {
    let device = cpu();
    let increment = increment(&device);
    let (x, y) = (floats(&device, &[1.0]), zeroes(&device, 1));
    let mut encoder = device.command_encoder().unwrap();
    encoder.encode(&increment, &[(0, &x), (1, &y)], ONE, ONE);
    drop(x);
    encoder.commit_and_wait().unwrap();
    assert_eq!(y.as_slice::<f32>().unwrap()[0], 2.0);
}

#[test]
fn a_panic_in_a_kernel_does_not_lock_anybody_out() {
    let device = cpu();
    let panicking = pipeline(&device, signature("panicking", &[("y", true)]), |_| {
        std::panic::resume_unwind(Box::new("on purpose"))
    });
    let y = zeroes(&device, 1);
    let mut encoder = device.command_encoder().unwrap();
    encoder.encode(&panicking, &[(0, &y)], ONE, ONE);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| encoder.commit()));
    assert!(result.is_err());
    assert!(y.as_slice::<f32>().is_err());
    let mut encoder = device.command_encoder().unwrap();
    encoder.encode(&fill(&device), &[(0, &y)], ONE, ONE);
    encoder.commit_and_wait().unwrap();
    assert_eq!(y.as_slice::<f32>().unwrap()[0], 7.0);
}

#[test]
fn committing_from_a_parallel_loop_does_not_deadlock() {
    let device = cpu();
    let parallel = pipeline(
        &device,
        signature("parallel", &[("y", true)]),
        |arguments| {
            let y = arguments.write::<f32>(0)?;
            y.par_chunks_mut(16).for_each(|chunk| {
                std::thread::yield_now();
                chunk.fill(1.0);
            });
            Ok(())
        },
    );
    (0..64).into_par_iter().for_each(|_| {
        let y = zeroes(&device, 1024);
        let mut encoder = device.command_encoder().unwrap();
        encoder.encode(&parallel, &[(0, &y)], size(1024), size(32));
        encoder.commit_and_wait().unwrap();
        assert!(y.as_slice::<f32>().unwrap().iter().all(|&v| v == 1.0));
    });
}

#[test]
fn threads_share_a_device_and_its_buffers() {
    let device = cpu();
    let increment = increment(&device);
    let shared = zeroes(&device, 256);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let own = zeroes(&device, 256);
                let mut encoder = device.command_encoder().unwrap();
                for _ in 0..200 {
                    encoder.encode(&increment, &[(0, &shared), (1, &own)], ONE, ONE);
                    encoder.encode(&increment, &[(0, &own), (1, &shared)], ONE, ONE);
                    match encoder.commit_and_wait() {
                        Ok(()) | Err(MlxError::BufferViewed { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                    match shared.as_slice::<f32>() {
                        Ok(view) => assert!(view.iter().all(|&v| v == view[0])),
                        Err(MlxError::UncommittedWork { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
}

#[test]
fn a_small_dispatch_has_little_overhead() {
    let device = cpu();
    let fill = fill(&device);
    let y = zeroes(&device, 1);
    let mut encoder = device.command_encoder().unwrap();
    let mut best = Duration::MAX;
    for _ in 0..20 {
        let start = std::time::Instant::now();
        for _ in 0..100 {
            encoder.encode(&fill, &[(0, &y)], ONE, ONE);
            encoder.commit_and_wait().unwrap();
        }
        best = best.min(start.elapsed() / 100);
    }
    assert!(best < Duration::from_micros(5), "{best:?}");
}
