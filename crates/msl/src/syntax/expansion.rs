//! The expansion of macros.
//!
//! While the tokens of a macro's body are being read, the macro is *active*, and its own name
//! among them is marked as never to be expanded again. That is what makes expansion end.

use std::rc::Rc;

use super::lexer;
use super::macros::{Macro, MacroTable, Part, spelling};
use super::token::{Flags, Interner, Punct, Symbol, Token, TokenKind, word};
use crate::diag::{Diagnostic, Report, Sources, Span};

/// The most tokens that the macros of one compilation may make.
pub const EXPANSION_LIMIT: usize = 2_000_000;

/// How deeply macro calls may stand in the arguments of macro calls.
const ARGUMENT_DEPTH: usize = 100;

/// Expands macros.
pub struct Expander<'a> {
    /// The macros.
    pub macros: &'a mut MacroTable,
    /// The spellings.
    pub interner: &'a mut Interner,
    /// Where problems go.
    pub report: &'a mut Report,
    /// The texts, for `__FILE__` and `__LINE__`.
    pub sources: &'a Sources,
    /// How many tokens macros have made so far.
    pub made: &'a mut usize,
    /// The next value of `__COUNTER__`.
    pub counter: &'a mut u32,
    /// How deep in arguments of macro calls we are.
    pub depth: usize,
}

/// The tokens of a macro that is being read.
struct Frame {
    tokens: Vec<Token>,
    position: usize,
    name: Symbol,
}

/// The tokens still to be read: bodies of macros, the innermost last, and then the input.
struct Reader<'a> {
    frames: Vec<Frame>,
    input: std::slice::Iter<'a, Token>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<Token> {
        self.frames
            .iter()
            .rev()
            .find_map(|frame| frame.tokens.get(frame.position))
            .or_else(|| self.input.as_slice().first())
            .copied()
    }

    fn next(&mut self, macros: &mut MacroTable) -> Option<Token> {
        let mut token = loop {
            let Some(frame) = self.frames.last_mut() else {
                break *self.input.next()?;
            };
            if let Some(&token) = frame.tokens.get(frame.position) {
                frame.position += 1;
                break token;
            }
            macros.set_active(frame.name, false);
            self.frames.pop();
        };
        if let TokenKind::Word(name) = token.kind
            && macros.is_active(name)
        {
            token.flags = token.flags.with(Flags::NO_EXPANSION);
        }
        Some(token)
    }
}

