//! A second opinion: the same programs as C++, whose threads run one after another.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::judge::{Inputs, Outcome, Reference};
use super::print::{Dialect, print};
use super::program::*;

/// A C++ compiler.
pub struct Cpp {
    compiler: &'static str,
}

/// What the printed text needs, with the meaning that the Metal text has here.
const PRELUDE: &str = r#"
#include <cstdio>
#define thread
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
template <class To, class From> static To as_type(From x) { To y; __builtin_memcpy(&y, &x, sizeof y); return y; }
template <class T> static T divide(T a, T b) {
    if (b == 0) return 0;
    if (T(-1) < T(0) && b == T(-1)) return T(0 - a);
    return T(a / b);
}
template <class T> static T remainder_of(T a, T b) {
    if (b == 0) return a;
    if (T(-1) < T(0) && b == T(-1)) return 0;
    return T(a % b);
}
template <class T> static T shift_left(T a, T b) { return T((a + 0) << (b & T(sizeof(a + 0) * 8 - 1))); }
template <class T> static T shift_right(T a, T b) { return T((a + 0) >> (b & T(sizeof(a + 0) * 8 - 1))); }
template <class T> static T divide_assign(T& a, T b) { return a = divide(a, b); }
template <class T> static T remainder_of_assign(T& a, T b) { return a = remainder_of(a, b); }
template <class T> static T shift_left_assign(T& a, T b) { return a = shift_left(a, b); }
template <class T> static T shift_right_assign(T& a, T b) { return a = shift_right(a, b); }
template <class T> static T saturated(float x) {
    const T low = T(-1) < T(0) ? T(T(1) << (sizeof(T) * 8 - 1)) : T(0), high = T(~low);
    if (x != x) return 0;
    if (x <= float(low)) return low;
    if (x >= float(high)) return high;
    return T(x);
}
template <class T> static T metal_min(T a, T b) { return b < a ? b : a; }
template <class T> static T metal_max(T a, T b) { return a < b ? b : a; }
template <class T> static T metal_popcount(T a) { return T(__builtin_popcountll(ulong(a) << (64 - sizeof a * 8))); }
static inline float metal_fabs(float a) { return __builtin_fabsf(a); }
static inline float metal_floor(float a) { return __builtin_floorf(a); }
static inline float metal_sqrt(float a) { return __builtin_sqrtf(a); }
static inline float metal_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
typedef void (*Kernel)(uint*, const uint*, const float*, const uint*, uint*, uint, uint, uint, uint);
"#;

impl Cpp {
    /// The first compiler that runs.
    pub fn find() -> Option<Self> {
        ["g++", "clang++"]
            .into_iter()
            .find(|name| {
                let version = Command::new(name).arg("--version").output();
                version.is_ok_and(|output| output.status.success())
            })
            .map(|compiler| Self { compiler })
    }

    /// Compiles and runs the programs as one text.
    fn run(&self, programs: &[&Program], inputs: &Inputs) -> Result<Vec<Outcome>, String> {
        static TEXTS: AtomicUsize = AtomicUsize::new(0);
        let number = TEXTS.fetch_add(1, Ordering::Relaxed);
        let name = format!("random-kernels-{}-{number}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        std::fs::create_dir_all(&folder.0).map_err(|e| e.to_string())?;
        let (source, binary) = (folder.0.join("kernels.cpp"), folder.0.join("kernels"));
        std::fs::write(&source, text(programs, inputs)).map_err(|e| e.to_string())?;
        let compiled = Command::new(self.compiler)
            .args(["-std=c++17", "-O1", "-w", "-fwrapv", "-fno-strict-aliasing"])
            .args(["-ffp-contract=off", "-o"])
            .args([&binary, &source])
            .output()
            .map_err(|e| e.to_string())?;
        if !compiled.status.success() {
            return Err(String::from_utf8_lossy(&compiled.stderr).into_owned());
        }
        let output = Command::new(&binary).output().map_err(|e| e.to_string())?;
        if !output.status.success() {
            return Err(format!("the C++ program ended with {}", output.status));
        }
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        let outcomes: Vec<Outcome> = lines.lines().filter_map(parse).collect();
        match outcomes.len() == programs.len() {
            true => Ok(outcomes),
            false => Err("the C++ program did not print all results".to_string()),
        }
    }
}

/// A folder that goes when this is dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // A temporary folder that stays is no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Reference for Cpp {
    fn outcomes(&self, programs: &[&Program], inputs: &Inputs) -> Vec<Result<Outcome, String>> {
        match self.run(programs, inputs) {
            Ok(outcomes) => outcomes.into_iter().map(Ok).collect(),
            // One of them does not compile: which?
            Err(_) if programs.len() > 1 => programs
                .iter()
                .flat_map(|program| self.outcomes(&[program], inputs))
                .collect(),
            Err(message) => vec![Err(message)],
        }
    }
}

/// Words in hexadecimal, the counters last.
fn parse(line: &str) -> Option<Outcome> {
    let words: Result<Vec<u32>, _> = line
        .split_whitespace()
        .map(|word| u32::from_str_radix(word, 16))
        .collect();
    let mut words = words.ok()?;
    let counters = words.split_off(words.len().checked_sub(COUNTERS)?);
    Some(Outcome {
        out: words,
        counters,
    })
}

fn list(words: &[u32]) -> String {
    let words: Vec<String> = words.iter().map(|w| format!("{w}u")).collect();
    words.join(", ")
}

fn text(programs: &[&Program], inputs: &Inputs) -> String {
    let mut text = PRELUDE.to_string();
    let bits: Vec<u32> = inputs.reals.iter().map(|x| x.to_bits()).collect();
    let (data, bits) = (list(&inputs.data), list(&bits));
    let _ = write!(
        text,
        "static const uint data[] = {{ {data} }}, real_bits[] = {{ {bits} }};\n\
         static float reals[{INPUTS}];\n\
         static void run(Kernel kernel, uint grid, uint size, const uint* args) {{\n    \
             static uint out[1024 * {OUTPUTS}]; uint counters[{COUNTERS}] = {{}};\n    \
             __builtin_memset(out, 0, sizeof out);\n    \
             for (uint i = 0; i < grid; i++) {{\n        \
                 uint g = i / size, left = grid - g * size;\n        \
                 kernel(out, data, reals, args, counters, i, i % size, g, left < size ? left : size);\n    \
             }}\n    \
             for (uint w = 0; w < grid * {OUTPUTS}; w++) printf(\"%x \", out[w]);\n    \
             for (uint w = 0; w < {COUNTERS}; w++) printf(\"%x \", counters[w]);\n    \
             printf(\"\\n\");\n\
         }}\n"
    );
    let mut calls = String::new();
    for (index, program) in programs.iter().enumerate() {
        let kernel = print(program, Dialect::Cpp);
        let _ = writeln!(text, "namespace kernel_{index} {{\n{kernel}}}");
        let _ = writeln!(
            calls,
            "    {{ const uint args[] = {{ {} }}; run(kernel_{index}::k, {}, {}, args); }}",
            list(&program.arguments),
            program.grid,
            program.threadgroup
        );
    }
    format!(
        "{text}int main() {{\n    __builtin_memcpy(reals, real_bits, sizeof reals);\n{calls}}}\n"
    )
}
