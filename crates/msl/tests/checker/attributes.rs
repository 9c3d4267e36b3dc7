//! Attributes that are understood, and those that are refused. What they do is not tested here.

use super::{compile, wrong};

#[test]
fn attributes_are_understood_or_refused() {
    // What is wrong, and a part of the message.
    let refused = [
        ("struct S { alignas(3) float a; };", "3 is not an alignment"),
        (
            "struct S { alignas(-4) float a; };",
            "-4 is not an alignment",
        ),
        (
            "struct S { alignas(8192) float a; };",
            "8192 is not an alignment",
        ),
        ("struct S { alignas(2) float a; };", "less than the 4"),
        (
            "struct S { float4 a __attribute__((aligned(8))); };",
            "less than the 16",
        ),
        ("struct alignas(4) S { float2 a; };", "less than the 8"),
        (
            "struct S { float a __attribute__((aligned)); };",
            "one number of bytes",
        ),
        (
            "struct S { float a; } __attribute__((packed));",
            "packed structs are not supported",
        ),
        (
            "struct S { char b; float a __attribute__((packed)); };",
            "packed structs are not",
        ),
        (
            "struct S { float a [[color(0)]]; };",
            "`color` is not an attribute",
        ),
        (
            "struct S { float a [[id(0)]]; };",
            "`id` is not an attribute",
        ),
        (
            "struct S { float a [[function_constant(0)]]; };",
            "cannot be a function constant",
        ),
        (
            "struct [[mystery]] S { float a; };",
            "`mystery` is not an attribute",
        ),
        ("enum [[mystery]] E { A };", "`mystery` is not an attribute"),
        ("enum E { A [[mystery]] };", "`mystery` is not an attribute"),
        (
            "typedef float T __attribute__((aligned(16)));",
            "`aligned` is not an attribute",
        ),
        (
            "using T [[mystery]] = float;",
            "`mystery` is not an attribute",
        ),
        (
            "alignas(16) struct S { float a; };",
            "`alignas` is not an attribute",
        ),
        (
            "namespace [[mystery]] n { }",
            "`mystery` is not an attribute",
        ),
        (
            "[[mystery]] constant int x = 1;",
            "`mystery` is not an attribute",
        ),
        ("alignas(1) constant int x = 1;", "less than the 4"),
        (
            "[[visible]] int f() { return 1; }",
            "`visible` is not an attribute",
        ),
        (
            "__attribute__((aligned(16))) int f() { return 1; }",
            "`aligned` is not an attribute",
        ),
        (
            "__attribute__((enable_if(1, \"\"))) int f() { return 1; }",
            "`enable_if` is not",
        ),
        (
            "int f(int x alignas(8)) { return x; }",
            "`alignas` is not an attribute",
        ),
        ("kernel void k(device int* x [[bufer(0)]]) { }", "`buffer`"),
        (
            "kernel void k(device int* x alignas(16)) { }",
            "`alignas` is not an attribute",
        ),
        (
            "void f() { [[mystery]] return; }",
            "`mystery` is not an attribute",
        ),
        (
            "void f(int x) { if (x) { } else [[mystery]] { } }",
            "`mystery` is not an attribute",
        ),
        (
            "void f() { [[mystery]] int x; }",
            "`mystery` is not an attribute",
        ),
        ("void f() { alignas(1) int x; }", "less than the 4"),
        (
            "void f() { int x; alignas(16) thread int& y = x; }",
            "a reference has no alignment",
        ),
        (
            "kernel void k() { threadgroup alignas(2) int x[2]; }",
            "less than the 4",
        ),
        (
            "void f() { auto g = []() [[mystery]] { }; }",
            "`mystery` is not an attribute",
        ),
    ];
    for (source, part) in refused {
        // A kernel of it all, so that what is only lowered on use is used.
        let message = wrong(&format!("{source}\nkernel void last() {{ }}"));
        assert!(message.contains(part), "{source}\n{message}");
        assert_eq!(message.matches("error:").count(), 1, "{source}\n{message}");
    }
    let accepted = "[[maybe_unused]] constant int x = 1;
        struct [[deprecated(\"old\")]] S { [[maybe_unused]] float a; };
        [[nodiscard]] __attribute__((always_inline, const)) inline int f(int x [[maybe_unused]]) {
            switch (x) { case 1: x++; [[fallthrough]]; default: [[clang::noinline]] f2(); }
            if (x) [[likely]] { return 1; } else [[unlikely]] { return 2; }
        }
        kernel void k(device int* o [[maybe_unused]]) { [[gnu::unused]] int y = f(1); }";
    let accepted = format!("[[gnu::noinline]] void f2() {{ }}\n{accepted}");
    compile(&accepted).unwrap_or_else(|d| panic!("{d}"));
}
