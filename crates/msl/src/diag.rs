//! What the compiler says to its user: source positions, diagnostics and their rendering.
//!
//! Every stage reports into a [`Report`] and goes on, so that one run shows every problem. The
//! stage that finds a problem words it; this module only places and prints it.

use std::fmt;
use std::sync::Arc;

use codespan_reporting::diagnostic as codespan;
use codespan_reporting::files;
use codespan_reporting::term;

/// A range of bytes, `start..end`, counted through all texts of a [`Sources`] in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The smallest range that holds both.
    pub fn to(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// A named source text, and the place of every line in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    name: String,
    text: String,
    line_starts: Vec<u32>,
}

impl Source {
    /// A source of this name (a path, or whatever the user knows it by).
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0)
            .chain(
                text.bytes()
                    .enumerate()
                    .filter(|&(_, b)| b == b'\n')
                    .map(|(i, _)| i as u32 + 1),
            )
            .collect();
        Self {
            name: name.into(),
            text,
            line_starts,
        }
    }

    /// What the user knows the text by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text itself.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column, both from 1, columns in characters, of a byte offset.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let line = self
            .line_starts
            .partition_point(|&start| start <= offset)
            .max(1)
            - 1;
        let start = self.line_starts[line] as usize;
        let end = (offset as usize).clamp(start, self.text.len());
        let column = self
            .text
            .get(start..end)
            .map_or(end - start, |t| t.chars().count());
        (line + 1, column + 1)
    }

    /// The text of a line, counted from 1, without its line break; empty past the end.
    pub fn line_text(&self, line: usize) -> &str {
        let start = self
            .line_starts
            .get(line.wrapping_sub(1))
            .map(|&s| s as usize);
        start
            .and_then(|s| self.text.get(s..))
            .and_then(|t| t.lines().next())
            .unwrap_or("")
    }
}

/// All texts of one compilation: the kernel file and what it includes.
///
/// Each text has its own range of offsets, so that a [`Span`] alone says which file it is in.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<(u32, Source)>,
}

impl Sources {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text, and returns the offset at which it starts.
    pub fn add(&mut self, source: Source) -> u32 {
        let base = self
            .files
            .last()
            .map_or(0, |(b, s)| b + s.text.len() as u32 + 1);
        self.files.push((base, source));
        base
    }

    /// The texts in the order they were added.
    pub fn files(&self) -> impl Iterator<Item = &Source> {
        self.files.iter().map(|(_, source)| source)
    }

    /// The index of the file that a span starts in, and its range of bytes there.
    pub fn locate(&self, span: Span) -> (usize, std::ops::Range<usize>) {
        let index = self
            .files
            .partition_point(|&(base, _)| base <= span.start)
            .max(1)
            - 1;
        let Some((base, source)) = self.files.get(index) else {
            return (0, 0..0);
        };
        let clamp = |offset: u32| (offset.saturating_sub(*base) as usize).min(source.text.len());
        let start = clamp(span.start);
        (index, start..clamp(span.end).max(start))
    }

    /// The line, counted from 1, that an offset is on.
    pub fn line(&self, offset: u32) -> usize {
        let index = self
            .files
            .partition_point(|&(base, _)| base <= offset)
            .max(1)
            - 1;
        self.files.get(index).map_or(1, |(base, source)| {
            let local = offset.saturating_sub(*base);
            source
                .line_starts
                .partition_point(|&start| start <= local)
                .max(1)
        })
    }

    /// The file that a span starts in, with line and column from 1.
    pub fn place(&self, span: Span) -> Option<(&Source, usize, usize)> {
        let (index, range) = self.locate(span);
        let (_, source) = self.files.get(index)?;
        let (line, column) = source.line_column(range.start as u32);
        Some((source, line, column))
    }
}

