//! What the checker watches for while a kernel runs.

use std::collections::HashMap;
use std::rc::Rc;

use super::Machine;
use super::findings::{Finding, FindingKind, SourcePlace};
use super::memory::{Object, ObjectNumber, Space};
use super::races::{Access, History};
use super::thread::Thread;
use super::values::{Data, Number, Origin};
use crate::diag::{Sources, Span};
use crate::ir::{BinaryOp, Handle, Scalar, Type, Value};
use crate::syntax::ast::Name;

/// Findings beyond this many are not kept.
const MOST_FINDINGS: usize = 100;

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
            for earlier in history.conflicts(access, memory) {
                if !conflicts
                    .iter()
                    .any(|(_, known)| known.span == earlier.span)
                {
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
