//! No text makes the front end panic, hang or overflow the stack.

use crate::diag::Diagnostics;
use crate::syntax::{Options, parse};

/// A small generator of random numbers, so that a seed names a text.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    ">>",
    ">>=",
    ";",
    ",",
    ":",
    "::",
    "?",
    ".",
    "->",
    "...",
    "=",
    "==",
    "+",
    "-",
    "*",
    "/",
    "&",
    "&&",
    "|",
    "!",
    "~",
    "#",
    "##",
    "\n",
    "\n",
    "\n#define ",
    "\n#if ",
    "\n#else\n",
    "\n#endif\n",
    "\n#include ",
    "\n#undef ",
    "0",
    "1u",
    "1.5h",
    "0x",
    "1e",
    "'a'",
    "\"s\"",
    "'",
    "\"",
    "/*",
    "*/",
    "//",
    "\\\n",
    "a",
    "b",
    "T",
    "F",
    "f(",
    "struct",
    "class",
    "enum",
    "union",
    "template",
    "template<",
    "typename",
    "kernel",
    "[[",
    "]]",
    "[[kernel]]",
    "device",
    "constant",
    "threadgroup",
    "thread",
    "const",
    "constexpr",
    "static",
    "inline",
    "void",
    "int",
    "float",
    "half",
    "float4",
    "vec<",
    "array<",
    "unsigned",
    "long",
    "if",
    "else",
    "for",
    "while",
    "do",
    "switch",
    "case",
    "default",
    "break",
    "return",
    "using",
    "namespace",
    "typedef",
    "operator",
    "decltype",
    "auto",
    "sizeof",
    "static_cast<",
    "as_type<",
    "this",
    "true",
    "static_assert",
    "alignas",
    "__attribute__((",
    "é",
    "\u{0}",
    "__VA_ARGS__",
    "defined",
    "F(x) x F(x)",
    "_Pragma(",
    "__LINE__",
    "lambda",
    "[&]",
    "[=](",
    "A::",
    "~",
    "public",
    "goto",
    "extern \"C\"",
    "friend",
    "noexcept",
    "__asm",
    "->*",
    "%",
    "^",
    "new",
];

