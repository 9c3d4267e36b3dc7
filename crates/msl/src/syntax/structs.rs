//! Structs, classes, unions and enumerations.

use super::ast::{Enum, Ident, Item, ItemKind, Name, Struct, Template, TypeExpr};
use super::attributes::LAYOUT;
use super::parser::{Parsed, Parser};
use super::scope::{Entry, NameKind};
use super::token::{Punct, Symbol, word};
use super::types::{Specifiers, path_type};
use crate::diag::{Diagnostic, Span};

/// A type, and its definition if it was defined in place.
type TypeAndDefinition = (TypeExpr, Option<Item>);

impl Parser<'_> {
    /// Parses `struct name`, `struct name {...}` and their kind.
    pub(super) fn struct_specifier(&mut self, is_template: bool) -> Parsed<TypeAndDefinition> {
        self.nested(|parser| parser.struct_unchecked(is_template))
    }

    fn struct_unchecked(&mut self, is_template: bool) -> Parsed<TypeAndDefinition> {
        let keyword = self.advance();
        let mut result = Struct {
            name: None,
            members: Vec::new(),
            bases: Vec::new(),
            is_union: keyword.is_word(word::UNION),
            attributes: Vec::new(),
            template: None,
            specialization: None,
            is_forward: false,
        };
        self.attributes(&mut result.attributes)?;
        let mut symbol = None;
        let mut path = None;
        if !self.at(Punct::LeftBrace) {
            let known = self.declared_path("the name of the struct")?;
            if known.path.segments.len() > 1 {
                if self.at(Punct::LeftBrace) {
                    return Err(self.error(Diagnostic::error(
                        known.path.span,
                        "a struct must be defined inside the scope that it belongs to",
                    )));
                }
            } else if let Some(segment) = known.path.segments.first() {
                symbol = self.interner.find(&segment.ident.name);
                result.name = Some(segment.ident.clone());
                result.specialization = segment.args.clone();
            }
            path = Some(known.path);
        }
        if self.at_word(word::FINAL) {
            self.advance();
        }
        let defines = self.at(Punct::LeftBrace) || self.at(Punct::Colon);
        let declares = self.at(Punct::Semicolon) && symbol.is_some();
        if !defines && !declares {
            if let Some(path) = path {
                // `struct x y;` only names the type.
                return Ok((
                    TypeExpr {
                        span: path.span,
                        kind: super::ast::TypeExprKind::Path(path),
                    },
                    None,
                ));
            }
            return Err(self.missing("`{`"));
        }
        let scope = match symbol {
            Some(symbol) => {
                let is_template = is_template || result.specialization.is_some();
                self.names
                    .declare_with_members(symbol, NameKind::Type, is_template)
            }
            None => self.names.nameless(),
        };
        if defines {
            if self.take(Punct::Colon) {
                self.bases(&mut result, scope)?;
            }
            if !self.at(Punct::LeftBrace) {
                return Err(self.missing("`{`"));
            }
            self.names.open_again(scope);
            self.declares_template_value = false;
            let outer = std::mem::replace(&mut self.class, symbol.or(Some(word::STRUCT)));
            let members = self.members(&mut result.members);
            self.class = outer;
            self.names.close();
            members?;
            self.attributes(&mut result.attributes)?;
        } else {
            result.is_forward = true;
        }
        self.refuse_attributes(&result.attributes, LAYOUT, "a struct");
        let span = self.span_from(keyword.span);
        let ty = match path {
            Some(path) => TypeExpr {
                span: path.span,
                kind: super::ast::TypeExprKind::Path(path),
            },
            // Filled in when it is known whether the definition gets a name.
            None => path_type(Ident {
                name: Name::from(""),
                span: keyword.span,
            }),
        };
        let item = Item {
            kind: ItemKind::Struct(Box::new(result)),
            span,
        };
        Ok((ty, Some(item)))
    }

    fn bases(&mut self, result: &mut Struct, scope: super::scope::ScopeId) -> Parsed<()> {
        loop {
            while self.at_word(word::PUBLIC)
                || self.at_word(word::PRIVATE)
                || self.at_word(word::PROTECTED)
                || self.at_word(word::TYPENAME)
            {
                self.advance();
            }
            if self.at_word(word::VIRTUAL) {
                let span = self.peek().span;
                return Err(self.error(Diagnostic::error(span, "Metal has no `virtual`")));
            }
            let path = self.path("the name of a base class")?.path;
            if let Some(base) = self.scope_of_path(&path) {
                self.names.import_into(scope, base);
            }
            result.bases.push(TypeExpr {
                span: path.span,
                kind: super::ast::TypeExprKind::Path(path),
            });
            self.take(Punct::Ellipsis);
            if !self.take(Punct::Comma) {
                return Ok(());
            }
        }
    }

    fn members(&mut self, members: &mut Vec<Item>) -> Parsed<()> {
        let open = self.advance().span;
        while !self.take(Punct::RightBrace) {
            if self.block_is_unclosed(open) {
                return Err(super::parser::Stop);
            }
            let access = self.at_word(word::PUBLIC)
                || self.at_word(word::PRIVATE)
                || self.at_word(word::PROTECTED);
            if access && self.ahead(1).is(Punct::Colon) {
                self.advance();
                self.advance();
                continue;
            }
            self.item_or_recover(members);
            if self.unwinding {
                return Err(super::parser::Stop);
            }
        }
        Ok(())
    }

    /// Parses `enum name {...}` and its kind.
    pub(super) fn enum_specifier(&mut self) -> Parsed<TypeAndDefinition> {
        let keyword = self.advance();
        let is_class = self.take_word(word::CLASS) || self.take_word(word::STRUCT);
        let mut attributes = Vec::new();
        self.attributes(&mut attributes)?;
        self.refuse_attributes(&attributes, &[], "an enum");
        let mut path = None;
        let mut name: Option<(Symbol, Ident)> = None;
        if !self.at(Punct::LeftBrace) && !self.at(Punct::Colon) {
            let known = self.path("the name of the enum")?.path;
            let plain = known.segments.len() == 1;
            name = known.segments.first().filter(|_| plain).and_then(|s| {
                let symbol = self.interner.find(&s.ident.name)?;
                Some((symbol, s.ident.clone()))
            });
            path = Some(known);
        }
        let underlying = if self.take(Punct::Colon) {
            Some(self.type_only()?)
        } else {
            None
        };
        let ty = match &path {
            Some(path) => TypeExpr {
                span: path.span,
                kind: super::ast::TypeExprKind::Path(path.clone()),
            },
            None => path_type(Ident {
                name: Name::from(""),
                span: keyword.span,
            }),
        };
        let forward = self.at(Punct::Semicolon) && underlying.is_some();
        if !self.at(Punct::LeftBrace) && !forward {
            if path.is_some() && !is_class && underlying.is_none() {
                return Ok((ty, None));
            }
            return Err(self.missing("`{`"));
        }
        let scope = match &name {
            Some((symbol, _)) => self
                .names
                .declare_with_members(*symbol, NameKind::Type, false),
            None => self.names.nameless(),
        };
        let mut enumerators = Vec::new();
        if !forward {
            let open = self.advance().span;
            self.bracketed(|parser| {
                while !parser.at(Punct::RightBrace) {
                    let (symbol, span) = parser.name("the name of an enumerator")?;
                    let mut attributes = Vec::new();
                    parser.attributes(&mut attributes)?;
                    parser.refuse_attributes(&attributes, &[], "an enumerator");
                    let value = if parser.take(Punct::Equal) {
                        Some(parser.conditional()?)
                    } else {
                        None
                    };
                    parser.names.declare_member(scope, symbol, Entry::VALUE);
                    if !is_class {
                        parser.names.declare(symbol, Entry::VALUE);
                    }
                    enumerators.push((parser.ident(symbol, span), value));
                    if !parser.take(Punct::Comma) {
                        break;
                    }
                }
                parser.close(Punct::RightBrace, open)
            })?;
        }
        let item = Item {
            kind: ItemKind::Enum(Enum {
                name: name.map(|(_, ident)| ident),
                is_class,
                underlying,
                enumerators,
            }),
            span: self.span_from(keyword.span),
        };
        Ok((ty, Some(item)))
    }

    /// Gives a definition what stood around it: the template header, and a name from the typedef
    /// or for the variables that are declared with it.
    pub(super) fn finish_definition(
        &mut self,
        defined: &mut Item,
        specifiers: &mut Specifiers,
        template: &mut Option<Template>,
    ) {
        let nameless = match &mut defined.kind {
            ItemKind::Struct(definition) => {
                definition.template = template.take();
                definition.name.is_none()
            }
            ItemKind::Enum(definition) => definition.name.is_none(),
            _ => false,
        };
        if !nameless || self.at(Punct::Semicolon) {
            return;
        }
        let next = self.peek();
        let given = next.word().filter(|_| specifiers.is_typedef);
        let ident = match given {
            Some(symbol) => {
                self.names.declare(symbol, Entry::TYPE);
                self.ident(symbol, next.span)
            }
            None => Ident {
                name: Name::from(format!("nameless type {}", defined.span.start)),
                span: Span::new(defined.span.start, defined.span.start),
            },
        };
        match &mut defined.kind {
            ItemKind::Struct(definition) => definition.name = Some(ident.clone()),
            ItemKind::Enum(definition) => definition.name = Some(ident.clone()),
            _ => {}
        }
        if let Some(ty) = &mut specifiers.ty {
            rename(ty, ident);
        }
    }
}

/// Puts a name in the place of the empty one.
fn rename(ty: &mut TypeExpr, ident: Ident) {
    match &mut ty.kind {
        super::ast::TypeExprKind::Qualified { inner, .. } => rename(inner, ident),
        super::ast::TypeExprKind::Path(path) => {
            if let Some(segment) = path.segments.first_mut() {
                segment.ident.name = ident.name;
            }
        }
        _ => {}
    }
}
