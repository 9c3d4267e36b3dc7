#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, which the lint does not know as such
//! The interpreter and the executor compute the same bits: every operator, conversion and function
//! of the library on every type, on edge values and random ones.

use std::collections::BTreeMap;

use msl::exec::{self, Memory, Program};
use msl::interpret::{Dispatch, run};

const INTEGERS: [&str; 8] = [
    "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong",
];
const FLOATS: [&str; 3] = ["half", "bfloat", "float"];

/// Elements of each input.
const COUNT: usize = 512;

fn size(ty: &str) -> usize {
    match ty {
        "bool" | "char" | "uchar" => 1,
        "short" | "ushort" | "half" | "bfloat" => 2,
        "long" | "ulong" => 8,
        _ => 4,
    }
}

/// The bytes of one element as a type, of a number.
fn number(ty: &str, value: f32) -> Vec<u8> {
    match ty {
        "float" => value.to_le_bytes().into(),
        "half" => half::f16::from_f32(value).to_le_bytes().into(),
        "bfloat" => half::bf16::from_f32(value).to_le_bytes().into(),
        "bool" => vec![u8::from(value != 0.0)],
        _ => (value as i64).to_le_bytes()[..size(ty)].into(),
    }
}

/// Some numbers: edge values, small ones, any bits.
fn numbers(ty: &str, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state >> 33
    };
    let edges = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1e-40,
        6e-5,
        65504.0,
        1e10,
        -1e10,
        1e19,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MAX,
        127.0,
        128.0,
        255.5,
        32768.0,
        -129.0,
    ];
    let mut bytes = Vec::new();
    for index in 0..COUNT {
        let choice = random();
        bytes.extend(match index % 4 {
            0 => number(ty, edges[choice as usize % edges.len()]),
            1 => number(ty, (choice % 201) as f32 / 10.0 - 10.0),
            2 => number(ty, (choice % 2001) as f32 - 1000.0),
            // Near the middle of two bfloats.
            _ if index % 8 == 7 && INTEGERS.contains(&ty) => (((choice % 128 + 128) * 2 + 1) << 17)
                .wrapping_sub(choice >> 20 & 1)
                .to_le_bytes()[..size(ty)]
                .to_vec(),
            _ if ty == "bool" => vec![choice as u8 & 1],
            _ => (choice << 33 ^ random() << 16 ^ random()).to_le_bytes()[..size(ty)].to_vec(),
        });
    }
    bytes
}

fn is_nan(ty: &str, bytes: &[u8]) -> bool {
    match (ty, bytes) {
        ("float", &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).is_nan(),
        ("half", &[a, b]) => half::f16::from_le_bytes([a, b]).is_nan(),
        ("bfloat", &[a, b]) => half::bf16::from_le_bytes([a, b]).is_nan(),
        _ => false,
    }
}

/// Evaluates expressions over `a`, `b`, `c` (of type `ty`), `n` and `m` (uints up to 40), each of
/// type `result`, both ways.
fn compare(ty: &str, result: &str, expressions: &[String]) {
    let mut body = String::new();
    for (index, expression) in expressions.iter().enumerate() {
        let many = expressions.len();
        body += &format!("out[i * {many} + {index}] = {result}({expression});\n");
    }
    let source = format!(
        "kernel void k(device {result}* out, device const {ty}* as, device const {ty}* bs,
             device const {ty}* cs, device const uint* ns, uint i [[thread_position_in_grid]]) {{
             {ty} a = as[i], b = bs[i], c = cs[i]; uint n = ns[i] % 41, m = (ns[i] >> 8) % 41;
             {body} }}"
    );
    let mut inputs = [
        numbers(ty, 1),
        numbers(ty, 2),
        numbers(ty, 3),
        numbers("uint", 4),
    ];
    let len = COUNT * expressions.len() * size(result);
    let (grid, threadgroup) = ([COUNT as u64, 1, 1], [100, 1, 1]);

    let text = format!("#include <metal_stdlib>\nusing namespace metal;\n{source}");
    let compilation = msl::compile("test.metal", &text, &msl::syntax::Options::default())
        .unwrap_or_else(|diagnostics| panic!("{diagnostics}"));

    let mut executed = vec![0u8; len];
    let lent = std::iter::once(&mut executed).chain(&mut inputs);
    let lent: Vec<_> = lent
        .map(|bytes| {
            Some(Memory {
                pointer: bytes.as_mut_ptr(),
                len: bytes.len(),
            })
        })
        .collect();
    let dispatch = exec::Dispatch {
        grid,
        threadgroup,
        buffers: &lent,
        threadgroup_memory: &[],
        interrupt: None,
    };
    // SAFETY: the buffers outlive the call and nothing else uses them meanwhile.
    unsafe { Program::new(&compilation, "k").unwrap().run(&dispatch) }.unwrap();

    let mut interpreted = vec![0u8; len];
    let mut buffers = vec![Some(&mut interpreted[..])];
    buffers.extend(inputs.iter_mut().map(|input| Some(&mut input[..])));
    let dispatch = Dispatch {
        grid,
        threadgroup,
        buffers: &mut buffers,
        threadgroup_memory: &[],
        constants: &BTreeMap::new(),
        check: false,
        step_limit: None,
        interrupt: None,
    };
    run(&compilation, "k", dispatch).unwrap();

    let width = size(result);
    let pairs = executed.chunks(width).zip(interpreted.chunks(width));
    let mut wrong = BTreeMap::new();
    for (at, (executed, interpreted)) in pairs.enumerate() {
        if executed != interpreted && !(is_nan(result, executed) && is_nan(result, interpreted)) {
            let (thread, index) = (at / expressions.len(), at % expressions.len());
            let [a, b, c] = [0, 1, 2].map(|input| &inputs[input][thread * size(ty)..][..size(ty)]);
            wrong.entry(&expressions[index]).or_insert_with(|| {
                format!(
                    "{a:x?}, {b:x?}, {c:x?} executed {executed:x?}, interpreted {interpreted:x?}"
                )
            });
        }
    }
    assert!(wrong.is_empty(), "{ty} to {result}: {wrong:#?}");
}

