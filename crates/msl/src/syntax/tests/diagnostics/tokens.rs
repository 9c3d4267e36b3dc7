//! Characters, literals, directives and macros: what is wrong before there is anything to parse.

use super::errors;

#[test]
fn numbers() {
    insta::assert_snapshot!(errors("\
void f() {
  x = 08;
  x = 1f;
  x = 1.0q;
  x = 0x1.8;
  x = 99999999999999999999;
}
"), @r#"
    error: `08` starts with 0 and is therefore octal, but has a digit above 7
      ┌─ test.metal:2:7
      │
    2 │   x = 08;
      │       ^^

    error: `1f` has a floating-point suffix but no decimal point; write `.0` before the suffix
      ┌─ test.metal:3:7
      │
    3 │   x = 1f;
      │       ^^

    error: `1.0q` has a suffix that floating-point numbers do not have
      ┌─ test.metal:4:7
      │
    4 │   x = 1.0q;
      │       ^^^^

    error: `0x1.8` is a hexadecimal floating-point number without an exponent; write `p0` after it
      ┌─ test.metal:5:7
      │
    5 │   x = 0x1.8;
      │       ^^^^^

    error: `99999999999999999999` does not fit in 64 bits
      ┌─ test.metal:6:7
      │
    6 │   x = 99999999999999999999;
      │       ^^^^^^^^^^^^^^^^^^^^
    "#);
}

#[test]
fn unterminated() {
    insta::assert_snapshot!(errors("\
void f() {
  \"abc;
  x = 'a;
  /* no end
}
"), @r#"
    error: this string does not end on its line
      ┌─ test.metal:2:3
      │
    2 │   "abc;
      │   ^^^^^
      │
      = hint: end it with `"`

    error: this character literal does not end on its line
      ┌─ test.metal:3:7
      │
    3 │   x = 'a;
      │       ^^^
      │
      = hint: end it with `'`

    error: this comment does not end
      ┌─ test.metal:4:3
      │
    4 │   /* no end
      │   ^^
      │
      = hint: end it with `*/`
    "#);
}

#[test]
fn stray_characters() {
    insta::assert_snapshot!(errors("\
float x = 1 × 2;
int y = 3 @ 4;
int z = “q”;
"), @r#"
    error: unexpected character `×`
      ┌─ test.metal:1:13
      │
    1 │ float x = 1 × 2;
      │             ^
      │
      = hint: write `*` instead

    error: unexpected character `@`
      ┌─ test.metal:2:11
      │
    2 │ int y = 3 @ 4;
      │           ^

    error: unexpected character `“`
      ┌─ test.metal:3:9
      │
    3 │ int z = “q”;
      │         ^
      │
      = hint: write `"` instead

    error: unexpected character `”`
      ┌─ test.metal:3:11
      │
    3 │ int z = “q”;
      │           ^
      │
      = hint: write `"` instead
    "#);
}

#[test]
fn directives() {
    insta::assert_snapshot!(errors("\
#inclde <x>
#include <iostream>
#include \"nothing.h\"
#if 1 +
#endif
#else
#error stop here
#if 1
"), @r#"
    error: unknown directive `#inclde`
      ┌─ test.metal:1:2
      │
    1 │ #inclde <x>
      │  ^^^^^^
      │
      = hint: did you mean `#include`?

    error: cannot find the file `iostream`
      ┌─ test.metal:2:10
      │
    2 │ #include <iostream>
      │          ^^^^^^^^^^
      │
      = hint: in angle brackets, only `<metal_stdlib>` and its parts are known; kernels have no C or C++ standard headers

    error: cannot find the file `nothing.h`
      ┌─ test.metal:3:10
      │
    3 │ #include "nothing.h"
      │          ^^^^^^^^^^^
      │
      = hint: files cannot be included here: give the text in one piece

    error: expected a value in this condition
      ┌─ test.metal:4:8
      │
    4 │ #if 1 +
      │        ^

    error: `#else` without an `#if`
      ┌─ test.metal:6:1
      │
    6 │ #else
      │ ^^^^^

    error: #error stop here
      ┌─ test.metal:7:1
      │
    7 │ #error stop here
      │ ^^^^^^

    error: this `#if` has no `#endif`
      ┌─ test.metal:8:1
      │
    8 │ #if 1
      │ ^^^
      │
      = hint: add `#endif` where the conditional part ends
    "#);
}

#[test]
fn macros() {
    insta::assert_snapshot!(errors("\
#define F(x, y) x
#define G(x) #y
#define A a ## 
int x = F(1);
int y = F(1, 2;
"), @r#"
    error: `#` in a macro must stand before one of its parameters
      ┌─ test.metal:2:14
      │
    2 │ #define G(x) #y
      │              ^

    error: `##` cannot stand at the start or end of a macro
      ┌─ test.metal:3:11
      │
    3 │ #define A a ## 
      │           ^
      │
      = hint: it joins the token before it with the token after it

    error: macro `F` takes 2 arguments, but 1 given
      ┌─ test.metal:4:9
      │
    1 │ #define F(x, y) x
      │         - the macro is defined here
      ·
    4 │ int x = F(1);
      │         ^

    error: the call of macro `F` has no closing `)`
      ┌─ test.metal:5:9
      │
    1 │ #define F(x, y) x
      │         - the macro is defined here
      ·
    5 │ int y = F(1, 2;
      │         ^
    "#);
}

#[test]
fn pasting() {
    insta::assert_snapshot!(errors("\
#define CAT(a, b) a##b
int x = CAT(+, /);
#define N 1
#define N 2
"), @r#"
    error: `##` makes `+/`, which is not one token
      ┌─ test.metal:2:9
      │
    1 │ #define CAT(a, b) a##b
      │         --- in this macro
    2 │ int x = CAT(+, /);
      │         ^^^

    warning: macro `N` is defined again, differently
      ┌─ test.metal:4:9
      │
    3 │ #define N 1
      │         - the earlier definition
    4 │ #define N 2
      │         ^
      │
      = hint: write `#undef N` before it if this is meant
    "#);
}
