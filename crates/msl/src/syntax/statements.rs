//! Statements and blocks.

use super::ast::{
    Attribute, Block, Expr, ExprKind, Item, ItemKind, Path, PathSegment, Stmt, StmtKind, SwitchArm,
    Variable,
};
use super::declarators::Place;
use super::parser::{Parsed, Parser, Stop};
use super::token::{Flags, Punct, TokenKind, is_reserved, word};
use super::types::SpecifierSet;
use crate::diag::{Diagnostic, Span};

impl Parser<'_> {
    /// Parses a block with a scope of its own. The `{` must be next.
    pub(super) fn block(&mut self) -> Parsed<Block> {
        self.scoped(|parser| parser.nested(Self::block_statements))
    }

    /// Parses something in a scope of its own.
    pub(super) fn scoped<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.names.open_new(false);
        let result = parse(self);
        self.names.close_and_forget();
        result
    }

    fn block_statements(&mut self) -> Parsed<Block> {
        let open = self.advance().span;
        let mut statements = Vec::new();
        while !self.take(Punct::RightBrace) {
            if self.block_is_unclosed(open) {
                break;
            }
            self.statement_or_recover(&mut statements);
            if self.unwinding {
                break;
            }
        }
        Ok(Block {
            statements,
            span: self.span_from(open),
        })
    }

    /// Whether the block or body that starts at `open` is not closed, but over; reports it.
    pub(super) fn block_is_unclosed(&mut self, open: Span) -> bool {
        if !self.at_end() && !self.starts_program_item() {
            return false;
        }
        let found = self.describe(self.peek());
        let last = self.last_span().end;
        self.report_error(
            Diagnostic::error(
                Span::new(last, last),
                format!("expected `}}`, found {found}"),
            )
            .with_related(open, "to close this `{`"),
        );
        self.unwinding = true;
        true
    }

    /// Parses a statement, and finds the way again if that fails.
    fn statement_or_recover(&mut self, statements: &mut Vec<Stmt>) {
        let before = self.position;
        let depth = self.names.depth();
        if self.statement(statements).is_err() {
            self.names.close_to(depth);
            self.recover(before);
            if self.position == before && !self.unwinding && !self.at(Punct::RightBrace) {
                self.advance();
            }
        }
    }

    /// Parses the one statement that is the body of an `if`, loop and so on.
    fn body(&mut self) -> Parsed<Box<Stmt>> {
        let start = self.peek().span;
        if self.at(Punct::RightBrace) {
            return Err(self.expected("a statement"));
        }
        let mut statements = Vec::new();
        self.scoped(|parser| parser.nested(|parser| parser.statement(&mut statements)))?;
        let span = self.span_from(start);
        let one = if statements.len() == 1 {
            statements.pop()
        } else {
            None
        };
        Ok(Box::new(one.unwrap_or(Stmt {
            kind: StmtKind::Block(Block { statements, span }),
            span,
        })))
    }

    /// Parses a statement; a declaration of a type and variables of it gives several.
    fn statement(&mut self, statements: &mut Vec<Stmt>) -> Parsed<()> {
        let mut attributes = Vec::new();
        if self.at_attribute() {
            self.attributes(&mut attributes)?;
        }
        let token = self.peek();
        let kind = match token.kind {
            TokenKind::Punct(Punct::Semicolon) => {
                self.advance();
                StmtKind::Empty
            }
            TokenKind::Punct(Punct::LeftBrace) => StmtKind::Block(self.block()?),
            TokenKind::Word(word::IF) => self.if_statement()?,
            TokenKind::Word(word::FOR) => {
                self.scoped(|parser| parser.nested(Self::for_statement))?
            }
            TokenKind::Word(word::WHILE) => {
                self.advance();
                let condition = self.condition("while")?;
                StmtKind::While(condition, self.body()?)
            }
            TokenKind::Word(word::DO) => self.do_statement()?,
            TokenKind::Word(word::SWITCH) => self.nested(Self::switch_statement)?,
            TokenKind::Word(word::BREAK | word::CONTINUE) => {
                self.advance();
                let is_break = token.is_word(word::BREAK);
                self.semicolon(if is_break { "`break`" } else { "`continue`" })?;
                if is_break {
                    StmtKind::Break
                } else {
                    StmtKind::Continue
                }
            }
            TokenKind::Word(word::RETURN) => self.return_statement()?,
            TokenKind::Word(name) if self.is_item_word(name) => {
                self.refuse_attributes(&attributes, &[], "this");
                let mut items = Vec::new();
                self.item(&mut items)?;
                statements.extend(items.into_iter().map(item_statement));
                return Ok(());
            }
            TokenKind::Word(name) if self.misplaced(name) => {
                return Err(self.refuse_statement(name));
            }
            TokenKind::Word(name) => {
                if self.names.find(name).is_none() && !is_reserved(name) {
                    self.correct_statement_word();
                    if !self.peek().is_word(name) {
                        return self.statement(statements);
                    }
                }
                if !is_reserved(name) && self.ahead(1).is(Punct::Colon) {
                    return Err(self.error(Diagnostic::error(
                        token.span,
                        "Metal has no labels and no `goto`",
                    )));
                }
                if self.declaration_ahead() {
                    return self.local_declaration(attributes, statements);
                }
                self.expression_statement()?
            }
            TokenKind::Punct(Punct::ColonColon) if self.declaration_ahead() => {
                return self.local_declaration(attributes, statements);
            }
            _ => self.expression_statement()?,
        };
        self.refuse_attributes(&attributes, &[], "a statement");
        statements.push(Stmt {
            kind,
            span: self.span_from(token.span),
        });
        Ok(())
    }

    fn is_item_word(&self, name: super::token::Symbol) -> bool {
        matches!(name, word::USING | word::STATIC_ASSERT)
    }

    /// Whether no statement starts with this word.
    fn misplaced(&self, name: super::token::Symbol) -> bool {
        matches!(
            name,
            word::ELSE
                | word::CASE
                | word::DEFAULT
                | word::GOTO
                | word::TRY
                | word::CATCH
                | word::ASM
                | word::UNDERSCORE_ASM
                | word::UNDERSCORE_ASM_UNDERSCORE
                | word::KERNEL
                | word::TEMPLATE
                | word::NAMESPACE
                | word::VERTEX
                | word::FRAGMENT
                | word::PUBLIC
                | word::PRIVATE
                | word::PROTECTED
        )
    }

    fn refuse_statement(&mut self, name: super::token::Symbol) -> Stop {
        let span = self.peek().span;
        let text = self.interner.text(name);
        let error = match name {
            word::ELSE => Diagnostic::error(span, "this `else` has no `if`")
                .with_hint("is there a `;` right after the condition, or are braces missing?"),
            word::CASE | word::DEFAULT => Diagnostic::error(
                span,
                format!("`{text}` must stand directly in the braces of a `switch`"),
            ),
            word::GOTO => Diagnostic::error(span, "Metal has no `goto`"),
            word::TRY | word::CATCH => Diagnostic::error(span, "kernels have no exceptions"),
            word::ASM | word::UNDERSCORE_ASM | word::UNDERSCORE_ASM_UNDERSCORE => {
                Diagnostic::error(span, "assembly is not supported")
            }
            _ => Diagnostic::error(span, format!("`{text}` cannot stand inside a function"))
                .with_hint("is a `}` missing above?"),
        };
        let stop = self.error(error);
        self.advance();
        stop
    }

    /// Corrects `retrun x;` and its kind.
    fn correct_statement_word(&mut self) {
        let next = self.ahead(1);
        match next.kind {
            TokenKind::Number(_) => {
                self.correct_keyword(&[word::RETURN]);
            }
            TokenKind::Word(_) => {
                self.correct_keyword(&[
                    word::RETURN,
                    word::CONST,
                    word::CONSTEXPR,
                    word::STRUCT,
                    word::THREADGROUP,
                    word::DEVICE,
                    word::THREAD,
                    word::STATIC,
                ]);
            }
            TokenKind::Punct(Punct::LeftBrace) => {
                self.correct_keyword(&[word::ELSE, word::DO]);
            }
            TokenKind::Punct(Punct::Semicolon) => {
                self.correct_keyword(&[word::RETURN, word::BREAK, word::CONTINUE]);
            }
            _ => {}
        }
    }

    fn expression_statement(&mut self) -> Parsed<StmtKind> {
        let value = self.expression()?;
        self.semicolon("this expression")?;
        Ok(StmtKind::Expr(value))
    }

    /// Parses `(condition)`.
    fn condition(&mut self, keyword: &str) -> Parsed<Expr> {
        let open = self
            .expect(Punct::LeftParen, &format!("after `{keyword}`"))?
            .span;
        self.bracketed(|parser| {
            if parser.at(Punct::RightParen) {
                return Err(parser.expected("a condition"));
            }
            if parser.declaration_ahead() {
                let span = parser.peek().span;
                return Err(parser.error(
                    Diagnostic::error(span, "a declaration as condition is not supported here")
                        .with_hint("declare the variable before the statement"),
                ));
            }
            let condition = parser.expression()?;
            parser.close(Punct::RightParen, open)?;
            Ok(condition)
        })
    }

    fn if_statement(&mut self) -> Parsed<StmtKind> {
        let start = self.advance().span;
        let is_constexpr = self.take_word(word::CONSTEXPR);
        if self.at(Punct::LeftParen) {
            self.advance();
            let declares = self.declaration_ahead();
            self.position -= 1;
            if declares {
                return self.scoped(|parser| parser.if_with_declaration(start, is_constexpr));
            }
        }
        let condition = self.condition("if")?;
        self.if_branches(is_constexpr, condition)
    }

    fn if_branches(&mut self, is_constexpr: bool, condition: Expr) -> Parsed<StmtKind> {
        let accept = self.body()?;
        let mut attributes = Vec::new();
        let reject = if self.take_word(word::ELSE) {
            self.attributes(&mut attributes)?;
            self.refuse_attributes(&attributes, &[], "a statement");
            Some(self.body()?)
        } else {
            None
        };
        Ok(StmtKind::If {
            is_constexpr,
            condition,
            accept,
            reject,
        })
    }

    /// `if (T x = e)`: the declaration and then the test, in a block.
    fn if_with_declaration(&mut self, start: Span, is_constexpr: bool) -> Parsed<StmtKind> {
        let open = self.advance().span;
        let (declaration, condition) = self.bracketed(|parser| {
            let variable = parser.one_variable()?;
            parser.close(Punct::RightParen, open)?;
            let ident = variable.name.clone();
            let span = ident.span;
            let condition = Expr {
                kind: ExprKind::Path(Path {
                    segments: vec![PathSegment { ident, args: None }],
                    span,
                }),
                span,
            };
            Ok((variable, condition))
        })?;
        let declared = declaration.span;
        let branches = self.if_branches(is_constexpr, condition)?;
        let span = self.span_from(start);
        Ok(StmtKind::Block(Block {
            statements: vec![
                Stmt {
                    kind: StmtKind::Variables(vec![declaration]),
                    span: declared,
                },
                Stmt {
                    kind: branches,
                    span,
                },
            ],
            span,
        }))
    }

    /// One variable with its initialiser, without a `;`.
    fn one_variable(&mut self) -> Parsed<Variable> {
        let specifiers = self.specifiers(SpecifierSet::Declaration)?;
        let declarator = self.declarator(Place::Local)?;
        self.variable(&specifiers, declarator)
    }

    fn for_statement(&mut self) -> Parsed<StmtKind> {
        self.advance();
        let open = self.expect(Punct::LeftParen, "after `for`")?.span;
        let outer = std::mem::replace(&mut self.greater_closes, false);
        let header = self.for_header(open);
        self.greater_closes = outer;
        match header? {
            ForHeader::Steps(initial, condition, step) => Ok(StmtKind::For {
                initial,
                condition,
                step,
                body: self.body()?,
            }),
            ForHeader::Range(variable, range) => Ok(StmtKind::RangeFor {
                variable,
                range,
                body: self.body()?,
            }),
        }
    }

    fn for_header(&mut self, open: Span) -> Parsed<ForHeader> {
        let start = self.peek().span;
        let mut initial = None;
        if self.take(Punct::Semicolon) {
            // Nothing to begin with.
        } else if self.declaration_ahead() {
            let specifiers = self.specifiers(SpecifierSet::Declaration)?;
            let declarator = self.declarator(Place::Local)?;
            let mut variable = self.variable(&specifiers, declarator)?;
            if self.take(Punct::Colon) {
                let range = self.expression()?;
                self.close(Punct::RightParen, open)?;
                return Ok(ForHeader::Range(Box::new(variable), range));
            }
            let mut variables = Vec::new();
            while self.take(Punct::Comma) {
                variables.push(variable);
                let declarator = self.declarator(Place::Local)?;
                variable = self.variable(&specifiers, declarator)?;
            }
            variables.push(variable);
            self.expect(Punct::Semicolon, "after the start of the `for`")?;
            initial = Some(Box::new(Stmt {
                kind: StmtKind::Variables(variables),
                span: self.span_from(start),
            }));
        } else {
            let value = self.expression()?;
            self.expect(Punct::Semicolon, "after the start of the `for`")?;
            initial = Some(Box::new(Stmt {
                kind: StmtKind::Expr(value),
                span: self.span_from(start),
            }));
        }
        let condition = if self.at(Punct::Semicolon) {
            None
        } else {
            Some(self.expression()?)
        };
        self.expect(Punct::Semicolon, "after the condition of the `for`")?;
        let step = if self.at(Punct::RightParen) {
            None
        } else {
            Some(self.expression()?)
        };
        self.close(Punct::RightParen, open)?;
        Ok(ForHeader::Steps(initial, condition, step))
    }

    fn do_statement(&mut self) -> Parsed<StmtKind> {
        let start = self.advance().span;
        let body = self.body()?;
        if self.unwinding {
            return Err(Stop);
        }
        if !self.take_word(word::WHILE) {
            let token = self.peek();
            let found = self.describe(token);
            return Err(self.error(
                Diagnostic::error(
                    token.span,
                    format!("expected `while` after the body of `do`, found {found}"),
                )
                .with_related(start, "this `do`"),
            ));
        }
        let condition = self.condition("while")?;
        self.semicolon("`do ... while (...)`")?;
        Ok(StmtKind::DoWhile(body, condition))
    }

    fn return_statement(&mut self) -> Parsed<StmtKind> {
        self.advance();
        let token = self.peek();
        let nothing = token.is(Punct::Semicolon)
            || token.is(Punct::RightBrace)
            || token.kind == TokenKind::End;
        let value = if nothing {
            None
        } else if self.at(Punct::LeftBrace) {
            Some(self.init_list()?)
        } else {
            Some(self.expression()?)
        };
        self.semicolon("`return`")?;
        Ok(StmtKind::Return(value))
    }

    fn switch_statement(&mut self) -> Parsed<StmtKind> {
        self.advance();
        let selector = self.condition("switch")?;
        let open = self
            .expect(Punct::LeftBrace, "with the cases of the `switch`")?
            .span;
        let arms = self.scoped(|parser| {
            let mut arms: Vec<SwitchArm> = Vec::new();
            while !parser.take(Punct::RightBrace) {
                if parser.block_is_unclosed(open) {
                    break;
                }
                if parser.at_word(word::CASE) || parser.at_word(word::DEFAULT) {
                    let before = parser.position;
                    if parser.case_label(&mut arms).is_err() {
                        parser.recover(before);
                    }
                } else if let Some(arm) = arms.last_mut() {
                    parser.statement_or_recover(&mut arm.body);
                } else {
                    parser.expected("`case` or `default`");
                    parser.statement_or_recover(&mut Vec::new());
                }
                if parser.unwinding {
                    break;
                }
            }
            Ok(arms)
        })?;
        Ok(StmtKind::Switch { selector, arms })
    }

    fn case_label(&mut self, arms: &mut Vec<SwitchArm>) -> Parsed<()> {
        let start = self.peek().span;
        let label = if self.take_word(word::DEFAULT) {
            None
        } else {
            self.advance();
            let value = self.conditional()?;
            if self.at(Punct::Ellipsis) {
                let span = self.peek().span;
                return Err(self.error(
                    Diagnostic::error(span, "ranges of cases are not C++")
                        .with_hint("write a `case` for each value"),
                ));
            }
            Some(value)
        };
        if !self.take(Punct::Colon) {
            let previous = self.last_span().end;
            let place = Span::new(previous, previous);
            let stop = self.error(
                Diagnostic::error(place, "expected `:` after the label").with_label("add `:` here"),
            );
            if !self.peek().flags.has(Flags::LINE_START) {
                return Err(stop);
            }
        }
        let span = self.span_from(start);
        match arms.last_mut() {
            Some(arm) if arm.body.is_empty() => {
                arm.labels.push(label);
                arm.span = arm.span.to(span);
            }
            _ => arms.push(SwitchArm {
                labels: vec![label],
                body: Vec::new(),
                span,
            }),
        }
        Ok(())
    }

    fn local_declaration(
        &mut self,
        attributes: Vec<Attribute>,
        statements: &mut Vec<Stmt>,
    ) -> Parsed<()> {
        let mut items = Vec::new();
        self.declaration(Place::Local, attributes, None, &mut items)?;
        let mut variables: Vec<Variable> = Vec::new();
        let mut span: Option<Span> = None;
        for item in items {
            match item.kind {
                ItemKind::Variable(variable) => {
                    span = Some(span.map_or(item.span, |old| old.to(item.span)));
                    variables.push(*variable);
                }
                _ => statements.push(item_statement(item)),
            }
        }
        if let Some(span) = span {
            statements.push(Stmt {
                kind: StmtKind::Variables(variables),
                span,
            });
        }
        Ok(())
    }
}

/// What stands in the parentheses of a `for`.
enum ForHeader {
    Steps(Option<Box<Stmt>>, Option<Expr>, Option<Expr>),
    Range(Box<Variable>, Expr),
}

fn item_statement(item: Item) -> Stmt {
    Stmt {
        span: item.span,
        kind: StmtKind::Item(Box::new(item)),
    }
}
