//! What an op is tested against: its values and gradient in f64, written without its kernels, the
//! numbers to try, and how many roundings its error may add up to.
//!
//! A reference gives with each value how many roundings lead to it, and how large what was rounded
//! was: the value itself for a function of one element, the sum of magnitudes for a sum. A function
//! of Metal's library that is right within 1 ULP counts as two roundings.

/// A value that a kernel should give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Exact {
    pub value: f64,
    pub scale: f64,
    pub roundings: f64,
}

impl Exact {
    /// A value made without sums, by so many roundings.
    pub fn new(value: f64, roundings: f64) -> Self {
        Self {
            value,
            scale: value.abs(),
            roundings,
        }
    }

    /// The error that its roundings may add up to, in f32. Each is half of the last place of what
    /// it rounds; only of the last one is it known which place that is.
    pub fn tolerance(self) -> f64 {
        let relative = f64::from(f32::EPSILON) / 2.0;
        let earlier = (self.roundings - 1.0).max(0.0) * relative * self.scale;
        // Devices may flush what is below the smallest normal number.
        let is_tiny = self.value.abs() < f64::from(f32::MIN_POSITIVE);
        let underflow = match is_tiny && self.scale != 0.0 {
            true => f64::from(f32::MIN_POSITIVE),
            false => 0.0,
        };
        earlier + self.roundings.min(1.0) * self.half_unit() + underflow
    }

    /// Half of the last place of f32 numbers as large as the scale.
    pub fn half_unit(self) -> f64 {
        if self.scale == 0.0 || !self.scale.is_finite() {
            return 0.0;
        }
        let size = self.scale.max(f64::from(f32::MIN_POSITIVE));
        (size.log2().floor() - 24.0).exp2()
    }
}

/// Numbers to try.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Domain {
    /// Evenly spread over a range.
    Uniform(f64, f64),
    /// Positive, evenly spread in their logarithm.
    Logarithmic(f64, f64),
    /// Either sign, three in four positive, the magnitude evenly spread in its logarithm.
    Signed(f64, f64),
    /// All different, at least 1/64 apart.
    Distinct,
}

/// Roundings of the forward and the backward kernel of an elementwise op.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Roundings {
    pub forward: f64,
    pub backward: f64,
}

/// How an op is proven, by the shape of its work.
#[derive(Debug)]
pub(crate) enum Proof {
    Unary {
        reference: fn(f64) -> f64,
        /// dx of x and dy.
        gradient: fn(f64, f64) -> f64,
        domain: Domain,
        roundings: Roundings,
    },
    Binary {
        reference: fn(f64, f64) -> f64,
        /// da and db of a, b and dy.
        gradient: fn(f64, f64, f64) -> (f64, f64),
        domain: [Domain; 2],
        roundings: Roundings,
    },
    /// Many elements become one.
    Reduction {
        reference: fn(&[f64]) -> Exact,
        gradient: fn(&[f64], f64) -> Vec<Exact>,
        domain: Domain,
        /// Whether no elements have a value.
        empty: bool,
    },
    /// A row becomes a row.
    Row {
        reference: fn(&[f64]) -> Vec<Exact>,
        gradient: fn(&[f64], &[f64]) -> Vec<Exact>,
        domain: Domain,
    },
    /// A product of matrices.
    Matmul,
    /// The negative log-likelihood of classes.
    NegativeLogLikelihood,
    /// Copies of views, and of gradients back through them.
    Views,
    /// A step of Adam.
    Adam,
}
