//! What the checker watches for while a kernel runs, and what it says about it.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use super::memory::{Object, ObjectNumber, Space};
use super::thread::Thread;
use super::values::{Data, Number, Origin};
use super::{Machine, SIMD_WIDTH};
use crate::diag::{Sources, Span};
use crate::ir::{BinaryOp, Handle, Scalar, Type, Value};
use crate::syntax::ast::Name;

/// Findings beyond this many are not kept.
const MOST_FINDINGS: usize = 100;

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

/// The last barriers that a thread has passed, by kind of memory that they order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// Barriers of the threadgroup that order device memory, and threadgroup memory.
    pub group: [u64; 2],
    /// The same of the SIMD-group.
    pub simd: [u64; 2],
}

/// An access to shared memory.
#[derive(Debug)]
pub struct Access {
    /// The thread's position in the grid.
    pub position: [u64; 3],
    /// The thread's number in its threadgroup.
    pub index: usize,
    /// The number of the threadgroup.
    pub group: u64,
    /// The barriers that the thread had passed.
    pub passed: Passed,
    /// Where.
    pub span: Span,
    /// Whether it is atomic.
    pub is_atomic: bool,
    /// Whether it writes.
    pub writes: bool,
}

impl Access {
    fn is_same_thread(&self, other: &Self) -> bool {
        self.group == other.group && self.index == other.index
    }

    fn is_same_simdgroup(&self, other: &Self) -> bool {
        self.group == other.group && self.index / SIMD_WIDTH == other.index / SIMD_WIDTH
    }

    /// Whether an access that was recorded before this one happens before it on every machine.
    fn is_after(&self, earlier: &Self, memory: usize) -> bool {
        let barrier = self.passed.group[memory] > earlier.passed.group[memory];
        let of_simdgroup = self.passed.simd[memory] > earlier.passed.simd[memory];
        self.is_same_thread(earlier)
            || (self.group == earlier.group && barrier)
            || (self.is_same_simdgroup(earlier) && of_simdgroup)
    }

    fn verb(&self) -> &'static str {
        if self.writes { "writes" } else { "reads" }
    }
}

/// The accesses to a byte that later ones may conflict with.
#[derive(Debug, Default)]
struct History {
    /// The last writes of at most two threads, more than one only if they are atomic.
    writes: Vec<Rc<Access>>,
    /// Some of the reads since.
    reads: Vec<Rc<Access>>,
}

impl History {
    fn add(&mut self, access: &Rc<Access>) {
        if access.writes {
            self.reads.clear();
            self.writes
                .retain(|w| w.is_atomic && access.is_atomic && !w.is_same_thread(access));
            self.writes.truncate(1);
            self.writes.insert(0, access.clone());
            return;
        }
        // Room for two readers of this SIMD-group, one of its threadgroup, one of elsewhere.
        let mut room = [2, 1, 1];
        let mut kept = vec![access.clone()];
        room[0] -= 1;
        for read in &self.reads {
            let class = if read.is_same_simdgroup(access) {
                0
            } else if read.group == access.group {
                1
            } else {
                2
            };
            if !read.is_same_thread(access) && room[class] > 0 {
                room[class] -= 1;
                kept.push(read.clone());
            }
        }
        self.reads = kept;
    }
}

/// Where undefined bytes come from.
#[derive(Clone, Debug)]
struct Unwritten {
    variable: Name,
    declared: Span,
    /// Where they were read, if from memory that several threads write.
    read: Option<Span>,
}

/// What is to be reported, but for the words.
struct Report {
    kind: FindingKind,
    span: Span,
    thread: [u64; 3],
    other: Option<(Span, Option<[u64; 3]>)>,
    read: Option<Span>,
}

/// A finding before it is told.
#[derive(Debug)]
struct Found {
    finding: Finding,
    span: Span,
    other: Option<Span>,
    /// Where an undefined value was read.
    read: Option<Span>,
}

/// The checker's memory.
pub struct Checker<'m> {
    sources: &'m Sources,
    unwritten: Vec<Unwritten>,
    origins: HashMap<(Span, Option<Span>), Origin>,
    histories: HashMap<ObjectNumber, Vec<Option<Box<History>>>>,
    found: Vec<Found>,
    known: HashMap<(FindingKind, Span, Option<Span>), usize>,
}

impl<'m> Checker<'m> {
    pub fn new(sources: &'m Sources) -> Self {
        Self {
            sources,
            unwritten: Vec::new(),
            origins: HashMap::new(),
            histories: HashMap::new(),
            found: Vec::new(),
            known: HashMap::new(),
        }
    }

