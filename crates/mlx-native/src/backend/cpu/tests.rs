//! The way from a compiled module to the executor, with a module made by hand.

use std::sync::Arc;
use std::time::{Duration, Instant};

use msl::Compilation;
use msl::diag::{Sources, Span};
use msl::ir::*;

use crate::backend::KernelText;
use crate::pipeline::Pipeline;
use crate::testing::*;
use crate::{DType, MTLSize, MlxDevice};

const NOWHERE: Span = Span::new(0, 0);

/// `kernel void iota(device uint* data [[buffer(2)]], uint i [[thread_position_in_grid]])
/// { data[i] = i; }`
fn iota() -> Arc<Compilation> {
    let mut module = Module::default();
    let uint = module.types.scalar(Scalar::U32);
    let pointer = module.types.pointer(AddressSpace::Device, uint);
    let (mut locals, mut values) = (Arena::default(), Arena::default());
    let mut local = |name: &str, ty| {
        locals.push(Local {
            name: name.into(),
            ty,
            span: NOWHERE,
        })
    };
    let (data, i) = (local("data", pointer), local("i", uint));
    let mut value = |ty| values.push(Value { ty, span: NOWHERE });
    let (base, index, moved) = (value(pointer), value(uint), value(pointer));
    let place = |base, ty| Place {
        base,
        path: Vec::new(),
        ty,
    };
    let body = vec![
        Statement::Let(base, Op::Load(place(PlaceBase::Local(data), pointer))),
        Statement::Let(index, Op::Load(place(PlaceBase::Local(i), uint))),
        Statement::Let(moved, Op::Offset(base, index)),
        Statement::Store {
            place: place(PlaceBase::Pointer(moved), uint),
            value: index,
            span: NOWHERE,
        },
    ];
    let function = module.functions.push(Function {
        name: "iota".into(),
        params: vec![data, i],
        result: module.types.intern(Type::Void),
        locals,
        values,
        threadgroup: Arena::default(),
        body,
        casts_away_const: false,
        span: NOWHERE,
    });
    let argument = |name: &str, binding| Argument {
        name: name.into(),
        binding,
        condition: None,
        span: NOWHERE,
    };
    let buffer = msl::ir::Binding::Buffer {
        index: 2,
        space: AddressSpace::Device,
        writable: true,
        pointee: uint,
        is_reference: false,
    };
    let position = msl::ir::Binding::Builtin(Builtin::ThreadPositionInGrid);
    module.kernels.push(Kernel {
        name: "iota".into(),
        function,
        arguments: vec![argument("data", buffer), argument("i", position)],
        max_threads: None,
        span: NOWHERE,
    });
    Arc::new(Compilation {
        module,
        sources: Arc::new(Sources::new()),
        warnings: Default::default(),
    })
}

fn pipeline_of(device: &MlxDevice, compilation: &Arc<Compilation>) -> Pipeline {
    let text = KernelText {
        compilation,
        name: "iota",
        constants: &Default::default(),
        built_in: false,
    };
    Pipeline::new(device.metal_device(), &text, &compilation.module.kernels[0]).unwrap()
}

#[test]
fn a_compiled_kernel_runs_and_its_faults_have_names() {
    let device = cpu();
    let iota = pipeline_of(&device, &iota());
    assert_eq!(iota.signature().arguments.len(), 1);
    let mut encoder = device.command_encoder().unwrap();
    for n in [1usize, 7, 100, 100_000] {
        let data = device.alloc_buffer(4 * n, DType::U32, vec![n]).unwrap();
        let grid = MTLSize::new(n as u64, 1, 1);
        encoder.encode(&iota, &[(2, &data)], grid, MTLSize::new(64, 1, 1));
        encoder.commit_and_wait().unwrap();
        let data = data.as_slice::<u32>().unwrap();
        assert!(data.iter().enumerate().all(|(i, &v)| i == v as usize));
    }
    let short = device.alloc_buffer(40, DType::U32, vec![10]).unwrap();
    encoder.encode(&iota, &[(2, &short)], MTLSize::new(11, 1, 1), ONE);
    let message = encoder.commit_and_wait().unwrap_err().to_string();
    assert!(
        message.contains("`iota`") && message.contains("data"),
        "{message}"
    );
    assert_eq!(short.as_slice::<u32>().unwrap()[9], 9);
}

#[test]
fn whatever_may_use_rayon_runs_in_the_pool() {
    let device = cpu();
    let check = pipeline(&device, signature("check", &[]), |arguments| {
        let name = std::thread::current().name().map(str::to_string);
        let in_pool = name.is_some_and(|n| n.starts_with("mlx-native-"));
        assert_eq!(in_pool, arguments.is_parallel());
        assert_eq!(in_pool, arguments.threads()[0] > 32);
        Ok(())
    });
    let run = || {
        let mut encoder = device.command_encoder().unwrap();
        for threads in [32, 33] {
            encoder.encode(
                &check,
                &[],
                MTLSize::new(threads, 1, 1),
                MTLSize::new(32, 1, 1),
            );
            encoder.commit_and_wait().unwrap();
        }
    };
    run();
    rayon::join(run, run);
}

#[test]
fn a_small_executed_dispatch_has_little_overhead() {
    let device = cpu();
    let iota = pipeline_of(&device, &iota());
    let data = device.alloc_buffer(4, DType::U32, vec![1]).unwrap();
    let mut encoder = device.command_encoder().unwrap();
    let mut best = Duration::MAX;
    for _ in 0..20 {
        let start = Instant::now();
        for _ in 0..100 {
            encoder.encode(&iota, &[(2, &data)], ONE, ONE);
            encoder.commit_and_wait().unwrap();
        }
        best = best.min(start.elapsed() / 100);
    }
    println!("{best:?} for encode and commit_and_wait");
    // The bound for optimised builds, five times over, as tests may be built without.
    assert!(best < Duration::from_micros(25), "{best:?}");
}