fn strings(expressions: &[&str]) -> Vec<String> {
    expressions.iter().map(|e| e.to_string()).collect()
}

#[test]
fn operators_and_functions_of_integers() {
    for ty in INTEGERS {
        let mut all = strings(&[
            "a + b",
            "a - b",
            "a * b",
            "a / b",
            "a % b",
            "a & b",
            "a | b",
            "a ^ b",
            "~a",
            "-a",
            "a << (b & 7)",
            "a >> (b & 7)",
            "abs(a)",
            "addsat(a, b)",
            "subsat(a, b)",
            "clamp(a, min(b, c), max(b, c))",
            "clz(a)",
            "ctz(a)",
            "popcount(a)",
            "reverse_bits(a)",
            "hadd(a, b)",
            "rhadd(a, b)",
            "madhi(a, b, c)",
            "mulhi(a, b)",
            "rotate(a, b)",
            "max3(a, b, c)",
            "a < b ? b : c",
        ]);
        all.extend(strings(&[
            "madsat(a, b, c)",
            "extract_bits(a, n, m)",
            "extract_bits(a, n * 2, m / 2)",
            "insert_bits(a, b, n, m)",
            "insert_bits(a, b, n * 2, m / 2)",
        ]));
        if ty == "int" || ty == "uint" {
            all.extend(strings(&["mul24(a, b)", "mad24(a, b, c)"]));
        }
        compare(ty, ty, &all);
        let unsigned = if ty.starts_with('u') {
            ty.to_string()
        } else {
            format!("u{ty}")
        };
        compare(ty, &unsigned, &strings(&["absdiff(a, b)"]));
    }
}

#[test]
fn operators_and_functions_of_floats() {
    for ty in FLOATS {
        let one = [
            "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "cospi",
            "exp", "exp2", "exp10", "fabs", "floor", "fract", "log", "log2", "log10", "rint",
            "round", "rsqrt", "saturate", "sign", "sin", "sinh", "sinpi", "sqrt", "tan", "tanh",
            "tanpi", "trunc",
        ];
        let two = [
            "atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "pow", "powr", "step",
        ];
        let three = ["fma", "mix", "smoothstep", "clamp"];
        let mut all = strings(&["a + b", "a - b", "a * b", "a / b", "-a", "a * b + c"]);
        all.extend(one.iter().map(|name| format!("{name}(a)")));
        all.extend(two.iter().map(|name| format!("{name}(a, b)")));
        all.extend(three.iter().map(|name| format!("{name}(a, b, c)")));
        all.push("ldexp(a, int(n) - 20)".into());
        if ty != "bfloat" {
            all.push(format!("dot({ty}4(a, b, c, a), {ty}4(b, c, a, a))"));
        }
        all.push("nextafter(a, b)".into());
        compare(ty, ty, &all);
        compare(ty, "int", &strings(&["ilogb(a)"]));
    }
}

#[test]
fn comparisons_and_classes() {
    for ty in INTEGERS.iter().chain(&FLOATS) {
        let mut all = strings(&[
            "a == b", "a != b", "a < b", "a <= b", "a > b", "a >= b", "a < a",
        ]);
        if FLOATS.contains(ty) {
            let names = ["isfinite", "isinf", "isnan", "isnormal", "signbit"];
            all.extend(names.iter().map(|name| format!("{name}(a)")));
        }
        compare(ty, "bool", &all);
    }
}

#[test]
fn conversions_between_all_types() {
    let all: Vec<_> = ["bool"].iter().chain(&INTEGERS).chain(&FLOATS).collect();
    for from in &all {
        for to in &all {
            compare(from, to, &[format!("{to}(a)")]);
        }
    }
}

#[test]
fn reductions_of_all_lanes() {
    for ty in ["int", "uint", "half", "float"] {
        let mut all = strings(&[
            "simd_sum(a)",
            "simd_product(a)",
            "simd_min(a)",
            "simd_max(a)",
            "quad_sum(a)",
            "quad_product(a)",
            "quad_min(a)",
            "quad_max(a)",
            "simd_prefix_inclusive_sum(a)",
            "simd_prefix_exclusive_product(a)",
            "simd_broadcast_first(b)",
        ]);
        if ty.ends_with("int") {
            all.extend(strings(&[
                "simd_and(a)",
                "simd_or(a)",
                "simd_xor(a)",
                "quad_xor(a)",
            ]));
        }
        compare(ty, ty, &all);
    }
}
