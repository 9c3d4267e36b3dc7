//! Names with `::` and template arguments.

use super::ast::{Expr, ExprKind, Path, PathSegment, TemplateArg, TypeExpr, TypeExprKind};
use super::parser::{Parsed, Parser};
use super::scope::Entry;
use super::token::{Flags, Punct, Symbol, TokenKind, is_reserved, word};
use crate::diag::Span;

/// A parsed name, and what is known of it.
pub struct KnownPath {
    /// The name.
    pub path: Path,
    /// What is known of it.
    pub entry: Option<Entry>,
}

/// When `<` after a name starts template arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Angles {
    /// If the name is known to be a template, or it looks like it.
    AsKnown,
    /// Unless the name is known to be no template.
    UnlessKnown,
    /// In any case.
    Always,
}

impl Parser<'_> {
    /// Parses a possibly qualified name, with template arguments where the name is a template.
    pub(super) fn path(&mut self, what: &str) -> Parsed<KnownPath> {
        self.path_with(what, Angles::AsKnown)
    }

    /// Parses the name of a type: `<` after a name that nothing is known about starts a list.
    pub(super) fn type_path(&mut self, what: &str) -> Parsed<KnownPath> {
        self.path_with(what, Angles::UnlessKnown)
    }

    /// Parses the name that something is declared by: `<` after it can only be template arguments.
    pub(super) fn declared_path(&mut self, what: &str) -> Parsed<KnownPath> {
        self.path_with(what, Angles::Always)
    }

    fn path_with(&mut self, what: &str, angles: Angles) -> Parsed<KnownPath> {
        let start = self.peek().span;
        let global = self.take(Punct::ColonColon);
        let mut segments = Vec::new();
        let mut entry: Option<Entry> = None;
        let mut height = 0;
        loop {
            let forced = !segments.is_empty() && self.take_word(word::TEMPLATE);
            let (name, span) = self.name(what)?;
            entry = if !segments.is_empty() {
                entry
                    .and_then(|outer| outer.inside)
                    .and_then(|inside| self.names.find_inside(inside, name))
            } else if global {
                self.names.find_global(name)
            } else {
                self.names.find(name)
            };
            let listed = self.at(Punct::Less)
                && (forced
                    || angles == Angles::Always
                    || angles == Angles::UnlessKnown && entry.is_none()
                    || entry.is_some_and(|e| e.is_template)
                    || self
                        .template_args_ahead(self.position, entry)
                        .is_some_and(|end| self.ends_template_value(end)));
            let args = if listed {
                let args = self.template_args()?;
                height = self.height.max(height);
                Some(args)
            } else {
                None
            };
            let ident = self.ident(name, span);
            segments.push(PathSegment { ident, args });
            let next = self.ahead(1);
            let goes_on = self.at(Punct::ColonColon)
                && (next.is_word(word::TEMPLATE)
                    || next.word().is_some_and(|name| !is_reserved(name)));
            if !goes_on || segments.len() >= super::parser::NESTING_LIMIT {
                break;
            }
            self.advance();
        }
        self.height = height + 1;
        let span = self.span_from(start);
        Ok(KnownPath {
            path: Path { segments, span },
            entry,
        })
    }

    /// Whether what stands at `position` can follow the template arguments of a value.
    fn ends_template_value(&self, position: usize) -> bool {
        !matches!(
            self.token_at(position).kind,
            TokenKind::Word(_) | TokenKind::Punct(Punct::Star | Punct::Amp)
        )
    }

    /// Parses `<...>`.
    pub(super) fn template_args(&mut self) -> Parsed<Vec<TemplateArg>> {
        let open = self.peek().span;
        self.advance();
        let outer = std::mem::replace(&mut self.greater_closes, true);
        let result = self.nested(|parser| parser.template_args_rest(open));
        self.greater_closes = outer;
        result
    }

    fn template_args_rest(&mut self, open: Span) -> Parsed<Vec<TemplateArg>> {
        let mut args = Vec::new();
        let mut height = 0;
        if !self.at(Punct::Greater) {
            loop {
                args.push(self.template_arg()?);
                height = self.height.max(height);
                if !self.take(Punct::Comma) {
                    break;
                }
            }
        }
        self.close(Punct::Greater, open)?;
        self.height = height;
        self.link(0)?;
        Ok(args)
    }

    fn template_arg(&mut self) -> Parsed<TemplateArg> {
        let start = self.peek().span;
        if self.type_argument_ahead() {
            let ty = self.type_name()?;
            if self.take(Punct::Ellipsis) {
                let span = self.span_from(start);
                return Ok(TemplateArg::Type(TypeExpr {
                    kind: TypeExprKind::Expansion(Box::new(ty)),
                    span,
                }));
            }
            return Ok(TemplateArg::Type(ty));
        }
        let value = self.conditional()?;
        if self.take(Punct::Ellipsis) {
            self.link(0)?;
            return Ok(TemplateArg::Expr(Expr {
                kind: ExprKind::Expansion(Box::new(value)),
                span: self.span_from(start),
            }));
        }
        Ok(TemplateArg::Expr(value))
    }

    /// Parses the name of a member after `.` or `->`.
    pub(super) fn member_segment(&mut self) -> Parsed<PathSegment> {
        let forced = self.take_word(word::TEMPLATE);
        if self.at_word(word::OPERATOR) {
            let ident = self.operator_name(None)?.ident;
            self.height = 0;
            return Ok(PathSegment { ident, args: None });
        }
        let (name, span) = self.name("the name of a member")?;
        self.height = 0;
        let args = if self.at(Punct::Less) && (forced || self.member_template_ahead(name)) {
            Some(self.template_args()?)
        } else {
            None
        };
        let ident = self.ident(name, span);
        Ok(PathSegment { ident, args })
    }

    /// Whether `.name<` starts template arguments. The object's type is not known here, so this is
    /// so only if a method template of that name was seen and the list is called.
    fn member_template_ahead(&self, name: Symbol) -> bool {
        if !self.method_templates.contains(&name) {
            return false;
        }
        self.template_args_ahead(self.position, None)
            .is_some_and(|end| self.token_at(end).is(Punct::LeftParen))
    }

    /// Whether the next two tokens are a shift or comparison written `>>` or `>>=`.
    pub(super) fn greater_is_joint(&self) -> bool {
        self.peek().flags.has(Flags::JOINT)
    }
}
