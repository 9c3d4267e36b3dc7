//! The parser's frame: reading tokens, limits, errors, and finding the way again after one.
//! The grammar is in the modules beside this one, a part of it in each.

use std::collections::HashSet;

use super::ast::{Ident, Item, TranslationUnit};
use super::scope::Names;
use super::spelling;
use super::token::{Flags, Interner, Punct, Symbol, Token, TokenKind, reserved_words, word};
use crate::diag::{Diagnostic, Report, Severity, Sources, Span};

/// How deeply brackets, blocks and types may be nested in each other.
pub const NESTING_LIMIT: usize = 200;

/// How many operators may depend on each other in one expression, as in `a + a + a + ...`.
pub const CHAIN_LIMIT: usize = 400;

/// Something went wrong and has been reported.
#[derive(Debug)]
pub struct Stop;

/// What the parts of the grammar return.
pub type Parsed<T> = Result<T, Stop>;

/// A parser at some place in its tokens.
pub struct Parser<'a> {
    pub(super) tokens: Vec<Token>,
    pub(super) position: usize,
    pub(super) names: Names,
    pub(super) interner: &'a Interner,
    sources: &'a Sources,
    report: &'a mut Report,
    end: Token,
    depth: usize,
    /// The height of the expression tree that was parsed last.
    pub(super) height: usize,
    /// How high an expression tree may be here.
    pub(super) height_limit: usize,
    /// `>` ends the template arguments that we are in, and is no operator.
    pub(super) greater_closes: bool,
    /// A block is not closed, and its items start: all blocks around it are to be left.
    pub(super) unwinding: bool,
    /// The class whose members are being parsed.
    pub(super) class: Option<Symbol>,
    /// The name of the function whose body is being parsed.
    pub(super) function_start: Option<Span>,
    /// A `template <...>` has been read, and what it declares has not been named yet.
    pub(super) declares_template: bool,
    /// The same for functions and variables, which are named later than structs.
    pub(super) declares_template_value: bool,
    /// The names of all method templates so far.
    pub(super) method_templates: HashSet<Symbol>,
    /// Lines (by file) that had an error: a second one is most likely its consequence.
    error_lines: Vec<(usize, usize)>,
}

/// Parses all tokens.
pub fn parse(
    tokens: Vec<Token>,
    interner: &mut Interner,
    sources: &Sources,
    report: &mut Report,
) -> TranslationUnit {
    let names = Names::new(interner);
    let last = tokens.last().map_or(0, |token| token.span.end);
    let mut parser = Parser {
        tokens,
        position: 0,
        names,
        interner,
        sources,
        end: Token {
            kind: TokenKind::End,
            span: Span::new(last, last),
            flags: Flags::LINE_START,
        },
        depth: 0,
        height: 0,
        height_limit: CHAIN_LIMIT,
        greater_closes: false,
        unwinding: false,
        class: None,
        function_start: None,
        declares_template: false,
        declares_template_value: false,
        method_templates: HashSet::new(),
        error_lines: Vec::new(),
        report,
    };
    let errors = parser.report.list().iter();
    let spans: Vec<Span> = errors
        .filter(|d| d.severity == Severity::Error)
        .map(|d| d.span)
        .collect();
    for span in spans {
        let line = parser.line_of(span);
        parser.error_lines.push(line);
    }
    let mut items = Vec::new();
    parser.program(&mut items);
    TranslationUnit { items }
}

