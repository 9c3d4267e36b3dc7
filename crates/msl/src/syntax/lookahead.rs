//! Deciding what comes next without reading it: declaration or expression, cast or parenthesis,
//! template argument list or less-than. Builds nothing and reports nothing.

use super::parser::Parser;
use super::scope::{Entry, NameKind};
use super::token::{Punct, Symbol, TokenKind, is_reserved, word};

/// How far to look for the end of template arguments after a name known to be a template.
const KNOWN_TEMPLATE_REACH: usize = 4096;

/// How far to look for it after a name that nothing is known about.
const UNKNOWN_TEMPLATE_REACH: usize = 256;

/// How sure it is that tokens form a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The name is known to be a type, or a keyword says so.
    Known,
    /// Could be a type: nothing is known about the name.
    Guess,
}

/// A type that was looked at.
#[derive(Clone, Copy, Debug)]
pub struct TypeAhead {
    /// The position after it.
    pub end: usize,
    /// Whether it is one.
    pub certainty: Certainty,
    /// It has `*`, `&`, or a qualifier, or is more than a name in another way.
    pub decorated: bool,
}

/// A name that was looked at.
#[derive(Clone, Copy, Debug)]
pub struct PathAhead {
    /// The position after it.
    pub end: usize,
    /// What is known of it.
    pub entry: Option<Entry>,
}

/// Whether a word is the name of an arithmetic type, or part of one.
pub fn is_arithmetic_word(name: Symbol) -> bool {
    matches!(
        name,
        word::VOID
            | word::BOOL
            | word::CHAR
            | word::SHORT
            | word::INT
            | word::LONG
            | word::FLOAT
            | word::DOUBLE
            | word::HALF
            | word::SIGNED
            | word::UNSIGNED
    )
}

/// Whether a word qualifies a type: `const`, an address space, and so on.
pub fn is_qualifier(name: Symbol) -> bool {
    matches!(
        name,
        word::CONST
            | word::VOLATILE
            | word::DEVICE
            | word::CONSTANT
            | word::THREADGROUP
            | word::THREAD
    ) || is_restrict(name)
}

/// Whether a word is one of the spellings of `restrict`.
pub fn is_restrict(name: Symbol) -> bool {
    matches!(
        name,
        word::RESTRICT
            | word::DOUBLE_UNDERSCORE_RESTRICT
            | word::DOUBLE_UNDERSCORE_RESTRICT_DOUBLE_UNDERSCORE
    )
}

