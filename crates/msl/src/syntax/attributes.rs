//! `[[...]]`, `__attribute__((...))` and `alignas(...)`, and which of them can stand where.
//!
//! An attribute that nobody reads is refused, never skipped: it may change what the program means.

use super::ast::{Attribute, Expr, ExprKind, Ident, Name};
use super::parser::{Parsed, Parser};
use super::token::{Punct, word};
use crate::diag::Diagnostic;

/// Attributes that advise the compiler or its warnings and change no result. They can stand
/// anywhere.
pub(crate) const HINTS: &[&str] = &[
    "always_inline",
    "cold",
    "const",
    "convergent",
    "deprecated",
    "fallthrough",
    "flatten",
    "hot",
    "likely",
    "maybe_unused",
    "nodebug",
    "nodiscard",
    "noinline",
    "noreturn",
    "nothrow",
    "optnone",
    "pure",
    "unlikely",
    "unused",
    "used",
    "visibility",
    "warn_unused_result",
];

/// What says how memory is laid out.
pub(super) const LAYOUT: &[&str] = &["alignas", "aligned", "packed"];

/// What a function can have: about kernels, or reported elsewhere as another stage.
pub(super) const OF_FUNCTIONS: &[&str] = &[
    "host_name",
    "max_total_threads_per_threadgroup",
    "__asm",
    "vertex",
    "fragment",
    "mesh",
    "object",
    "intersection",
    "tile",
];

/// What a kernel's parameter can have. On the parameter of another function they mean nothing, for its
/// caller gives the value, and real code has them there.
pub(crate) const OF_KERNEL_PARAMETERS: &[&str] = &[
    "buffer",
    "threadgroup",
    "function_constant",
    "thread_position_in_grid",
    "thread_position_in_threadgroup",
    "thread_index_in_threadgroup",
    "thread_index_in_simdgroup",
    "thread_index_in_quadgroup",
    "simdgroup_index_in_threadgroup",
    "quadgroup_index_in_threadgroup",
    "threadgroup_position_in_grid",
    "threads_per_grid",
    "threads_per_threadgroup",
    "dispatch_threads_per_threadgroup",
    "threadgroups_per_grid",
    "threads_per_simdgroup",
    "thread_execution_width",
    "simdgroups_per_threadgroup",
    "dispatch_simdgroups_per_threadgroup",
    "quadgroups_per_threadgroup",
    "grid_origin",
];

impl Attribute {
    /// The name without its namespace and the underscores around it: `aligned` of
    /// `gnu::__aligned__`.
    pub(crate) fn plain_name(&self) -> &str {
        let name = &*self.name.name;
        let name = ["gnu::", "clang::"]
            .iter()
            .find_map(|space| name.strip_prefix(space))
            .unwrap_or(name);
        name.strip_prefix("__")
            .and_then(|name| name.strip_suffix("__"))
            .unwrap_or(name)
    }

    pub(crate) fn is_hint(&self) -> bool {
        HINTS.contains(&self.plain_name())
    }
}

impl Parser<'_> {
    /// Refuses all attributes but hints and `allowed` ones.
    pub(super) fn refuse_attributes(
        &mut self,
        attributes: &[Attribute],
        allowed: &[&str],
        of: &str,
    ) {
        for attribute in attributes {
            if attribute.is_hint() || allowed.contains(&attribute.plain_name()) {
                continue;
            }
            let text = &attribute.name.name;
            let error = Diagnostic::error(
                attribute.name.span,
                format!("`{text}` is not an attribute that {of} can have here"),
            );
            let known = allowed.iter().chain(HINTS).copied();
            self.refuse(match super::spelling::nearest(text, known) {
                Some(near) => error.with_hint(format!("did you mean `{near}`?")),
                None => error.with_hint(
                    "it may change what the program means, so it is not skipped; remove it if it \
                     does not",
                ),
            });
        }
    }

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
