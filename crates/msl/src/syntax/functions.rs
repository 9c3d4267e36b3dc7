//! Functions, methods and constructors, from what their declarator says to the end of their body.

use super::ast::{Attribute, ExprKind, Function, Item, ItemKind, Template};
use super::attributes::{OF_FUNCTIONS, OF_KERNEL_PARAMETERS};
use super::declarators::{Declarator, DeclaratorPart, FunctionPart, Place};
use super::parser::{Parsed, Parser};
use super::scope::Entry;
use super::token::{Flags, Punct, word};
use super::types::Specifiers;
use crate::diag::{Diagnostic, Span};

/// What a declaration starts with, for each function that it declares.
pub struct DeclarationHead<'a> {
    /// Where it stands.
    pub place: Place,
    /// The position of its first token.
    pub first: usize,
    /// The place of its first token.
    pub start: Span,
    /// Its specifiers.
    pub specifiers: &'a Specifiers,
    /// The template header before it.
    pub template: Option<&'a Template>,
}

impl Parser<'_> {
    /// Makes a function of a declarator, and parses its body. True if it has one, so that the
    /// declaration is over.
    pub(super) fn function(
        &mut self,
        head: &DeclarationHead<'_>,
        mut declarator: Declarator,
        items: &mut Vec<Item>,
    ) -> Parsed<bool> {
        let specifiers = head.specifiers;
        let DeclaratorPart::Function(part) = declarator.parts.remove(0) else {
            return Ok(false);
        };
        let FunctionPart {
            params,
            is_const,
            object_space,
            trailing,
            close,
        } = part;
        let Some(name) = declarator.name else {
            return Err(self.expected("a name"));
        };
        let result = match (trailing, &specifiers.ty, name.conversion) {
            (Some(trailing), ..) => Some(trailing),
            (None, Some(base), _) => Some(self.declared_type(base.clone(), declarator.parts)),
            (None, None, conversion) => conversion,
        };
        let is_constructor = result.is_none();
        if is_constructor && !self.is_constructor(&name.ident, name.owner.as_ref()) {
            let text = &name.ident.name;
            self.refuse(
                Diagnostic::error(
                    name.ident.span,
                    format!("the function `{text}` has no result type"),
                )
                .with_hint("write `void` before its name if it returns nothing"),
            );
        }
        let is_template = std::mem::take(&mut self.declares_template_value);
        if let (Some(symbol), None) = (name.symbol, &name.owner) {
            let constructor = Some(symbol) == self.class;
            if !constructor {
                self.names
                    .declare(symbol, Entry::VALUE.template(is_template));
            }
            if is_template && self.class.is_some() {
                self.method_templates.insert(symbol);
            }
        }
        let mut attributes = specifiers.attributes.clone();
        attributes.extend(declarator.attributes);
        let marked = attributes.iter().any(|a| &*a.name.name == "kernel");
        attributes.retain(|a| &*a.name.name != "kernel");
        self.refuse_stages(&attributes);
        self.refuse_attributes(&attributes, OF_FUNCTIONS, "a function");
        let is_kernel = specifiers.is_kernel || marked;
        if !is_kernel {
            for param in &params {
                self.refuse_attributes(
                    &param.attributes,
                    OF_KERNEL_PARAMETERS,
                    "a parameter of a function that is no kernel",
                );
            }
        }
        let owner_scope = name
            .owner
            .as_ref()
            .and_then(|owner| self.scope_of_path(owner));
        let mut function = Function {
            name: name.ident,
            owner: name.owner,
            result,
            params,
            body: None,
            member_initials: Vec::new(),
            template: head.template.cloned(),
            // `S<T>()` in a class template `S` is a constructor as well.
            specialization: name.args.filter(|_| !is_constructor),
            is_kernel,
            is_constexpr: specifiers.is_constexpr,
            is_static: specifiers.is_static,
            is_const,
            object_space,
            is_defaulted: false,
            is_deleted: false,
            attributes,
            span: head.start.to(close),
        };
        let ended = self.function_body(head, &mut function, owner_scope)?;
        items.push(Item {
            span: self.span_from(head.start),
            kind: ItemKind::Function(Box::new(function)),
        });
        Ok(ended)
    }

    fn is_constructor(&self, name: &super::ast::Ident, owner: Option<&super::ast::Path>) -> bool {
        let class = match owner {
            Some(owner) => owner.segments.last().map(|s| s.ident.name.clone()),
            None => self.class.map(|class| self.interner.name(class)),
        };
        class.is_some_and(|class| class == name.name)
    }

    fn refuse_stages(&mut self, attributes: &[Attribute]) {
        for attribute in attributes {
            if matches!(
                &*attribute.name.name,
                "vertex" | "fragment" | "mesh" | "object" | "intersection" | "tile"
            ) {
                let text = &attribute.name.name;
                let error = Diagnostic::error(
                    attribute.name.span,
                    format!("`{text}` functions are not supported"),
                )
                .with_hint("only compute kernels are: functions marked `kernel`");
                self.refuse(error);
            }
        }
    }

    fn function_body(
        &mut self,
        head: &DeclarationHead<'_>,
        function: &mut Function,
        owner: Option<super::scope::ScopeId>,
    ) -> Parsed<bool> {
        if self.at(Punct::Equal) {
            self.advance();
            if self.take_word(word::DEFAULT) {
                function.is_defaulted = true;
            } else if self.take_word(word::DELETE) {
                function.is_deleted = true;
            } else {
                return Err(self.expected("`default` or `delete`"));
            }
            return Ok(false);
        }
        let has_initials = self.at(Punct::Colon) && function.result.is_none();
        if !self.at(Punct::LeftBrace) && !has_initials {
            if self.at(Punct::Semicolon) || self.at(Punct::Comma) {
                return Ok(false);
            }
            if self.peek().flags.has(Flags::LINE_START) {
                return Ok(false);
            }
            return Err(self.expected("`{` or `;` after the parameters"));
        }
        if head.place == Place::Local {
            return Err(self.function_inside_function(head.first, function));
        }
        let depth = self.names.depth();
        if let Some(owner) = owner {
            self.names.open_again(owner);
        }
        self.names.open_new(false);
        self.declare_params(&function.params);
        let class = self.class.take();
        let result = self.body_with_initials(function);
        self.class = class;
        self.names.close_and_forget();
        self.names.close_to(depth);
        result.map(|()| true)
    }

    fn body_with_initials(&mut self, function: &mut Function) -> Parsed<()> {
        if self.take(Punct::Colon) {
            loop {
                let path = self.declared_path("the name of a member")?.path;
                let Some(member) = path.segments.into_iter().next_back() else {
                    return Err(self.expected("the name of a member"));
                };
                let args = if self.at(Punct::LeftParen) {
                    self.call_arguments()?
                } else if self.at(Punct::LeftBrace) {
                    let list = self.init_list()?;
                    match list.kind {
                        ExprKind::InitList(elements) => {
                            elements.into_iter().map(|(_, element)| element).collect()
                        }
                        _ => Vec::new(),
                    }
                } else {
                    return Err(self.expected("`(` with the member's initial value"));
                };
                function.member_initials.push((member.ident, args));
                if !self.take(Punct::Comma) {
                    break;
                }
            }
            if !self.at(Punct::LeftBrace) {
                return Err(self.expected("`{` with the body of the constructor"));
            }
        }
        let outer = self.function_start.replace(function.name.span);
        let body = self.block();
        self.function_start = outer;
        function.body = Some(body?);
        Ok(())
    }

    /// A function's body inside a function: the `}` of the outer one is most likely missing.
    fn function_inside_function(
        &mut self,
        first: usize,
        function: &Function,
    ) -> super::parser::Stop {
        let text = &function.name.name;
        let error = Diagnostic::error(
            function.name.span,
            format!("the function `{text}` is defined inside another function"),
        )
        .with_hint("is a `}` missing above?");
        let error = match self.function_start {
            Some(span) => error.with_related(span, "this function is not closed yet"),
            None => error,
        };
        let stop = self.error(error);
        self.position = first;
        self.unwinding = true;
        stop
    }
}
