//! Macros: what `#define` says, and which are defined. Their expansion is in `expansion.rs`.

use std::rc::Rc;

use super::token::{Flags, Interner, Punct, Symbol, Token, TokenKind, word};
use crate::diag::{Diagnostic, Span};

/// A macro.
#[derive(Debug, PartialEq)]
pub struct Macro {
    /// The name.
    pub name: Symbol,
    /// Where the name stands in its `#define`.
    pub span: Span,
    /// The parameters, of a function-like macro.
    pub params: Option<Vec<Symbol>>,
    /// Whether the last parameter takes all further arguments.
    pub variadic: bool,
    /// What it stands for.
    pub body: Vec<Part>,
}

/// A part of a macro's body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    /// A token as it is.
    Token(Token),
    /// The argument of this number, where the token stands.
    Param(usize, Token),
    /// `#param`
    Stringify(usize, Token),
    /// `##`
    Paste,
}

impl Macro {
    /// Reads what follows `#define`.
    pub fn parse(line: &[Token]) -> Result<Macro, Diagnostic> {
        let Some((first, mut rest)) = line.split_first() else {
            return Err(Diagnostic::error(
                Span::default(),
                "`#define` without a name",
            ));
        };
        let Some(name) = first.word() else {
            return Err(Diagnostic::error(
                first.span,
                "a macro's name must be a word",
            ));
        };
        if name == word::DEFINED {
            return Err(Diagnostic::error(first.span, "`defined` cannot be a macro"));
        }
        let mut params = None;
        let mut variadic = false;
        if let Some((paren, after)) = rest.split_first()
            && paren.is(Punct::LeftParen)
            && !paren.flags.has(Flags::SPACE)
        {
            let (names, is_variadic, body) = parse_params(paren.span, after)?;
            params = Some(names);
            variadic = is_variadic;
            rest = body;
        }
        let body = parse_body(rest, params.as_deref())?;
        Ok(Macro {
            name,
            span: first.span,
            params,
            variadic,
            body,
        })
    }
}

/// The parameters' names, whether there are further arguments, and what follows.
type ParamList<'a> = (Vec<Symbol>, bool, &'a [Token]);

fn parse_params(open: Span, mut rest: &[Token]) -> Result<ParamList<'_>, Diagnostic> {
    let mut names = Vec::new();
    let wrong = |span| {
        Diagnostic::error(
            span,
            "expected a parameter name, `,` or `)` in the macro's parameters",
        )
        .with_related(open, "the parameters start here")
    };
    let mut last = open;
    loop {
        let Some((token, after)) = rest.split_first() else {
            return Err(wrong(last).with_label("the line ends here"));
        };
        last = token.span;
        rest = after;
        match token.kind {
            TokenKind::Punct(Punct::RightParen) if names.is_empty() => {
                return Ok((names, false, rest));
            }
            TokenKind::Punct(Punct::Ellipsis) => {
                names.push(word::VA_ARGS);
                return match rest.split_first() {
                    Some((close, after)) if close.is(Punct::RightParen) => Ok((names, true, after)),
                    _ => Err(wrong(last)),
                };
            }
            TokenKind::Word(name) if names.contains(&name) => {
                return Err(Diagnostic::error(last, "two parameters have the same name"));
            }
            TokenKind::Word(name) => names.push(name),
            _ => return Err(wrong(last)),
        }
        match rest.split_first() {
            Some((token, after)) if token.is(Punct::RightParen) => {
                return Ok((names, false, after));
            }
            Some((token, after)) if token.is(Punct::Comma) => rest = after,
            // `args...` is the older way to name the further arguments.
            Some((token, [close, after @ ..]))
                if token.is(Punct::Ellipsis) && close.is(Punct::RightParen) =>
            {
                return Ok((names, true, after));
            }
            Some((token, _)) => return Err(wrong(token.span)),
            None => return Err(wrong(last).with_label("the line ends here")),
        }
    }
}

fn parse_body(line: &[Token], params: Option<&[Symbol]>) -> Result<Vec<Part>, Diagnostic> {
    let mut body = Vec::with_capacity(line.len());
    let position = |token: &Token| {
        let name = token.word()?;
        params?.iter().position(|&param| param == name)
    };
    let mut rest = line.iter();
    while let Some(token) = rest.next() {
        let part = match token.kind {
            TokenKind::Punct(Punct::HashHash) => Part::Paste,
            TokenKind::Punct(Punct::Hash) if params.is_some() => {
                let Some(index) = rest.next().and_then(position) else {
                    return Err(Diagnostic::error(
                        token.span,
                        "`#` in a macro must stand before one of its parameters",
                    ));
                };
                Part::Stringify(index, *token)
            }
            _ => position(token).map_or(Part::Token(*token), |index| Part::Param(index, *token)),
        };
        body.push(part);
    }
    if matches!(body.first(), Some(Part::Paste)) || matches!(body.last(), Some(Part::Paste)) {
        let span = line.first().map_or(Span::default(), |token| token.span);
        return Err(
            Diagnostic::error(span, "`##` cannot stand at the start or end of a macro")
                .with_hint("it joins the token before it with the token after it"),
        );
    }
    Ok(body)
}

struct Entry {
    definition: Rc<Macro>,
    active: bool,
}

/// The macros that are defined now.
#[derive(Default)]
pub struct MacroTable {
    entries: Vec<Option<Entry>>,
}

impl MacroTable {
    /// The macro of this name.
    pub fn get(&self, name: Symbol) -> Option<&Rc<Macro>> {
        self.entry(name).map(|entry| &entry.definition)
    }

    fn entry(&self, name: Symbol) -> Option<&Entry> {
        self.entries.get(name.index())?.as_ref()
    }

    /// Defines a macro; the one it takes the place of is returned.
    pub fn define(&mut self, definition: Macro) -> Option<Rc<Macro>> {
        let index = definition.name.index();
        if self.entries.len() <= index {
            self.entries.resize_with(index + 1, || None);
        }
        let entry = Entry {
            definition: Rc::new(definition),
            active: false,
        };
        let old = self.entries.get_mut(index)?.replace(entry)?;
        Some(old.definition)
    }

    /// Forgets a macro.
    pub fn undefine(&mut self, name: Symbol) {
        if let Some(slot) = self.entries.get_mut(name.index()) {
            *slot = None;
        }
    }

    /// Whether the macro's body is being read.
    pub fn is_active(&self, name: Symbol) -> bool {
        self.entry(name).is_some_and(|entry| entry.active)
    }

    /// Says whether the macro's body is being read.
    pub fn set_active(&mut self, name: Symbol, active: bool) {
        if let Some(Some(entry)) = self.entries.get_mut(name.index()) {
            entry.active = active;
        }
    }
}

/// The text of a token.
pub fn spelling(kind: TokenKind, interner: &Interner) -> String {
    match kind {
        TokenKind::Word(s) | TokenKind::Number(s) | TokenKind::String(s) | TokenKind::Char(s) => {
            interner.text(s).to_string()
        }
        TokenKind::Punct(punct) => punct.text().to_string(),
        TokenKind::Bad(super::token::BadToken::Stray(c)) => c.to_string(),
        TokenKind::Bad(_) | TokenKind::End => String::new(),
    }
}
