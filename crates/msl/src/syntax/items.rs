//! Declarations: functions and variables, namespaces, `using`, at every scope.

use super::ast::{
    Attribute, Expr, ExprKind, Item, ItemKind, Template, TypeExpr, TypeExprKind, Variable,
};
use super::attributes::LAYOUT;
use super::declarators::{Declarator, DeclaratorPart, DeclaredName, Place};
use super::functions::DeclarationHead;
use super::parser::{Parsed, Parser, Stop};
use super::scope::{Entry, NameKind};
use super::token::{Flags, Punct, TokenKind, is_reserved, word};
use super::types::{SpecifierSet, Specifiers};
use crate::diag::{Diagnostic, Span};

impl Parser<'_> {
    /// Parses an item, and finds the way again if that fails.
    pub(super) fn item_or_recover(&mut self, items: &mut Vec<Item>) {
        let before = self.position;
        let depth = self.names.depth();
        let result = self.nested(|parser| parser.item(items));
        let at_program_scope = self.class.is_none();
        if self.unwinding && at_program_scope && !self.at_end() {
            // What was left open has been reported; the next item starts here.
            self.unwinding = false;
            self.names.close_to(depth);
            return;
        }
        if result.is_err() {
            self.names.close_to(depth);
            self.declares_template = false;
            self.recover(before);
            if self.position == before && !self.unwinding && !self.at(Punct::RightBrace) {
                self.advance();
            }
        }
    }

    /// Parses an item.
    pub(super) fn item(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        let start = self.peek();
        let kind = match start.kind {
            TokenKind::Punct(Punct::Semicolon) => {
                self.advance();
                ItemKind::Empty
            }
            TokenKind::Word(word::NAMESPACE) => self.namespace()?,
            TokenKind::Word(word::USING) => self.using(None)?,
            TokenKind::Word(word::STATIC_ASSERT) => self.static_assert()?,
            TokenKind::Word(word::TEMPLATE) => return self.template_item(items),
            TokenKind::Word(word::INLINE) if self.ahead(1).is_word(word::NAMESPACE) => {
                self.advance();
                self.namespace()?
            }
            TokenKind::Word(word::EXTERN) if matches!(self.ahead(1).kind, TokenKind::String(_)) => {
                return self.linkage(items);
            }
            TokenKind::Word(
                name @ (word::IF
                | word::ELSE
                | word::FOR
                | word::WHILE
                | word::DO
                | word::SWITCH
                | word::RETURN
                | word::BREAK
                | word::CONTINUE),
            ) => {
                let text = self.interner.text(name);
                return Err(self.error(
                    Diagnostic::error(start.span, format!("`{text}` stands outside of a function"))
                        .with_hint("is there a `}` too many above?"),
                ));
            }
            _ => {
                let place = Place::Item;
                return self.declaration(place, Vec::new(), None, items);
            }
        };
        items.push(Item {
            kind,
            span: self.span_from(start.span),
        });
        Ok(())
    }

    fn namespace(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let mut attributes = Vec::new();
        self.attributes(&mut attributes)?;
        self.refuse_attributes(&attributes, &[], "a namespace");
        let mut names = Vec::new();
        if !self.at(Punct::LeftBrace) {
            names.push(self.name("the name of the namespace")?);
            while self.take(Punct::ColonColon) {
                names.push(self.name("the name of the namespace")?);
                if names.len() > 16 {
                    return Err(self.expected("`{`"));
                }
            }
        }
        if self.at(Punct::Equal) {
            let span = self.peek().span;
            return Err(self.error(Diagnostic::error(
                span,
                "other names for namespaces are not supported",
            )));
        }
        if !self.at(Punct::LeftBrace) {
            return Err(self.expected("`{`"));
        }
        let depth = self.names.depth();
        for &(name, _) in &names {
            let scope = self
                .names
                .declare_with_members(name, NameKind::Namespace, false);
            self.names.open_again(scope);
        }
        // The names of a nameless namespace belong to the scope around it as well.
        let open = self.advance().span;
        let mut items = Vec::new();
        while !self.take(Punct::RightBrace) {
            if self.at_end() {
                self.block_is_unclosed(open);
                break;
            }
            self.item_or_recover(&mut items);
        }
        self.names.close_to(depth);
        let mut names = names.into_iter().rev();
        let ident = names.next().map(|(name, span)| self.ident(name, span));
        let span = self.span_from(open);
        let mut kind = ItemKind::Namespace(ident, items);
        for (name, name_span) in names {
            kind =
                ItemKind::Namespace(Some(self.ident(name, name_span)), vec![Item { kind, span }]);
        }
        Ok(kind)
    }

    /// `extern "C" { ... }`: means nothing in kernels, so the items are taken as they are.
    fn linkage(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        self.advance();
        self.string()?;
        if !self.at(Punct::LeftBrace) {
            return self.item(items);
        }
        let open = self.advance().span;
        while !self.take(Punct::RightBrace) {
            if self.at_end() {
                self.block_is_unclosed(open);
                break;
            }
            self.item_or_recover(items);
        }
        Ok(())
    }

    /// Parses `using`, with the template header that stood before it.
    pub(super) fn using(&mut self, template: Option<Template>) -> Parsed<ItemKind> {
        self.advance();
        if self.take_word(word::NAMESPACE) {
            let path = self.path("the name of a namespace")?.path;
            if let Some(scope) = self.scope_of_path(&path) {
                self.names.import(scope);
            }
            self.semicolon("`using namespace`")?;
            return Ok(ItemKind::UsingNamespace(path));
        }
        self.take_word(word::TYPENAME);
        let known = self.path("a name")?;
        if self.at(Punct::Semicolon) || template.is_none() && !self.using_alias_ahead() {
            let last = known.path.segments.last();
            let symbol = last.and_then(|segment| self.interner.find(&segment.ident.name));
            if let (Some(symbol), Some(entry)) = (symbol, known.entry) {
                self.names.declare(symbol, entry);
            }
            self.semicolon("`using`")?;
            return Ok(ItemKind::UsingName(known.path));
        }
        let mut segments = known.path.segments.into_iter();
        let (Some(segment), None) = (segments.next(), segments.next()) else {
            return Err(self.error(Diagnostic::error(
                known.path.span,
                "the new name of a type must be a plain name",
            )));
        };
        let mut attributes = Vec::new();
        self.attributes(&mut attributes)?;
        self.refuse_attributes(&attributes, &[], "a name for a type");
        self.expect(Punct::Equal, "with the type that the name stands for")?;
        let is_template = template.is_some();
        let mut ty = self.type_only()?;
        let declarator = self.abstract_declarator()?;
        ty = self.declared_type(ty, declarator.parts);
        let inside = self.scope_of(&ty);
        if let Some(symbol) = self.interner.find(&segment.ident.name) {
            let entry = Entry {
                inside,
                ..Entry::TYPE.template(is_template)
            };
            self.names.declare(symbol, entry);
        }
        self.semicolon("this `using`")?;
        Ok(ItemKind::Alias {
            name: segment.ident,
            ty,
            template,
        })
    }

    fn using_alias_ahead(&self) -> bool {
        self.at(Punct::Equal) || self.at_attribute() || self.at_word(word::ATTRIBUTE)
    }

    /// Parses `static_assert(condition, "message");`.
    fn static_assert(&mut self) -> Parsed<ItemKind> {
        self.advance();
        let open = self.expect(Punct::LeftParen, "after `static_assert`")?.span;
        let (condition, message) = self.bracketed(|parser| {
            let condition = parser.assignment()?;
            let message = if parser.take(Punct::Comma) {
                Some(parser.string()?)
            } else {
                None
            };
            parser.close(Punct::RightParen, open)?;
            Ok((condition, message))
        })?;
        self.semicolon("`static_assert`")?;
        Ok(ItemKind::StaticAssert(condition, message))
    }

    /// Parses a declaration of functions, variables or types, up to its `;` or body.
    pub(super) fn declaration(
        &mut self,
        place: Place,
        attributes: Vec<Attribute>,
        template: Option<Template>,
        items: &mut Vec<Item>,
    ) -> Parsed<()> {
        let start = self.peek().span;
        let first = self.position;
        let mut specifiers = self.specifiers(SpecifierSet::Declaration)?;
        specifiers.attributes.splice(0..0, attributes);
        let mut template = template;
        if let Some(mut defined) = specifiers.defined.take() {
            let at_end = self.at(Punct::Semicolon);
            self.finish_definition(&mut defined, &mut specifiers, &mut template);
            items.push(defined);
            if at_end || !self.declarator_follows(specifiers.is_typedef) {
                let what = "a definition with attributes before it, and no variable,";
                self.refuse_attributes(&specifiers.attributes, &[], what);
                return self.semicolon("this definition");
            }
        } else if self.at(Punct::Semicolon) && specifiers.ty.is_some() {
            return self.nameless_declaration(&specifiers);
        }
        if self.call_at_program_scope(place, &specifiers) {
            return Err(self.refuse_call(&specifiers));
        }
        if specifiers.is_typedef {
            return self.typedef(start, specifiers, items);
        }
        loop {
            let declarator = self.declarator(place)?;
            let is_function = matches!(declarator.parts.first(), Some(DeclaratorPart::Function(_)));
            if is_function {
                let head = DeclarationHead {
                    place,
                    first,
                    start,
                    specifiers: &specifiers,
                    template: template.as_ref(),
                };
                if self.function(&head, declarator, items)? {
                    return Ok(());
                }
            } else {
                let name_span = declarator.name.as_ref().map(|name| name.ident.span);
                let mut variable = self.variable(&specifiers, declarator)?;
                variable.template = template.clone();
                if self.at(Punct::Colon) && self.class.is_some() {
                    let span = self.peek().span;
                    return Err(self.error(Diagnostic::error(span, "bit-fields are not supported")));
                }
                let span = if items.is_empty() {
                    start.to(variable.span)
                } else {
                    name_span.unwrap_or(start).to(variable.span)
                };
                items.push(Item {
                    kind: ItemKind::Variable(Box::new(variable)),
                    span,
                });
            }
            if !self.take(Punct::Comma) {
                return self.semicolon("this declaration");
            }
        }
    }

    /// Whether `name(` stands where a declaration should, and `name` is no type.
    fn call_at_program_scope(&self, place: Place, specifiers: &Specifiers) -> bool {
        let Some(TypeExprKind::Path(path)) = specifiers.ty.as_ref().map(|ty| &ty.kind) else {
            return false;
        };
        let plain = place == Place::Item && self.at(Punct::LeftParen) && path.segments.len() == 1;
        let name = path.segments.first().map(|segment| &segment.ident.name);
        let symbol = name.and_then(|name| self.interner.find(name));
        let entry = symbol.and_then(|symbol| self.names.find(symbol));
        let reserved = symbol.is_some_and(is_reserved);
        plain && !reserved && entry.is_none_or(|entry| entry.kind != NameKind::Type)
    }

    fn refuse_call(&mut self, specifiers: &Specifiers) -> Stop {
        let text = self
            .interner
            .name_at(self.token_at(self.position.saturating_sub(1)));
        self.error(
            Diagnostic::error(
                specifiers.span,
                format!("expected a declaration, found `{text}(`"),
            )
            .with_hint(format!(
                "a function needs its result type before its name; \
                 if `{text}` is meant to be a macro, it is not defined"
            )),
        )
    }

    /// Whether a declarator can start with the next token.
    fn declarator_follows(&self, is_typedef: bool) -> bool {
        let token = self.peek();
        let on_the_line = !token.flags.has(Flags::LINE_START);
        match token.kind {
            TokenKind::Word(name) if is_reserved(name) => false,
            TokenKind::Word(_) if on_the_line || is_typedef => true,
            // On a line of its own, it could as well be the next declaration after a missing `;`.
            TokenKind::Word(_) => matches!(
                self.ahead(1).kind,
                TokenKind::Punct(
                    Punct::Semicolon | Punct::Comma | Punct::Equal | Punct::LeftBracket
                )
            ),
            TokenKind::Punct(Punct::Star | Punct::Amp | Punct::LeftParen) => true,
            _ => false,
        }
    }

    /// A declaration that names nothing: `struct X;` is one that may.
    fn nameless_declaration(&mut self, specifiers: &Specifiers) -> Parsed<()> {
        let span = specifiers.span;
        self.advance();
        self.refuse(
            Diagnostic::error(span, "this declares nothing")
                .with_hint("is a name missing, or a `(` for a call?"),
        );
        Ok(())
    }

    /// Parses the names of a `typedef`.
    fn typedef(
        &mut self,
        start: Span,
        specifiers: Specifiers,
        items: &mut Vec<Item>,
    ) -> Parsed<()> {
        let Some(base) = specifiers.ty else {
            return Err(self.expected("a type after `typedef`"));
        };
        self.refuse_attributes(&specifiers.attributes, &[], "a `typedef`");
        loop {
            let declarator = self.declarator(Place::Item)?;
            self.refuse_attributes(&declarator.attributes, &[], "a `typedef`");
            let Some(name) = declarator.name else {
                return Err(self.expected("a name"));
            };
            let ty = self.declared_type(base.clone(), declarator.parts);
            if let Some(symbol) = name.symbol {
                let entry = Entry {
                    inside: self.scope_of(&ty),
                    ..Entry::TYPE
                };
                self.names.declare(symbol, entry);
            }
            // `typedef struct x {...} x;` gives no new name.
            let itself = matches!(&ty.kind, TypeExprKind::Path(path)
                if path.segments.len() == 1
                    && path.segments.first().is_some_and(|s| s.ident.name == name.ident.name));
            if !itself {
                items.push(Item {
                    span: self.span_from(start),
                    kind: ItemKind::Alias {
                        name: name.ident,
                        ty,
                        template: None,
                    },
                });
            }
            if !self.take(Punct::Comma) {
                return self.semicolon("this `typedef`");
            }
        }
    }

    /// Makes a variable of a declarator, and parses its initialiser.
    pub(super) fn variable(
        &mut self,
        specifiers: &Specifiers,
        declarator: Declarator,
    ) -> Parsed<Variable> {
        let Some(name) = declarator.name else {
            return Err(self.expected("a name"));
        };
        let Some(base) = specifiers.ty.clone() else {
            return Err(self.missing_type(&name));
        };
        let ty = self.declared_type(base, declarator.parts);
        let is_template = std::mem::take(&mut self.declares_template_value);
        if let (Some(symbol), None) = (name.symbol, &name.owner) {
            self.names
                .declare(symbol, Entry::VALUE.template(is_template));
        }
        let initial = self.initializer(&ty)?;
        let mut attributes = specifiers.attributes.clone();
        attributes.extend(declarator.attributes);
        const OF_VARIABLES: [&str; 4] = ["function_constant", LAYOUT[0], LAYOUT[1], LAYOUT[2]];
        self.refuse_attributes(&attributes, &OF_VARIABLES, "a variable");
        Ok(Variable {
            span: self.span_from(specifiers.span),
            name: name.ident,
            owner: name.owner,
            ty,
            initial,
            attributes,
            is_constexpr: specifiers.is_constexpr,
            is_static: specifiers.is_static,
            is_extern: specifiers.is_extern,
            template: None,
            specialization: name.args,
        })
    }

    fn missing_type(&mut self, name: &DeclaredName) -> super::parser::Stop {
        let text = &name.ident.name;
        let error = Diagnostic::error(
            name.ident.span,
            format!("the declaration of `{text}` has no type"),
        );
        self.error(error)
    }

    fn initializer(&mut self, ty: &TypeExpr) -> Parsed<Option<Expr>> {
        if self.take(Punct::Equal) {
            return self.initializer_clause().map(Some);
        }
        if self.at(Punct::LeftBrace) {
            return self.init_list().map(Some);
        }
        if self.at(Punct::LeftParen) {
            let start = self.peek().span;
            let args = self.call_arguments()?;
            return Ok(Some(Expr {
                kind: ExprKind::Construct {
                    ty: ty.clone(),
                    args,
                    braced: false,
                },
                span: self.span_from(start),
            }));
        }
        Ok(None)
    }
}
