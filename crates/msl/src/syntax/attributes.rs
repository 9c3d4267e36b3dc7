//! `[[...]]`, `__attribute__((...))` and `alignas(...)`.

use super::ast::{Attribute, Expr, ExprKind, Ident, Name};
use super::parser::{Parsed, Parser};
use super::token::{Punct, word};
use crate::diag::Diagnostic;

impl Parser<'_> {
    /// Parses all attributes that stand here, in any spelling.
    pub(super) fn attributes(&mut self, into: &mut Vec<Attribute>) -> Parsed<()> {
        loop {
            if self.at_attribute() {
                self.bracket_attributes(into)?;
            } else if self.at_word(word::ATTRIBUTE) {
                self.gnu_attributes(into)?;
            } else if self.at_word(word::ALIGNAS) {
                into.push(self.alignas()?);
            } else if self.at_word(word::UNDERSCORE_ASM)
                || self.at_word(word::UNDERSCORE_ASM_UNDERSCORE)
                || self.at_word(word::ASM)
            {
                into.push(self.asm_label()?);
            } else {
                return Ok(());
            }
        }
    }

    fn bracket_attributes(&mut self, into: &mut Vec<Attribute>) -> Parsed<()> {
        let open = self.peek().span.to(self.ahead(1).span);
        self.advance();
        self.advance();
        self.bracketed(|parser| {
            while !parser.at(Punct::RightBracket) {
                into.push(parser.attribute()?);
                if !parser.take(Punct::Comma) {
                    break;
                }
            }
            parser.close_attribute(open)
        })
    }

    fn close_attribute(&mut self, open: crate::diag::Span) -> Parsed<()> {
        if self.at(Punct::RightBracket) && self.ahead(1).is(Punct::RightBracket) {
            self.advance();
            self.advance();
            return Ok(());
        }
        let token = self.peek();
        let found = if token.is(Punct::RightBracket) {
            "a single `]`".to_string()
        } else {
            self.describe(token)
        };
        Err(self.error(
            Diagnostic::error(
                token.span,
                format!("expected `]]` to end the attribute, found {found}"),
            )
            .with_related(open, "the attribute starts here"),
        ))
    }

    fn attribute(&mut self) -> Parsed<Attribute> {
        let mut name = self.attribute_name()?;
        if self.take(Punct::ColonColon) {
            let rest = self.attribute_name()?;
            name = Ident {
                name: Name::from(format!("{}::{}", name.name, rest.name)),
                span: name.span.to(rest.span),
            };
        }
        let mut args = Vec::new();
        if self.at(Punct::LeftParen) {
            let open = self.advance().span;
            args = self.bracketed(|parser| {
                let args = parser.arguments(Punct::RightParen)?;
                parser.close(Punct::RightParen, open)?;
                Ok(args)
            })?;
        }
        Ok(Attribute { name, args })
    }

    /// Any word, reserved ones as well: `[[kernel]]`, `__attribute__((const))`.
    fn attribute_name(&mut self) -> Parsed<Ident> {
        let token = self.peek();
        let Some(name) = token.word() else {
            return Err(self.expected("the name of an attribute"));
        };
        self.advance();
        Ok(self.ident(name, token.span))
    }

    fn gnu_attributes(&mut self, into: &mut Vec<Attribute>) -> Parsed<()> {
        self.advance();
        let outer = self.expect(Punct::LeftParen, "after `__attribute__`")?.span;
        let inner = self
            .expect(Punct::LeftParen, "after `__attribute__(`")?
            .span;
        self.bracketed(|parser| {
            while !parser.at(Punct::RightParen) {
                into.push(parser.attribute()?);
                if !parser.take(Punct::Comma) {
                    break;
                }
            }
            parser.close(Punct::RightParen, inner)?;
            parser.close(Punct::RightParen, outer)
        })
    }

    fn alignas(&mut self) -> Parsed<Attribute> {
        let span = self.advance().span;
        let name = Ident {
            name: Name::from("alignas"),
            span,
        };
        let open = self.expect(Punct::LeftParen, "after `alignas`")?.span;
        let arg = self.bracketed(|parser| {
            let start = parser.peek().span;
            let arg = if parser.type_argument_ahead() {
                let ty = parser.type_name()?;
                Expr {
                    kind: ExprKind::AlignofType(ty),
                    span: parser.span_from(start),
                }
            } else {
                parser.conditional()?
            };
            parser.close(Punct::RightParen, open)?;
            Ok(arg)
        })?;
        Ok(Attribute {
            name,
            args: vec![arg],
        })
    }

    /// `__asm("symbol")` after a function's parameters.
    fn asm_label(&mut self) -> Parsed<Attribute> {
        let span = self.advance().span;
        let name = Ident {
            name: Name::from("__asm"),
            span,
        };
        let open = self.expect(Punct::LeftParen, "after `__asm`")?.span;
        let args = self.bracketed(|parser| {
            let args = parser.arguments(Punct::RightParen)?;
            parser.close(Punct::RightParen, open)?;
            Ok(args)
        })?;
        Ok(Attribute { name, args })
    }
}
