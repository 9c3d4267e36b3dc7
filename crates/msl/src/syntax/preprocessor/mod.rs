//! Files and directives: from a text and what it includes to the tokens that the parser reads.
//! Expanding macros and judging conditions have modules of their own.

mod directives;
mod includes;
mod queries;

use std::collections::HashSet;

use super::expansion::Expander;
use super::macros::MacroTable;
use super::token::{Flags, Interner, Punct, Token, TokenKind, operator_word};
use super::{bad_token, lexer};
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

    fn text_of(&self, token: Token) -> String {
        super::macros::spelling(token.kind, &self.interner)
    }
}
