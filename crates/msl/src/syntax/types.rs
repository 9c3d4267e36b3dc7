//! Types, and the specifiers that declarations start with.

use super::ast::{
    AddressSpace, Attribute, Ident, Item, Name, Path, PathSegment, Template, TemplateArg, TypeExpr,
    TypeExprKind,
};
use super::lookahead::{is_arithmetic_word, is_restrict};
use super::parser::{Parsed, Parser};
use super::scope::{Entry, NameKind, ScopeId};
use super::token::{Flags, Punct, Symbol, TokenKind, is_reserved, word};
use crate::diag::{Diagnostic, Span};

/// What a declaration starts with.
#[derive(Default)]
pub struct Specifiers {
    /// The type; absent before a constructor, destructor or conversion.
    pub ty: Option<TypeExpr>,
    /// A struct, class, union or enum that was written in place.
    pub defined: Option<Item>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// `kernel`
    pub is_kernel: bool,
    /// `constexpr`
    pub is_constexpr: bool,
    /// `static`
    pub is_static: bool,
    /// `extern`
    pub is_extern: bool,
    /// `typedef`
    pub is_typedef: bool,
    /// Where they are.
    pub span: Span,
}

/// `const`, `volatile` and an address space.
#[derive(Clone, Copy, Debug, Default)]
pub struct Qualifiers {
    is_const: bool,
    is_volatile: bool,
    space: Option<AddressSpace>,
    /// From the first to the last.
    span: Option<Span>,
}

impl Qualifiers {
    /// The type with these applied.
    pub fn apply(self, inner: TypeExpr) -> TypeExpr {
        let Some(span) = self.span else {
            return inner;
        };
        if !self.is_const && !self.is_volatile && self.space.is_none() {
            return inner;
        }
        TypeExpr {
            span: inner.span.to(span),
            kind: TypeExprKind::Qualified {
                inner: Box::new(inner),
                is_const: self.is_const,
                is_volatile: self.is_volatile,
                space: self.space,
            },
        }
    }
}

/// The address space that a word names.
pub fn address_space(name: Symbol) -> Option<AddressSpace> {
    Some(match name {
        word::DEVICE => AddressSpace::Device,
        word::CONSTANT => AddressSpace::Constant,
        word::THREADGROUP => AddressSpace::Threadgroup,
        word::THREAD => AddressSpace::Thread,
        _ => return None,
    })
}

/// Whether the specifiers are those of a declaration, or only a type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SpecifierSet {
    /// `static`, `kernel`, attributes and so on may be among them.
    Declaration,
    /// Only what belongs to a type.
    Type,
}

/// The words of an arithmetic type, counted.
#[derive(Default)]
struct Arithmetic {
    base: Option<Symbol>,
    signed: u8,
    unsigned: u8,
    short: u8,
    long: u8,
}

impl Arithmetic {
    fn add(&mut self, name: Symbol) -> bool {
        let slot = match name {
            word::SIGNED => &mut self.signed,
            word::UNSIGNED => &mut self.unsigned,
            word::SHORT => &mut self.short,
            word::LONG => {
                self.long += 1;
                return self.long <= 2;
            }
            _ => {
                return self.base.replace(name).is_none();
            }
        };
        *slot += 1;
        *slot == 1
    }

    /// The one-word name, or none if the words do not go together.
    fn name(&self) -> Option<&'static str> {
        let unsigned = self.unsigned > 0;
        if unsigned && self.signed > 0 || self.short > 0 && self.long > 0 {
            return None;
        }
        let pick =
            |signed: &'static str, other: &'static str| Some(if unsigned { other } else { signed });
        let plain = self.short == 0 && self.long == 0;
        let bare = plain && !unsigned && self.signed == 0;
        match self.base {
            None | Some(word::INT) if self.short > 0 => pick("short", "ushort"),
            None | Some(word::INT) if self.long > 0 => pick("long", "ulong"),
            None | Some(word::INT) => pick("int", "uint"),
            Some(word::CHAR) if plain => pick("char", "uchar"),
            Some(word::DOUBLE) if self.long == 1 && !unsigned && self.signed == 0 => Some("double"),
            Some(word::VOID) if bare => Some("void"),
            Some(word::BOOL) if bare => Some("bool"),
            Some(word::FLOAT) if bare => Some("float"),
            Some(word::DOUBLE) if bare => Some("double"),
            Some(word::HALF) if bare => Some("half"),
            _ => None,
        }
    }
}

