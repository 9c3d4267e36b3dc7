//! Sizes, alignments and offsets of types, structs and variables. Which attributes may ask for them is
//! in `attributes`.

use super::compile;

/// Size and alignment of every scalar, vector, packed vector and matrix type, by Metal's tables.
fn plain_types() -> Vec<(String, u32, u32)> {
    let scalars = [
        ("bool", 1),
        ("char", 1),
        ("uchar", 1),
        ("short", 2),
        ("ushort", 2),
        ("int", 4),
        ("uint", 4),
        ("long", 8),
        ("ulong", 8),
        ("half", 2),
        ("bfloat", 2),
        ("float", 4),
    ];
    let mut types = Vec::new();
    for (name, size) in scalars {
        types.push((name.to_string(), size, size));
        for (len, room) in [(2, 2), (3, 4), (4, 4)] {
            types.push((format!("{name}{len}"), size * room, size * room));
            if name != "bool" {
                types.push((format!("packed_{name}{len}"), size * len, size));
            }
        }
    }
    for (name, size) in [("float", 4), ("half", 2)] {
        for columns in 2..=4 {
            for (rows, room) in [(2, 2), (3, 4), (4, 4)] {
                let column = size * room;
                types.push((format!("{name}{columns}x{rows}"), columns * column, column));
            }
        }
    }
    types
}

