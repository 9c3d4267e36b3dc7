//! Statements and expressions in the wrong place or without one of their parts.

use super::errors;

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
