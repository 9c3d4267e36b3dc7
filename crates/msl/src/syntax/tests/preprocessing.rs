//! Macros, conditions and includes, seen through the tree.

use std::sync::Arc;

use super::show;
use crate::diag::Diagnostics;
use crate::syntax::{Options, parse};

fn tree_with(text: &str, options: &Options) -> String {
    let (unit, sources, report) = parse("test.metal", text, options);
    assert!(
        report.list().is_empty(),
        "{}",
        Diagnostics { sources, report }
    );
    show::unit(&unit)
}

/// The initialiser that an expression is read as.
fn value(macros: &str, expression: &str) -> String {
    let text = format!("{macros}\nauto result = {expression};");
    let tree = tree_with(&text, &Options::default());
    tree.strip_prefix("var result: auto = ")
        .and_then(|t| t.strip_suffix(';'))
        .unwrap()
        .to_string()
}

#[test]
fn macros_expand_as_the_standard_says() {
    assert_eq!(value("#define N 4", "N + 1"), "(4 Add 1)");
    assert_eq!(
        value("#define F(x, y) ((x) * y)", "F(1 + 2, G(a, b))"),
        "((1 Add 2) Multiply G(a, b))"
    );
    assert_eq!(value("#define F(x) x", "F"), "F");
    assert_eq!(value("#define F() 7", "F ( )"), "7");
    // A macro is not expanded in itself, directly or through another.
    assert_eq!(
        value("#define A B + A\n#define B A + B", "A"),
        "((A Add B) Add A)"
    );
    assert_eq!(
        value("#define f(x) f(x + 1)", "f(f(1))"),
        "f((f((1 Add 1)) Add 1))"
    );
    // The name of a macro can come from one, and its arguments from behind it.
    assert_eq!(
        value("#define G F\n#define F(x) x + 1", "G(2)"),
        "(2 Add 1)"
    );
    assert_eq!(
        value("#define CAT(a, b) a##b", "CAT(x, CAT(1, 2))"),
        "xCAT(1, 2)"
    );
    assert_eq!(
        value(
            "#define CAT_(a, b) a##b\n#define CAT(a, b) CAT_(a, b)",
            "CAT(x, CAT(1, 2))"
        ),
        "x12"
    );
    assert_eq!(value("#define CAT3(a, b, c) a##b##c", "CAT3(x, , y)"), "xy");
    assert_eq!(
        value("#define S(x) #x", "S(a  +  \"b\\n\")"),
        "\"a + \\\"b\\\\n\\\"\""
    );
    assert_eq!(
        value("#define V(...) g(__VA_ARGS__)", "V(1, (2, 3))"),
        "g(1, (2, 3))"
    );
    assert_eq!(
        value("#define V(a, ...) g(a, ##__VA_ARGS__)", "V(1) + V(1, 2)"),
        "(g(1) Add g(1, 2))"
    );
    assert_eq!(
        value("#define V(a, args...) g(a, args)", "V(1, 2, 3)"),
        "g(1, 2, 3)"
    );
    assert_eq!(
        value("#define A(x) B(x)\n#define B(x) x * 2", "A(B(3))"),
        "((3 Multiply 2) Multiply 2)"
    );
    assert_eq!(
        value("#define EMPTY\n#define F(x) [x]", "EMPTY 1 EMPTY"),
        "1"
    );
    assert_eq!(
        value("", "__LINE__ + __COUNTER__ + __COUNTER__"),
        "((2 Add 0) Add 1)"
    );
    assert_eq!(value("", "__FILE__"), "\"test.metal\"");
    assert_eq!(value("", "__METAL_VERSION__"), "320");
    assert_eq!(value("#define N 1 \\\n + 2", "N"), "(1 Add 2)");
    // The standard's own example of rescanning.
    assert_eq!(
        value(
            "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n#define t(a) a",
            "t(t(g)(0) + t)(1)"
        ),
        "(f((2 Multiply 0)) Add t(1))"
    );
}

#[test]
fn conditions_choose() {
    let text = "
#if defined(A) && A > 1
int a;
#elif !defined B
int b;
#else
int c;
#endif
#ifdef __METAL__
# if 0
don't look here \" #else
#  if 1
#  else
#  endif
# elif __METAL_VERSION__ >= 310 && defined(__HAVE_BFLOAT__)
int d;
# endif
#endif
#ifndef A
int e;
#endif
#if __has_include(<metal_stdlib>) && !__has_include(\"nothing.h\")
int f;
#endif
";
    let read = |defines: &[(&str, &str)]| {
        let defines = defines
            .iter()
            .map(|(a, b)| (a.to_string(), b.to_string()))
            .collect();
        let options = Options {
            defines,
            includes: None,
        };
        tree_with(text, &options)
            .replace("var ", "")
            .replace(": int;", "")
            .replace('\n', " ")
    };
    assert_eq!(read(&[]), "b d e f");
    assert_eq!(read(&[("A", "2")]), "a d f");
    assert_eq!(read(&[("A", "1"), ("B", "")]), "c d f");
}

#[test]
fn files_are_included_once_if_they_say_so() {
    let resolve = |including: &str, path: &str| match path {
        "a.h" => Some((
            "a.h".into(),
            format!("#pragma once\n#include \"b.h\"\n// from {including}\nint a;\n"),
        )),
        "b.h" => Some(("b.h".into(), "int b;\n#include \"a.h\"\n".into())),
        _ => None,
    };
    let options = Options {
        includes: Some(Arc::new(resolve)),
        ..Options::default()
    };
    let text = "#include <metal_math>\n#include \"a.h\"\n#include \"a.h\"\n#define H \"b.h\"\n#include H\nint c;";
    assert_eq!(
        tree_with(text, &options).replace('\n', " "),
        "var b: int; var a: int; var b: int; var c: int;"
    );
}

#[test]
fn tokens_of_macros_have_the_place_of_the_call() {
    let text = "#define ADD(x, y) x + y\nint v = ADD(a, bb);";
    let (unit, sources, _) = parse("test.metal", text, &Options::default());
    let crate::syntax::ast::ItemKind::Variable(variable) = &unit.items[0].kind else {
        panic!()
    };
    let initial = variable.initial.as_ref().unwrap();
    let crate::syntax::ast::ExprKind::Binary(_, left, right) = &initial.kind else {
        panic!()
    };
    let text_of = |span| {
        let (_, range) = sources.locate(span);
        &text[range]
    };
    assert_eq!((text_of(left.span), text_of(right.span)), ("a", "bb"));
}

#[test]
fn expansion_is_limited() {
    let mut text = String::from("#define A0 x x\n");
    for i in 1..40 {
        text += &format!("#define A{i} A{} A{}\n", i - 1, i - 1);
    }
    text += "int v = A39;";
    let (_, _, report) = parse("test.metal", &text, &Options::default());
    assert!(
        report.list()[0]
            .message
            .contains("macros expand to more than")
    );
    let mut text = String::from("#define A0\n");
    for i in 1..40 {
        text += &format!("#define A{i} A{} A{}\n", i - 1, i - 1);
    }
    text += "int v = A39;";
    let (_, _, report) = parse("test.metal", &text, &Options::default());
    assert!(
        report.list()[0]
            .message
            .contains("macros expand to more than")
    );
    let deep = format!(
        "#define F(x) x\nint v = {}1{};",
        "F(".repeat(5000),
        ")".repeat(5000)
    );
    let (_, _, report) = parse("test.metal", &deep, &Options::default());
    assert!(report.has_errors());
}
