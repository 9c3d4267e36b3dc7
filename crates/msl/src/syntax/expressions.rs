//! Expressions, from the comma down to unary operators. What they start with is in `primary.rs`.

use super::ast::{BinaryOp, CastStyle, Expr, ExprKind, UnaryOp};
use super::parser::{Parsed, Parser};
use super::token::{Punct, TokenKind, word};
use crate::diag::{Diagnostic, Span};

/// A binary operator with its precedence (a higher one binds tighter) and number of tokens.
fn binary_operator(punct: Punct) -> Option<(BinaryOp, u8)> {
    Some(match punct {
        Punct::Star => (BinaryOp::Multiply, 10),
        Punct::Slash => (BinaryOp::Divide, 10),
        Punct::Percent => (BinaryOp::Remainder, 10),
        Punct::Plus => (BinaryOp::Add, 9),
        Punct::Minus => (BinaryOp::Subtract, 9),
        Punct::LessLess => (BinaryOp::ShiftLeft, 8),
        Punct::Less => (BinaryOp::Less, 7),
        Punct::LessEqual => (BinaryOp::LessEqual, 7),
        Punct::Greater => (BinaryOp::Greater, 7),
        Punct::GreaterEqual => (BinaryOp::GreaterEqual, 7),
        Punct::EqualEqual => (BinaryOp::Equal, 6),
        Punct::BangEqual => (BinaryOp::NotEqual, 6),
        Punct::Amp => (BinaryOp::BitwiseAnd, 5),
        Punct::Caret => (BinaryOp::BitwiseXor, 4),
        Punct::Pipe => (BinaryOp::BitwiseOr, 3),
        Punct::AmpAmp => (BinaryOp::LogicalAnd, 2),
        Punct::PipePipe => (BinaryOp::LogicalOr, 1),
        _ => return None,
    })
}

const SHIFT: u8 = 8;

fn assignment_operator(punct: Punct) -> Option<Option<BinaryOp>> {
    Some(match punct {
        Punct::Equal => None,
        Punct::PlusEqual => Some(BinaryOp::Add),
        Punct::MinusEqual => Some(BinaryOp::Subtract),
        Punct::StarEqual => Some(BinaryOp::Multiply),
        Punct::SlashEqual => Some(BinaryOp::Divide),
        Punct::PercentEqual => Some(BinaryOp::Remainder),
        Punct::AmpEqual => Some(BinaryOp::BitwiseAnd),
        Punct::PipeEqual => Some(BinaryOp::BitwiseOr),
        Punct::CaretEqual => Some(BinaryOp::BitwiseXor),
        Punct::LessLessEqual => Some(BinaryOp::ShiftLeft),
        _ => return None,
    })
}

fn prefix_operator(punct: Punct) -> Option<UnaryOp> {
    Some(match punct {
        Punct::Plus => UnaryOp::Plus,
        Punct::Minus => UnaryOp::Negate,
        Punct::Bang => UnaryOp::LogicalNot,
        Punct::Tilde => UnaryOp::BitwiseNot,
        Punct::Star => UnaryOp::Dereference,
        Punct::Amp => UnaryOp::AddressOf,
        Punct::PlusPlus => UnaryOp::PreIncrement,
        Punct::MinusMinus => UnaryOp::PreDecrement,
        _ => return None,
    })
}

/// An expression from the start of its first part to the end of its last.
pub(super) fn spanning(kind: ExprKind, first: Span, last: Span) -> Expr {
    Expr {
        kind,
        span: first.to(last),
    }
}

