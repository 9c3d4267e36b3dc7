//! The value of the expression after `#if`. Macros and `defined` are replaced before it gets here.

use super::literal::{self, Number};
use super::token::{Interner, Punct, Token, TokenKind, word};
use crate::diag::{Diagnostic, Span};

const DEPTH_LIMIT: usize = 100;

/// A value; the bits are read as unsigned if `unsigned` is set.
#[derive(Clone, Copy)]
struct Value {
    bits: i64,
    unsigned: bool,
}

impl Value {
    fn truth(value: bool) -> Self {
        Self {
            bits: i64::from(value),
            unsigned: false,
        }
    }

    fn is_true(self) -> bool {
        self.bits != 0
    }
}

/// Whether the expression is not zero. `line` is the place of the directive.
pub fn evaluate(tokens: &[Token], interner: &Interner, line: Span) -> Result<bool, Diagnostic> {
    let mut evaluator = Evaluator {
        tokens,
        position: 0,
        interner,
        end: tokens
            .last()
            .map_or(line, |t| Span::new(t.span.end, t.span.end)),
        depth: 0,
    };
    if tokens.is_empty() {
        return Err(Diagnostic::error(line, "expected a condition after this"));
    }
    let value = evaluator.conditional(true)?;
    match evaluator.peek() {
        None => Ok(value.is_true()),
        Some(token) => Err(Diagnostic::error(
            token.span,
            "expected an operator or the end of the line in this condition",
        )),
    }
}

struct Evaluator<'a> {
    tokens: &'a [Token],
    position: usize,
    interner: &'a Interner,
    end: Span,
    depth: usize,
}

fn precedence(punct: Punct) -> Option<u8> {
    Some(match punct {
        Punct::Star | Punct::Slash | Punct::Percent => 10,
        Punct::Plus | Punct::Minus => 9,
        Punct::LessLess | Punct::GreaterGreater => 8,
        Punct::Less | Punct::LessEqual | Punct::Greater | Punct::GreaterEqual => 7,
        Punct::EqualEqual | Punct::BangEqual => 6,
        Punct::Amp => 5,
        Punct::Caret => 4,
        Punct::Pipe => 3,
        Punct::AmpAmp => 2,
        Punct::PipePipe => 1,
        _ => return None,
    })
}

impl Evaluator<'_> {
    fn peek(&self) -> Option<Token> {
        self.tokens.get(self.position).copied()
    }

    fn take(&mut self, punct: Punct) -> bool {
        let found = self.peek().is_some_and(|token| token.is(punct));
        self.position += usize::from(found);
        found
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let span = self.peek().map_or(self.end, |token| token.span);
        Diagnostic::error(span, format!("expected {what} in this condition"))
    }

    /// `live` is false where the value is not used, so that a division by zero does not matter.
    fn conditional(&mut self, live: bool) -> Result<Value, Diagnostic> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(Diagnostic::error(
                self.peek().map_or(self.end, |token| token.span),
                format!("this condition is nested more than {DEPTH_LIMIT} deep"),
            ));
        }
        let condition = self.binary(0, live)?;
        let value = if self.take(Punct::Question) {
            let accept = self.conditional(live && condition.is_true())?;
            if !self.take(Punct::Colon) {
                return Err(self.expected("`:`"));
            }
            let reject = self.conditional(live && !condition.is_true())?;
            let chosen = if condition.is_true() { accept } else { reject };
            Value {
                unsigned: accept.unsigned || reject.unsigned,
                ..chosen
            }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    fn binary(&mut self, lowest: u8, live: bool) -> Result<Value, Diagnostic> {
        let mut left = self.unary(live)?;
        while let Some(token) = self.peek() {
            let TokenKind::Punct(punct) = token.kind else {
                break;
            };
            let Some(level) = precedence(punct).filter(|&level| level > lowest) else {
                break;
            };
            self.position += 1;
            let live_right = match punct {
                Punct::AmpAmp => live && left.is_true(),
                Punct::PipePipe => live && !left.is_true(),
                _ => live,
            };
            let right = self.binary(level, live_right)?;
            left = apply(punct, left, right)
                .or((!live_right).then_some(Value::truth(false)))
                .ok_or_else(|| {
                    Diagnostic::error(token.span, "division by zero in this condition")
                })?;
        }
        Ok(left)
    }

    fn unary(&mut self, live: bool) -> Result<Value, Diagnostic> {
        let mut operators = Vec::new();
        while let Some(token) = self.peek() {
            match token.kind {
                TokenKind::Punct(
                    punct @ (Punct::Bang | Punct::Minus | Punct::Plus | Punct::Tilde),
                ) => operators.push(punct),
                _ => break,
            }
            self.position += 1;
        }
        let mut value = self.primary(live)?;
        for operator in operators.into_iter().rev() {
            match operator {
                Punct::Bang => value = Value::truth(!value.is_true()),
                Punct::Minus => value.bits = value.bits.wrapping_neg(),
                Punct::Tilde => value.bits = !value.bits,
                _ => {}
            }
        }
        Ok(value)
    }

    fn primary(&mut self, live: bool) -> Result<Value, Diagnostic> {
        let Some(token) = self.peek() else {
            return Err(self.expected("a value"));
        };
        self.position += 1;
        match token.kind {
            TokenKind::Word(name) => Ok(Value::truth(name == word::TRUE)),
            TokenKind::Number(text) => match literal::number(self.interner.text(text)) {
                Ok(Number::Int(value, suffix)) => Ok(Value {
                    bits: value as i64,
                    unsigned: suffix.unsigned || value > i64::MAX as u64,
                }),
                Ok(Number::Float(..)) => Err(Diagnostic::error(
                    token.span,
                    "a condition of the preprocessor has integers only",
                )),
                Err(why) => Err(Diagnostic::error(
                    token.span,
                    format!("`{}` {why}", self.interner.text(text)),
                )),
            },
            TokenKind::Char(text) => match literal::character(self.interner.text(text)) {
                Ok(value) => Ok(Value {
                    bits: value as i64,
                    unsigned: false,
                }),
                Err(why) => Err(Diagnostic::error(
                    token.span,
                    format!("this character literal {why}"),
                )),
            },
            TokenKind::Punct(Punct::LeftParen) => {
                let value = self.conditional(live)?;
                if self.take(Punct::RightParen) {
                    Ok(value)
                } else {
                    Err(self
                        .expected("`)`")
                        .with_related(token.span, "to close this"))
                }
            }
            _ => {
                self.position -= 1;
                Err(self.expected("a value"))
            }
        }
    }
}

