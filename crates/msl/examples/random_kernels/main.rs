//! Tries the executor on random kernels:
//! `cargo run --release -p msl --example random_kernels -- [--count N] [--seed S] [--cpp] [--check]`
//!
//! Kernel number j is that of seed S + j. The interpreter says the right results; with `--cpp` the
//! kernels are of what C++ has too, and a C++ compiler does. With `--check` the interpreter also has
//! to find no race and no other thing that kernels must not do.
//! At a difference the kernel is made as small as possible and printed, and the exit status is 1.
//! `--all` goes on after a difference, `--whole` leaves the kernel as it is, and `--print` prints
//! kernels and runs nothing.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)] // a tool of tests

mod tester;

use std::process::ExitCode;

use tester::cpp::Cpp;
use tester::generate::{Profile, generate};
use tester::interpreter::Interpreter;
use tester::judge::{Inputs, Reference, judge};
use tester::print::{Dialect, print};
use tester::program::Program;
use tester::report;

struct Arguments {
    count: u64,
    seed: u64,
    cpp: bool,
    check: bool,
    only_print: bool,
    all: bool,
    whole: bool,
}

fn arguments() -> Result<Arguments, String> {
    let mut arguments = Arguments {
        count: 1000,
        seed: 1,
        cpp: false,
        check: false,
        only_print: false,
        all: false,
        whole: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || {
            let value = words.next().and_then(|w| w.parse().ok());
            value.ok_or_else(|| format!("{word} needs a number"))
        };
        match word.as_str() {
            "--count" => arguments.count = number()?,
            "--seed" => arguments.seed = number()?,
            "--cpp" => arguments.cpp = true,
            "--check" => arguments.check = true,
            "--print" => arguments.only_print = true,
            "--whole" => arguments.whole = true,
            "--all" => arguments.all = true,
            _ => return Err(format!("there is no option {word}")),
        }
    }
    Ok(arguments)
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let profile = match arguments.cpp {
        true => Profile::Common,
        false => Profile::Full,
    };
    let seeds: Vec<u64> = (0..arguments.count).map(|j| arguments.seed + j).collect();
    if arguments.only_print {
        for seed in seeds {
            let text = print(&generate(seed, profile), Dialect::Metal);
            println!("// seed {seed}\n{text}");
        }
        return ExitCode::SUCCESS;
    }
    let cpp = if arguments.cpp { Cpp::find() } else { None };
    if arguments.cpp && cpp.is_none() {
        eprintln!("there is no C++ compiler");
        return ExitCode::from(2);
    }
    let interpreter = Interpreter {
        check: arguments.check,
    };
    let reference: &dyn Reference = match &cpp {
        Some(cpp) => cpp,
        None => &interpreter,
    };
    let reference = Some(reference);
    let inputs = Inputs::new();
    let mut failed = 0;
    for (batch, seeds) in seeds.chunks(50).enumerate() {
        // Said before: a back end that writes where it must not could end the process.
        println!("seeds {} to {}", seeds[0], seeds[seeds.len() - 1]);
        let programs: Vec<Program> = seeds.iter().map(|&s| generate(s, profile)).collect();
        let failures = judge(&programs, &inputs, reference);
        for ((seed, program), failure) in seeds.iter().zip(programs).zip(failures) {
            if let Some(failure) = failure {
                failed += 1;
                let (program, failure) = match arguments.whole {
                    true => (program, failure),
                    false => report::smallest(program, failure, &inputs, reference),
                };
                println!("seed {seed}, {}", report::report(&program, &failure));
                if !arguments.all {
                    return ExitCode::FAILURE;
                }
            }
        }
        println!("{} kernels, {failed} failed", batch * 50 + seeds.len());
    }
    match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
