//! Declarators: what stands around a declared name, `*name[4]`, `(*name)(int)`, `name(params)`.

use super::ast::{
    AddressSpace, Attribute, Expr, Ident, Name, Param, Path, TemplateArg, TypeExpr, TypeExprKind,
};
use super::lookahead::is_qualifier;
use super::parser::{Parsed, Parser, Stop};
use super::scope::Entry;
use super::token::{Flags, Punct, Symbol, TokenKind, is_reserved, word};
use super::types::{Qualifiers, SpecifierSet, address_space};
use crate::diag::{Diagnostic, Span};

/// The most `*`, `&`, `[]` and `()` that one declarator may have.
const PART_LIMIT: usize = 32;

/// A part of a declarator.
pub enum DeclaratorPart {
    /// `*`, with the qualifiers after it.
    Pointer(Qualifiers, Span),
    /// `&` or `&&`.
    Reference(Span),
    /// `[length]`
    Array(Option<Expr>, Span),
    /// `(params) const`
    Function(FunctionPart),
}

/// The parameters of a function, and what follows them.
pub struct FunctionPart {
    /// The parameters.
    pub params: Vec<Param>,
    /// A method's `const`.
    pub is_const: bool,
    /// A method's address space.
    pub object_space: Option<AddressSpace>,
    /// `-> T`
    pub trailing: Option<TypeExpr>,
    /// Where the `)` is.
    pub close: Span,
}

/// The name that a declarator declares.
pub struct DeclaredName {
    /// The name.
    pub ident: Ident,
    /// Its symbol; an operator has none.
    pub symbol: Option<Symbol>,
    /// `Class::` before it.
    pub owner: Option<Path>,
    /// The template arguments after it.
    pub args: Option<Vec<TemplateArg>>,
    /// The type that a conversion function converts to.
    pub conversion: Option<TypeExpr>,
}

/// A declarator; the parts from the name outwards.
pub struct Declarator {
    /// What it declares.
    pub name: Option<DeclaredName>,
    /// What stands around it, the nearest first.
    pub parts: Vec<DeclaratorPart>,
    /// Attributes behind the name or the parameters.
    pub attributes: Vec<Attribute>,
    /// `...` stands before the name.
    pub is_pack: bool,
}

/// Where a declarator stands, which decides how it is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// At program, namespace or class scope.
    Item,
    /// In a block, where `T x(1)` is a variable.
    Local,
    /// In a parameter list, where the name is optional.
    Param,
    /// Without a name.
    Abstract,
}

