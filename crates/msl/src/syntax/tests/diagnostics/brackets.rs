//! Semicolons, brackets and braces that are missing or too many.

use super::errors;

#[test]
fn missing_semicolon() {
    insta::assert_snapshot!(errors("\
void f() {
  int x = 1
  x = 2;
}
"), @r#"
    error: expected `;` after this declaration
      ┌─ test.metal:2:12
      │
    2 │   int x = 1
      │            ^ add `;` here
    "#);
}

#[test]
fn missing_semicolon_on_the_line() {
    insta::assert_snapshot!(errors("\
void f() {
  int a = 1 int b;
  return 1 2;
}
"), @r#"
    error: expected `;` after this declaration
      ┌─ test.metal:2:12
      │
    2 │   int a = 1 int b;
      │            ^--- found `int`
      │            │ 
      │            add `;` here

    error: expected `;` after `return`
      ┌─ test.metal:3:11
      │
    3 │   return 1 2;
      │           ^- found the number `2`
      │           │ 
      │           add `;` here
    "#);
}

#[test]
fn missing_struct_semicolon() {
    insta::assert_snapshot!(errors("\
struct S {
  int x;
}
kernel void f() {}
"), @r#"
    error: expected `;` after this definition
      ┌─ test.metal:3:2
      │
    3 │ }
      │  ^ add `;` here
    "#);
}

#[test]
fn missing_brace() {
    insta::assert_snapshot!(errors("\
kernel void f() {
  if (true) {
    int x = 1;
}

kernel void g() {
}
"), @r#"
    error: expected `}`, found `kernel`
      ┌─ test.metal:4:2
      │
    1 │ kernel void f() {
      │                 - to close this `{`
      ·
    4 │ }
      │  ^
    "#);
}

#[test]
fn missing_brace_at_the_end() {
    insta::assert_snapshot!(errors("\
kernel void f() {
  int x = 1;
"), @r#"
    error: expected `}`, found the end of the file
      ┌─ test.metal:2:13
      │
    1 │ kernel void f() {
      │                 - to close this `{`
    2 │   int x = 1;
      │             ^
    "#);
}

#[test]
fn missing_parenthesis() {
    insta::assert_snapshot!(errors("\
void f(int n) {
  for (int i = 0; i < n; i++ {
    g(i);
  }
  h((1 + 2);
}
"), @r#"
    error: expected `)`, found `{`
      ┌─ test.metal:2:30
      │
    2 │   for (int i = 0; i < n; i++ {
      │       -                      ^
      │       │                       
      │       to match this `(`

    error: expected `)`, found `;`
      ┌─ test.metal:5:12
      │
    5 │   h((1 + 2);
      │    -       ^
      │    │        
      │    to match this `(`
    "#);
}

#[test]
fn surplus_brace() {
    insta::assert_snapshot!(errors("\
void f() {
  int x;
}
}
int y;
"), @r#"
    error: this `}` closes nothing
      ┌─ test.metal:4:1
      │
    4 │ }
      │ ^
      │
      = hint: remove it, or look for a `}` too many above
    "#);
}

#[test]
fn code_outside_of_a_function() {
    insta::assert_snapshot!(errors("\
void f() {
}
  return 1;
}
int z = ;
"), @r#"
    error: `return` stands outside of a function
      ┌─ test.metal:3:3
      │
    3 │   return 1;
      │   ^^^^^^
      │
      = hint: is there a `}` too many above?

    error: this `}` closes nothing
      ┌─ test.metal:4:1
      │
    4 │ }
      │ ^
      │
      = hint: remove it, or look for a `}` too many above

    error: expected an expression, found `;`
      ┌─ test.metal:5:9
      │
    5 │ int z = ;
      │         ^
    "#);
}

#[test]
fn function_in_function() {
    insta::assert_snapshot!(errors("\
void f() {
  int x;
void g() {
}
"), @r#"
    error: the function `g` is defined inside another function
      ┌─ test.metal:3:6
      │
    1 │ void f() {
      │      - this function is not closed yet
    2 │   int x;
    3 │ void g() {
      │      ^
      │
      = hint: is a `}` missing above?
    "#);
}

#[test]
fn attribute_not_closed() {
    insta::assert_snapshot!(errors("\
kernel void f(device int* x [[buffer(0)]) {}
"), @r#"
    error: expected `]]` to end the attribute, found a single `]`
      ┌─ test.metal:1:40
      │
    1 │ kernel void f(device int* x [[buffer(0)]) {}
      │                             --         ^
      │                             │           
      │                             the attribute starts here
    "#);
}

#[test]
fn template_list() {
    insta::assert_snapshot!(errors("\
template <typename T void f(T x);
vec<float, 4 v;
"), @r#"
    error: expected `>`, found `void`
      ┌─ test.metal:1:22
      │
    1 │ template <typename T void f(T x);
      │          -           ^^^^
      │          │            
      │          to match this `<`

    error: expected `>`, found `v`
      ┌─ test.metal:2:14
      │
    2 │ vec<float, 4 v;
      │    -         ^
      │    │          
      │    to match this `<`
    "#);
}

#[test]
fn enum_without_brace() {
    insta::assert_snapshot!(errors("\
enum class E
int x;
"), @r#"
    error: expected `{`, found `int`
      ┌─ test.metal:1:13
      │
    1 │ enum class E
      │             ^
    "#);
}

#[test]
fn end_of_file() {
    insta::assert_snapshot!(errors("\
void f("), @r#"
    error: expected the type of a parameter, found the end of the file
      ┌─ test.metal:1:8
      │
    1 │ void f(
      │        ^
    "#);
}
