//! The names of Metal's own types and templates, as far as the grammar needs them. What they are
//! is for the type checker.

use super::scope::Entry;

const SCALARS: &[&str] = &[
    "uchar",
    "ushort",
    "uint",
    "ulong",
    "bfloat",
    "size_t",
    "ptrdiff_t",
    "int8_t",
    "uint8_t",
    "int16_t",
    "uint16_t",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
    "intptr_t",
    "uintptr_t",
    "__fp16",
    "__bf16",
];

const VECTOR_ELEMENTS: &[&str] = &[
    "bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "bfloat",
    "float", "double",
];

const TYPES: &[&str] = &[
    "atomic_bool",
    "atomic_int",
    "atomic_uint",
    "atomic_ulong",
    "atomic_float",
    "simdgroup_float8x8",
    "simdgroup_half8x8",
    "simdgroup_bfloat8x8",
    "simd_vote",
    "sampler",
    "mem_flags",
    "memory_order",
    "thread_scope",
    "true_type",
    "false_type",
    "simdgroup_event",
    "command_buffer",
    "render_pipeline_state",
    "compute_pipeline_state",
    "access",
    "nullptr_t",
    "coord",
    "address",
    "filter",
    "mip_filter",
    "compare_func",
];

const TYPE_TEMPLATES: &[&str] = &[
    "vec",
    "packed_vec",
    "matrix",
    "array",
    "array_ref",
    "atomic",
    "_atomic",
    "simdgroup_matrix",
    "numeric_limits",
    "texture1d",
    "texture1d_array",
    "texture2d",
    "texture2d_array",
    "texture2d_ms",
    "texture2d_ms_array",
    "texture3d",
    "texturecube",
    "texturecube_array",
    "texture_buffer",
    "depth2d",
    "depth2d_array",
    "depthcube",
    "depthcube_array",
    "depth2d_ms",
    "visible_function_table",
    "tensor",
    "extents",
    "tuple",
    // Type traits.
    "integral_constant",
    "bool_constant",
    "enable_if",
    "enable_if_t",
    "conditional",
    "conditional_t",
    "is_same",
    "is_void",
    "is_integral",
    "is_floating_point",
    "is_arithmetic",
    "is_fundamental",
    "is_scalar",
    "is_signed",
    "is_unsigned",
    "is_const",
    "is_volatile",
    "is_pointer",
    "is_reference",
    "is_lvalue_reference",
    "is_array",
    "is_enum",
    "is_class",
    "is_union",
    "is_function",
    "is_compound",
    "is_object",
    "is_convertible",
    "is_base_of",
    "is_empty",
    "is_trivial",
    "is_trivially_copyable",
    "is_standard_layout",
    "is_constructible",
    "is_default_constructible",
    "is_copy_constructible",
    "is_assignable",
    "is_vector",
    "is_matrix",
    "is_packed_vector",
    "make_vector",
    "remove_const",
    "remove_const_t",
    "remove_volatile",
    "remove_volatile_t",
    "remove_cv",
    "remove_cv_t",
    "remove_reference",
    "remove_reference_t",
    "remove_pointer",
    "remove_pointer_t",
    "remove_extent",
    "remove_extent_t",
    "remove_address_space",
    "remove_address_space_t",
    "remove_addrspace",
    "remove_addrspace_t",
    "add_const",
    "add_const_t",
    "add_pointer",
    "add_pointer_t",
    "add_lvalue_reference",
    "add_lvalue_reference_t",
    "make_signed",
    "make_signed_t",
    "make_unsigned",
    "make_unsigned_t",
    "decay",
    "decay_t",
    "common_type",
    "common_type_t",
    "underlying_type",
    "underlying_type_t",
    "void_t",
    "make_void",
    "rank",
    "extent",
    "negation",
    "conjunction",
    "disjunction",
    "index_sequence",
    "integer_sequence",
    "make_index_sequence",
    "initializer_list",
];

const VALUE_TEMPLATES: &[&str] = &[
    "as_type",
    "is_same_v",
    "is_void_v",
    "is_integral_v",
    "is_floating_point_v",
    "is_arithmetic_v",
    "is_scalar_v",
    "is_signed_v",
    "is_unsigned_v",
    "is_const_v",
    "is_pointer_v",
    "is_reference_v",
    "is_array_v",
    "is_enum_v",
    "is_class_v",
    "is_convertible_v",
    "is_base_of_v",
    "is_vector_v",
    "is_packed_vector_v",
    "make_filled_simdgroup_matrix",
    "declval",
];

/// Every built-in name that is a type or a template.
pub fn all() -> impl Iterator<Item = (String, Entry)> {
    let plain = |names: &'static [&'static str], entry: Entry| {
        names.iter().map(move |name| ((*name).to_string(), entry))
    };
    let vectors = VECTOR_ELEMENTS.iter().flat_map(|element| {
        let with = move |prefix: &'static str| {
            (2..=4).map(move |n| (format!("{prefix}{element}{n}"), Entry::TYPE))
        };
        with("").chain(with("packed_"))
    });
    let matrices = ["float", "half", "bfloat"].into_iter().flat_map(|element| {
        (2..=4).flat_map(move |columns| {
            (2..=4).map(move |rows| (format!("{element}{columns}x{rows}"), Entry::TYPE))
        })
    });
    plain(SCALARS, Entry::TYPE)
        .chain(plain(TYPES, Entry::TYPE))
        .chain(plain(TYPE_TEMPLATES, Entry::TYPE.template(true)))
        .chain(plain(VALUE_TEMPLATES, Entry::VALUE.template(true)))
        .chain(vectors)
        .chain(matrices)
}
