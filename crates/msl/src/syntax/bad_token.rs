//! What is said about text that is no token.

use super::token::BadToken;
use crate::diag::{Diagnostic, Span};

/// The error for a text that is no token.
pub fn diagnostic(bad: BadToken, span: Span) -> Diagnostic {
    match bad {
        BadToken::UnterminatedComment => {
            Diagnostic::error(span, "this comment does not end").with_hint("end it with `*/`")
        }
        BadToken::UnterminatedString => {
            Diagnostic::error(span, "this string does not end on its line")
                .with_hint("end it with `\"`")
        }
        BadToken::UnterminatedChar => {
            Diagnostic::error(span, "this character literal does not end on its line")
                .with_hint("end it with `'`")
        }
        BadToken::Stray(c) => {
            let shown = if c.is_control() {
                format!("U+{:04X}", c as u32)
            } else {
                format!("`{c}`")
            };
            let error = Diagnostic::error(span, format!("unexpected character {shown}"));
            match look_alike(c) {
                Some(plain) => error.with_hint(format!("write `{plain}` instead")),
                None => error,
            }
        }
    }
}

/// The ASCII character that one copied from a document most likely stands for.
fn look_alike(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{201c}' | '\u{201d}' => "\"",
        '\u{2018}' | '\u{2019}' => "'",
        '\u{2212}' | '\u{2013}' | '\u{2014}' => "-",
        '\u{d7}' => "*",
        '\u{37e}' | '\u{ff1b}' => ";",
        '\u{ff08}' => "(",
        '\u{ff09}' => ")",
        '\u{a0}' | '\u{200b}' | '\u{3000}' => " ",
        _ => return None,
    })
}