impl Expander<'_> {
    /// Appends the expansion of `input` to `output`.
    pub fn expand(&mut self, input: &[Token], output: &mut Vec<Token>) {
        let mut reader = Reader {
            frames: Vec::new(),
            input: input.iter(),
        };
        while let Some(token) = reader.next(self.macros) {
            let TokenKind::Word(name) = token.kind else {
                output.push(token);
                continue;
            };
            if self.built_in(name, token, &mut reader, output) {
                continue;
            }
            let definition = match self.macros.get(name) {
                Some(definition)
                    if !token.flags.has(Flags::NO_EXPANSION) && *self.made <= EXPANSION_LIMIT =>
                {
                    Rc::clone(definition)
                }
                _ => {
                    output.push(token);
                    continue;
                }
            };
            let tokens = if let Some(params) = &definition.params {
                if !reader.peek().is_some_and(|t| t.is(Punct::LeftParen)) {
                    output.push(token);
                    continue;
                }
                match self.arguments(&definition, params.len(), token, &mut reader) {
                    Some(arguments) => self.substitute(&definition, &arguments, token),
                    None => continue,
                }
            } else {
                self.substitute(&definition, &[], token)
            };
            *self.made += 1 + tokens.len();
            if *self.made > EXPANSION_LIMIT {
                self.report.push(
                    Diagnostic::error(
                        token.span,
                        format!("macros expand to more than {EXPANSION_LIMIT} tokens"),
                    )
                    .with_label("this expansion goes over the limit")
                    .with_related(definition.span, "the macro is defined here"),
                );
                continue;
            }
            self.macros.set_active(name, true);
            reader.frames.push(Frame {
                tokens,
                position: 0,
                name,
            });
        }
        while let Some(frame) = reader.frames.pop() {
            self.macros.set_active(frame.name, false);
        }
    }

    /// Handles the names that are macros without a definition.
    fn built_in(
        &mut self,
        name: Symbol,
        token: Token,
        reader: &mut Reader<'_>,
        output: &mut Vec<Token>,
    ) -> bool {
        let number = |interner: &mut Interner, value: usize| {
            TokenKind::Number(interner.intern(&value.to_string()))
        };
        let kind = match name {
            word::LINE_MACRO => number(self.interner, self.sources.line(token.span.start)),
            word::COUNTER_MACRO => {
                *self.counter = self.counter.wrapping_add(1);
                number(self.interner, self.counter.wrapping_sub(1) as usize)
            }
            word::FILE_MACRO => {
                let name = self
                    .sources
                    .place(token.span)
                    .map_or("", |(s, ..)| s.name());
                let name = name.replace('\\', "\\\\").replace('"', "\\\"");
                TokenKind::String(self.interner.intern(&format!("\"{name}\"")))
            }
            word::PRAGMA_OPERATOR => {
                // All pragmas that may stand here are ones to ignore.
                let mut depth = 0usize;
                while let Some(next) = reader.peek() {
                    if depth == 0 && !next.is(Punct::LeftParen) {
                        break;
                    }
                    reader.next(self.macros);
                    match next.kind {
                        TokenKind::Punct(Punct::LeftParen) => depth += 1,
                        TokenKind::Punct(Punct::RightParen) if depth == 1 => break,
                        TokenKind::Punct(Punct::RightParen) => depth -= 1,
                        _ => {}
                    }
                }
                return true;
            }
            _ => return false,
        };
        output.push(Token { kind, ..token });
        true
    }

    /// Reads the arguments of a macro call, from its `(` to its `)`.
    fn arguments(
        &mut self,
        definition: &Macro,
        params: usize,
        name: Token,
        reader: &mut Reader<'_>,
    ) -> Option<Vec<Vec<Token>>> {
        let spelling = self.interner.text(definition.name).to_string();
        reader.next(self.macros);
        let mut arguments = vec![Vec::new()];
        let mut depth = 0usize;
        loop {
            let Some(token) = reader.next(self.macros) else {
                self.report.push(
                    Diagnostic::error(
                        name.span,
                        format!("the call of macro `{spelling}` has no closing `)`"),
                    )
                    .with_related(definition.span, "the macro is defined here"),
                );
                return None;
            };
            match token.kind {
                TokenKind::Punct(Punct::RightParen) if depth == 0 => break,
                TokenKind::Punct(Punct::RightParen) => depth -= 1,
                TokenKind::Punct(Punct::LeftParen) => depth += 1,
                TokenKind::Punct(Punct::Comma)
                    if depth == 0 && !(definition.variadic && arguments.len() >= params) =>
                {
                    arguments.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            if let Some(argument) = arguments.last_mut() {
                argument.push(token);
            }
        }
        if params == 0 && arguments.iter().all(Vec::is_empty) && arguments.len() == 1 {
            arguments.clear();
        }
        let given = arguments.len();
        if definition.variadic && given + 1 == params {
            arguments.push(Vec::new());
        } else if given != params {
            let takes = if definition.variadic {
                format!("at least {}", params.saturating_sub(1))
            } else {
                params.to_string()
            };
            let plural = if takes == "1" { "" } else { "s" };
            self.report.push(
                Diagnostic::error(
                    name.span,
                    format!("macro `{spelling}` takes {takes} argument{plural}, but {given} given"),
                )
                .with_related(definition.span, "the macro is defined here"),
            );
            return None;
        }
        Some(arguments)
    }

    /// The body with its parameters replaced, every token placed where the macro was called.
    fn substitute(
        &mut self,
        definition: &Macro,
        arguments: &[Vec<Token>],
        name: Token,
    ) -> Vec<Token> {
        let outer = Flags::LINE_START.with(Flags::SPACE);
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
        let mut result: Vec<Token> = Vec::with_capacity(definition.body.len());
        // Where the operand that a `##` would join begins; at the end of `result`, it is empty.
        let mut operand = 0;
        let mut paste = false;
        for (i, part) in definition.body.iter().enumerate() {
            if *self.made + result.len() > EXPANSION_LIMIT {
                return result;
            }
            let tokens: &[Token];
            let single;
            let raw;
            match *part {
                Part::Paste => {
                    paste = true;
                    continue;
                }
                Part::Token(token) => {
                    single = [Token {
                        span: name.span,
                        ..token
                    }];
                    tokens = &single;
                }
                Part::Stringify(index, token) => {
                    let argument = arguments.get(index).map_or(&[][..], Vec::as_slice);
                    single = [Token {
                        kind: self.stringify(argument),
                        span: name.span,
                        flags: token.flags,
                    }];
                    tokens = &single;
                }
                Part::Param(index, token) => {
                    let argument = arguments.get(index).map_or(&[][..], Vec::as_slice);
                    let variadic = definition.variadic && index + 1 == arguments.len();
                    if paste && variadic && result.last().is_some_and(|t| t.is(Punct::Comma)) {
                        // `, ## __VA_ARGS__` drops the comma if there are no further arguments.
                        paste = false;
                        if argument.is_empty() {
                            result.pop();
                            operand = result.len();
                            continue;
                        }
                    }
                    let joined = paste || matches!(definition.body.get(i + 1), Some(Part::Paste));
                    let source = if joined {
                        argument
                    } else {
                        self.expanded_argument(argument, expanded.get_mut(index))
                    };
                    raw = place_argument(source, token.flags);
                    tokens = &raw;
                }
            }
            let start = result.len();
            let mut rest = tokens;
            if paste && operand < start {
                if let (Some(&left), Some((&right, after))) = (result.last(), tokens.split_first())
                {
                    result.pop();
                    self.paste(left, right, name, definition, &mut result);
                    rest = after;
                }
            } else {
                operand = start;
            }
            paste = false;
            result.extend_from_slice(rest);
        }
        if let Some(first) = result.first_mut() {
            let kept = first.flags.without(outer);
            first.flags = if name.flags.has(Flags::LINE_START) {
                kept.with(Flags::LINE_START)
            } else if name.flags.has(Flags::SPACE) {
                kept.with(Flags::SPACE)
            } else {
                kept
            };
        }
        result
    }

    fn expanded_argument<'t>(
        &mut self,
        argument: &[Token],
        slot: Option<&'t mut Option<Vec<Token>>>,
    ) -> &'t [Token] {
        let Some(slot) = slot else { return &[] };
        slot.get_or_insert_with(|| {
            let mut output = Vec::new();
            if self.depth >= ARGUMENT_DEPTH {
                let span = argument.first().map_or(Span::default(), |token| token.span);
                self.report.push(Diagnostic::error(
                    span,
                    format!("macro calls are nested more than {ARGUMENT_DEPTH} deep"),
                ));
                return output;
            }
            self.depth += 1;
            self.expand(argument, &mut output);
            self.depth -= 1;
            *self.made += output.len();
            output
        })
    }

    fn paste(
        &mut self,
        left: Token,
        right: Token,
        name: Token,
        definition: &Macro,
        result: &mut Vec<Token>,
    ) {
        let text = format!(
            "{}{}",
            spelling(left.kind, self.interner),
            spelling(right.kind, self.interner)
        );
        let tokens = lexer::tokenize(&text, 0, self.interner);
        match tokens.as_slice() {
            [token] if !matches!(token.kind, TokenKind::Bad(_)) => result.push(Token {
                kind: token.kind,
                span: name.span,
                flags: left.flags,
            }),
            _ => {
                self.report.push(
                    Diagnostic::error(
                        name.span,
                        format!("`##` makes `{text}`, which is not one token"),
                    )
                    .with_related(definition.span, "in this macro"),
                );
                result.extend([left, right]);
            }
        }
    }

    fn stringify(&mut self, argument: &[Token]) -> TokenKind {
        let mut text = String::from("\"");
        for (i, token) in argument.iter().enumerate() {
            let blank = token.flags.has(Flags::SPACE) || token.flags.has(Flags::LINE_START);
            if i > 0 && blank {
                text.push(' ');
            }
            let piece = spelling(token.kind, self.interner);
            if matches!(token.kind, TokenKind::String(_) | TokenKind::Char(_)) {
                text.push_str(&piece.replace('\\', "\\\\").replace('"', "\\\""));
            } else {
                text.push_str(&piece);
            }
        }
        text.push('"');
        TokenKind::String(self.interner.intern(&text))
    }
}

/// An argument's tokens, the first of them spaced as the parameter is.
fn place_argument(argument: &[Token], place: Flags) -> Vec<Token> {
    let mut tokens = argument.to_vec();
    if let Some(first) = tokens.first_mut() {
        let bare = first.flags.without(Flags::SPACE.with(Flags::LINE_START));
        first.flags = if place.has(Flags::SPACE) {
            bare.with(Flags::SPACE)
        } else {
            bare
        };
    }
    tokens
}
