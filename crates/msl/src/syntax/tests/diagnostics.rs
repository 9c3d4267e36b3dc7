//! What wrong programs are told.

use crate::diag::Diagnostics;
use crate::syntax::{Options, parse};

fn errors(text: &str) -> String {
    let (_, sources, report) = parse("test.metal", text, &Options::default());
    Diagnostics { sources, report }.to_string()
}

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
fn else_without_if() {
    insta::assert_snapshot!(errors("\
void f() {
  if (a);
    b;
  else
    c;
}
"), @r#"
    error: this `else` has no `if`
      ┌─ test.metal:4:3
      │
    4 │   else
      │   ^^^^
      │
      = hint: is there a `;` right after the condition, or are braces missing?
    "#);
}

#[test]
fn case_outside() {
    insta::assert_snapshot!(errors("\
void f() {
  switch (x) {
    y;
    case 1 ... 3: ;
    case 4
      break;
  }
  case 5: ;
}
"), @r#"
    error: expected `case` or `default`, found `y`
      ┌─ test.metal:3:5
      │
    3 │     y;
      │     ^

    error: ranges of cases are not C++
      ┌─ test.metal:4:12
      │
    4 │     case 1 ... 3: ;
      │            ^^^
      │
      = hint: write a `case` for each value

    error: expected `:` after the label
      ┌─ test.metal:5:11
      │
    5 │     case 4
      │           ^ add `:` here

    error: `case` must stand directly in the braces of a `switch`
      ┌─ test.metal:8:3
      │
    8 │   case 5: ;
      │   ^^^^
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
fn arguments() {
    insta::assert_snapshot!(errors("\
void f() {
  g(1,);
  g(1 2);
  x[];
  a ? b;
  float;
  ();
}
"), @r#"
    error: expected an argument after the `,`, found `)`
      ┌─ test.metal:2:7
      │
    2 │   g(1,);
      │       ^

    error: expected `)`, found the number `2`
      ┌─ test.metal:3:7
      │
    3 │   g(1 2);
      │    -  ^
      │    │   
      │    to match this `(`

    error: expected an expression, found `]`
      ┌─ test.metal:4:5
      │
    4 │   x[];
      │     ^

    error: expected `:`, found `;`
      ┌─ test.metal:5:8
      │
    5 │   a ? b;
      │     -  ^
      │     │   
      │     for this `?`

    error: this declares nothing
      ┌─ test.metal:6:3
      │
    6 │   float;
      │   ^^^^^
      │
      = hint: is a name missing, or a `(` for a call?

    error: expected an expression, found `)`
      ┌─ test.metal:7:4
      │
    7 │   ();
      │    ^
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
fn several_functions() {
    insta::assert_snapshot!(errors("\
void f() {
  int x = (1 + ;
  y = 2;
  z = * ;
}
void g() {
  w = ];
}
"), @r#"
    error: expected an expression, found `;`
      ┌─ test.metal:2:16
      │
    2 │   int x = (1 + ;
      │                ^

    error: expected an expression, found `;`
      ┌─ test.metal:4:9
      │
    4 │   z = * ;
      │         ^

    error: expected an expression, found `]`
      ┌─ test.metal:7:7
      │
    7 │   w = ];
      │       ^
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
