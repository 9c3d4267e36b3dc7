//! The lines that start with `#`: what each does. Files are found and read in `includes`.

use super::{Conditional, File, Preprocessor};
use crate::diag::{Diagnostic, Span};
use crate::syntax::macros::{Macro, Part};
use crate::syntax::spelling;
use crate::syntax::token::{Token, TokenKind, word};

impl Preprocessor<'_> {
    pub(super) fn directive(
        &mut self,
        file: &File<'_>,
        hash: Span,
        line: &[Token],
        live: bool,
        conditionals: &mut Vec<Conditional>,
    ) {
        // A `#` alone on its line does nothing.
        let Some((&name, arguments)) = line.split_first() else {
            return;
        };
        let span = hash.to(name.span);
        let word = name.word();
        match word {
            Some(word::IF | word::IFDEF | word::IFNDEF) => {
                let holds = live && self.if_holds(file, name, arguments);
                conditionals.push(Conditional {
                    span,
                    done: !live || holds,
                    live: holds,
                    else_span: None,
                });
            }
            Some(word::ELIF | word::ELSE) => {
                let is_else = word == Some(word::ELSE);
                let Some(mut conditional) = conditionals.pop() else {
                    return self.unmatched(span, name);
                };
                if let Some(earlier) = conditional.else_span {
                    let text = self.text_of(name);
                    self.report.push(
                        Diagnostic::error(span, format!("`#{text}` after `#else`"))
                            .with_related(earlier, "the `#else`"),
                    );
                }
                let holds = !conditional.done && (is_else || self.if_holds(file, name, arguments));
                conditional.live = holds;
                conditional.done |= holds;
                if is_else {
                    conditional.else_span = Some(span);
                }
                conditionals.push(conditional);
            }
            Some(word::ENDIF) => {
                if conditionals.pop().is_none() {
                    self.unmatched(span, name);
                }
            }
            _ if !live => {}
            Some(word::DEFINE) => self.define(span, arguments),
            Some(word::UNDEF) => match arguments.first().and_then(|token| token.word()) {
                Some(name) => self.macros.undefine(name),
                None => self.report.push(Diagnostic::error(
                    span,
                    "expected the name of a macro after `#undef`",
                )),
            },
            Some(word::INCLUDE) => self.include(file, span, arguments, false),
            Some(word::IMPORT) => self.include(file, span, arguments, true),
            Some(word::PRAGMA) => {
                if arguments.first().and_then(|token| token.word()) == Some(word::ONCE) {
                    self.once.insert(file.name.to_string());
                }
            }
            Some(word::ERROR) => {
                let text = file.slice(arguments);
                self.report
                    .push(Diagnostic::error(span, format!("#error {text}").trim_end()));
            }
            Some(word::WARNING) => {
                let text = file.slice(arguments);
                self.report.push(Diagnostic::warning(
                    span,
                    format!("#warning {text}").trim_end(),
                ));
            }
            Some(word::LINE) => {}
            _ => {
                let text = self.text_of(name);
                let error = Diagnostic::error(name.span, format!("unknown directive `#{text}`"));
                let known = [
                    "include", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif",
                    "pragma", "error", "warning", "line",
                ];
                self.report.push(match spelling::nearest(&text, known) {
                    Some(near) => error.with_hint(format!("did you mean `#{near}`?")),
                    None => error,
                });
            }
        }
    }

    fn unmatched(&mut self, span: Span, name: Token) {
        let text = self.text_of(name);
        self.report.push(Diagnostic::error(
            span,
            format!("`#{text}` without an `#if`"),
        ));
    }

    fn define(&mut self, directive: Span, line: &[Token]) {
        let definition = match Macro::parse(line) {
            Ok(definition) => definition,
            Err(mut error) => {
                if line.is_empty() {
                    error.span = directive;
                }
                return self.report.push(error);
            }
        };
        let (name, span) = (definition.name, definition.span);
        let same = |old: &Macro, new: &Macro| {
            let kinds = |m: &Macro| -> Vec<_> {
                m.body
                    .iter()
                    .map(|part| match part {
                        Part::Token(t) => (0, t.kind),
                        Part::Param(i, t) => (*i + 1, t.kind),
                        Part::Stringify(_, t) => (1, t.kind),
                        Part::Paste => (0, TokenKind::End),
                    })
                    .collect()
            };
            old.params == new.params && old.variadic == new.variadic && kinds(old) == kinds(new)
        };
        let Some(old) = self.macros.define(definition) else {
            return;
        };
        let changed = self.macros.get(name).is_some_and(|new| !same(&old, new));
        if changed {
            let text = self.interner.text(name);
            self.report.push(
                Diagnostic::warning(
                    span,
                    format!("macro `{text}` is defined again, differently"),
                )
                .with_related(old.span, "the earlier definition")
                .with_hint(format!("write `#undef {text}` before it if this is meant")),
            );
        }
    }
}
