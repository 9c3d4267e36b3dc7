//! What C++ has, or Metal outside of compute kernels, and kernels have not.

use super::errors;

#[test]
fn vertex_function() {
    insta::assert_snapshot!(errors("\
vertex float4 f() { return 0; }
[[fragment]] float4 g();
"), @r#"
    error: `vertex` functions are not supported
      ┌─ test.metal:1:1
      │
    1 │ vertex float4 f() { return 0; }
      │ ^^^^^^
      │
      = hint: only compute kernels are: functions marked `kernel`

    error: `fragment` functions are not supported
      ┌─ test.metal:2:3
      │
    2 │ [[fragment]] float4 g();
      │   ^^^^^^^^
      │
      = hint: only compute kernels are: functions marked `kernel`
    "#);
}

#[test]
fn goto_and_labels() {
    insta::assert_snapshot!(errors("\
void f() {
  goto end;
end:
  ;
}
"), @r#"
    error: Metal has no `goto`
      ┌─ test.metal:2:3
      │
    2 │   goto end;
      │   ^^^^

    error: Metal has no labels and no `goto`
      ┌─ test.metal:3:1
      │
    3 │ end:
      │ ^^^
    "#);
}

#[test]
fn exceptions() {
    insta::assert_snapshot!(errors("\
void f() {
  try { g(); } catch (...) {}
  throw 1;
}
"), @r#"
    error: kernels have no exceptions
      ┌─ test.metal:2:3
      │
    2 │   try { g(); } catch (...) {}
      │   ^^^

    error: kernels have no exceptions
      ┌─ test.metal:3:3
      │
    3 │   throw 1;
      │   ^^^^^
    "#);
}

#[test]
fn new_and_delete() {
    insta::assert_snapshot!(errors("\
void f() {
  int* p = new int;
}
struct S { ~S(); virtual void g(); };
"), @r#"
    error: kernels have no `new` and `delete`
      ┌─ test.metal:2:12
      │
    2 │   int* p = new int;
      │            ^^^

    error: destructors are not supported
      ┌─ test.metal:4:12
      │
    4 │ struct S { ~S(); virtual void g(); };
      │            ^

    error: Metal has no `virtual`
      ┌─ test.metal:4:18
      │
    4 │ struct S { ~S(); virtual void g(); };
      │                  ^^^^^^^
    "#);
}

#[test]
fn fold() {
    insta::assert_snapshot!(errors("\
template <typename... T> int f(T... x) { return (x + ...); }
"), @r#"
    error: fold expressions are C++17, which Metal 3 does not have
      ┌─ test.metal:1:54
      │
    1 │ template <typename... T> int f(T... x) { return (x + ...); }
      │                                                      ^^^
    "#);
}

#[test]
fn variadic() {
    insta::assert_snapshot!(errors("\
int printf(constant char* format, ...);
"), @r#"
    error: functions with any number of arguments are not supported
      ┌─ test.metal:1:35
      │
    1 │ int printf(constant char* format, ...);
      │                                   ^^^
    "#);
}

#[test]
fn bit_field() {
    insta::assert_snapshot!(errors("\
struct S {
  uint a : 3;
  uint b;
};
"), @r#"
    error: bit-fields are not supported
      ┌─ test.metal:2:10
      │
    2 │   uint a : 3;
      │          ^
    "#);
}
