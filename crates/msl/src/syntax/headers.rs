//! The headers that come with Metal. Most of what they declare is built in.

/// What the headers declare in the language itself.
pub const STANDARD_LIBRARY: &str = include_str!("metal_stdlib.metal");

/// Whether a header brings [`STANDARD_LIBRARY`].
pub fn has_declarations(path: &str) -> bool {
    matches!(path, "metal_stdlib" | "metal_type_traits" | "metal_limits")
}

/// Whether a header comes with Metal.
pub fn is_built_in_header(path: &str) -> bool {
    const NAMES: &[&str] = &[
        "metal_stdlib",
        "metal_atomic",
        "metal_array",
        "metal_assert",
        "metal_bfloat",
        "metal_cmath",
        "metal_command_buffer",
        "metal_common",
        "metal_compute",
        "metal_config",
        "metal_extended_vector",
        "metal_function_constant",
        "metal_geometric",
        "metal_graphics",
        "metal_imageblocks",
        "metal_initializer_list",
        "metal_integer",
        "metal_interpolate",
        "metal_limits",
        "metal_logging",
        "metal_math",
        "metal_matrix",
        "metal_mesh",
        "metal_numeric",
        "metal_pack",
        "metal_packed_vector",
        "metal_pixel",
        "metal_pull_model_interpolation",
        "metal_quadgroup",
        "metal_raytracing",
        "metal_relational",
        "metal_simdgroup",
        "metal_simdgroup_matrix",
        "metal_texture",
        "metal_tessellation",
        "metal_tuple",
        "metal_type_traits",
        "metal_types",
        "metal_uniform",
        "metal_utility",
        "metal_vector",
        "metal_visible_function_table",
        "TargetConditionals.h",
    ];
    NAMES.contains(&path) || path.starts_with("simd/")
}