impl Parser<'_> {
    /// Parses an expression, commas included.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        let mut left = self.assignment()?;
        while self.at(Punct::Comma) {
            let height = self.height;
            self.advance();
            let right = self.assignment()?;
            self.link(height)?;
            let span = left.span.to(right.span);
            left = Expr {
                kind: ExprKind::Comma(Box::new(left), Box::new(right)),
                span,
            };
        }
        Ok(left)
    }

    /// Parses an expression without commas.
    pub(super) fn assignment(&mut self) -> Parsed<Expr> {
        self.nested(Self::assignment_unchecked)
    }

    fn assignment_unchecked(&mut self) -> Parsed<Expr> {
        if self.at_word(word::THROW) {
            let span = self.peek().span;
            return Err(self.error(Diagnostic::error(span, "kernels have no exceptions")));
        }
        let left = self.conditional_unchecked()?;
        let TokenKind::Punct(punct) = self.peek().kind else {
            return Ok(left);
        };
        let operator = if self.shift_right_assign_ahead() {
            self.advance();
            Some(BinaryOp::ShiftRight)
        } else {
            match assignment_operator(punct) {
                Some(operator) => operator,
                None => return Ok(left),
            }
        };
        let height = self.height;
        self.advance();
        let right = self.nested(Self::initializer_clause)?;
        self.link(height)?;
        let span = left.span.to(right.span);
        Ok(Expr {
            kind: ExprKind::Assign(operator, Box::new(left), Box::new(right)),
            span,
        })
    }

    fn shift_right_assign_ahead(&self) -> bool {
        self.at(Punct::Greater)
            && self.greater_is_joint()
            && self.ahead(1).is(Punct::GreaterEqual)
            && !self.greater_closes
    }

    /// Parses an expression without commas and assignments.
    pub(super) fn conditional(&mut self) -> Parsed<Expr> {
        self.nested(Self::conditional_unchecked)
    }

    fn conditional_unchecked(&mut self) -> Parsed<Expr> {
        let condition = self.binary(0)?;
        if !self.at(Punct::Question) {
            return Ok(condition);
        }
        let question = self.advance().span;
        let height = self.height;
        let accept = self.bracketed(Self::expression)?;
        let height = height.max(self.height);
        if !self.take(Punct::Colon) {
            let token = self.peek();
            let found = self.describe(token);
            return Err(self.error(
                Diagnostic::error(token.span, format!("expected `:`, found {found}"))
                    .with_related(question, "for this `?`"),
            ));
        }
        let reject = self.assignment()?;
        self.link(height)?;
        let span = condition.span.to(reject.span);
        Ok(Expr {
            kind: ExprKind::Conditional(Box::new(condition), Box::new(accept), Box::new(reject)),
            span,
        })
    }

    fn binary(&mut self, lowest: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        loop {
            let token = self.peek();
            let TokenKind::Punct(punct) = token.kind else {
                return Ok(left);
            };
            if punct == Punct::Greater && self.greater_closes {
                return Ok(left);
            }
            let shift = punct == Punct::Greater && self.greater_is_joint();
            let (operator, level) = if shift {
                if self.ahead(1).is(Punct::GreaterEqual) {
                    return Ok(left);
                }
                (BinaryOp::ShiftRight, SHIFT)
            } else {
                match binary_operator(punct) {
                    Some(operator) => operator,
                    None => return Ok(left),
                }
            };
            if level <= lowest {
                return Ok(left);
            }
            // `(args + ...)`
            if self.ahead(1).is(Punct::Ellipsis) {
                let span = self.ahead(1).span;
                return Err(self.error(Diagnostic::error(
                    span,
                    "fold expressions are C++17, which Metal 3 does not have",
                )));
            }
            let height = self.height;
            self.advance();
            if shift {
                self.advance();
            }
            let right = self.binary(level)?;
            self.link(height)?;
            let span = left.span.to(right.span);
            left = Expr {
                kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)),
                span,
            };
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let token = self.peek();
        match token.kind {
            TokenKind::Punct(Punct::LeftParen) if self.cast_ahead() => self.c_cast(),
            TokenKind::Punct(punct) => match prefix_operator(punct) {
                Some(operator) => {
                    self.advance();
                    let operand = self.nested(Self::unary)?;
                    self.link(0)?;
                    let span = token.span.to(operand.span);
                    Ok(Expr {
                        kind: ExprKind::Unary(operator, Box::new(operand)),
                        span,
                    })
                }
                None => self.postfix(),
            },
            TokenKind::Word(word::SIZEOF) => self.size_of(),
            TokenKind::Word(word::ALIGNOF) => self.align_of(),
            TokenKind::Word(word::NEW | word::DELETE) => Err(self.error(Diagnostic::error(
                token.span,
                "kernels have no `new` and `delete`",
            ))),
            _ => self.postfix(),
        }
    }

    fn c_cast(&mut self) -> Parsed<Expr> {
        let open = self.advance().span;
        let ty = self.bracketed(|parser| {
            let ty = parser.type_name()?;
            parser.close(Punct::RightParen, open)?;
            Ok(ty)
        })?;
        let height = self.height;
        if self.at(Punct::LeftBrace) {
            let span = open.to(self.last_span());
            return Err(self.error(
                Diagnostic::error(span, "compound literals are C, not C++")
                    .with_hint("write the type without parentheses: `T{...}`"),
            ));
        }
        let operand = self.nested(Self::unary)?;
        self.link(height)?;
        let span = open.to(operand.span);
        Ok(Expr {
            kind: ExprKind::Cast(CastStyle::C, ty, Box::new(operand)),
            span,
        })
    }

    fn size_of(&mut self) -> Parsed<Expr> {
        let start = self.advance().span;
        if self.take(Punct::Ellipsis) {
            let open = self.expect(Punct::LeftParen, "after `sizeof...`")?.span;
            let (name, span) = self.name("the name of a parameter pack")?;
            self.close(Punct::RightParen, open)?;
            self.height = 1;
            let kind = ExprKind::SizeofPack(self.ident(name, span));
            return Ok(spanning(kind, start, self.last_span()));
        }
        if self.at(Punct::LeftParen) && self.cast_ahead() {
            let ty = self.type_in_parens()?;
            return Ok(spanning(ExprKind::SizeofType(ty), start, self.last_span()));
        }
        let operand = self.nested(Self::unary)?;
        self.link(0)?;
        let last = operand.span;
        Ok(spanning(
            ExprKind::SizeofExpr(Box::new(operand)),
            start,
            last,
        ))
    }

    fn align_of(&mut self) -> Parsed<Expr> {
        let start = self.advance().span;
        if !self.at(Punct::LeftParen) {
            return Err(self.expected("`(` after `alignof`"));
        }
        let ty = self.type_in_parens()?;
        Ok(spanning(ExprKind::AlignofType(ty), start, self.last_span()))
    }

    fn type_in_parens(&mut self) -> Parsed<super::ast::TypeExpr> {
        let open = self.advance().span;
        let ty = self.bracketed(|parser| {
            let ty = parser.type_name()?;
            parser.close(Punct::RightParen, open)?;
            Ok(ty)
        })?;
        self.link(0)?;
        Ok(ty)
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut object = self.primary()?;
        loop {
            let token = self.peek();
            let height = self.height;
            let TokenKind::Punct(punct) = token.kind else {
                return Ok(object);
            };
            let first = object.span;
            let kind = match punct {
                Punct::LeftBracket if self.at_attribute() => return Ok(object),
                Punct::LeftBracket => {
                    self.advance();
                    let index = self.bracketed(|parser| {
                        let index = parser.expression()?;
                        parser.close(Punct::RightBracket, token.span)?;
                        Ok(index)
                    })?;
                    ExprKind::Index(Box::new(object), Box::new(index))
                }
                Punct::LeftParen => {
                    let args = self.call_arguments()?;
                    ExprKind::Call(Box::new(object), args)
                }
                Punct::Dot | Punct::Arrow => {
                    self.advance();
                    let member = self.member_segment()?;
                    ExprKind::Member {
                        object: Box::new(object),
                        arrow: punct == Punct::Arrow,
                        member,
                    }
                }
                Punct::PlusPlus | Punct::MinusMinus => {
                    self.advance();
                    let operator = if punct == Punct::PlusPlus {
                        UnaryOp::PostIncrement
                    } else {
                        UnaryOp::PostDecrement
                    };
                    ExprKind::Unary(operator, Box::new(object))
                }
                Punct::DotStar | Punct::ArrowStar => {
                    return Err(self.error(Diagnostic::error(
                        token.span,
                        "pointers to members are not supported",
                    )));
                }
                _ => return Ok(object),
            };
            self.link(height)?;
            object = spanning(kind, first, self.last_span());
        }
    }

    /// Parses `(a, b)`.
    pub(super) fn call_arguments(&mut self) -> Parsed<Vec<Expr>> {
        let open = self.advance().span;
        self.bracketed(|parser| {
            let args = parser.arguments(Punct::RightParen)?;
            parser.close(Punct::RightParen, open)?;
            Ok(args)
        })
    }

    /// Parses arguments up to a closing bracket, which is left.
    pub(super) fn arguments(&mut self, close: Punct) -> Parsed<Vec<Expr>> {
        let mut args = Vec::new();
        let mut height = 0;
        if !self.at(close) {
            loop {
                let arg = self.initializer_clause()?;
                let arg = self.expansion(arg)?;
                height = height.max(self.height);
                args.push(arg);
                if !self.take(Punct::Comma) {
                    break;
                }
                if self.at(close) {
                    return Err(self.expected("an argument after the `,`"));
                }
            }
        }
        self.height = height;
        Ok(args)
    }

    /// Takes the `...` that may follow an argument.
    pub(super) fn expansion(&mut self, pattern: Expr) -> Parsed<Expr> {
        if !self.take(Punct::Ellipsis) {
            return Ok(pattern);
        }
        self.link(0)?;
        let first = pattern.span;
        Ok(spanning(
            ExprKind::Expansion(Box::new(pattern)),
            first,
            self.last_span(),
        ))
    }
}
