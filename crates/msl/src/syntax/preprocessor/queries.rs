//! What an `#if` asks of the preprocessor: `defined`, `__has_include` and their kind. The arithmetic
//! around it is in `condition`.

use super::{File, Preprocessor};
use crate::diag::Diagnostic;
use crate::syntax::condition;
use crate::syntax::headers::is_built_in_header;
use crate::syntax::token::{Punct, Symbol, Token, TokenKind, word};

impl Preprocessor<'_> {
    pub(super) fn if_holds(&mut self, file: &File<'_>, name: Token, arguments: &[Token]) -> bool {
        if let Some(kind @ (word::IFDEF | word::IFNDEF)) = name.word() {
            let Some(macro_name) = arguments.first().and_then(|token| token.word()) else {
                let text = self.text_of(name);
                self.report.push(Diagnostic::error(
                    name.span,
                    format!("expected the name of a macro after `#{text}`"),
                ));
                return false;
            };
            return self.is_defined(macro_name) == (kind == word::IFDEF);
        }
        let Some(replaced) = self.replace_queries(file, arguments) else {
            return false;
        };
        let mut tokens = Vec::new();
        self.expander().expand(&replaced, &mut tokens);
        // `defined` may also come out of a macro.
        let Some(tokens) = self.replace_queries(file, &tokens) else {
            return false;
        };
        match condition::evaluate(&tokens, &self.interner, name.span) {
            Ok(value) => value,
            Err(error) => {
                self.report.push(error);
                false
            }
        }
    }

    fn is_defined(&self, name: Symbol) -> bool {
        let always = matches!(
            name,
            word::LINE_MACRO
                | word::FILE_MACRO
                | word::COUNTER_MACRO
                | word::HAS_INCLUDE
                | word::HAS_ATTRIBUTE
                | word::HAS_BUILTIN
                | word::HAS_FEATURE
                | word::HAS_EXTENSION
        );
        always || self.macros.get(name).is_some()
    }

    /// Replaces `defined x`, `__has_include(..)` and their kind by 0 or 1.
    fn replace_queries(&mut self, file: &File<'_>, tokens: &[Token]) -> Option<Vec<Token>> {
        let mut result = Vec::with_capacity(tokens.len());
        let mut rest = tokens;
        while let Some((&token, after)) = rest.split_first() {
            rest = after;
            let value = match token.word() {
                Some(word::DEFINED) => {
                    let (name, after) = match after {
                        [open, name, close, after @ ..]
                            if open.is(Punct::LeftParen) && close.is(Punct::RightParen) =>
                        {
                            (name.word(), after)
                        }
                        [name, after @ ..] => (name.word(), after),
                        [] => (None, after),
                    };
                    let Some(name) = name else {
                        self.report.push(Diagnostic::error(
                            token.span,
                            "expected the name of a macro after `defined`",
                        ));
                        return None;
                    };
                    rest = after;
                    self.is_defined(name)
                }
                Some(
                    query @ (word::HAS_INCLUDE
                    | word::HAS_ATTRIBUTE
                    | word::HAS_BUILTIN
                    | word::HAS_FEATURE
                    | word::HAS_EXTENSION),
                ) => {
                    let close = after.iter().position(|t| t.is(Punct::RightParen));
                    let inside = close.and_then(|end| after.get(1..end));
                    let (Some(inside), Some(end)) = (inside, close) else {
                        self.report.push(Diagnostic::error(
                            token.span,
                            format!("expected `(...)` after `{}`", self.text_of(token)),
                        ));
                        return None;
                    };
                    rest = after.get(end + 1..).unwrap_or_default();
                    query == word::HAS_INCLUDE && self.header_exists(file, inside)
                }
                _ => {
                    result.push(token);
                    continue;
                }
            };
            result.push(Token {
                kind: TokenKind::Number(self.interner.intern(if value { "1" } else { "0" })),
                ..token
            });
        }
        Some(result)
    }

    fn header_exists(&mut self, file: &File<'_>, tokens: &[Token]) -> bool {
        match self.header_name(file, tokens) {
            Some((path, true)) if is_built_in_header(&path) => true,
            Some((path, _)) => self
                .includes
                .is_some_and(|resolve| resolve(file.name, &path).is_some()),
            None => false,
        }
    }
}
