//! Ten thousand random token sequences through the whole compiler: no panic and no hang.

const TOKENS: &[&str] = &[
    "kernel",
    "void",
    "k",
    "(",
    ")",
    "{",
    "}",
    "device",
    "constant",
    "threadgroup",
    "thread",
    "const",
    "float",
    "float4",
    "int",
    "uint",
    "half",
    "bool",
    "x",
    "y",
    "i",
    "n",
    "*",
    "&",
    "[",
    "]",
    "[[",
    "]]",
    "buffer",
    "0",
    "1",
    "2.0f",
    "1.5h",
    "=",
    "+",
    "-",
    "/",
    "%",
    "<",
    ">",
    "<<",
    "==",
    "&&",
    "||",
    "?",
    ":",
    ";",
    ",",
    ".",
    "x",
    "if",
    "else",
    "for",
    "while",
    "do",
    "return",
    "break",
    "continue",
    "switch",
    "case",
    "default",
    "struct",
    "S",
    "enum",
    "typedef",
    "using",
    "namespace",
    "metal",
    "::",
    "template",
    "<",
    "typename",
    "T",
    ">",
    "auto",
    "sizeof",
    "exp",
    "simd_sum",
    "threadgroup_barrier",
    "mem_flags",
    "mem_threadgroup",
    "thread_position_in_grid",
    "->",
    "++",
    "!",
    "~",
    "#define A(x) x x\n",
    "A(",
    "\n#if 1\n",
    "\n#endif\n",
    "constexpr",
    "static",
    "true",
    "nullptr",
    "operator",
];

const KERNEL: &str = "#include <metal_stdlib>
using namespace metal;
struct P { uint n; float4 v[2]; };
inline float f(thread float& a, float b) { a += b; return a > 1 ? a : b; }
kernel void k(device float* out [[buffer(0)]], constant P& p [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    float a = 0; for (uint j = 0; j < p.n; j++) { a += f(a, p.v[j % 2].x); if (a > 9) break; }
    switch (i % 3) { case 0: a = exp(a); default: a -= 1; } out[i] = a;
}";

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

#[test]
fn random_token_sequences_end_in_a_message() {
    let words: Vec<&str> = KERNEL
        .split_inclusive([' ', '(', ')', ';', '[', ']'])
        .collect();
    for seed in 1..=10_000u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let text = if seed % 2 == 0 {
            let len = 1 + random.below(60);
            (0..len)
                .map(|_| TOKENS[random.below(TOKENS.len())])
                .collect::<Vec<_>>()
                .join(" ")
        } else {
            // A kernel with a few words lost, doubled or replaced.
            let mut words: Vec<&str> = words.clone();
            for _ in 0..1 + random.below(4) {
                let at = random.below(words.len());
                match random.below(3) {
                    0 => drop(words.remove(at)),
                    1 => words.insert(at, words[at]),
                    _ => words[at] = TOKENS[random.below(TOKENS.len())],
                }
            }
            words.concat()
        };
        let outcome = std::panic::catch_unwind(|| {
            match msl::compile("random.metal", &text, &msl::syntax::Options::default()) {
                Ok(compiled) => {
                    for kernel in &compiled.module.kernels {
                        // It may use what the CPU does not run yet, which is a message too.
                        let _ = msl::exec::Program::new(&compiled, &kernel.name);
                    }
                }
                Err(problems) => assert!(!problems.to_string().is_empty()),
            }
        });
        assert!(outcome.is_ok(), "seed {seed} panics on:\n{text}");
    }
}
