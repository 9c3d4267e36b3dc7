#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, which the lint does not know as such
//! Random kernels on the executor: right results by a second opinion, the same on all instruction
//! sets, no refusal, no fault.
//!
//! `cargo run --release -p msl --example random_kernels` tries as many as you like.

#[path = "../examples/random_kernels/tester/mod.rs"]
mod tester;

use tester::cpp::Cpp;
use tester::generate::{Profile, generate};
use tester::judge::{Inputs, Reference, judge};
use tester::program::Program;
use tester::report;

/// Tries the kernels of some seeds; the first that fails is made small and shown.
fn try_seeds(seeds: std::ops::Range<u64>, profile: Profile, reference: Option<&dyn Reference>) {
    let inputs = Inputs::new();
    let programs: Vec<Program> = seeds.clone().map(|s| generate(s, profile)).collect();
    let failures = judge(&programs, &inputs, reference);
    let mut kernels = seeds.zip(programs).zip(failures);
    if let Some(((seed, program), failure)) = kernels.find(|(_, failure)| failure.is_some()) {
        let (program, failure) = report::smallest(program, failure.unwrap(), &inputs, reference);
        panic!(
            "{profile:?} seed {seed}, {}",
            report::report(&program, &failure)
        );
    }
}

#[test]
#[ignore = "the executor gets some of these kernels wrong"]
fn kernels_of_the_whole_language_run_alike_on_all_instruction_sets() {
    try_seeds(1..201, Profile::Full, None);
}

#[test]
#[ignore = "the executor gets some of these kernels wrong"]
fn kernels_that_are_also_cpp_agree_with_a_cpp_compiler() {
    match Cpp::find() {
        Some(cpp) => try_seeds(1..101, Profile::Common, Some(&cpp)),
        None => println!("not tested: there is no C++ compiler"),
    }
}

#[test]
fn a_seed_makes_the_same_kernel_every_time() {
    use tester::print::{Dialect, print};
    for profile in [Profile::Full, Profile::Common] {
        let text = || print(&generate(7, profile), Dialect::Metal);
        assert_eq!(text(), text());
    }
}

#[test]
fn a_shrunk_program_is_the_least_that_is_interesting() {
    use tester::print::{Dialect, print};
    use tester::shrink::shrink;
    // Interesting is a kernel with a loop that compiles.
    let seed = 1;
    let options = msl::syntax::Options::default();
    let interesting = |program: &Program| {
        let text = print(program, Dialect::Metal);
        text.contains("while (") && msl::compile("random.metal", &text, &options).is_ok()
    };
    let seeds = seed..100;
    let mut programs = seeds.map(|s| generate(s, Profile::Full));
    let program = programs.find(interesting).unwrap();
    let small = shrink(program, 5000, &mut |candidates| {
        candidates.iter().position(interesting)
    });
    let text = print(&small, Dialect::Metal);
    assert!(text.lines().count() < 12, "{text}");
}