    fn intern(&mut self, unwritten: Unwritten) -> Origin {
        let key = (unwritten.declared, unwritten.read);
        *self.origins.entry(key).or_insert_with(|| {
            self.unwritten.push(unwritten);
            self.unwritten.len() as Origin
        })
    }

    /// The mark of bytes of a variable that nothing wrote.
    pub fn unwritten(&mut self, variable: &Name, declared: Span) -> Origin {
        self.intern(Unwritten {
            variable: variable.clone(),
            declared,
            read: None,
        })
    }

    /// The mark of such bytes once they are read.
    pub fn read_at(&mut self, origin: Origin, span: Span) -> Origin {
        let unwritten = self.unwritten[origin as usize - 1].clone();
        self.intern(Unwritten {
            read: Some(span),
            ..unwritten
        })
    }

    fn report(&mut self, report: &Report, message: impl FnOnce(&Sources) -> String) {
        let other = report.other.map(|(span, _)| span);
        // Two accesses that race are the same pair in whichever order they come.
        let key = match other {
            Some(other)
                if report.kind == FindingKind::DataRace && other.start < report.span.start =>
            {
                (report.kind, other, Some(report.span))
            }
            _ => (report.kind, report.span, other),
        };
        if let Some(&index) = self.known.get(&key) {
            self.found[index].finding.count += 1;
            return;
        }
        if self.found.len() >= MOST_FINDINGS {
            return;
        }
        self.known.insert(key, self.found.len());
        self.found.push(Found {
            finding: Finding {
                kind: report.kind,
                message: message(self.sources),
                place: SourcePlace::of(self.sources, report.span),
                other_place: other.map(|span| SourcePlace::of(self.sources, span)),
                thread: report.thread,
                other_thread: report.other.and_then(|(_, thread)| thread),
                count: 1,
            },
            span: report.span,
            other,
            read: report.read,
        });
    }

    /// Looks whether an access conflicts with earlier ones, and remembers it.
    pub fn record(
        &mut self,
        (number, len): (ObjectNumber, usize),
        object: &Object,
        bytes: impl Iterator<Item = usize>,
        access: &Rc<Access>,
    ) {
        let memory = usize::from(object.space == Space::Threadgroup);
        let mut histories = self.histories.remove(&number).unwrap_or_default();
        histories.resize_with(len, || None);
        let mut conflicts: Vec<(usize, Rc<Access>)> = Vec::new();
        for byte in bytes {
            let history = histories[byte].get_or_insert_default();
            let reads = history.reads.iter().filter(|_| access.writes);
            for earlier in history.writes.iter().chain(reads) {
                let is_free =
                    (access.is_atomic && earlier.is_atomic) || access.is_after(earlier, memory);
                let is_known = conflicts
                    .iter()
                    .any(|(_, known)| known.span == earlier.span);
                if !is_free && !is_known {
                    conflicts.push((byte, earlier.clone()));
                }
            }
            history.add(access);
        }
        self.histories.insert(number, histories);
        for (byte, earlier) in conflicts {
            let report = Report {
                kind: FindingKind::DataRace,
                span: access.span,
                thread: access.position,
                other: Some((earlier.span, Some(earlier.position))),
                read: None,
            };
            self.report(&report, |sources| {
                format!(
                    "thread {} {} byte {byte} of `{}`, which thread {} {} at {}, and nothing orders the two",
                    position(access.position),
                    access.verb(),
                    object.name,
                    position(earlier.position),
                    earlier.verb(),
                    SourcePlace::of(sources, earlier.span)
                )
            });
        }
    }

    /// Forgets the accesses to an object whose number will mean another one.
    pub fn forget(&mut self, number: ObjectNumber) {
        self.histories.remove(&number);
    }

    /// A barrier that `absent` does not reach with `present`.
    pub fn missed_barrier(
        &mut self,
        (span, present): (Span, [u64; 3]),
        (elsewhere, absent, finished): (Span, [u64; 3], bool),
        group: &str,
    ) {
        let report = Report {
            kind: FindingKind::MissedBarrier,
            span,
            thread: present,
            other: Some((elsewhere, Some(absent))),
            read: None,
        };
        self.report(&report, |sources| {
            let place = SourcePlace::of(sources, elsewhere);
            let deed = if finished {
                format!("has finished (at {place})")
            } else {
                format!("is at {place}")
            };
            format!(
                "thread {} waits for all threads of its {group}, but thread {} {deed}",
                position(present),
                position(absent),
            )
        });
    }

