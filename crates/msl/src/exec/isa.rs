//! One instruction's loop over lanes, compiled for several instruction sets and chosen at run time.

use super::machine::{Instruction, Machine};

/// The instruction sets that loops are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// What the target always has: SSE2 on x86-64, NEON on AArch64.
    Baseline,
    /// AVX2 with FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 as servers and recent desktops have it.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// The best one that this processor has.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512cd");
            match (avx512, avx2) {
                (true, _) => Self::Avx512,
                (false, true) => Self::Avx2,
                _ => Self::Baseline,
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Self::Baseline
    }

    /// All that this processor has.
    pub fn available() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            match Self::detect() {
                Self::Avx512 => vec![Self::Baseline, Self::Avx2, Self::Avx512],
                Self::Avx2 => vec![Self::Baseline, Self::Avx2],
                Self::Baseline => vec![Self::Baseline],
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        vec![Self::Baseline]
    }

    /// Its usual name.
    pub const fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "aarch64")]
            Self::Baseline => "NEON",
            #[cfg(not(target_arch = "aarch64"))]
            Self::Baseline => "baseline",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "AVX-512",
        }
    }
}

/// The code of an instruction.
///
/// # Safety
///
/// The instruction must have been assembled for the program that the machine was set up for, and
/// the processor must have the instruction set that it was chosen for.
pub type Run = unsafe fn(&mut Machine<'_>, &Instruction);

/// An instruction, written once. `run` must be `#[inline(always)]`, so that each version compiles
/// it anew.
pub trait Lanes {
    /// Runs it.
    ///
    /// # Safety
    ///
    /// As [`Run`].
    unsafe fn run(machine: &mut Machine<'_>, instruction: &Instruction);
}

/// The version of `L` for an instruction set.
pub fn version<L: Lanes>(isa: Isa) -> Run {
    match isa {
        Isa::Baseline => baseline::<L>,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::<L>,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::<L>,
    }
}

unsafe fn baseline<L: Lanes>(machine: &mut Machine<'_>, instruction: &Instruction) {
    // SAFETY: the caller keeps `Run`'s promise.
    unsafe { L::run(machine, instruction) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn avx2<L: Lanes>(machine: &mut Machine<'_>, instruction: &Instruction) {
    // SAFETY: the caller keeps `Run`'s promise.
    unsafe { L::run(machine, instruction) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt"
)]
unsafe fn avx512<L: Lanes>(machine: &mut Machine<'_>, instruction: &Instruction) {
    // SAFETY: the caller keeps `Run`'s promise.
    unsafe { L::run(machine, instruction) }
}