impl Parser<'_> {
    /// Parses a declarator.
    pub(super) fn declarator(&mut self, place: Place) -> Parsed<Declarator> {
        self.nested(|parser| parser.declarator_unchecked(place))
    }

    /// Parses a declarator without a name.
    pub(super) fn abstract_declarator(&mut self) -> Parsed<Declarator> {
        self.declarator(Place::Abstract)
    }

    fn declarator_unchecked(&mut self, place: Place) -> Parsed<Declarator> {
        let mut before = Vec::new();
        loop {
            let token = self.peek();
            match token.kind {
                TokenKind::Punct(Punct::Star) => {
                    self.advance();
                    let qualifiers = self.qualifiers()?;
                    before.push(DeclaratorPart::Pointer(
                        qualifiers,
                        self.span_from(token.span),
                    ));
                }
                TokenKind::Punct(Punct::Amp | Punct::AmpAmp) => {
                    self.advance();
                    while self
                        .peek()
                        .word()
                        .is_some_and(super::lookahead::is_restrict)
                    {
                        self.advance();
                    }
                    before.push(DeclaratorPart::Reference(token.span));
                }
                TokenKind::Punct(Punct::Caret) => {
                    return Err(self.error(Diagnostic::error(
                        token.span,
                        "Metal has no blocks: `^` cannot stand here",
                    )));
                }
                _ => break,
            }
            self.check_parts(before.len())?;
        }
        let mut result = Declarator {
            name: None,
            parts: Vec::new(),
            attributes: Vec::new(),
            is_pack: false,
        };
        self.height = 0;
        let mut height = 0;
        if self.at(Punct::LeftParen) && self.nested_declarator_ahead(place) {
            let open = self.advance().span;
            result = self.bracketed(|parser| {
                let inner = parser.declarator(place)?;
                parser.close(Punct::RightParen, open)?;
                Ok(inner)
            })?;
            height = self.height;
        } else if place != Place::Abstract {
            self.attributes(&mut result.attributes)?;
            result.is_pack = place == Place::Param && self.take(Punct::Ellipsis);
            result.name = self.declared_name(place)?;
        }
        if place != Place::Abstract {
            self.attributes(&mut result.attributes)?;
        }
        loop {
            let token = self.peek();
            match token.kind {
                TokenKind::Punct(Punct::LeftBracket) if !self.at_attribute() => {
                    self.advance();
                    let length = self.bracketed(|parser| {
                        let length = if parser.at(Punct::RightBracket) {
                            parser.height = 0;
                            None
                        } else {
                            Some(parser.conditional()?)
                        };
                        parser.close(Punct::RightBracket, token.span)?;
                        Ok(length)
                    })?;
                    height = height.max(self.height);
                    let span = self.span_from(token.span);
                    result.parts.push(DeclaratorPart::Array(length, span));
                }
                TokenKind::Punct(Punct::LeftParen) if self.function_part_ahead(place) => {
                    let part = self.function_part(&mut result.attributes)?;
                    result.parts.push(DeclaratorPart::Function(part));
                }
                _ => break,
            }
            self.check_parts(result.parts.len())?;
        }
        if place != Place::Abstract {
            self.attributes(&mut result.attributes)?;
        }
        result.parts.extend(before.into_iter().rev());
        self.height = height;
        Ok(result)
    }

    fn check_parts(&mut self, count: usize) -> Parsed<()> {
        if count <= PART_LIMIT {
            return Ok(());
        }
        let span = self.last_span();
        Err(self.error(Diagnostic::error(
            span,
            format!("more than {PART_LIMIT} of `*`, `&`, `[]` and `()` in one declaration"),
        )))
    }

    /// Whether the `(` that is next holds a declarator, as in `(*name)(int)`.
    fn nested_declarator_ahead(&self, place: Place) -> bool {
        let mut at = self.position + 1;
        match self.token_at(at).kind {
            TokenKind::Punct(Punct::Star | Punct::Amp | Punct::AmpAmp) => true,
            TokenKind::Punct(Punct::LeftParen) => place == Place::Item,
            TokenKind::Word(name) if is_qualifier(name) => {
                // `(thread &name)`, but not the parameters `(thread T &name)`.
                while self.token_at(at).word().is_some_and(is_qualifier) {
                    at += 1;
                }
                matches!(
                    self.token_at(at).kind,
                    TokenKind::Punct(Punct::Star | Punct::Amp | Punct::AmpAmp)
                )
            }
            TokenKind::Word(name) => {
                // `T (name)`
                place != Place::Abstract
                    && !is_reserved(name)
                    && self.names.find(name).is_none()
                    && self.token_at(at + 1).is(Punct::RightParen)
            }
            _ => false,
        }
    }

    fn function_part_ahead(&self, place: Place) -> bool {
        match place {
            Place::Param => true,
            Place::Abstract => {
                self.ahead(1).is(Punct::RightParen) || self.params_ahead(self.position)
            }
            Place::Item | Place::Local => self.params_ahead(self.position),
        }
    }

    fn declared_name(&mut self, place: Place) -> Parsed<Option<DeclaredName>> {
        let token = self.peek();
        match token.kind {
            TokenKind::Word(word::OPERATOR) => self.operator_name(None).map(Some),
            TokenKind::Punct(Punct::ColonColon) if place == Place::Item => self.item_name(),
            TokenKind::Word(name) if !is_reserved(name) => {
                let next = self.ahead(1);
                let longer = next.is(Punct::ColonColon) || next.is(Punct::Less);
                if place == Place::Item && longer {
                    return self.item_name();
                }
                self.advance();
                Ok(Some(DeclaredName {
                    ident: self.ident(name, token.span),
                    symbol: Some(name),
                    owner: None,
                    args: None,
                    conversion: None,
                }))
            }
            TokenKind::Punct(Punct::Tilde) => Err(self.error(Diagnostic::error(
                token.span,
                "destructors are not supported",
            ))),
            TokenKind::Word(_) => Err(match self.name("a name") {
                Ok(_) => Stop,
                Err(stop) => stop,
            }),
            _ if place == Place::Param => Ok(None),
            _ if self.last_word_is_qualifier() => {
                let span = self.last_span();
                let found = self.describe(token);
                let text = self.text_of(self.token_at(self.position.saturating_sub(1)));
                Err(self.error(
                    Diagnostic::error(span, format!("expected a name before {found}"))
                        .with_hint(format!("`{text}` is a reserved word, and cannot be a name")),
                ))
            }
            _ => Err(self.expected("a name")),
        }
    }

    fn last_word_is_qualifier(&self) -> bool {
        let last = self.position.checked_sub(1).map(|at| self.token_at(at));
        last.and_then(|token| token.word())
            .is_some_and(is_qualifier)
    }

    /// A name with `Class::` or template arguments.
    fn item_name(&mut self) -> Parsed<Option<DeclaredName>> {
        let mut known = self.declared_path("a name")?;
        if self.at(Punct::ColonColon) && self.ahead(1).is_word(word::OPERATOR) {
            self.advance();
            return self.operator_name(Some(known.path)).map(Some);
        }
        let Some(last) = known.path.segments.pop() else {
            return Ok(None);
        };
        let owner = match known.path.segments.last() {
            None => None,
            Some(end) => {
                known.path.span = Span::new(known.path.span.start, end.ident.span.end);
                Some(known.path)
            }
        };
        Ok(Some(DeclaredName {
            symbol: self.interner.find(&last.ident.name),
            ident: last.ident,
            owner,
            args: last.args,
            conversion: None,
        }))
    }

    /// `operator+`, `operator()`, `operator float`.
    pub(super) fn operator_name(&mut self, owner: Option<Path>) -> Parsed<DeclaredName> {
        let start = self.advance().span;
        let token = self.peek();
        let mut conversion = None;
        let text = match token.kind {
            TokenKind::Punct(punct @ (Punct::LeftParen | Punct::LeftBracket)) => {
                self.advance();
                let (other, text) = if punct == Punct::LeftParen {
                    (Punct::RightParen, "()")
                } else {
                    (Punct::RightBracket, "[]")
                };
                self.close(other, token.span)?;
                text.to_string()
            }
            TokenKind::Punct(Punct::Greater) if token.flags.has(Flags::JOINT) => {
                self.advance();
                format!(">{}", self.text_of(self.peek()))
            }
            TokenKind::Punct(punct) if is_overloadable(punct) => punct.text().to_string(),
            TokenKind::Word(word::NEW | word::DELETE) => {
                return Err(self.error(Diagnostic::error(
                    token.span,
                    "Metal has no `new` and `delete`",
                )));
            }
            TokenKind::Word(_) => {
                let first = self.position;
                let base = self.type_only()?;
                let mut parts = Vec::new();
                while self.at(Punct::Star) || self.at(Punct::Amp) {
                    let token = self.advance();
                    parts.push(if token.is(Punct::Star) {
                        DeclaratorPart::Pointer(self.qualifiers()?, token.span)
                    } else {
                        DeclaratorPart::Reference(token.span)
                    });
                    self.check_parts(parts.len())?;
                }
                parts.reverse();
                conversion = Some(self.declared_type(base, parts));
                let words: Vec<String> = (first..self.position)
                    .map(|at| self.text_of(self.token_at(at)))
                    .collect();
                format!(" {}", words.join(" "))
            }
            _ => return Err(self.expected("an operator or a type after `operator`")),
        };
        let simple = matches!(token.kind, TokenKind::Punct(p)
            if !matches!(p, Punct::LeftParen | Punct::LeftBracket));
        if simple {
            self.advance();
        }
        Ok(DeclaredName {
            ident: Ident {
                name: Name::from(format!("operator{text}")),
                span: self.span_from(start),
            },
            symbol: None,
            owner,
            args: None,
            conversion,
        })
    }

    fn text_of(&self, token: super::token::Token) -> String {
        super::macros::spelling(token.kind, self.interner)
    }

    /// Parses `(params) const -> T` and so on.
    pub(super) fn function_part(
        &mut self,
        attributes: &mut Vec<Attribute>,
    ) -> Parsed<FunctionPart> {
        let open = self.advance().span;
        let params = self.bracketed(|parser| {
            let params = parser.params()?;
            parser.close(Punct::RightParen, open)?;
            Ok(params)
        })?;
        let mut part = FunctionPart {
            params,
            is_const: false,
            object_space: None,
            trailing: None,
            close: self.last_span(),
        };
        loop {
            let token = self.peek();
            match token.kind {
                TokenKind::Word(word::CONST) => part.is_const = true,
                TokenKind::Word(word::VOLATILE) => {}
                TokenKind::Word(word::OVERRIDE | word::FINAL) => {
                    self.refuse(Diagnostic::error(
                        token.span,
                        "Metal has no virtual functions, and so no `override` and `final`",
                    ));
                }
                TokenKind::Word(word::NOEXCEPT) => {
                    // Kernels have no exceptions: it says nothing.
                    self.advance();
                    if self.at(Punct::LeftParen) {
                        self.skip_group();
                    }
                    continue;
                }
                TokenKind::Word(name) if address_space(name).is_some() => {
                    part.object_space = address_space(name);
                }
                TokenKind::Punct(Punct::Arrow) => {
                    self.advance();
                    part.trailing = Some(self.type_name()?);
                    continue;
                }
                _ => {
                    let before = self.position;
                    self.attributes(attributes)?;
                    if self.position == before {
                        return Ok(part);
                    }
                    continue;
                }
            }
            self.advance();
        }
    }

    /// Parses parameters up to the `)`.
    pub(super) fn params(&mut self) -> Parsed<Vec<Param>> {
        let mut params = Vec::new();
        if self.at_word(word::VOID) && self.ahead(1).is(Punct::RightParen) {
            self.advance();
        }
        if self.at(Punct::RightParen) {
            return Ok(params);
        }
        loop {
            if self.at(Punct::Ellipsis) {
                let span = self.peek().span;
                return Err(self.error(Diagnostic::error(
                    span,
                    "functions with any number of arguments are not supported",
                )));
            }
            params.push(self.param()?);
            if !self.take(Punct::Comma) {
                return Ok(params);
            }
            if self.at(Punct::RightParen) {
                return Err(self.expected("a parameter after the `,`"));
            }
        }
    }

    fn param(&mut self) -> Parsed<Param> {
        let start = self.peek().span;
        let class = self.class.take();
        let specifiers = self.specifiers(SpecifierSet::Declaration);
        self.class = class;
        let specifiers = specifiers?;
        let Some(base) = specifiers.ty else {
            return Err(self.expected("the type of a parameter"));
        };
        let declarator = self.declarator(Place::Param)?;
        let is_pack = declarator.is_pack;
        let mut attributes = specifiers.attributes;
        attributes.extend(declarator.attributes);
        let name = declarator.name.map(|name| name.ident);
        let ty = self.declared_type(base, declarator.parts);
        let default = if self.take(Punct::Equal) {
            Some(self.initializer_clause()?)
        } else {
            None
        };
        Ok(Param {
            name,
            ty,
            attributes,
            default,
            is_pack,
            span: self.span_from(start),
        })
    }

    /// Declares parameters as names in the current scope.
    pub(super) fn declare_params(&mut self, params: &[Param]) {
        for param in params {
            let symbol = param
                .name
                .as_ref()
                .and_then(|name| self.interner.find(&name.name));
            if let Some(symbol) = symbol {
                self.names.declare(symbol, Entry::VALUE);
            }
        }
    }

    /// The type that a declarator's parts make of a base type.
    pub(super) fn declared_type(&self, base: TypeExpr, parts: Vec<DeclaratorPart>) -> TypeExpr {
        let mut ty = base;
        for part in parts.into_iter().rev() {
            ty = match part {
                DeclaratorPart::Pointer(qualifiers, span) => qualifiers.apply(TypeExpr {
                    span: ty.span.to(span),
                    kind: TypeExprKind::Pointer(Box::new(ty)),
                }),
                DeclaratorPart::Reference(span) => TypeExpr {
                    span: ty.span.to(span),
                    kind: TypeExprKind::Reference(Box::new(ty)),
                },
                DeclaratorPart::Array(length, span) => TypeExpr {
                    span: ty.span.to(span),
                    kind: TypeExprKind::Array(Box::new(ty), length.map(Box::new)),
                },
                DeclaratorPart::Function(part) => TypeExpr {
                    span: ty.span.to(part.close),
                    kind: TypeExprKind::Function(
                        Box::new(part.trailing.unwrap_or(ty)),
                        part.params.into_iter().map(|param| param.ty).collect(),
                    ),
                },
            };
        }
        ty
    }
}

fn is_overloadable(punct: Punct) -> bool {
    !matches!(
        punct,
        Punct::RightParen
            | Punct::RightBracket
            | Punct::LeftBrace
            | Punct::RightBrace
            | Punct::Semicolon
            | Punct::Colon
            | Punct::ColonColon
            | Punct::Question
            | Punct::Dot
            | Punct::DotStar
            | Punct::Ellipsis
            | Punct::Hash
            | Punct::HashHash
    )
}
