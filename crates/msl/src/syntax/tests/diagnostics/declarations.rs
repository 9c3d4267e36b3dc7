//! Declarations that do not come together: their words, names, parameters and initialisers.

use super::errors;

#[test]
fn misspelt_keywords() {
    insta::assert_snapshot!(errors("\
sturct S {
  int x;
};
kernal void f() {
  retrun 1;
}
"), @r#"
    error: unknown word `sturct`
      ┌─ test.metal:1:1
      │
    1 │ sturct S {
      │ ^^^^^^
      │
      = hint: did you mean `struct`?

    error: unknown word `kernal`
      ┌─ test.metal:4:1
      │
    4 │ kernal void f() {
      │ ^^^^^^
      │
      = hint: did you mean `kernel`?

    error: unknown word `retrun`
      ┌─ test.metal:5:3
      │
    5 │   retrun 1;
      │   ^^^^^^
      │
      = hint: did you mean `return`?
    "#);
}

#[test]
fn two_address_spaces() {
    insta::assert_snapshot!(errors("\
kernel void f(device constant float* x) {}
"), @r#"
    error: a type cannot have two address spaces
      ┌─ test.metal:1:22
      │
    1 │ kernel void f(device constant float* x) {}
      │                      ^^^^^^^^
      │
      = hint: the address space of a pointer's target stands before the `*`, that of the pointer itself after it
    "#);
}

#[test]
fn reserved_name() {
    insta::assert_snapshot!(errors("\
int device = 1;
void f(int while) {}
"), @r#"
    error: expected a name before `=`
      ┌─ test.metal:1:5
      │
    1 │ int device = 1;
      │     ^^^^^^
      │
      = hint: `device` is a reserved word, and cannot be a name

    error: expected a name, found `while`
      ┌─ test.metal:2:12
      │
    2 │ void f(int while) {}
      │            ^^^^^
      │
      = hint: a reserved word cannot be a name
    "#);
}

#[test]
fn no_result_type() {
    insta::assert_snapshot!(errors("\
foo(int x) { return x; }
"), @r#"
    error: expected a declaration, found `foo(`
      ┌─ test.metal:1:1
      │
    1 │ foo(int x) { return x; }
      │ ^^^
      │
      = hint: a function needs its result type before its name; if `foo` is meant to be a macro, it is not defined
    "#);
}

#[test]
fn initialiser() {
    insta::assert_snapshot!(errors("\
int x = ;
int y = {1, 2;
int z[3 = {1};
float4 w = (float4){1};
"), @r#"
    error: expected an expression, found `;`
      ┌─ test.metal:1:9
      │
    1 │ int x = ;
      │         ^

    error: expected `}`, found `;`
      ┌─ test.metal:2:14
      │
    2 │ int y = {1, 2;
      │         -    ^
      │         │     
      │         to match this `{`

    error: expected `]`, found `=`
      ┌─ test.metal:3:9
      │
    3 │ int z[3 = {1};
      │      -  ^
      │      │   
      │      to match this `[`

    error: compound literals are C, not C++
      ┌─ test.metal:4:12
      │
    4 │ float4 w = (float4){1};
      │            ^^^^^^^^
      │
      = hint: write the type without parentheses: `T{...}`
    "#);
}

#[test]
fn parameters() {
    insta::assert_snapshot!(errors("\
void f(int, ) {}
void g(int x int y) {}
void h(x) {}
"), @r#"
    error: expected a parameter after the `,`, found `)`
      ┌─ test.metal:1:13
      │
    1 │ void f(int, ) {}
      │             ^

    error: expected `)`, found `int`
      ┌─ test.metal:2:14
      │
    2 │ void g(int x int y) {}
      │       -      ^^^
      │       │       
      │       to match this `(`
    "#);
}

#[test]
fn type_words() {
    insta::assert_snapshot!(errors("\
unsigned float x;
long short y;
int int z;
short double w;
"), @r#"
    error: these words do not make a type together
      ┌─ test.metal:1:1
      │
    1 │ unsigned float x;
      │ ^^^^^^^^^^^^^^

    error: these words do not make a type together
      ┌─ test.metal:2:1
      │
    2 │ long short y;
      │ ^^^^^^^^^^

    error: `int` does not go with the words before it
      ┌─ test.metal:3:5
      │
    3 │ int int z;
      │     ^^^

    error: these words do not make a type together
      ┌─ test.metal:4:1
      │
    4 │ short double w;
      │ ^^^^^^^^^^^^
    "#);
}

#[test]
fn declares_nothing() {
    insta::assert_snapshot!(errors("\
void f() {
  int;
  float4;
}
"), @r#"
    error: this declares nothing
      ┌─ test.metal:2:3
      │
    2 │   int;
      │   ^^^
      │
      = hint: is a name missing, or a `(` for a call?

    error: this declares nothing
      ┌─ test.metal:3:3
      │
    3 │   float4;
      │   ^^^^^^
      │
      = hint: is a name missing, or a `(` for a call?
    "#);
}

#[test]
fn bad_operator() {
    insta::assert_snapshot!(errors("\
struct S { S operator.(int); S operator new(int); };
"), @r#"
    error: expected an operator or a type after `operator`, found `.`
      ┌─ test.metal:1:22
      │
    1 │ struct S { S operator.(int); S operator new(int); };
      │                      ^
    "#);
}
