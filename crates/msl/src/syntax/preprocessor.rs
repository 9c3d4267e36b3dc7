//! Files and directives: from a text and what it includes to the tokens that the parser reads.
//! Expanding macros and judging conditions have modules of their own.

use std::collections::HashSet;

use super::bad_token;
use super::condition;
use super::expansion::Expander;
use super::headers::{STANDARD_LIBRARY, has_declarations, is_built_in_header};
use super::lexer;
use super::literal;
use super::macros::{Macro, MacroTable};
use super::token::{Flags, Interner, Punct, Symbol, Token, TokenKind, operator_word, word};
use crate::diag::{Diagnostic, Report, Source, Sources, Span};

/// Finds the file that an `#include` names: given the including file and the path as written, the
/// name to know it by and its text.
pub type IncludeResolver = dyn Fn(&str, &str) -> Option<(String, String)> + Send + Sync;

/// How deeply files may include each other.
const INCLUDE_DEPTH: usize = 100;

/// The most bytes that the texts of one compilation may have, repetitions counted.
const TEXT_LIMIT: usize = 256 << 20;

/// What is defined before the first line, as Apple's compiler for Metal 3.2 does.
const PREDEFINED: &str = "\
#define __METAL__ 1
#define __METAL_VERSION__ 320
#define __METAL_MACOS__ 1
#define __HAVE_BFLOAT__ 1
#define __APPLE__ 1
#define __cplusplus 201402L
#define METAL_FUNC inline
#define METAL_CONST
#define METAL_PURE
";

/// What the preprocessor hands on.
pub struct Preprocessed {
    /// The tokens, without an end marker.
    pub tokens: Vec<Token>,
    /// All texts read, the main one first.
    pub sources: Sources,
    /// The spellings.
    pub interner: Interner,
    /// What went wrong.
    pub report: Report,
}

/// Preprocesses a text. `defines` are names with their values.
pub fn preprocess(
    name: &str,
    text: &str,
    defines: &[(String, String)],
    includes: Option<&IncludeResolver>,
) -> Preprocessed {
    let mut preprocessor = Preprocessor {
        sources: Sources::new(),
        interner: Interner::new(),
        report: Report::new(),
        macros: MacroTable::default(),
        includes,
        once: HashSet::new(),
        tokens: Vec::with_capacity(text.len() / 4),
        total_text: 0,
        made: 0,
        counter: 0,
    };
    if let Some(main) = preprocessor.add_source(name, text, Span::default()) {
        if let Some(base) = preprocessor.add_source("<predefined>", PREDEFINED, Span::default()) {
            preprocessor.file("<predefined>", PREDEFINED, base, 0);
        }
        if !defines.is_empty() {
            let given: String = defines
                .iter()
                .map(|(name, value)| format!("#define {name} {}\n", value.replace('\n', " ")))
                .collect();
            if let Some(base) = preprocessor.add_source("<defines>", &given, Span::default()) {
                preprocessor.file("<defines>", &given, base, 0);
            }
        }
        preprocessor.file(name, text, main, 0);
    }
    let mut preprocessed = Preprocessed {
        tokens: preprocessor.tokens,
        sources: preprocessor.sources,
        interner: preprocessor.interner,
        report: preprocessor.report,
    };
    finish(&mut preprocessed);
    preprocessed
}

/// Splits every `>>`, so that it can close two template lists; reads `and` and its kind as
/// operators; reports what is no token.
fn finish(preprocessed: &mut Preprocessed) {
    let tokens = std::mem::take(&mut preprocessed.tokens);
    let mut finished = Vec::with_capacity(tokens.len());
    for mut token in tokens {
        match token.kind {
            TokenKind::Punct(punct @ (Punct::GreaterGreater | Punct::GreaterGreaterEqual)) => {
                let second = if punct == Punct::GreaterGreater {
                    Punct::Greater
                } else {
                    Punct::GreaterEqual
                };
                // A token from a macro has the place of the macro's call, which is not split.
                let middle = token.span.start + 1;
                let exact = (token.span.end - token.span.start) as usize == punct.text().len();
                let (first_span, second_span) = if exact {
                    (
                        Span::new(token.span.start, middle),
                        Span::new(middle, token.span.end),
                    )
                } else {
                    (token.span, token.span)
                };
                finished.push(Token {
                    kind: TokenKind::Punct(Punct::Greater),
                    span: first_span,
                    flags: token.flags.with(Flags::JOINT),
                });
                finished.push(Token {
                    kind: TokenKind::Punct(second),
                    span: second_span,
                    flags: Flags::default(),
                });
            }
            TokenKind::Word(name) => {
                if let Some(punct) = operator_word(name) {
                    token.kind = TokenKind::Punct(punct);
                }
                finished.push(token);
            }
            TokenKind::Bad(bad) => preprocessed
                .report
                .push(bad_token::diagnostic(bad, token.span)),
            _ => finished.push(token),
        }
    }
    preprocessed.tokens = finished;
}

