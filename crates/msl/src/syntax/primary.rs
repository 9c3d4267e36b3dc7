//! What expressions start with: literals, names, types, parentheses, lists and lambdas.

use super::ast::{
    CastStyle, Expr, ExprKind, FloatSuffix, IntSuffix, Lambda, Name, Path, PathSegment,
    TypeExprKind,
};
use super::expressions::spanning;
use super::literal::{self, Number};
use super::lookahead::is_arithmetic_word;
use super::parser::{Parsed, Parser};
use super::scope::NameKind;
use super::token::{Punct, Symbol, Token, TokenKind, is_reserved, word};
use crate::diag::Diagnostic;

impl Parser<'_> {
    /// Parses the innermost part of an expression.
    pub(super) fn primary(&mut self) -> Parsed<Expr> {
        let token = self.peek();
        match token.kind {
            TokenKind::Number(text) => {
                self.advance();
                Ok(self.number(token, text))
            }
            TokenKind::Char(text) => {
                self.advance();
                Ok(self.character(token, text))
            }
            TokenKind::String(_) => {
                let text = self.string()?;
                Ok(self.leaf(ExprKind::String(text), self.span_from(token.span)))
            }
            TokenKind::Punct(Punct::LeftParen) => self.parenthesised(),
            TokenKind::Punct(Punct::LeftBracket) => self.lambda(),
            TokenKind::Punct(Punct::ColonColon) => self.named(),
            TokenKind::Word(name) if is_reserved(name) => self.keyword(token, name),
            TokenKind::Word(_) => self.named(),
            TokenKind::Punct(Punct::LeftBrace) => Err(self.error(
                Diagnostic::error(token.span, "expected an expression, found `{`")
                    .with_hint("a list in braces needs its type before it here: `T{...}`"),
            )),
            _ => Err(self.expected("an expression")),
        }
    }

    fn leaf(&mut self, kind: ExprKind, span: crate::diag::Span) -> Expr {
        self.height = 1;
        Expr { kind, span }
    }

    fn number(&mut self, token: Token, text: Symbol) -> Expr {
        let kind = match literal::number(self.interner.text(text)) {
            Ok(Number::Int(value, suffix)) => ExprKind::Int(value, suffix),
            Ok(Number::Float(value, suffix)) => ExprKind::Float(value, suffix),
            Err(why) => {
                let message = format!("`{}` {why}", self.interner.text(text));
                self.refuse(Diagnostic::error(token.span, message));
                ExprKind::Float(0.0, FloatSuffix::Float)
            }
        };
        self.leaf(kind, token.span)
    }

    fn character(&mut self, token: Token, text: Symbol) -> Expr {
        let value = literal::character(self.interner.text(text)).unwrap_or_else(|why| {
            let message = format!("this character literal {why}");
            self.refuse(Diagnostic::error(token.span, message));
            0
        });
        let suffix = IntSuffix {
            unsigned: false,
            long: false,
            radix_not_ten: false,
        };
        self.leaf(ExprKind::Int(value, suffix), token.span)
    }

    /// Parses a string: all literals that stand in a row.
    pub(super) fn string(&mut self) -> Parsed<Name> {
        let mut whole = String::new();
        let start = self.position;
        while let TokenKind::String(text) = self.peek().kind {
            let token = self.advance();
            match literal::string(self.interner.text(text)) {
                Ok(part) => whole.push_str(&part),
                Err(why) => {
                    let message = format!("this string {why}");
                    self.refuse(Diagnostic::error(token.span, message));
                }
            }
        }
        if self.position == start {
            return Err(self.expected("a string"));
        }
        Ok(Name::from(whole))
    }

    fn parenthesised(&mut self) -> Parsed<Expr> {
        let open = self.advance().span;
        if self.at(Punct::LeftBrace) {
            return Err(self.error(Diagnostic::error(
                open,
                "statements inside expressions are not C++",
            )));
        }
        if self.at(Punct::Ellipsis) {
            let span = self.peek().span;
            return Err(self.error(Diagnostic::error(
                span,
                "fold expressions are C++17, which Metal 3 does not have",
            )));
        }
        let mut inner = self.bracketed(|parser| {
            let inner = parser.expression()?;
            parser.close(Punct::RightParen, open)?;
            Ok(inner)
        })?;
        inner.span = self.span_from(open);
        Ok(inner)
    }

    fn keyword(&mut self, token: Token, name: Symbol) -> Parsed<Expr> {
        let style = match name {
            word::TRUE | word::FALSE => {
                self.advance();
                return Ok(self.leaf(ExprKind::Bool(name == word::TRUE), token.span));
            }
            word::NULLPTR => {
                self.advance();
                return Ok(self.leaf(ExprKind::Nullptr, token.span));
            }
            word::THIS => {
                self.advance();
                return Ok(self.leaf(ExprKind::This, token.span));
            }
            word::STATIC_CAST => CastStyle::Static,
            word::REINTERPRET_CAST => CastStyle::Reinterpret,
            word::CONST_CAST => CastStyle::Const,
            word::DYNAMIC_CAST | word::TYPEID => {
                let text = self.interner.text(name);
                return Err(self.error(Diagnostic::error(
                    token.span,
                    format!("kernels have no run-time type information: no `{text}`"),
                )));
            }
            word::TYPENAME | word::DECLTYPE => return self.construction(),
            word::OPERATOR => {
                let ident = self.operator_name(None)?.ident;
                let span = ident.span;
                let segments = vec![PathSegment { ident, args: None }];
                return Ok(self.leaf(ExprKind::Path(Path { segments, span }), span));
            }
            _ if is_arithmetic_word(name) => return self.construction(),
            _ => return Err(self.expected("an expression")),
        };
        self.advance();
        let open = self.expect(Punct::Less, "with the type to cast to")?.span;
        let outer = std::mem::replace(&mut self.greater_closes, true);
        let ty = self.type_name();
        self.greater_closes = outer;
        let ty = ty?;
        self.close(Punct::Greater, open)?;
        let height = self.height;
        let paren = self
            .expect(Punct::LeftParen, "with the value to cast")?
            .span;
        let value = self.bracketed(|parser| {
            let value = parser.expression()?;
            parser.close(Punct::RightParen, paren)?;
            Ok(value)
        })?;
        self.link(height)?;
        let kind = ExprKind::Cast(style, ty, Box::new(value));
        Ok(spanning(kind, token.span, self.last_span()))
    }

    /// Parses `T(args)` or `T{args}`.
    fn construction(&mut self) -> Parsed<Expr> {
        let start = self.peek().span;
        let from_decltype = self.at_word(word::DECLTYPE);
        let ty = if from_decltype {
            self.decltype()?
        } else {
            self.simple_type()?
        };
        let height = self.height;
        let braced = self.at(Punct::LeftBrace);
        let args = if braced {
            self.braced_arguments()?
        } else if self.at(Punct::LeftParen) {
            self.call_arguments()?
        } else {
            // `decltype(e)::name` may as well be a value.
            match ty.kind {
                TypeExprKind::Path(path) if from_decltype => {
                    return Ok(Expr {
                        span: path.span,
                        kind: ExprKind::Path(path),
                    });
                }
                _ => return Err(self.expected("`(` or `{` after the type")),
            }
        };
        self.link(height)?;
        let kind = ExprKind::Construct { ty, args, braced };
        Ok(spanning(kind, start, self.last_span()))
    }

    fn named(&mut self) -> Parsed<Expr> {
        let start = self.position;
        let known = self.path("a name")?;
        let is_type = known.entry.is_some_and(|e| e.kind == NameKind::Type);
        let braced = self.at(Punct::LeftBrace);
        let constructs = is_type && (braced || self.at(Punct::LeftParen));
        if constructs || (braced && known.entry.is_none()) {
            self.position = start;
            return self.construction();
        }
        let span = known.path.span;
        Ok(Expr {
            kind: ExprKind::Path(known.path),
            span,
        })
    }

    /// Parses `{a, b}` into its elements; designators are refused.
    fn braced_arguments(&mut self) -> Parsed<Vec<Expr>> {
        let open = self.peek().span;
        let list = self.init_list()?;
        let ExprKind::InitList(elements) = list.kind else {
            return Ok(Vec::new());
        };
        let mut args = Vec::with_capacity(elements.len());
        for (designator, element) in elements {
            if let Some(designator) = designator {
                self.refuse(
                    Diagnostic::error(designator.span, "a designator cannot stand here")
                        .with_related(open, "this list has its type before it")
                        .with_hint("declare a variable: `T x = {.name = value};`"),
                );
            }
            args.push(element);
        }
        Ok(args)
    }

    /// Parses an expression or a list in braces.
    pub(super) fn initializer_clause(&mut self) -> Parsed<Expr> {
        if self.at(Punct::LeftBrace) {
            self.init_list()
        } else {
            self.assignment()
        }
    }

    /// Parses `{a, .b = c, {d}}`.
    pub(super) fn init_list(&mut self) -> Parsed<Expr> {
        let open = self.advance().span;
        let mut height = 0;
        let elements = self.bracketed(|parser| {
            let mut elements = Vec::new();
            while !parser.at(Punct::RightBrace) {
                let mut designator = None;
                if parser.at(Punct::Dot) {
                    parser.advance();
                    let (name, span) = parser.name("the name of a member")?;
                    designator = Some(parser.ident(name, span));
                    if !parser.at(Punct::LeftBrace) {
                        parser.expect(Punct::Equal, "after the designator")?;
                    }
                } else if parser.array_designator_ahead() {
                    let element = parser.array_designator()?;
                    height = height.max(parser.height);
                    elements.push((None, element));
                    if !parser.take(Punct::Comma) {
                        break;
                    }
                    continue;
                }
                let element = parser.initializer_clause()?;
                let element = parser.expansion(element)?;
                height = height.max(parser.height);
                elements.push((designator, element));
                if !parser.take(Punct::Comma) {
                    break;
                }
            }
            parser.close(Punct::RightBrace, open)?;
            Ok(elements)
        })?;
        self.height = height;
        self.link(0)?;
        Ok(spanning(
            ExprKind::InitList(elements),
            open,
            self.last_span(),
        ))
    }

    /// Whether `[index] =` is next, and not a lambda.
    fn array_designator_ahead(&self) -> bool {
        self.at(Punct::LeftBracket)
            && self
                .group_ahead(self.position)
                .is_some_and(|end| self.token_at(end).is(Punct::Equal))
    }

    fn array_designator(&mut self) -> Parsed<Expr> {
        let open = self.advance().span;
        let first = self.bracketed(Self::conditional)?;
        let mut height = self.height;
        let last = if self.take(Punct::Ellipsis) {
            let last = self.bracketed(Self::conditional)?;
            height = height.max(self.height);
            Some(Box::new(last))
        } else {
            None
        };
        self.close(Punct::RightBracket, open)?;
        self.expect(Punct::Equal, "after the designator")?;
        let value = self.initializer_clause()?;
        self.link(height)?;
        let kind = ExprKind::ArrayDesignator {
            first: Box::new(first),
            last,
            value: Box::new(value),
        };
        Ok(spanning(kind, open, self.last_span()))
    }

    fn lambda(&mut self) -> Parsed<Expr> {
        let start = self.peek().span;
        if self.at_attribute() {
            return Err(self.error(Diagnostic::error(start, "an attribute cannot stand here")));
        }
        self.advance();
        let mut lambda = Lambda {
            capture_by_copy: false,
            capture_by_reference: false,
            captures: Vec::new(),
            params: Vec::new(),
            result: None,
            body: super::ast::Block {
                statements: Vec::new(),
                span: start,
            },
        };
        self.captures(start, &mut lambda)?;
        let mut attributes = Vec::new();
        if self.at(Punct::LeftParen) {
            let part = self.function_part(&mut attributes)?;
            self.refuse_attributes(&attributes, &[], "a lambda");
            lambda.params = part.params;
            lambda.result = part.trailing;
            if self.take_word(word::MUTABLE) && self.take(Punct::Arrow) {
                lambda.result = Some(self.type_name()?);
            }
        }
        if !self.at(Punct::LeftBrace) {
            return Err(self.expected("`{` with the body of the lambda"));
        }
        self.names.open_new(false);
        self.declare_params(&lambda.params);
        // The trees of the body hang below this expression: each lambda inside another leaves
        // half the height to those inside it.
        let limit = self.height_limit;
        self.height_limit = limit / 2;
        let outer = std::mem::replace(&mut self.greater_closes, false);
        let class = self.class.take();
        let body = self.nested(Self::block);
        self.class = class;
        self.greater_closes = outer;
        self.height_limit = limit;
        self.names.close_and_forget();
        lambda.body = body?;
        self.height = 1;
        Ok(spanning(
            ExprKind::Lambda(Box::new(lambda)),
            start,
            self.last_span(),
        ))
    }

    fn captures(&mut self, open: crate::diag::Span, lambda: &mut Lambda) -> Parsed<()> {
        while !self.at(Punct::RightBracket) {
            let token = self.peek();
            let next_ends = self.ahead(1).is(Punct::RightBracket) || self.ahead(1).is(Punct::Comma);
            match token.kind {
                TokenKind::Punct(Punct::Equal) if next_ends => {
                    self.advance();
                    lambda.capture_by_copy = true;
                }
                TokenKind::Punct(Punct::Amp) if next_ends => {
                    self.advance();
                    lambda.capture_by_reference = true;
                }
                TokenKind::Word(word::THIS) => {
                    self.advance();
                }
                _ => {
                    let by_reference = self.take(Punct::Amp);
                    let (name, span) = self.name("a name to capture")?;
                    if self.at(Punct::Equal) {
                        let span = self.peek().span;
                        return Err(self.error(Diagnostic::error(
                            span,
                            "captures with an initialiser are not supported",
                        )));
                    }
                    lambda.captures.push((self.ident(name, span), by_reference));
                }
            }
            if !self.take(Punct::Comma) {
                break;
            }
        }
        self.close(Punct::RightBracket, open)
    }
}