impl Parser<'_> {
    /// Looks at a possibly qualified name at `position`.
    pub(super) fn path_ahead(&self, position: usize) -> Option<PathAhead> {
        let mut at = position;
        let global = self.token_at(at).is(Punct::ColonColon);
        at += usize::from(global);
        let mut entry: Option<Entry> = None;
        let mut first = true;
        loop {
            let name = self
                .token_at(at)
                .word()
                .filter(|&name| !is_reserved(name))?;
            entry = if !first {
                entry
                    .and_then(|outer| outer.inside)
                    .and_then(|inside| self.names.find_inside(inside, name))
            } else if global {
                self.names.find_global(name)
            } else {
                self.names.find(name)
            };
            first = false;
            at += 1;
            if let Some(end) = self.template_args_ahead(at, entry) {
                at = end;
            }
            if !self.token_at(at).is(Punct::ColonColon) {
                return Some(PathAhead { end: at, entry });
            }
            let next = self.token_at(at + 1);
            if next.is_word(word::TEMPLATE) {
                at += 2;
            } else if next.word().is_some_and(|name| !is_reserved(name)) {
                at += 1;
            } else {
                return Some(PathAhead { end: at, entry });
            }
        }
    }

    /// The position after the template arguments that start at `position`, if some do after a name
    /// of which `entry` is known.
    pub(super) fn template_args_ahead(
        &self,
        position: usize,
        entry: Option<Entry>,
    ) -> Option<usize> {
        if !self.token_at(position).is(Punct::Less) {
            return None;
        }
        match entry {
            Some(entry) if entry.is_template => self.angles_ahead(position, true),
            Some(_) => None,
            // The name may come from a place that we do not know: look whether what follows would
            // be a well-formed list, and whether what follows that fits a template.
            None => {
                let end = self.angles_ahead(position, false)?;
                let fits = matches!(
                    self.token_at(end).kind,
                    TokenKind::Word(_)
                        | TokenKind::Punct(
                            Punct::LeftParen
                                | Punct::ColonColon
                                | Punct::LeftBrace
                                | Punct::RightParen
                                | Punct::Comma
                                | Punct::Semicolon
                                | Punct::Greater
                                | Punct::Star
                                | Punct::Amp
                                | Punct::Ellipsis
                        )
                );
                fits.then_some(end)
            }
        }
    }

    /// The position after the `>` that matches the `<` at `position`.
    fn angles_ahead(&self, position: usize, known: bool) -> Option<usize> {
        let reach = if known {
            KNOWN_TEMPLATE_REACH
        } else {
            UNKNOWN_TEMPLATE_REACH
        };
        let mut angles = 0usize;
        let mut brackets = 0usize;
        for at in position..position + reach {
            let TokenKind::Punct(punct) = self.token_at(at).kind else {
                if self.token_at(at).kind == TokenKind::End {
                    return None;
                }
                continue;
            };
            match punct {
                Punct::LeftParen | Punct::LeftBracket | Punct::LeftBrace => brackets += 1,
                Punct::RightParen | Punct::RightBracket | Punct::RightBrace => {
                    brackets = brackets.checked_sub(1)?;
                }
                _ if brackets > 0 => {}
                Punct::Less if at == position || self.opens_angles(at) => angles += 1,
                Punct::Greater => {
                    angles -= 1;
                    if angles == 0 {
                        return Some(at + 1);
                    }
                }
                Punct::Semicolon => return None,
                Punct::AmpAmp
                | Punct::PipePipe
                | Punct::Equal
                | Punct::PlusEqual
                | Punct::MinusEqual
                | Punct::EqualEqual
                | Punct::Question
                | Punct::Colon
                    if !known =>
                {
                    return None;
                }
                _ => {}
            }
        }
        None
    }

    /// Whether the `<` at a position inside template arguments may itself open some.
    fn opens_angles(&self, position: usize) -> bool {
        let before = position.checked_sub(1).map(|p| self.token_at(p));
        match before.and_then(|token| token.word()) {
            Some(word::STATIC_CAST | word::REINTERPRET_CAST | word::CONST_CAST) => true,
            Some(name) if is_reserved(name) => false,
            Some(name) => match self.names.find(name) {
                Some(entry) => entry.is_template,
                None => true,
            },
            None => false,
        }
    }

    /// Looks at a type at `position`: qualifiers, a name, `*` and `&` in any number.
    pub(super) fn type_ahead(&self, position: usize) -> Option<TypeAhead> {
        let mut ahead = self.plain_type_ahead(position)?;
        loop {
            let token = self.token_at(ahead.end);
            let goes_on = match token.kind {
                TokenKind::Punct(Punct::Star | Punct::Amp | Punct::AmpAmp) => true,
                TokenKind::Word(name) => is_qualifier(name),
                _ => false,
            };
            if !goes_on {
                return Some(ahead);
            }
            ahead.decorated = true;
            ahead.end += 1;
        }
    }

    /// The same without `*` and `&`.
    fn plain_type_ahead(&self, position: usize) -> Option<TypeAhead> {
        let mut at = position;
        let mut certainty = Certainty::Guess;
        let mut decorated = false;
        loop {
            let token = self.token_at(at);
            let Some(name) = token.word() else {
                if !token.is(Punct::ColonColon) {
                    return None;
                }
                break;
            };
            match name {
                word::TYPENAME | word::STRUCT | word::CLASS | word::UNION | word::ENUM => {
                    certainty = Certainty::Known;
                    at += 1;
                }
                word::AUTO => {
                    return Some(TypeAhead {
                        end: at + 1,
                        certainty: Certainty::Known,
                        decorated,
                    });
                }
                word::DECLTYPE => {
                    let end = self.group_ahead(at + 1)?;
                    if self.token_at(end).is(Punct::ColonColon) {
                        let end = self.path_ahead(end + 1)?.end;
                        return Some(TypeAhead {
                            end,
                            certainty,
                            decorated,
                        });
                    }
                    return Some(TypeAhead {
                        end,
                        certainty: Certainty::Known,
                        decorated,
                    });
                }
                _ if is_qualifier(name) => {
                    certainty = Certainty::Known;
                    decorated = true;
                    at += 1;
                }
                _ if is_arithmetic_word(name) => {
                    while self.token_at(at).word().is_some_and(is_arithmetic_word) {
                        at += 1;
                    }
                    return Some(TypeAhead {
                        end: at,
                        certainty: Certainty::Known,
                        decorated,
                    });
                }
                _ => break,
            }
        }
        let path = self.path_ahead(at)?;
        let kind = path.entry.map(|entry| entry.kind);
        match kind {
            Some(NameKind::Type) => certainty = Certainty::Known,
            Some(_) if certainty == Certainty::Guess => return None,
            _ => {}
        }
        Some(TypeAhead {
            end: path.end,
            certainty,
            decorated,
        })
    }

    /// The position after the bracket that matches the one at `position`.
    pub(super) fn group_ahead(&self, position: usize) -> Option<usize> {
        let mut depth = 0usize;
        for at in position..position + KNOWN_TEMPLATE_REACH {
            match self.token_at(at).kind {
                TokenKind::Punct(Punct::LeftParen | Punct::LeftBracket | Punct::LeftBrace) => {
                    depth += 1;
                }
                TokenKind::Punct(Punct::RightParen | Punct::RightBracket | Punct::RightBrace) => {
                    depth = depth.checked_sub(1)?;
                }
                TokenKind::End => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(at + 1);
            }
        }
        None
    }

    /// Whether the `(` that is next starts a cast.
    pub(super) fn cast_ahead(&self) -> bool {
        let Some(ahead) = self.type_ahead(self.position + 1) else {
            return false;
        };
        let mut end = ahead.end;
        // `(T (*)[4])`, `(T [4])`
        if ahead.certainty == Certainty::Known && self.token_at(end).is(Punct::LeftParen) {
            let pointer = matches!(
                self.token_at(end + 1).kind,
                TokenKind::Punct(Punct::Star | Punct::Amp)
            ) && self.token_at(end + 2).is(Punct::RightParen);
            if !pointer {
                return false;
            }
            end += 3;
            while matches!(
                self.token_at(end).kind,
                TokenKind::Punct(Punct::LeftParen | Punct::LeftBracket)
            ) {
                let Some(after) = self.group_ahead(end) else {
                    return false;
                };
                end = after;
            }
        }
        while ahead.certainty == Certainty::Known && self.token_at(end).is(Punct::LeftBracket) {
            let Some(after) = self.group_ahead(end) else {
                return false;
            };
            end = after;
        }
        if !self.token_at(end).is(Punct::RightParen) {
            return false;
        }
        match ahead.certainty {
            Certainty::Known => true,
            Certainty::Guess if ahead.decorated => true,
            // `(x) y` is only a cast; `(x)(y)` and `(x) - y` are taken as values.
            Certainty::Guess => match self.token_at(end + 1).kind {
                TokenKind::Word(name) => !is_reserved(name) || name == word::TRUE,
                TokenKind::Number(_) | TokenKind::Char(_) => true,
                _ => false,
            },
        }
    }

    /// Whether a statement that starts here is a declaration.
    pub(super) fn declaration_ahead(&self) -> bool {
        let token = self.peek();
        if let Some(name) = token.word() {
            match name {
                word::STATIC
                | word::CONSTEXPR
                | word::EXTERN
                | word::INLINE
                | word::TYPEDEF
                | word::STRUCT
                | word::CLASS
                | word::UNION
                | word::ENUM
                | word::AUTO
                | word::ALIGNAS
                | word::ATTRIBUTE
                | word::REGISTER
                | word::THREAD_LOCAL
                | word::MUTABLE
                | word::EXTENSION => return true,
                _ if is_qualifier(name) => return true,
                _ => {}
            }
        }
        let Some(ahead) = self.plain_type_ahead(self.position) else {
            return false;
        };
        let next = self.token_at(ahead.end);
        if ahead.certainty == Certainty::Known {
            return match next.kind {
                TokenKind::Punct(Punct::LeftParen) => self.declarator_in_parens(ahead.end),
                TokenKind::Punct(Punct::LeftBrace | Punct::ColonColon | Punct::Dot) => false,
                _ => true,
            };
        }
        match next.kind {
            TokenKind::Word(name) => !is_reserved(name) || is_qualifier(name),
            TokenKind::Punct(Punct::Star | Punct::Amp) => {
                let mut at = ahead.end + 1;
                while self.token_at(at).word().is_some_and(is_qualifier) {
                    at += 1;
                }
                let named = self
                    .token_at(at)
                    .word()
                    .is_some_and(|name| !is_reserved(name));
                let after = self.token_at(at + 1);
                named
                    && matches!(
                        after.kind,
                        TokenKind::Punct(Punct::Equal | Punct::Semicolon | Punct::Comma)
                    )
            }
            _ => false,
        }
    }

    /// Whether `(*name)` or `(&name)` with a declarator's suffix stands at `position`.
    fn declarator_in_parens(&self, position: usize) -> bool {
        let mut at = position + 1;
        if !matches!(
            self.token_at(at).kind,
            TokenKind::Punct(Punct::Star | Punct::Amp | Punct::AmpAmp)
        ) {
            return false;
        }
        at += 1;
        while self.token_at(at).word().is_some_and(is_qualifier) {
            at += 1;
        }
        let named = self
            .token_at(at)
            .word()
            .is_some_and(|name| !is_reserved(name));
        let suffix = match self.token_at(at + 1).kind {
            TokenKind::Punct(Punct::RightParen) => self.token_at(at + 2),
            TokenKind::Punct(Punct::LeftBracket) => return named,
            _ => return false,
        };
        named
            && matches!(
                suffix.kind,
                TokenKind::Punct(Punct::LeftParen | Punct::LeftBracket | Punct::Equal)
            )
    }

    /// Whether the `(` at `position`, after a declarator's name, starts parameters rather than
    /// the arguments of an initialiser.
    pub(super) fn params_ahead(&self, position: usize) -> bool {
        let first = self.token_at(position + 1);
        if first.is(Punct::RightParen) || first.is(Punct::Ellipsis) || first.kind == TokenKind::End
        {
            return true;
        }
        if first.is(Punct::LeftBracket) && self.token_at(position + 2).is(Punct::LeftBracket) {
            return true;
        }
        let Some(ahead) = self.type_ahead(position + 1) else {
            return false;
        };
        let next = self.token_at(ahead.end);
        match next.kind {
            TokenKind::Word(name) => ahead.certainty == Certainty::Known || !is_reserved(name),
            TokenKind::Punct(Punct::Comma | Punct::RightParen | Punct::Ellipsis) => {
                // A body after it leaves no doubt, even if no such type is known.
                ahead.certainty == Certainty::Known
                    || self
                        .group_ahead(position)
                        .is_some_and(|end| self.token_at(end).is(Punct::LeftBrace))
            }
            TokenKind::Punct(Punct::LeftParen) => {
                ahead.certainty == Certainty::Known && self.declarator_in_parens(ahead.end)
            }
            TokenKind::Punct(Punct::LeftBracket) => {
                ahead.certainty == Certainty::Known
                    && self.token_at(ahead.end + 1).is(Punct::LeftBracket)
            }
            TokenKind::Punct(Punct::Equal) => ahead.certainty == Certainty::Known,
            _ => false,
        }
    }

    /// Whether a template argument that starts here is a type.
    pub(super) fn type_argument_ahead(&self) -> bool {
        let Some(ahead) = self.type_ahead(self.position) else {
            return false;
        };
        let next = self.token_at(ahead.end);
        match next.kind {
            TokenKind::Punct(
                Punct::Comma | Punct::Greater | Punct::Ellipsis | Punct::RightParen,
            ) => ahead.certainty == Certainty::Known || ahead.decorated,
            TokenKind::Punct(Punct::LeftBracket) => ahead.certainty == Certainty::Known,
            TokenKind::Punct(Punct::LeftParen) if ahead.certainty == Certainty::Known => {
                let pointer = matches!(
                    self.token_at(ahead.end + 1).kind,
                    TokenKind::Punct(Punct::Star | Punct::Amp)
                ) && self.token_at(ahead.end + 2).is(Punct::RightParen);
                pointer || self.params_ahead(ahead.end)
            }
            _ => false,
        }
    }
}