impl<'a> files::Files<'a> for Sources {
    type FileId = usize;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: usize) -> Result<&'a str, files::Error> {
        self.files
            .get(id)
            .map(|(_, s)| s.name())
            .ok_or(files::Error::FileMissing)
    }

    fn source(&'a self, id: usize) -> Result<&'a str, files::Error> {
        self.files
            .get(id)
            .map(|(_, s)| s.text())
            .ok_or(files::Error::FileMissing)
    }

    fn line_index(&'a self, id: usize, byte_index: usize) -> Result<usize, files::Error> {
        let (_, source) = self.files.get(id).ok_or(files::Error::FileMissing)?;
        Ok(source.line_column(byte_index as u32).0 - 1)
    }

    fn line_range(
        &'a self,
        id: usize,
        line_index: usize,
    ) -> Result<std::ops::Range<usize>, files::Error> {
        let (_, source) = self.files.get(id).ok_or(files::Error::FileMissing)?;
        let start =
            source
                .line_starts
                .get(line_index)
                .copied()
                .ok_or(files::Error::LineTooLarge {
                    given: line_index,
                    max: source.line_starts.len(),
                })?;
        let end = source
            .line_starts
            .get(line_index + 1)
            .map_or(source.text.len(), |&e| e as usize);
        Ok(start as usize..end)
    }
}

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The text is refused.
    Error,
    /// The text is accepted, but is likely wrong or refused elsewhere.
    Warning,
}

/// One problem, where it is, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What stands beside the caret; may be empty.
    pub label: String,
    /// Further places that matter, each with its text.
    pub related: Vec<(Span, String)>,
    /// What to do.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            span,
            label: String::new(),
            related: Vec::new(),
            hint: None,
        }
    }

    /// A warning at `span`.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(span, message)
        }
    }

    /// Puts `text` beside the caret.
    #[must_use]
    pub fn with_label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// Adds a further place.
    #[must_use]
    pub fn with_related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related.push((span, text.into()));
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn with_hint(mut self, text: impl Into<String>) -> Self {
        self.hint = Some(text.into());
        self
    }
}

/// Diagnostics as the stages find them, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    list: Vec<Diagnostic>,
}

impl Report {
    /// The most diagnostics one run keeps; what follows is rarely news.
    pub const LIMIT: usize = 100;

    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one; a repetition at the same place, and what goes over [`Self::LIMIT`], is dropped.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let known = |d: &Diagnostic| d.span == diagnostic.span && d.message == diagnostic.message;
        if self.list.len() < Self::LIMIT && !self.list.iter().any(known) {
            self.list.push(diagnostic);
        }
    }

    /// Whether any is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// The diagnostics.
    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }
}

/// A finished [`Report`] with the sources it speaks of.
///
/// `Display` prints it the way compilers do: file, line, column, the line itself, a caret, a hint.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    /// The texts that the spans are in.
    pub sources: Arc<Sources>,
    /// The diagnostics.
    pub report: Report,
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = term::Config::default();
        let label = |style, span: Span, text: &str| {
            let (file, range) = self.sources.locate(span);
            codespan::Label::new(style, file, range).with_message(text)
        };
        for d in self.report.list() {
            let labels = std::iter::once(label(codespan::LabelStyle::Primary, d.span, &d.label))
                .chain(
                    d.related
                        .iter()
                        .map(|(span, text)| label(codespan::LabelStyle::Secondary, *span, text)),
                )
                .collect();
            let severity = match d.severity {
                Severity::Error => codespan::Severity::Error,
                Severity::Warning => codespan::Severity::Warning,
            };
            let rendered = codespan::Diagnostic::new(severity)
                .with_message(&d.message)
                .with_labels(labels)
                .with_notes(d.hint.iter().map(|h| format!("hint: {h}")).collect());
            let mut text = String::new();
            term::emit_to_string(&mut text, &config, self.sources.as_ref(), &rendered)
                .map_err(|_| fmt::Error)?;
            f.write_str(&text)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
