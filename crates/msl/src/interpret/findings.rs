//! What the checker says.

use std::fmt;

use crate::diag::{Sources, Span};

/// The sorts of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FindingKind {
    /// Two threads access the same byte, one of them writes, and nothing orders them.
    DataRace,
    /// A value that nothing wrote is used.
    UndefinedValue,
    /// Threads that should meet at a barrier do not.
    MissedBarrier,
    /// A lane reads from a lane that takes no part.
    InactiveLane,
    /// A shift by the width of its type or more, or by less than nothing.
    ShiftCount,
    /// An index outside its vector, matrix or array.
    IndexOutOfRange,
    /// An integer divided by zero.
    DivisionByZero,
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DataRace => "data race",
            Self::UndefinedValue => "undefined value",
            Self::MissedBarrier => "missed barrier",
            Self::InactiveLane => "inactive lane",
            Self::ShiftCount => "shift count",
            Self::IndexOutOfRange => "index out of range",
            Self::DivisionByZero => "division by zero",
        })
    }
}

/// A place in a source text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourcePlace {
    /// The text's name.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

impl SourcePlace {
    pub(super) fn of(sources: &Sources, span: Span) -> Self {
        match sources.place(span) {
            Some((source, line, column)) => Self {
                file: source.name().to_string(),
                line,
                column,
            },
            None => Self::default(),
        }
    }
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Something that a kernel does and should not. Printed, it is one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What sort of thing.
    pub kind: FindingKind,
    /// What happened, without `place`.
    pub message: String,
    /// Where it happened.
    pub place: SourcePlace,
    /// The other place that has to do with it.
    pub other_place: Option<SourcePlace>,
    /// The position in the grid of the (first) thread that did it.
    pub thread: [u64; 3],
    /// The position of the other thread that has to do with it.
    pub other_thread: Option<[u64; 3]>,
    /// How often it happened.
    pub count: u64,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.kind, self.message)?;
        match self.count {
            1 => Ok(()),
            count => write!(f, " ({count} times)"),
        }
    }
}