struct Preprocessor<'a> {
    sources: Sources,
    interner: Interner,
    report: Report,
    macros: MacroTable,
    includes: Option<&'a IncludeResolver>,
    once: HashSet<String>,
    tokens: Vec<Token>,
    total_text: usize,
    made: usize,
    counter: u32,
}

/// An `#if` that is not closed yet.
struct Conditional {
    /// The directive.
    span: Span,
    /// One of its groups was taken already, or none may be.
    done: bool,
    /// The group we are in is kept.
    live: bool,
    /// Where its `#else` was.
    else_span: Option<Span>,
}

/// The file that is being read.
struct File<'a> {
    name: &'a str,
    text: &'a str,
    base: u32,
    depth: usize,
}

impl File<'_> {
    /// The text from the start of the first token to the end of the last.
    fn slice(&self, tokens: &[Token]) -> &str {
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return "";
        };
        let start = first.span.start.saturating_sub(self.base) as usize;
        let end = last.span.end.saturating_sub(self.base) as usize;
        self.text.get(start..end).unwrap_or("")
    }
}

impl Preprocessor<'_> {
    fn add_source(&mut self, name: &str, text: &str, include: Span) -> Option<u32> {
        self.total_text = self.total_text.saturating_add(text.len());
        if self.total_text > TEXT_LIMIT {
            self.report.push(Diagnostic::error(
                include,
                format!("the source text is longer than {} MiB", TEXT_LIMIT >> 20),
            ));
            return None;
        }
        Some(self.sources.add(Source::new(name, text)))
    }

    fn file(&mut self, name: &str, text: &str, base: u32, depth: usize) {
        let tokens = lexer::tokenize(text, base, &mut self.interner);
        let file = File {
            name,
            text,
            base,
            depth,
        };
        let mut conditionals: Vec<Conditional> = Vec::new();
        let starts_line = |token: &Token| token.flags.has(Flags::LINE_START);
        let mut rest = tokens.as_slice();
        while let Some((first, after)) = rest.split_first() {
            let live = conditionals.last().is_none_or(|c| c.live);
            if first.is(Punct::Hash) && starts_line(first) {
                let end = after.iter().position(starts_line).unwrap_or(after.len());
                let (line, next) = after.split_at(end);
                self.directive(&file, first.span, line, live, &mut conditionals);
                rest = next;
            } else {
                let directive = |token: &Token| token.is(Punct::Hash) && starts_line(token);
                let end = rest.iter().position(directive).unwrap_or(rest.len());
                let (run, next) = rest.split_at(end);
                if live {
                    self.expand_to_output(run);
                }
                rest = next;
            }
        }
        for conditional in conditionals {
            self.report.push(
                Diagnostic::error(conditional.span, "this `#if` has no `#endif`")
                    .with_hint("add `#endif` where the conditional part ends"),
            );
        }
    }

    fn expander(&mut self) -> Expander<'_> {
        Expander {
            macros: &mut self.macros,
            interner: &mut self.interner,
            report: &mut self.report,
            sources: &self.sources,
            made: &mut self.made,
            counter: &mut self.counter,
            depth: 0,
        }
    }

    fn expand_to_output(&mut self, run: &[Token]) {
        let mut output = std::mem::take(&mut self.tokens);
        self.expander().expand(run, &mut output);
        self.tokens = output;
    }

    fn directive(
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
                self.report
                    .push(match super::spelling::nearest(&text, known) {
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

    fn text_of(&self, token: Token) -> String {
        super::macros::spelling(token.kind, &self.interner)
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
                use super::macros::Part;
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

    fn if_holds(&mut self, file: &File<'_>, name: Token, arguments: &[Token]) -> bool {
        if let Some(kind @ (word::IFDEF | word::IFNDEF)) = name.word() {
            let Some(macro_name) = arguments.first().and_then(|token| token.word()) else {
                let text = self.text_of(name);
                self.report.push(Diagnostic::error(
                    name.span,
                    format!("expected the name of a macro after `#{text}`"),
                ));
                return false;
            };
            return self.is_defined(macro_name) == (kind == word::IFDEF);
        }
        let Some(replaced) = self.replace_queries(file, arguments) else {
            return false;
        };
        let mut tokens = Vec::new();
        self.expander().expand(&replaced, &mut tokens);
        // `defined` may also come out of a macro.
        let Some(tokens) = self.replace_queries(file, &tokens) else {
            return false;
        };
        match condition::evaluate(&tokens, &self.interner, name.span) {
            Ok(value) => value,
            Err(error) => {
                self.report.push(error);
                false
            }
        }
    }

    fn is_defined(&self, name: Symbol) -> bool {
        let always = matches!(
            name,
            word::LINE_MACRO
                | word::FILE_MACRO
                | word::COUNTER_MACRO
                | word::HAS_INCLUDE
                | word::HAS_ATTRIBUTE
                | word::HAS_BUILTIN
                | word::HAS_FEATURE
                | word::HAS_EXTENSION
        );
        always || self.macros.get(name).is_some()
    }

    /// Replaces `defined x`, `__has_include(..)` and their kind by 0 or 1.
    fn replace_queries(&mut self, file: &File<'_>, tokens: &[Token]) -> Option<Vec<Token>> {
        let mut result = Vec::with_capacity(tokens.len());
        let mut rest = tokens;
        while let Some((&token, after)) = rest.split_first() {
            rest = after;
            let value = match token.word() {
                Some(word::DEFINED) => {
                    let (name, after) = match after {
                        [open, name, close, after @ ..]
                            if open.is(Punct::LeftParen) && close.is(Punct::RightParen) =>
                        {
                            (name.word(), after)
                        }
                        [name, after @ ..] => (name.word(), after),
                        [] => (None, after),
                    };
                    let Some(name) = name else {
                        self.report.push(Diagnostic::error(
                            token.span,
                            "expected the name of a macro after `defined`",
                        ));
                        return None;
                    };
                    rest = after;
                    self.is_defined(name)
                }
                Some(
                    query @ (word::HAS_INCLUDE
                    | word::HAS_ATTRIBUTE
                    | word::HAS_BUILTIN
                    | word::HAS_FEATURE
                    | word::HAS_EXTENSION),
                ) => {
                    let close = after.iter().position(|t| t.is(Punct::RightParen));
                    let inside = close.and_then(|end| after.get(1..end));
                    let (Some(inside), Some(end)) = (inside, close) else {
                        self.report.push(Diagnostic::error(
                            token.span,
                            format!("expected `(...)` after `{}`", self.text_of(token)),
                        ));
                        return None;
                    };
                    rest = after.get(end + 1..).unwrap_or_default();
                    query == word::HAS_INCLUDE && self.header_exists(file, inside)
                }
                _ => {
                    result.push(token);
                    continue;
                }
            };
            result.push(Token {
                kind: TokenKind::Number(self.interner.intern(if value { "1" } else { "0" })),
                ..token
            });
        }
        Some(result)
    }

    fn header_exists(&mut self, file: &File<'_>, tokens: &[Token]) -> bool {
        match self.header_name(file, tokens) {
            Some((path, true)) if is_built_in_header(&path) => true,
            Some((path, _)) => self
                .includes
                .is_some_and(|resolve| resolve(file.name, &path).is_some()),
            None => false,
        }
    }

    /// The path of an `#include`, and whether it is in angle brackets.
    fn header_name(&self, file: &File<'_>, tokens: &[Token]) -> Option<(String, bool)> {
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

    fn include(&mut self, file: &File<'_>, directive: Span, line: &[Token], import: bool) {
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
