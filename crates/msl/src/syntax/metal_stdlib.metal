// What the standard library's headers declare in the language itself; the rest is built in.

namespace metal {

template <typename __T, __T __v>
struct integral_constant {
  static constant constexpr __T value = __v;
  using value_type = __T;
  using type = integral_constant;
  constexpr operator __T() const thread { return __v; }
  constexpr __T operator()() const thread { return __v; }
};

template <bool __v>
using bool_constant = integral_constant<bool, __v>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

// Programs specialise this to give their own types limits.
template <typename __T>
struct _numeric_limits_impl;

// Whether lanes can exchange values of a type.
template <typename __T>
struct __is_valid_simdgroup_type {
  static constant constexpr bool value = is_arithmetic_v<__T> && (sizeof(__T) <= 4) &&
                                         !is_same_v<__T, bool> && !is_same_v<__T, bfloat>;
};
template <typename __T, int __n>
struct __is_valid_simdgroup_type<vec<__T, __n>> : __is_valid_simdgroup_type<__T> {};

}
