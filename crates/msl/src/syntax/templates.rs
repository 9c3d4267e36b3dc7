//! Template headers, what follows them, and explicit instantiations.

use super::ast::{
    Function, Ident, Item, ItemKind, Template, TemplateParam, TemplateParamKind, TypeExprKind,
};
use super::attributes::OF_FUNCTIONS;
use super::declarators::{DeclaratorPart, Place};
use super::parser::{Parsed, Parser};
use super::scope::Entry;
use super::token::{Punct, Symbol, TokenKind, word};
use super::types::{SpecifierSet, join_templates};
use crate::diag::Diagnostic;

impl Parser<'_> {
    /// Parses what starts with `template`.
    pub(super) fn template_item(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        if !self.ahead(1).is(Punct::Less) {
            return self.instantiation(items);
        }
        let depth = self.names.depth();
        let result = self.template_declaration(items);
        self.names.close_to(depth);
        self.declares_template = false;
        self.declares_template_value = false;
        result
    }

    fn template_declaration(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        let start = self.peek().span;
        let mut template = None;
        while self.at_word(word::TEMPLATE) && self.ahead(1).is(Punct::Less) {
            self.names.open_new(true);
            let header = self.template_header()?;
            template = Some(join_templates(template, header));
        }
        if self.at_word(word::USING) {
            let kind = self.using(template)?;
            items.push(Item {
                kind,
                span: self.span_from(start),
            });
            return Ok(());
        }
        self.declares_template = true;
        self.declares_template_value = true;
        let first = items.len();
        self.declaration(Place::Item, Vec::new(), template, items)?;
        if let Some(item) = items.get_mut(first) {
            item.span = start.to(item.span);
        }
        Ok(())
    }

    /// Parses `template <...>`.
    fn template_header(&mut self) -> Parsed<Template> {
        self.advance();
        let open = self.advance().span;
        let outer = std::mem::replace(&mut self.greater_closes, true);
        let params = self.nested(|parser| {
            let mut params = Vec::new();
            while !parser.at(Punct::Greater) {
                params.push(parser.template_param()?);
                if !parser.take(Punct::Comma) {
                    break;
                }
            }
            parser.close(Punct::Greater, open)?;
            Ok(params)
        });
        self.greater_closes = outer;
        Ok(Template { params: params? })
    }

    fn template_param(&mut self) -> Parsed<TemplateParam> {
        let start = self.peek();
        if start.is_word(word::TEMPLATE) {
            return self.template_template_param();
        }
        let introduces_type = start.is_word(word::TYPENAME) || start.is_word(word::CLASS);
        // `typename T::type N` is a value.
        let next = self.ahead(1);
        let after = match next.kind {
            TokenKind::Word(_) => self.ahead(2),
            _ => next,
        };
        let qualified = after.is(Punct::ColonColon) || after.is(Punct::Less);
        let is_type = introduces_type && !qualified;
        if is_type {
            self.advance();
            let is_pack = self.take(Punct::Ellipsis);
            let name = self.optional_param_name(Entry::TYPE);
            let default = if self.take(Punct::Equal) {
                Some(self.type_name()?)
            } else {
                None
            };
            return Ok(TemplateParam {
                name,
                kind: TemplateParamKind::Type(default),
                is_pack,
                span: self.span_from(start.span),
            });
        }
        let base = self.specifiers(SpecifierSet::Type)?;
        let Some(base) = base.ty else {
            return Err(self.expected("a template parameter"));
        };
        let declarator = self.declarator(Place::Param)?;
        let name = declarator.name;
        let ty = self.declared_type(base, declarator.parts);
        if let Some(symbol) = name.as_ref().and_then(|name| name.symbol) {
            self.names.declare_template_param(symbol, Entry::VALUE);
        }
        let default = if self.take(Punct::Equal) {
            Some(self.conditional()?)
        } else {
            None
        };
        Ok(TemplateParam {
            name: name.map(|name| name.ident),
            kind: TemplateParamKind::Value(ty, default),
            is_pack: declarator.is_pack,
            span: self.span_from(start.span),
        })
    }

    fn template_template_param(&mut self) -> Parsed<TemplateParam> {
        let start = self.peek().span;
        if !self.ahead(1).is(Punct::Less) {
            self.advance();
            return Err(self.expected("`<`"));
        }
        self.names.open_new(true);
        let header = self.nested(Self::template_header);
        self.names.close();
        let header = header?;
        if !self.take_word(word::CLASS) && !self.take_word(word::TYPENAME) {
            return Err(self.expected("`class` after the parameters"));
        }
        let is_pack = self.take(Punct::Ellipsis);
        let name = self.optional_param_name(Entry::TYPE.template(true));
        if self.at(Punct::Equal) {
            let span = self.peek().span;
            return Err(self.error(Diagnostic::error(
                span,
                "a default for a template template parameter is not supported",
            )));
        }
        Ok(TemplateParam {
            name,
            kind: TemplateParamKind::Template(header),
            is_pack,
            span: self.span_from(start),
        })
    }

    fn optional_param_name(&mut self, entry: Entry) -> Option<Ident> {
        let token = self.peek();
        let name: Symbol = token.word().filter(|&n| !super::token::is_reserved(n))?;
        self.advance();
        self.names.declare_template_param(name, entry);
        Some(self.ident(name, token.span))
    }

    /// `template [[host_name("x")]] kernel void f<float>(...);`
    fn instantiation(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        let start = self.advance().span;
        let is_class = self.at_word(word::STRUCT) || self.at_word(word::CLASS);
        let specifiers = self.specifiers(SpecifierSet::Declaration)?;
        if is_class && self.at(Punct::Semicolon) {
            // Says nothing to a compiler that makes every specialisation when it is used.
            self.advance();
            items.push(Item {
                kind: ItemKind::Empty,
                span: self.span_from(start),
            });
            return Ok(());
        }
        let Some(base) = specifiers.ty else {
            return Err(self.expected("the result type of the instantiation"));
        };
        let mut declarator = self.declarator(Place::Item)?;
        let Some(name) = declarator.name else {
            return Err(self.expected("the name of a function template"));
        };
        let mut params = Vec::new();
        let mut trailing = None;
        let mut close = name.ident.span;
        if matches!(declarator.parts.first(), Some(DeclaratorPart::Function(_))) {
            if let DeclaratorPart::Function(part) = declarator.parts.remove(0) {
                params = part.params;
                trailing = part.trailing;
                close = part.close;
            }
        } else if !matches!(base.kind, TypeExprKind::Decltype(_) | TypeExprKind::Path(_)) {
            return Err(self.expected("`(` with the parameters of the instantiation"));
        }
        let result = match trailing {
            Some(trailing) => trailing,
            None => self.declared_type(base, declarator.parts),
        };
        let mut attributes = specifiers.attributes;
        attributes.extend(declarator.attributes);
        let marked = attributes.iter().any(|a| &*a.name.name == "kernel");
        attributes.retain(|a| &*a.name.name != "kernel");
        self.refuse_attributes(&attributes, OF_FUNCTIONS, "a function");
        let function = Function {
            name: name.ident,
            owner: name.owner,
            result: Some(result),
            params,
            body: None,
            member_initials: Vec::new(),
            template: None,
            specialization: name.args,
            is_kernel: specifiers.is_kernel || marked,
            is_constexpr: specifiers.is_constexpr,
            is_static: specifiers.is_static,
            is_const: false,
            object_space: None,
            is_defaulted: false,
            is_deleted: false,
            attributes,
            span: start.to(close),
        };
        if self.at(Punct::LeftBrace) {
            let span = self.peek().span;
            return Err(self.error(
                Diagnostic::error(span, "an explicit instantiation has no body")
                    .with_hint("write `template <>` for a specialisation, which has one"),
            ));
        }
        self.semicolon("this instantiation")?;
        items.push(Item {
            kind: ItemKind::Instantiation(Box::new(function)),
            span: self.span_from(start),
        });
        Ok(())
    }
}