#[test]
fn every_type_has_the_size_and_alignment_of_metal() {
    let mut source = String::new();
    let mut declared = |name: &str, ty: &str, size: u32, align: u32| {
        source.push_str(&format!(
            "struct In_{name} {{ char before; {ty} it; char after; }};
             union Or_{name} {{ char other; {ty} it; }};
             static_assert(sizeof({ty}) == {size}, \"size\");
             static_assert(alignof({ty}) == {align}, \"alignment\");
             static_assert(sizeof({ty}[3]) == {}, \"array\");
             static_assert(alignof({ty}[3][2]) == {align}, \"array\");
             static_assert(sizeof(In_{name}) == {}, \"struct\");
             static_assert(alignof(In_{name}) == {align}, \"struct\");
             static_assert(sizeof(Or_{name}) == {size} && alignof(Or_{name}) == {align}, \"union\");\n",
            3 * size,
            // The byte after it makes it one unit of alignment longer.
            align + size + align,
        ));
    };
    for (ty, size, align) in plain_types() {
        declared(&ty, &ty, size, align);
    }
    declared("atomic", "atomic_uint", 4, 4);
    declared("pointer", "device float*", 8, 8);
    compile(&source).unwrap_or_else(|d| panic!("{d}"));
}

/// The offsets and the size and alignment of struct `S`.
fn layout(source: &str) -> (Vec<u32>, u32, u32) {
    let text = format!("{source}\nkernel void k(device S* s) {{}}");
    let module = compile(&text)
        .unwrap_or_else(|d| panic!("{source}\n{d}"))
        .module;
    let found = module.types.structs.iter().find(|(_, s)| &*s.name == "S");
    let (_, found) = found.unwrap();
    let offsets = found.fields.iter().map(|f| f.offset).collect();
    (offsets, found.size, found.align)
}

#[test]
fn structs_are_laid_out_as_their_attributes_say() {
    let gnu = "__attribute__((aligned(16)))";
    let table: &[(&str, &[u32], u32, u32)] = &[
        ("struct S { float a; float b; };", &[0, 4], 8, 4),
        (
            "struct S { float a; alignas(16) float b; };",
            &[0, 16],
            32,
            16,
        ),
        (
            &format!("struct S {{ float a; {gnu} float b; }};"),
            &[0, 16],
            32,
            16,
        ),
        (
            &format!("struct S {{ float a; float b {gnu}; }};"),
            &[0, 16],
            32,
            16,
        ),
        (
            "struct S { float a; [[gnu::aligned(8)]] float b; float c; };",
            &[0, 8, 12],
            16,
            8,
        ),
        (
            "struct S { float a; __attribute__((__aligned__(8))) float b; };",
            &[0, 8],
            16,
            8,
        ),
        (
            "struct S { alignas(float4) half a; half b; };",
            &[0, 2],
            16,
            16,
        ),
        (
            "struct S { alignas(4) alignas(8) half a; half b; };",
            &[0, 2],
            8,
            8,
        ),
        ("struct S { alignas(0) char a; char b; };", &[0, 1], 2, 1),
        (
            "struct S { char a; alignas(8) float b[3]; char c; };",
            &[0, 8, 20],
            24,
            8,
        ),
        (
            "struct S { char a; alignas(2 * 4) char b, c; };",
            &[0, 8, 16],
            24,
            8,
        ),
        ("struct alignas(32) S { float a; };", &[0], 32, 32),
        (
            "struct __attribute__((aligned(32))) S { float a; };",
            &[0],
            32,
            32,
        ),
        (
            "struct S { float a; } __attribute__((aligned(32)));",
            &[0],
            32,
            32,
        ),
        (
            "struct alignas(8) S { alignas(16) char a; char b; } __attribute__((aligned(32)));",
            &[0, 1],
            32,
            32,
        ),
        ("union S { float a; alignas(16) char b; };", &[0, 0], 16, 16),
        (
            "struct alignas(16) T { float a; }; struct S { char a; T b; T c[2]; char d; };",
            &[0, 16, 32, 64],
            80,
            16,
        ),
        (
            "struct T { char a; alignas(8) char b; }; struct S { char a; T b; char c; };",
            &[0, 8, 24],
            32,
            8,
        ),
        (
            "template <int N> struct alignas(N) T { alignas(N / 2) char a; char b; };
          struct S { char a; T<32> b; };",
            &[0, 32],
            64,
            32,
        ),
        (
            "struct S { bool3 a; bool b; packed_float3 c; float3 d; };",
            &[0, 4, 8, 32],
            48,
            16,
        ),
        (
            "struct S { half2x3 a; char b; float4x4 c; };",
            &[0, 16, 32],
            96,
            16,
        ),
        (
            "struct S { char a; struct { char b; alignas(4) char c; }; char d; };",
            &[0, 4, 12],
            16,
            4,
        ),
    ];
    for (source, offsets, size, align) in table {
        assert_eq!(
            layout(source),
            (offsets.to_vec(), *size, *align),
            "{source}"
        );
    }
}

#[test]
fn variables_lie_where_their_attributes_say() {
    let source = "constant alignas(64) float table[3] = {1, 2, 3};
        kernel void k(device float* out, uint i [[thread_position_in_grid]]) {
            threadgroup char first[3];
            threadgroup alignas(32) float shared[8];
            alignas(16) float mine[4] = {1, 2, 3, 4};
            [[maybe_unused]] alignas(8) int count = 3;
            constant alignas(32) int more[2] = {5, 6};
            first[0] = 1; shared[i] = i; count += int(i);
            out[i] = table[i % 3] + shared[i] + mine[i % 4] + count + more[i % 2] + first[0];
        }";
    let module = compile(source).unwrap_or_else(|d| panic!("{d}")).module;
    let align = |ty| module.types.layout(ty).1;
    let function = &module.functions[module.kernels[0].function];
    let threadgroup: Vec<_> = function
        .threadgroup
        .iter()
        .map(|(_, v)| align(v.ty))
        .collect();
    assert_eq!(threadgroup, [1, 32]);
    let constants: Vec<_> = module.constants.iter().map(|(_, c)| align(c.ty)).collect();
    assert_eq!(constants, [32, 64]);
    for (name, wanted) in [("mine", 16), ("count", 8)] {
        let local = function.locals.iter().find(|(_, l)| &*l.name == name);
        assert_eq!(align(local.unwrap().1.ty), wanted, "{name}");
    }
}