impl Parser<'_> {
    /// Parses a type as it stands in casts and template arguments: specifiers, and a declarator
    /// without a name.
    pub(super) fn type_name(&mut self) -> Parsed<TypeExpr> {
        self.nested(|parser| {
            let base = parser.type_only()?;
            let height = parser.height;
            let declarator = parser.abstract_declarator()?;
            parser.height = parser.height.max(height);
            Ok(parser.declared_type(base, declarator.parts))
        })
    }

    /// Parses a type without `*`, `&` and the like.
    pub(super) fn type_only(&mut self) -> Parsed<TypeExpr> {
        let specifiers = self.specifiers(SpecifierSet::Type)?;
        match specifiers.ty {
            Some(ty) => Ok(ty),
            None => Err(self.expected("a type")),
        }
    }

    /// Parses what a declaration starts with. Leaves the type absent where a constructor,
    /// destructor or conversion function is next.
    pub(super) fn specifiers(&mut self, set: SpecifierSet) -> Parsed<Specifiers> {
        let start = self.peek().span;
        let declares_template = std::mem::take(&mut self.declares_template);
        let mut result = Specifiers::default();
        let mut qualifiers = Qualifiers::default();
        let mut arithmetic: Option<(Arithmetic, Span)> = None;
        self.height = 0;
        loop {
            let token = self.peek();
            let typed = result.ty.is_some() || arithmetic.is_some();
            if result.defined.is_some() && token.flags.has(Flags::LINE_START) {
                // Most likely the `;` after the definition is missing.
                break;
            }
            let Some(name) = token.word() else {
                match token.kind {
                    TokenKind::Punct(Punct::ColonColon) if !typed => {
                        result.ty = Some(self.named_type()?);
                        continue;
                    }
                    _ if self.at_attribute() && set == SpecifierSet::Declaration => {
                        self.attributes(&mut result.attributes)?;
                        continue;
                    }
                    _ => break,
                }
            };
            if set == SpecifierSet::Declaration && self.declaration_word(name, &mut result)? {
                continue;
            }
            if self.qualifier(name, &mut qualifiers)? {
                continue;
            }
            if is_arithmetic_word(name) {
                if result.ty.is_some() {
                    return Err(self.expected("a name"));
                }
                self.advance();
                let (words, span) =
                    arithmetic.get_or_insert_with(|| (Arithmetic::default(), token.span));
                *span = span.to(token.span);
                if !words.add(name) {
                    let text = self.interner.text(name);
                    return Err(self.error(Diagnostic::error(
                        token.span,
                        format!("`{text}` does not go with the words before it"),
                    )));
                }
                continue;
            }
            if typed {
                break;
            }
            match name {
                word::STRUCT | word::CLASS | word::UNION => {
                    let (ty, item) = self.struct_specifier(declares_template)?;
                    result.ty = Some(ty);
                    result.defined = item;
                }
                word::ENUM => {
                    let (ty, item) = self.enum_specifier()?;
                    result.ty = Some(ty);
                    result.defined = item;
                }
                word::AUTO => {
                    self.advance();
                    result.ty = Some(TypeExpr {
                        kind: TypeExprKind::Auto,
                        span: token.span,
                    });
                }
                word::DECLTYPE => result.ty = Some(self.decltype()?),
                word::TYPENAME => {
                    self.advance();
                    result.ty = Some(self.named_type()?);
                }
                word::EXTENSION => {
                    self.advance();
                }
                _ if is_reserved(name) || self.constructor_ahead() => break,
                _ => {
                    if set == SpecifierSet::Declaration && self.misspelt_specifier(name) {
                        continue;
                    }
                    result.ty = Some(self.named_type()?);
                }
            }
        }
        if let Some((words, span)) = arithmetic {
            let Some(text) = words.name() else {
                return Err(self.error(Diagnostic::error(
                    span,
                    "these words do not make a type together",
                )));
            };
            result.ty = Some(simple_type(text, span));
        }
        result.ty = result.ty.map(|ty| qualifiers.apply(ty));
        result.span = self.span_from(start);
        Ok(result)
    }

    /// Reads a word that may stand in a declaration but is not part of its type.
    fn declaration_word(&mut self, name: Symbol, result: &mut Specifiers) -> Parsed<bool> {
        let span = self.peek().span;
        match name {
            word::KERNEL => result.is_kernel = true,
            word::CONSTEXPR => result.is_constexpr = true,
            word::STATIC => result.is_static = true,
            word::EXTERN => result.is_extern = true,
            word::TYPEDEF => result.is_typedef = true,
            word::INLINE | word::EXPLICIT | word::MUTABLE => {}
            word::ATTRIBUTE | word::ALIGNAS => {
                self.attributes(&mut result.attributes)?;
                return Ok(true);
            }
            word::VERTEX | word::FRAGMENT => {
                let text = self.interner.text(name);
                self.refuse(
                    Diagnostic::error(span, format!("`{text}` functions are not supported"))
                        .with_hint("only compute kernels are: functions marked `kernel`"),
                );
            }
            word::FRIEND | word::VIRTUAL | word::REGISTER | word::THREAD_LOCAL => {
                let text = self.interner.text(name);
                let message = if name == word::FRIEND {
                    "`friend` is not supported".to_string()
                } else {
                    format!("Metal has no `{text}`")
                };
                self.refuse(Diagnostic::error(span, message));
            }
            _ => return Ok(false),
        }
        self.advance();
        Ok(true)
    }

    /// Reads a qualifier.
    fn qualifier(&mut self, name: Symbol, qualifiers: &mut Qualifiers) -> Parsed<bool> {
        let span = self.peek().span;
        if name == word::CONST {
            qualifiers.is_const = true;
        } else if name == word::VOLATILE {
            qualifiers.is_volatile = true;
        } else if is_restrict(name) {
            // Says nothing about the type, and nothing here relies on it.
        } else if let Some(space) = address_space(name) {
            let other = qualifiers.space.replace(space).filter(|&old| old != space);
            if other.is_some() {
                return Err(self.error(
                    Diagnostic::error(span, "a type cannot have two address spaces").with_hint(
                        "the address space of a pointer's target stands before the `*`, \
                         that of the pointer itself after it",
                    ),
                ));
            }
        } else {
            return Ok(false);
        }
        self.advance();
        qualifiers.span = Some(qualifiers.span.map_or(span, |old| old.to(span)));
        Ok(true)
    }

    /// Parses the qualifiers that stand here.
    pub(super) fn qualifiers(&mut self) -> Parsed<Qualifiers> {
        let mut qualifiers = Qualifiers::default();
        while let Some(name) = self.peek().word() {
            if !self.qualifier(name, &mut qualifiers)? {
                break;
            }
        }
        Ok(qualifiers)
    }

    fn named_type(&mut self) -> Parsed<TypeExpr> {
        if self.at_word(word::DECLTYPE) {
            return self.decltype();
        }
        let path = self.type_path("the name of a type")?.path;
        Ok(TypeExpr {
            span: path.span,
            kind: TypeExprKind::Path(path),
        })
    }

    /// Parses `decltype(expression)`, or `decltype(expression)::name`.
    pub(super) fn decltype(&mut self) -> Parsed<TypeExpr> {
        let start = self.advance().span;
        let open = self.expect(Punct::LeftParen, "after `decltype`")?.span;
        let inner = self.bracketed(|parser| {
            let inner = parser.expression()?;
            parser.close(Punct::RightParen, open)?;
            Ok(inner)
        })?;
        self.link(0)?;
        let span = self.span_from(start);
        if !self.take(Punct::ColonColon) {
            return Ok(TypeExpr {
                kind: TypeExprKind::Decltype(Box::new(inner)),
                span,
            });
        }
        let height = self.height;
        let mut path = self.path("a name")?.path;
        self.link(height)?;
        let ident = Ident {
            name: Name::from("decltype"),
            span,
        };
        let args = Some(vec![TemplateArg::Expr(inner)]);
        path.segments.insert(0, PathSegment { ident, args });
        path.span = self.span_from(start);
        Ok(TypeExpr {
            span: path.span,
            kind: TypeExprKind::Path(path),
        })
    }

    /// Parses the type of `float(x)` or `T{x}`: arithmetic words, or a name.
    pub(super) fn simple_type(&mut self) -> Parsed<TypeExpr> {
        let start = self.peek().span;
        let mut words = Arithmetic::default();
        let mut any = false;
        while let Some(name) = self.peek().word().filter(|&name| is_arithmetic_word(name)) {
            self.advance();
            any = true;
            if !words.add(name) {
                break;
            }
        }
        if !any {
            self.take_word(word::TYPENAME);
            return self.named_type();
        }
        self.height = 1;
        let span = self.span_from(start);
        match words.name() {
            Some(text) => Ok(simple_type(text, span)),
            None => Err(self.error(Diagnostic::error(
                span,
                "these words do not make a type together",
            ))),
        }
    }

    /// Whether the name of the class that we are in is next, as that of a constructor.
    fn constructor_ahead(&self) -> bool {
        let name = self.peek().word();
        let mut after = self.position + 1;
        if name.is_some() && name == self.class && self.token_at(after).is(Punct::Less) {
            let class = Some(Entry::TYPE.template(true));
            after = self.template_args_ahead(after, class).unwrap_or(after);
        }
        let inside = name.is_some()
            && name == self.class
            && self.token_at(after).is(Punct::LeftParen)
            && !self.token_at(after + 1).is(Punct::Star);
        let outside = name.is_some()
            && self.ahead(1).is(Punct::ColonColon)
            && self.ahead(2).word() == name
            && self.ahead(3).is(Punct::LeftParen);
        inside || outside
    }

    /// Whether an unknown word stands where a keyword is likely meant; it is then corrected.
    fn misspelt_specifier(&mut self, name: Symbol) -> bool {
        if self.names.find(name).is_some() {
            return false;
        }
        let Some(next) = self.ahead(1).word() else {
            return false;
        };
        // Before another type, the word must have been a specifier.
        let type_follows = is_arithmetic_word(next)
            || matches!(
                next,
                word::CONST | word::CONSTANT | word::DEVICE | word::STRUCT
            )
            || self.names.find(next).is_some_and(|entry| {
                entry.kind == NameKind::Type && self.ahead(2).word().is_some()
            });
        if type_follows {
            return self.correct_keyword(&[
                word::KERNEL,
                word::INLINE,
                word::STATIC,
                word::CONSTEXPR,
                word::CONST,
                word::DEVICE,
                word::CONSTANT,
                word::THREADGROUP,
                word::THREAD,
                word::TYPEDEF,
                word::UNSIGNED,
                word::VOLATILE,
                word::EXTERN,
            ]);
        }
        // `sturct Name {`
        let brace = self.ahead(2).is(Punct::LeftBrace);
        brace && self.correct_keyword(&[word::STRUCT, word::CLASS, word::UNION, word::ENUM])
    }

    /// The scope of the members of a type, where we know it.
    pub(super) fn scope_of(&self, ty: &TypeExpr) -> Option<ScopeId> {
        match &ty.kind {
            TypeExprKind::Path(path) => self.scope_of_path(path),
            TypeExprKind::Qualified { inner, .. } => self.scope_of(inner),
            _ => None,
        }
    }

    /// The scope of the members of what a name names, where we know it.
    pub(super) fn scope_of_path(&self, path: &Path) -> Option<ScopeId> {
        let mut inside = None;
        for segment in &path.segments {
            let symbol = self.interner.find(&segment.ident.name)?;
            let entry = match inside {
                None => self.names.find(symbol),
                Some(scope) => self.names.find_inside(scope, symbol),
            };
            inside = Some(entry?.inside?);
        }
        inside
    }
}

/// A type of one plain name.
pub fn simple_type(text: &str, span: Span) -> TypeExpr {
    path_type(Ident {
        name: Name::from(text),
        span,
    })
}

/// A type of one plain name.
pub fn path_type(ident: Ident) -> TypeExpr {
    let span = ident.span;
    TypeExpr {
        kind: TypeExprKind::Path(Path {
            segments: vec![PathSegment { ident, args: None }],
            span,
        }),
        span,
    }
}

/// Puts the headers of nested templates into one.
pub fn join_templates(outer: Option<Template>, inner: Template) -> Template {
    match outer {
        None => inner,
        Some(mut outer) => {
            outer.params.extend(inner.params);
            outer
        }
    }
}
