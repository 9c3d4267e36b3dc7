//! Finding what an `#include` or `#import` names, and reading it once or as often as is asked.

use super::{File, INCLUDE_DEPTH, Preprocessor};
use crate::diag::{Diagnostic, Span};
use crate::syntax::headers::{STANDARD_LIBRARY, has_declarations, is_built_in_header};
use crate::syntax::literal;
use crate::syntax::token::{Punct, Token, TokenKind};

impl Preprocessor<'_> {
    /// The path of an `#include`, and whether it is in angle brackets.
    pub(super) fn header_name(&self, file: &File<'_>, tokens: &[Token]) -> Option<(String, bool)> {
        match tokens {
            [first, ..] if first.is(Punct::Less) => {
                let end = tokens.iter().position(|t| t.is(Punct::Greater))?;
                let inside = file.slice(tokens.get(..=end)?);
                let path = inside.trim_start_matches('<').trim_end_matches('>');
                Some((path.trim().to_string(), true))
            }
            [first, ..] => match first.kind {
                TokenKind::String(text) => {
                    let path = literal::string(self.interner.text(text)).ok()?;
                    Some((path, false))
                }
                _ => None,
            },
            [] => None,
        }
    }

    pub(super) fn include(
        &mut self,
        file: &File<'_>,
        directive: Span,
        line: &[Token],
        import: bool,
    ) {
        let mut header = self.header_name(file, line);
        if header.is_none() && !line.is_empty() {
            // The name may come from a macro.
            let mut tokens = Vec::new();
            self.expander().expand(line, &mut tokens);
            header = self.header_name(file, &tokens);
        }
        let span = match (line.first(), line.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => directive,
        };
        let Some((path, angled)) = header else {
            return self.report.push(
                Diagnostic::error(span, "expected a file name after `#include`")
                    .with_hint("write `#include <metal_stdlib>` or `#include \"file.h\"`"),
            );
        };
        if angled && is_built_in_header(&path) {
            let name = "metal_stdlib";
            if has_declarations(&path)
                && self.once.insert(name.into())
                && let Some(base) = self.add_source(name, STANDARD_LIBRARY, span)
            {
                self.file(name, STANDARD_LIBRARY, base, file.depth + 1);
            }
            return;
        }
        let found = self.includes.and_then(|resolve| resolve(file.name, &path));
        let Some((name, text)) = found else {
            let error = Diagnostic::error(span, format!("cannot find the file `{path}`"));
            let metal_4 = path == "metal_tensor" || path.starts_with("MetalPerformancePrimitives");
            return self.report.push(if metal_4 {
                error.with_hint("this header comes with Metal 4; the language here is Metal 3.2")
            } else if angled {
                error.with_hint(
                    "in angle brackets, only `<metal_stdlib>` and its parts are known; \
                     kernels have no C or C++ standard headers",
                )
            } else if self.includes.is_none() {
                error.with_hint("files cannot be included here: give the text in one piece")
            } else {
                error
            });
        };
        if self.once.contains(&name) {
            return;
        }
        if import {
            self.once.insert(name.clone());
        }
        if file.depth >= INCLUDE_DEPTH {
            return self.report.push(
                Diagnostic::error(
                    span,
                    format!("files include each other more than {INCLUDE_DEPTH} deep"),
                )
                .with_hint(format!("does `{path}` lack `#pragma once`?")),
            );
        }
        // An empty text counts too, so that the limit also ends including nothing forever.
        self.total_text += 64;
        if let Some(base) = self.add_source(&name, &text, span) {
            self.file(&name, &text, base, file.depth + 1);
        }
    }
}