    /// A lane that reads from lane `from`, which takes no part.
    pub fn inactive_lane(&mut self, span: Span, thread: [u64; 3], from: u32) {
        let report = Report {
            kind: FindingKind::InactiveLane,
            span,
            thread,
            other: None,
            read: None,
        };
        self.report(&report, |_| {
            format!(
                "thread {} reads from lane {from}, which is not active here",
                position(thread)
            )
        });
    }

    fn simple(&mut self, kind: FindingKind, span: Span, thread: [u64; 3], what: &str) {
        let report = Report {
            kind,
            span,
            thread,
            other: None,
            read: None,
        };
        self.report(&report, |_| format!("thread {} {what}", position(thread)));
    }

    fn undefined(&mut self, origin: Origin, span: Span, thread: [u64; 3]) {
        let unwritten = self.unwritten[origin as usize - 1].clone();
        let report = Report {
            kind: FindingKind::UndefinedValue,
            span,
            thread,
            other: Some((unwritten.declared, None)),
            read: unwritten.read,
        };
        self.report(&report, |sources| {
            format!(
                "thread {} uses bytes of `{}` (declared at {}) that nothing wrote",
                position(thread),
                unwritten.variable,
                SourcePlace::of(sources, unwritten.declared)
            )
        });
    }

    /// All findings in the order of their places. Undefined values that were read in a race are the
    /// race's consequence and left out.
    pub fn finish(self) -> Vec<Finding> {
        let races: Vec<Span> = self
            .found
            .iter()
            .filter(|found| found.finding.kind == FindingKind::DataRace)
            .flat_map(|found| [Some(found.span), found.other])
            .flatten()
            .collect();
        let mut found = self.found;
        found.retain(|found| !found.read.is_some_and(|read| races.contains(&read)));
        found.sort_by_key(|found| (found.span.start, found.other.map(|span| span.start)));
        found.into_iter().map(|found| found.finding).collect()
    }
}

fn position(thread: [u64; 3]) -> String {
    format!("({}, {}, {})", thread[0], thread[1], thread[2])
}

impl Machine<'_, '_> {
    /// A value is used in a way that depends on its bytes.
    pub fn use_value(&mut self, thread: &Thread, value: Handle<Value>, span: Span) {
        if self.checker.is_some() {
            let function = &self.module.functions[thread.frame().function];
            self.use_data(thread, thread.value(value), function.values[value].ty, span);
        }
    }

    /// As [`Self::use_value`], of a value of this type.
    pub fn use_data(&mut self, thread: &Thread, data: &Data, ty: Handle<Type>, span: Span) {
        let Some(checker) = &mut self.checker else {
            return;
        };
        if data.undefined.is_empty() {
            return;
        }
        let ranges = self.shapes.data(ty);
        let mut bytes = ranges.iter().cloned().flatten();
        if let Some(byte) = bytes.find(|&byte| data.undefined[byte] != 0) {
            checker.undefined(data.undefined[byte], span, thread.position);
        }
    }

    /// An index that its array does not have.
    pub fn report_index(
        &mut self,
        thread: &Thread,
        span: Span,
        index: i128,
        count: u32,
        whole: &Type,
    ) {
        let parts = match whole {
            Type::Vector(..) => "a vector",
            Type::Matrix { .. } => "the columns of a matrix",
            _ => "an array",
        };
        if let Some(checker) = &mut self.checker {
            let what = format!("takes element {index} of {parts} of {count}");
            checker.simple(FindingKind::IndexOutOfRange, span, thread.position, &what);
        }
    }

    /// Operands that an operator has no plain result for.
    pub fn check_operands(
        &mut self,
        thread: &Thread,
        span: Span,
        (op, scalar): (BinaryOp, Scalar),
        right: &[Number],
    ) {
        let Some(checker) = &mut self.checker else {
            return;
        };
        if !scalar.is_integer() {
            return;
        }
        let is_wrong = |number: &&Number| match op {
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
                !(0..i128::from(scalar.bits())).contains(&number.integer())
            }
            BinaryOp::Divide | BinaryOp::Remainder => number.integer() == 0,
            _ => false,
        };
        let Some(number) = right.iter().find(is_wrong) else {
            return;
        };
        let (kind, what) = match op {
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => (
                FindingKind::ShiftCount,
                format!(
                    "shifts a {} of {} bits by {}",
                    scalar.name(),
                    scalar.bits(),
                    number.integer()
                ),
            ),
            _ => (FindingKind::DivisionByZero, "divides by zero".to_string()),
        };
        checker.simple(kind, span, thread.position, &what);
    }
}