const KERNEL: &str = "#include <metal_stdlib>
using namespace metal;
#define SQUARE(x) ((x) * (x))
#define CAT(a, b) a##b
#if __METAL_VERSION__ > 300
typedef struct { float a; uint b[4]; } Params;
#endif
template <typename T, int N = 4> struct Tile {
  T data[N];
  Tile(T x) : data{x} {}
  T operator[](int i) const thread { return data[i]; }
  template <typename U> U to() { return static_cast<U>(data[0]); }
};
enum class Mode : uchar { A = 1, B };
template <typename T, void (*f)(device T*, uint)>
[[host_name(\"k\")]] kernel void run(device T* x [[buffer(0)]], constant Params& p [[buffer(1)]],
    threadgroup float* s [[threadgroup(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup float tmp[32];
  Tile<vec<T, 2>, 3> tile(x[i]);
  for (uint j = 0; j < p.b[0]; j += 2) {
    switch (j) { case 0: continue; default: tmp[j] = SQUARE(tile[0].x); break; }
  }
  auto g = [&](float y) -> float { return y < 1.0f ? CAT(fl, oat)(2) : -y; };
  if (i >= 3u && tile.data[0].x > T(0)) { x[i] = (T)g(*(device const float*)x); } else return;
  do { i >>= 1; } while (i);
}
template [[host_name(\"r\")]] [[kernel]] decltype(run<float, nullptr>) run<float, nullptr>;
";

fn survives(text: &str, seed: u64) {
    let run = || {
        let (unit, sources, report) = parse("any.metal", text, &Options::default());
        drop(unit);
        Diagnostics { sources, report }.to_string()
    };
    if std::panic::catch_unwind(run).is_err() {
        panic!("seed {seed} panics:\n{text}");
    }
}

#[test]
fn random_tokens() {
    for seed in 1..=10_000u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut text = String::new();
        for _ in 0..random.below(80) {
            text += PIECES[random.below(PIECES.len())];
            if random.below(4) > 0 {
                text.push(' ');
            }
        }
        survives(&text, seed);
    }
}

#[test]
fn damaged_kernels() {
    for seed in 1..=3_000u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut text: Vec<char> = KERNEL.chars().collect();
        for _ in 0..=random.below(4) {
            let at = random.below(text.len());
            match random.below(4) {
                0 => {
                    text.remove(at);
                }
                1 => {
                    let end = (at + random.below(30)).min(text.len());
                    text.drain(at..end);
                }
                2 => {
                    let piece = PIECES[random.below(PIECES.len())];
                    text.splice(at..at, piece.chars());
                }
                _ => {
                    let from = random.below(text.len());
                    let end = (from + random.below(40)).min(text.len());
                    let copy: Vec<char> = text[from..end].to_vec();
                    text.splice(at..at, copy);
                }
            }
        }
        survives(&text.iter().collect::<String>(), seed);
    }
}

/// Runs on a small stack, which a parser without limits would overflow.
fn on_small_stack(texts: Vec<String>) {
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    let handle = thread.spawn(move || {
        for text in texts {
            let start = std::time::Instant::now();
            let (unit, _, report) = parse("deep.metal", &text, &Options::default());
            drop(unit);
            let beginning: String = text.chars().take(60).collect();
            assert!(report.has_errors(), "no limit for {beginning}");
            assert!(start.elapsed().as_secs() < 5, "slow: {beginning}");
        }
    });
    handle.unwrap().join().unwrap();
}

#[test]
fn depth_is_limited() {
    let n = 20_000;
    let inside = |open: &str, middle: &str, close: &str| {
        format!(
            "void f() {{ {}{middle}{} }}",
            open.repeat(n),
            close.repeat(n)
        )
    };
    on_small_stack(vec![
        inside("(", "x", ")"),
        inside("x = ", "x", ""),
        inside("x + ", "x", ""),
        inside("x, ", "x", ""),
        inside("x ? ", "x", " : x"),
        inside("x ? x : ", "x", ""),
        inside("-", "x", ""),
        inside("(int)", "x", ""),
        inside("*&", "x", ""),
        inside("f(", "x", ")"),
        inside("x[", "x", "]"),
        inside("x", "", "[0]"),
        inside("x", "", "()"),
        inside("x", "", ".y"),
        inside("{", "x;", "}"),
        inside("if (x) ", ";", ""),
        inside("if (x) {} else ", ";", ""),
        inside("for (;;) ", ";", ""),
        inside("do ", ";", " while (x);"),
        inside("switch (x) { case 1: ", ";", "}"),
        inside("[&]() { ", "x;", "};"),
        inside("float4{", "x", "}"),
        inside("vec<", "int", ">"),
        inside("int x = {", "1", "}"),
        inside("int *", "x", ""),
        inside("int ", "x", "[1]"),
        inside("int (*", "x", ")"),
        inside("decltype(", "x", ") y;"),
        inside("sizeof ", "x", ""),
        inside("x + (", "x", ")"),
        inside("a<", "x", ""),
        inside("struct S { ", "int x;", "};"),
        inside("a::", "x", ""),
        inside("static_cast<int>(", "x", ")"),
        "namespace a { ".repeat(n),
        "struct a { ".repeat(n),
        "template <template <".repeat(n),
        "template <".repeat(n),
        "void f(void (*".repeat(n),
        "extern \"C\" { ".repeat(n),
        "enum { a = ".repeat(n),
        "[[a(".repeat(n),
        "a<b<".repeat(n),
        "((".repeat(n),
        "f(a<".repeat(n),
        "#if 1\n".repeat(n),
        "int x = a < b; a<".repeat(n),
    ]);
}

#[test]
fn long_texts_take_linear_time() {
    let statement =
        "x[i] = a * b + c(d, 1.0f) - (float)y; if (i < n) { z += vec<float, 4>(1).x; }\n";
    let text = format!("void f() {{\n{}}}", statement.repeat(20_000));
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = std::time::Instant::now();
        let (_, _, report) = parse("long.metal", &text, &Options::default());
        best = best.min(start.elapsed().as_secs_f64());
        assert!(!report.has_errors());
    }
    println!("{:.1} MB/s", text.len() as f64 / best / 1e6);
    // Garbage is not slower by more than a factor.
    for piece in [
        "a<",
        "a b ",
        "( ) ; ",
        "} ",
        "{ ",
        "a < b > c ",
        "@ ",
        "int x = ; ",
        "a *b&c<",
        "f(a; b) ",
    ] {
        let text = piece.repeat(200_000);
        let start = std::time::Instant::now();
        parse("garbage.metal", &text, &Options::default());
        let seconds = start.elapsed().as_secs_f64();
        assert!(seconds < 5.0, "{piece:?} took {seconds} s");
    }
}
