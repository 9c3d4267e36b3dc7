//! Whether numbers are right within their roundings.

use crate::ops::proof::Exact;

/// The largest error in units of the last place, or what is wrong first.
pub(super) fn compare(
    found: &[f32],
    expected: &[Exact],
    signed_zeroes: bool,
) -> Result<f64, String> {
    if found.len() != expected.len() {
        return Err(format!(
            "there are {} elements, not {}",
            found.len(),
            expected.len()
        ));
    }
    let mut worst = 0.0f64;
    for (i, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let nearest = expected.value as f32;
        let same_sign = found.is_sign_negative() == nearest.is_sign_negative();
        if nearest.is_nan() || nearest.is_infinite() {
            if found.to_bits() == nearest.to_bits() || (found.is_nan() && nearest.is_nan()) {
                continue;
            }
            return Err(format!("element {i} is {found:e}, not {nearest:e}"));
        }
        let error = (f64::from(found) - expected.value).abs();
        let bound = expected.tolerance();
        let is_close = error <= bound;
        if !is_close || (signed_zeroes && nearest == 0.0 && found == 0.0 && !same_sign) {
            return Err(format!(
                "element {i} is {found:e}, not {:e}: off by {error:.3e}, of which {bound:.3e} is \
                 allowed",
                expected.value
            ));
        }
        let unit = expected.half_unit();
        if unit > 0.0 && expected.value.abs() >= f64::from(f32::MIN_POSITIVE) {
            worst = worst.max(error / (2.0 * unit));
        }
    }
    Ok(worst)
}

/// A way to be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    Negated,
    /// By a factor of 1.01.
    Scaled,
    /// Each element in its opposite's place.
    Swapped,
    /// The largest element is 0.
    Dropped,
}

impl Control {
    pub const ALL: [Self; 4] = [Self::Negated, Self::Scaled, Self::Swapped, Self::Dropped];

    /// Wrong numbers; none if they would be right.
    pub fn apply(self, right: &[f32]) -> Option<Vec<f32>> {
        let mut wrong = right.to_vec();
        match self {
            Self::Negated => wrong.iter_mut().for_each(|v| *v = -*v),
            Self::Scaled => wrong.iter_mut().for_each(|v| *v *= 1.01),
            Self::Swapped => wrong.reverse(),
            Self::Dropped => {
                let size = |v: &&mut f32| if v.is_finite() { v.abs() } else { -1.0 };
                let largest = wrong.iter_mut().max_by(|a, b| size(a).total_cmp(&size(b)));
                if let Some(largest) = largest {
                    *largest = 0.0;
                }
            }
        }
        let differs = |(a, b): (&f32, &f32)| a != b && !(a.is_nan() && b.is_nan());
        wrong.iter().zip(right).any(differs).then_some(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(found: f32, value: f64, count: f64) -> bool {
        compare(&[found], &[Exact::new(value, count)], true).is_ok()
    }

    #[test]
    fn a_rounding_is_half_of_the_last_place() {
        let third = 1.0 / 3.0;
        assert!(judge(third as f32, third, 1.0));
        let next = f32::from_bits((third as f32).to_bits() + 1);
        assert!(!judge(next, third, 1.0));
        assert!(judge(next, third, 3.0));
        assert!(judge(1.0, 1.0, 0.0) && !judge(1.0 + f32::EPSILON, 1.0, 0.0));
    }

    #[test]
    fn special_numbers_must_be_themselves() {
        assert!(judge(f32::NAN, f64::NAN, 1.0) && !judge(1.0, f64::NAN, 9.0));
        assert!(!judge(f32::NAN, 1.0, 9.0));
        assert!(judge(f32::INFINITY, 1e300, 1.0) && !judge(f32::NEG_INFINITY, 1e300, 1.0));
        assert!(!judge(f32::MAX, f64::INFINITY, 1.0));
        assert!(judge(-0.0, -0.0, 1.0) && !judge(0.0, -0.0, 1.0));
        assert!(judge(0.0, 1e-40, 1.0), "a device may flush");
    }

    #[test]
    fn controls_are_wrong_or_not_given() {
        let right = [1.0, -2.0, 3.0];
        for control in Control::ALL {
            assert_ne!(control.apply(&right).unwrap(), right, "{control:?}");
            assert!(control.apply(&[0.0, 0.0]).is_none());
        }
        assert_eq!(Control::Dropped.apply(&right).unwrap(), [1.0, -2.0, 0.0]);
        assert!(Control::Swapped.apply(&[1.0, 2.0, 1.0]).is_none());
    }
}
