//! Proof that ops are right on a device.
//!
//! For every op, from its declaration: the forward pass against a reference in f64, twice, to the
//! bit; the backward pass against the analytic gradient in f64; and that gradient against central
//! differences of the reference. Each of the three comparisons is also given wrong numbers (negated,
//! scaled, swapped, with a term dropped), which it must refuse: a check that cannot fail proves
//! nothing.
//!
//! `cases` makes the cases of an op, by family; `case` says what a case is and lays its inputs out in
//! every way a tensor can have; `check` runs one; `compare` and `differences` judge.

mod arrangement;
mod case;
mod cases;
mod check;
mod compare;
mod differences;

use crate::device::Execution;
use crate::error::{MlxError, Result};
use crate::ops::{self, Op};
use crate::tensor::Stream;

/// What came of the proof of an op.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The op's name.
    pub op: &'static str,
    /// How many comparisons were made.
    pub comparisons: usize,
    /// How many of them were given wrong numbers and refused them.
    pub controls: usize,
    /// The largest error of a forward pass, in units of the last place of what was rounded.
    pub forward_error: f64,
    /// The largest error of a backward pass, likewise; none if the op has no gradient.
    pub backward_error: Option<f64>,
    /// What is wrong, a sentence each: nothing if the op is proven.
    pub failures: Vec<String>,
}

impl Report {
    /// Whether everything was right.
    pub fn is_proven(&self) -> bool {
        self.failures.is_empty()
    }
}

/// Proves ops on the device of a stream, by its kernels: those named, or all of them. Kernels that
/// have a native implementation are proven both ways, unless the stream is one of kernel texts only.
/// `seed` chooses the numbers. `each` hears of each op as it is done.
///
/// # Errors
///
/// If a name is no op's, or no memory is left. Ops that are wrong are no error; their reports say
/// so.
///
/// ```
/// use mlx_native::{MlxDevice, Stream, verify};
/// let stream = Stream::new(&MlxDevice::new()?)?;
/// let reports = verify::verify(&stream, &["relu"], 0, |_| {})?;
/// assert!(reports[0].is_proven());
/// # Ok::<(), mlx_native::MlxError>(())
/// ```
pub fn verify(
    stream: &Stream,
    names: &[&str],
    seed: u64,
    mut each: impl FnMut(&Report),
) -> Result<Vec<Report>> {
    for name in names {
        if !ops::table().any(|op| op.name == *name) {
            return Err(MlxError::InvalidArgument(format!(
                "verify: there is no op `{name}`; `ops` lists them"
            )));
        }
    }
    let mut reports = Vec::new();
    for op in ops::table().filter(|op| names.is_empty() || names.contains(&op.name)) {
        let report = prove(stream, op, seed);
        each(&report);
        reports.push(report);
    }
    Ok(reports)
}

fn prove(stream: &Stream, op: &'static Op, seed: u64) -> Report {
    let device = stream.device();
    let mut check = check::Check::new(stream, op, seed);
    let mut result = cases::all(&mut check);
    // Where native code stood in for a kernel, its text has proven nothing yet.
    if stream.execution() == Execution::Native
        && op.kernels.iter().any(|kernel| device.has_native(kernel))
    {
        check.way = "by kernel text, ";
        // A stream of its own, so that nobody else's work changes its way.
        check.stream = stream.with_execution(Execution::KernelText);
        result = result.and_then(|()| cases::all(&mut check));
    }
    check.finish(result)
}