/// The result of an operator; none for a division by zero.
fn apply(operator: Punct, left: Value, right: Value) -> Option<Value> {
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (ua, ub) = (a as u64, b as u64);
    let number = |bits: i64| Value { bits, unsigned };
    let order = if unsigned { ua.cmp(&ub) } else { a.cmp(&b) };
    Some(match operator {
        Punct::Star => number(a.wrapping_mul(b)),
        Punct::Slash if unsigned => number(ua.checked_div(ub)? as i64),
        Punct::Percent if unsigned => number(ua.checked_rem(ub)? as i64),
        Punct::Slash | Punct::Percent if b == 0 => return None,
        Punct::Slash => number(a.wrapping_div(b)),
        Punct::Percent => number(a.wrapping_rem(b)),
        Punct::Plus => number(a.wrapping_add(b)),
        Punct::Minus => number(a.wrapping_sub(b)),
        Punct::LessLess => Value {
            bits: a.wrapping_shl(b as u32),
            ..left
        },
        Punct::GreaterGreater if left.unsigned => Value {
            bits: ua.wrapping_shr(b as u32) as i64,
            ..left
        },
        Punct::GreaterGreater => Value {
            bits: a.wrapping_shr(b as u32),
            ..left
        },
        Punct::Less => Value::truth(order.is_lt()),
        Punct::LessEqual => Value::truth(order.is_le()),
        Punct::Greater => Value::truth(order.is_gt()),
        Punct::GreaterEqual => Value::truth(order.is_ge()),
        Punct::EqualEqual => Value::truth(order.is_eq()),
        Punct::BangEqual => Value::truth(order.is_ne()),
        Punct::Amp => number(a & b),
        Punct::Caret => number(a ^ b),
        Punct::Pipe => number(a | b),
        Punct::AmpAmp => Value::truth(left.is_true() && right.is_true()),
        _ => Value::truth(left.is_true() || right.is_true()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::lexer;

    fn value(text: &str) -> Result<bool, String> {
        let mut interner = Interner::new();
        let tokens = lexer::tokenize(text, 0, &mut interner);
        evaluate(&tokens, &interner, Span::default()).map_err(|d| d.message)
    }

    #[test]
    fn follows_the_rules_of_c() {
        for text in [
            "1 + 2 * 3 == 7",
            "(1 + 2) * 3 == 9",
            "10 - 4 - 3 == 3",
            "1 ? 2 : 0",
            "!0 && ~0",
            "-1 < 0",
            "-1 > 0u",
            "1 << 4 == 16",
            "-8 >> 1 == -4",
            "0 || 1 && 1",
            "'a' == 97",
            "0x10 == 16",
            "7 % 4 == 3",
            "0 && 1 / 0 || 1",
            "1 || 1 / 0",
            "unknown == 0",
            "true",
            "0 ? 1 / 0 : 1",
            "(-9223372036854775807 - 1) / -1",
        ] {
            assert_eq!(value(text), Ok(true), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_condition() {
        for text in [
            "", "1 / 0", "1 +", "(1", "1 2", "1.0", "1 ? 2", ")", "08", "0 ? 1",
        ] {
            assert!(value(text).is_err(), "{text}");
        }
        assert!(value(&"(".repeat(10_000)).is_err());
        assert!(value(&format!("{}1", "!".repeat(100_000))).is_ok());
    }
}
