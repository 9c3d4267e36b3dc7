//! Conversions that happen by themselves, those that must be asked for, and casts that take `const`
//! away.

use msl::ir::Binding;

use super::{compile, wrong};

/// Every way in which a value is converted without being asked: a `to` from a `from`.
fn implicit_conversions(to: &str, from: &str) -> Vec<String> {
    let kernel = |body: &str, before: &str| {
        format!(
            "{before}\nkernel void k(device {from}* x, device {to}* y, device float* o) {{ {body} }}"
        )
    };
    vec![
        kernel(&format!("{to} z = x[0]; y[0] = z;"), ""),
        kernel(&format!("{to} z{{x[0]}}; y[0] = z;"), ""),
        kernel(&format!("{to} z[2] = {{x[0], y[0]}}; y[0] = z[0];"), ""),
        kernel(
            "S s = {x[0]}; y[0] = s.member;",
            &format!("struct S {{ {to} member; }};"),
        ),
        kernel("y[0] = x[0];", ""),
        kernel(
            "y[0] = f(x[0]);",
            &format!("{to} f({to} v) {{ return v; }}"),
        ),
        kernel(
            "y[0] = f(x[0]);",
            &format!("{to} f({from} v) {{ return v; }}"),
        ),
        kernel(
            "y[0] = f(y[0], x[0]);",
            &format!("{to} f({to} v, {to} w) {{ return w; }}"),
        ),
    ]
}

#[test]
fn what_becomes_a_bfloat_by_itself_and_what_does_not() {
    let refused = [
        ("bfloat", "float", "`bfloat(..)`"),
        ("bfloat", "half", "`bfloat(..)`"),
        ("half", "bfloat", "`half(..)`"),
    ];
    for (to, from, hint) in refused {
        for source in implicit_conversions(to, from) {
            let message = wrong(&source);
            assert!(message.contains(hint), "{source}\n{message}");
            assert_eq!(message.matches("error:").count(), 1, "{source}\n{message}");
        }
    }
    let accepted = [
        "bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "bfloat",
    ];
    let into_bfloat = accepted.map(|from| ("bfloat", from));
    let from_bfloat = ["float", "int", "bool"].map(|to| (to, "bfloat"));
    for (to, from) in into_bfloat.into_iter().chain(from_bfloat) {
        for source in implicit_conversions(to, from) {
            // Braces take nothing that may lose something, whatever the types.
            let braced = source.contains("z{") || source.contains("= {");
            if !braced {
                compile(&source).unwrap_or_else(|d| panic!("{source}\n{d}"));
            }
        }
    }
    for statement in [
        "b += f;",
        "b = b * f;",
        "b = f > 0 ? b : f;",
        "bfloat2 v = bfloat2(b); v = f;",
        "b = exp(f);",
        "b = 1.0f;",
    ] {
        let message = wrong(&format!(
            "kernel void k(device bfloat* y, device float* x) {{ bfloat b = y[0]; float f = x[0];
             {statement} }}"
        ));
        assert!(message.contains("error:"), "{statement}");
    }
    let fine = "kernel void k(device bfloat* y, device float* x) {
        bfloat b = y[0]; float f = x[0];
        b += bfloat(f); b = bfloat(b * f); f += b; f = b; b = bfloat(f); b = 1; b = bfloat(exp(b)); b *= 2;
        x[0] = f + b; y[0] = b; }";
    compile(fine).unwrap_or_else(|d| panic!("{d}"));
}

#[test]
fn a_kernel_that_casts_away_const_counts_as_writing() {
    let casts = [
        "((device float*)p)[i] = 1.0f;",
        "const_cast<device float*>(p)[i] = 1.0f;",
        "reinterpret_cast<device int*>(p)[i] = 1;",
        "device char* q = (device char*)&p[1]; q[i] = 1;",
        "(device float&)p[0] = 1.0f;",
        "store(p, i);",
        "const device Rows* rows = (const device Rows*)p; ((device float*)rows->row[0])[i] = 1.0f;",
        "((const device Rows*)p)->first()[0] = 1.0f;",
    ];
    for cast in casts {
        let source = format!(
            "struct Rows {{ float row[2][4];
                           device float* first() const device {{ return (device float*)row; }} }};
             void store(device const float* p, uint i) {{ ((device float*)p)[i] = 1.0f; }}
             kernel void k(device const float* p, uint i [[thread_position_in_grid]]) {{ {cast} }}
             kernel void other(device const float* p, device float* q) {{ q[0] = p[0]; }}"
        );
        let module = compile(&source).unwrap_or_else(|d| panic!("{d}")).module;
        let written: Vec<Vec<bool>> = module
            .kernels
            .iter()
            .map(|kernel| {
                let buffers = kernel.arguments.iter().filter_map(|a| match a.binding {
                    Binding::Buffer { writable, .. } => Some(writable),
                    _ => None,
                });
                buffers.collect()
            })
            .collect();
        assert_eq!(written, [vec![true], vec![false, true]], "{cast}");
    }
}