impl Parser<'_> {
    fn program(&mut self, items: &mut Vec<Item>) {
        while !self.at_end() {
            let token = self.peek();
            if token.is(Punct::RightBrace) {
                self.report_error(
                    Diagnostic::error(token.span, "this `}` closes nothing")
                        .with_hint("remove it, or look for a `}` too many above"),
                );
                self.advance();
                continue;
            }
            self.item_or_recover(items);
        }
    }

    // Reading tokens.

    /// The next token.
    pub(super) fn peek(&self) -> Token {
        self.ahead(0)
    }

    /// The token `count` after the next.
    pub(super) fn ahead(&self, count: usize) -> Token {
        self.token_at(self.position + count)
    }

    /// The token at an absolute position.
    pub(super) fn token_at(&self, position: usize) -> Token {
        self.tokens.get(position).copied().unwrap_or(self.end)
    }

    /// Whether the next token is this operator or bracket.
    pub(super) fn at(&self, punct: Punct) -> bool {
        self.peek().is(punct)
    }

    /// Whether the next token is this word.
    pub(super) fn at_word(&self, word: Symbol) -> bool {
        self.peek().is_word(word)
    }

    /// Whether all tokens are read.
    pub(super) fn at_end(&self) -> bool {
        self.position >= self.tokens.len()
    }

    /// Reads the next token.
    pub(super) fn advance(&mut self) -> Token {
        let token = self.peek();
        self.position += usize::from(token.kind != TokenKind::End);
        token
    }

    /// Reads the next token if it is this operator or bracket.
    pub(super) fn take(&mut self, punct: Punct) -> bool {
        let found = self.at(punct);
        self.position += usize::from(found);
        found
    }

    /// Reads the next token if it is this word.
    pub(super) fn take_word(&mut self, word: Symbol) -> bool {
        let found = self.at_word(word);
        self.position += usize::from(found);
        found
    }

    /// Whether `[[` is next.
    pub(super) fn at_attribute(&self) -> bool {
        self.at(Punct::LeftBracket) && self.ahead(1).is(Punct::LeftBracket)
    }

    /// The place of the token that was read last.
    pub(super) fn last_span(&self) -> Span {
        match self.position.checked_sub(1) {
            Some(last) => self.token_at(last).span,
            None => Span::new(self.peek().span.start, self.peek().span.start),
        }
    }

    /// From `start` to the end of what was read last.
    pub(super) fn span_from(&self, start: Span) -> Span {
        start.to(self.last_span())
    }

    /// The tree's form of a name.
    pub(super) fn ident(&self, name: Symbol, span: Span) -> Ident {
        Ident {
            name: self.interner.name(name),
            span,
        }
    }

    // What must be there.

    /// Reads this bracket or operator.
    pub(super) fn expect(&mut self, punct: Punct, place: &str) -> Parsed<Token> {
        if self.at(punct) {
            return Ok(self.advance());
        }
        Err(self.missing(&format!("`{}` {place}", punct.text())))
    }

    /// Reads the bracket that closes the one at `open`.
    pub(super) fn close(&mut self, punct: Punct, open: Span) -> Parsed<()> {
        if self.take(punct) {
            return Ok(());
        }
        let found = self.describe(self.peek());
        let place = self.gap();
        let opening = match punct {
            Punct::RightParen => "(",
            Punct::RightBracket => "[",
            Punct::Greater => "<",
            _ => "{",
        };
        Err(self.error(
            Diagnostic::error(place, format!("expected `{}`, found {found}", punct.text()))
                .with_related(open, format!("to match this `{opening}`")),
        ))
    }

    /// Reads the `;` that ends something. Without one, goes on where the next thing clearly starts.
    pub(super) fn semicolon(&mut self, after: &str) -> Parsed<()> {
        if self.take(Punct::Semicolon) {
            return Ok(());
        }
        let next = self.peek();
        let goes_on = next.flags.has(Flags::LINE_START)
            || next.is(Punct::RightBrace)
            || next.kind == TokenKind::End;
        let previous = self.last_span();
        let place = Span::new(previous.end, previous.end);
        let found = self.describe(next);
        let mut error = Diagnostic::error(place, format!("expected `;` after {after}"))
            .with_label("add `;` here");
        if !goes_on {
            error = error.with_related(next.span, format!("found {found}"));
        }
        let stop = self.error(error);
        if goes_on { Ok(()) } else { Err(stop) }
    }

    /// Reads a name.
    pub(super) fn name(&mut self, what: &str) -> Parsed<(Symbol, Span)> {
        let token = self.peek();
        match token.word() {
            Some(name) if !super::token::is_reserved(name) => {
                self.advance();
                Ok((name, token.span))
            }
            Some(_) => {
                let found = self.describe(token);
                Err(self.error(
                    Diagnostic::error(token.span, format!("expected {what}, found {found}"))
                        .with_hint("a reserved word cannot be a name"),
                ))
            }
            None => Err(self.expected(what)),
        }
    }

    // Errors.

    /// Where something is missing before the next token: that token, or the end of the line before.
    fn gap(&self) -> Span {
        let next = self.peek();
        if next.flags.has(Flags::LINE_START) && self.position > 0 {
            let end = self.last_span().end;
            return Span::new(end, end);
        }
        next.span
    }

    /// How an error calls a token.
    pub(super) fn describe(&self, token: Token) -> String {
        match token.kind {
            TokenKind::End => "the end of the file".to_string(),
            TokenKind::Punct(Punct::Greater) if token.flags.has(Flags::JOINT) => "`>>`".to_string(),
            TokenKind::String(_) => "a string".to_string(),
            TokenKind::Number(s) => format!("the number `{}`", self.interner.text(s)),
            kind => format!("`{}`", super::macros::spelling(kind, self.interner)),
        }
    }

    /// Reports that something else was expected here.
    pub(super) fn expected(&mut self, what: &str) -> Stop {
        let token = self.peek();
        let found = self.describe(token);
        let place = if token.kind == TokenKind::End {
            self.gap()
        } else {
            token.span
        };
        self.error(Diagnostic::error(
            place,
            format!("expected {what}, found {found}"),
        ))
    }

    /// Reports that something is missing before the next token.
    pub(super) fn missing(&mut self, what: &str) -> Stop {
        let found = self.describe(self.peek());
        let place = self.gap();
        self.error(Diagnostic::error(
            place,
            format!("expected {what}, found {found}"),
        ))
    }

    /// Reports an error after which parsing cannot just go on.
    pub(super) fn error(&mut self, diagnostic: Diagnostic) -> Stop {
        self.report_error(diagnostic);
        Stop
    }

    fn line_of(&self, span: Span) -> (usize, usize) {
        (self.sources.locate(span).0, self.sources.line(span.start))
    }

    /// Reports an error, unless it is most likely the consequence of one on the same line.
    pub(super) fn report_error(&mut self, diagnostic: Diagnostic) {
        if self.unwinding {
            return;
        }
        let line = self.line_of(diagnostic.span);
        if self.error_lines.contains(&line) {
            return;
        }
        self.error_lines.push(line);
        self.report.push(diagnostic);
        if self.error_lines.len() >= Report::LIMIT {
            self.give_up();
        }
    }

    /// Reports an error in something that was parsed whole, so that it has no consequences.
    pub(super) fn refuse(&mut self, diagnostic: Diagnostic) {
        if !self.unwinding {
            self.report.push(diagnostic);
        }
    }

    /// Skips all that is left.
    fn give_up(&mut self) {
        self.position = self.tokens.len();
        self.unwinding = true;
    }

    // Limits.

    /// Parses something inside of something else of its kind.
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= NESTING_LIMIT {
            let span = self.peek().span;
            let stop = self.error(Diagnostic::error(
                span,
                format!("this is nested more than {NESTING_LIMIT} deep"),
            ));
            self.give_up();
            return Err(stop);
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Parses something in brackets, in which `>` is an operator again.
    pub(super) fn bracketed<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let outer = std::mem::replace(&mut self.greater_closes, false);
        let result = self.nested(parse);
        self.greater_closes = outer;
        result
    }

    /// Notes that the tree parsed last and one of height `other` are now below one node.
    pub(super) fn link(&mut self, other: usize) -> Parsed<()> {
        self.height = self.height.max(other) + 1;
        if self.height > self.height_limit {
            let span = self.last_span();
            let limit = self.height_limit;
            return Err(self.error(
                Diagnostic::error(
                    span,
                    format!("this expression is more than {limit} operators deep"),
                )
                .with_hint("split it into several statements"),
            ));
        }
        Ok(())
    }

    // Finding the way again.

    /// Skips to the token after the bracket that matches the next one.
    pub(super) fn skip_group(&mut self) {
        let mut depth = 0usize;
        while !self.at_end() {
            match self.advance().kind {
                TokenKind::Punct(Punct::LeftParen | Punct::LeftBracket | Punct::LeftBrace) => {
                    depth += 1;
                }
                TokenKind::Punct(Punct::RightParen | Punct::RightBracket | Punct::RightBrace) => {
                    depth = depth.saturating_sub(1);
                }
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// After an error in a statement or member: skips to after its `;` or `}`, or to before the
    /// `}` around it. `from` is where the statement or member starts.
    pub(super) fn recover(&mut self, from: usize) {
        if self.unwinding {
            return;
        }
        // Braces of the statement itself that the error left open.
        let mut open = 0usize;
        for token in self.tokens.iter().take(self.position).skip(from) {
            match token.kind {
                TokenKind::Punct(Punct::LeftBrace) => open += 1,
                TokenKind::Punct(Punct::RightBrace) => open = open.saturating_sub(1),
                _ => {}
            }
        }
        while !self.at_end() {
            let token = self.peek();
            match token.kind {
                TokenKind::Punct(Punct::Semicolon) => {
                    self.advance();
                    if !self.rest_of_line_closes() {
                        return;
                    }
                }
                TokenKind::Punct(Punct::RightBrace) if open > 0 => {
                    self.advance();
                    open -= 1;
                    let over =
                        self.at(Punct::Semicolon) || self.peek().flags.has(Flags::LINE_START);
                    if open == 0 && over {
                        self.take(Punct::Semicolon);
                        return;
                    }
                }
                TokenKind::Punct(Punct::RightBrace) => return,
                TokenKind::Punct(Punct::LeftBrace) if open > 0 => {
                    self.advance();
                    open += 1;
                }
                TokenKind::Punct(Punct::LeftBrace) => {
                    self.skip_braces();
                    self.take(Punct::Semicolon);
                    return;
                }
                _ if self.starts_program_item() => return,
                _ => {
                    self.advance();
                }
            }
        }
    }

    /// Skips a `{...}`, but not beyond where the next item of the program clearly starts.
    fn skip_braces(&mut self) {
        let mut depth = 0usize;
        while !self.at_end() && !self.starts_program_item() {
            match self.advance().kind {
                TokenKind::Punct(Punct::LeftBrace) => depth += 1,
                TokenKind::Punct(Punct::RightBrace) => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether the line goes on with a `)` that nothing on it opens: the `;` was inside brackets.
    fn rest_of_line_closes(&self) -> bool {
        let mut depth = 0usize;
        for token in self.tokens.iter().skip(self.position).take(64) {
            if token.flags.has(Flags::LINE_START) {
                return false;
            }
            match token.kind {
                TokenKind::Punct(Punct::LeftParen) => depth += 1,
                TokenKind::Punct(Punct::RightParen) if depth == 0 => return true,
                TokenKind::Punct(Punct::RightParen) => depth -= 1,
                TokenKind::Punct(Punct::LeftBrace | Punct::RightBrace) => return false,
                _ => {}
            }
        }
        false
    }

    /// Whether something starts here that stands at program scope only.
    pub(super) fn starts_program_item(&self) -> bool {
        let token = self.peek();
        if !token.flags.has(Flags::LINE_START) {
            return false;
        }
        match token.word() {
            Some(word::KERNEL | word::NAMESPACE | word::VERTEX | word::FRAGMENT) => true,
            Some(word::TEMPLATE) => self.class.is_none(),
            Some(_) => false,
            None => {
                self.at_attribute()
                    && self.ahead(2).is_word(word::KERNEL)
                    && self.ahead(3).is(Punct::RightBracket)
            }
        }
    }

    /// Corrects a misspelt keyword where the context leaves no doubt, and reports it.
    pub(super) fn correct_keyword(&mut self, among: &[Symbol]) -> bool {
        let token = self.peek();
        let Some(name) = token.word() else {
            return false;
        };
        let text = self.interner.text(name);
        let Some(near) = spelling::nearest(text, reserved_words().iter().copied()) else {
            return false;
        };
        let Some(symbol) = self
            .interner
            .find(near)
            .filter(|symbol| among.contains(symbol))
        else {
            return false;
        };
        let message = format!("unknown word `{text}`");
        let hint = format!("did you mean `{near}`?");
        self.report_error(Diagnostic::error(token.span, message).with_hint(hint));
        if let Some(slot) = self.tokens.get_mut(self.position) {
            slot.kind = TokenKind::Word(symbol);
        }
        true
    }
}
