#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, which the lint does not know as such
//! Kernels with planted faults in `faulty/`, of which the checker must find exactly those, and
//! right ones in `faulty/clean/`, in which it must find nothing.
//!
//! The first line of a faulty kernel says what is expected: `// expect: KIND LINE [OTHER LINE]`,
//! several after semicolons; a race's lines are in ascending order. A line
//! `// grid THREADS group THREADS` asks for a grid other than one threadgroup of 64.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use msl::interpret::{Dispatch, Error, Finding, FindingKind, run};

/// The kernels of a folder under `tests`, by name.
fn kernels(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "metal")
        })
        .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
        .collect();
    all.sort();
    all
}

/// Runs kernel `k` checked, with 4 KiB of zeros in each buffer.
fn check(text: &str) -> Result<Vec<Finding>, Error> {
    let compilation = msl::compile("k.metal", text, &msl::syntax::Options::default())
        .unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    let size = text.lines().find_map(|line| line.strip_prefix("// grid "));
    let (grid, group) = size.map_or((64, 64), |size| {
        let (grid, group) = size.split_once(" group ").unwrap();
        (grid.parse().unwrap(), group.parse().unwrap())
    });
    let mut memory = vec![vec![0; 4096]; 4];
    let mut buffers: Vec<_> = memory.iter_mut().map(|m| Some(&mut m[..])).collect();
    let dispatch = Dispatch {
        grid: [grid, 1, 1],
        threadgroup: [group, 1, 1],
        buffers: &mut buffers,
        threadgroup_memory: &[(0, 1024)],
        constants: &BTreeMap::new(),
        check: true,
        step_limit: Some(10_000_000),
        interrupt: None,
    };
    run(&compilation, "k", dispatch)
}

/// A finding as the expectations spell it.
fn spelled(finding: &Finding) -> String {
    let mut lines = vec![finding.place.line];
    let other = finding.other_place.as_ref().map(|place| place.line);
    lines.extend(other);
    if finding.kind == FindingKind::DataRace {
        lines.sort_unstable();
        lines.dedup();
    }
    let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
    format!("{} {}", finding.kind, lines.join(" "))
}

#[test]
fn planted_faults_are_found_and_nothing_else() {
    let mut wrong = String::new();
    let all = kernels("faulty");
    for (path, text) in &all {
        let expected = text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("// expect: "));
        let mut expected: Vec<_> = expected.unwrap().split("; ").map(str::to_string).collect();
        expected.sort();
        let name = path.file_stem().unwrap().to_string_lossy();
        let findings = match check(text) {
            Ok(findings) => findings,
            Err(error) => {
                wrong += &format!("{name}: {error}\n");
                continue;
            }
        };
        let mut found: Vec<_> = findings.iter().map(spelled).collect();
        found.sort();
        if found != expected {
            wrong += &format!("{name}: expected {expected:?}, found {found:?}\n");
            for finding in findings {
                wrong += &format!("    {finding}\n");
            }
        }
    }
    assert!(all.len() >= 25, "only {} kernels", all.len());
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn nothing_is_found_in_kernels_that_are_right() {
    let mut wrong = String::new();
    let all = kernels("faulty/clean");
    for (path, text) in &all {
        match check(text) {
            Ok(findings) if findings.is_empty() => {}
            Ok(findings) => {
                for finding in findings {
                    wrong += &format!("{}: {finding}\n", path.display());
                }
            }
            Err(error) => wrong += &format!("{}: {error}\n", path.display()),
        }
    }
    assert!(all.len() >= 10, "only {} kernels", all.len());
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn only_the_first_hundred_findings_are_kept() {
    let lines = "out[i] = 1 / x[i];\n".repeat(120);
    let text = format!(
        "#include <metal_stdlib>\nusing namespace metal;\n
         kernel void k(device int* out, device int* x, uint i [[thread_position_in_grid]]) {{
         {lines} }}"
    );
    let findings = check(&text).unwrap();
    assert_eq!(findings.len(), 100);
    assert!(findings.iter().all(|finding| finding.count == 64));
}

#[test]
fn a_finding_is_one_sentence_with_both_places_and_threads() {
    let find = |name: &str| {
        let all = kernels("faulty");
        let (_, text) = all
            .iter()
            .find(|(path, _)| path.file_stem().is_some_and(|stem| stem == name))
            .unwrap();
        check(text).unwrap()[0].to_string()
    };
    let all: Vec<String> = [
        "race_missing_barrier",
        "undefined_component",
        "barrier_after_an_early_return",
        "barrier_two_in_two_branches",
        "lane_shuffle_from_the_other_branch",
        "index_inside_a_structure",
        "shift_by_the_width",
        "division_by_zero",
    ]
    .map(find)
    .into();
    insta::assert_snapshot!(all.join("\n"), @"
    k.metal:7:5: data race: thread (32, 0, 0) writes byte 128 of `t`, which thread (31, 0, 0) reads at k.metal:8:14, and nothing orders the two (64 times)
    k.metal:9:5: undefined value: thread (0, 0, 0) uses bytes of `v` (declared at k.metal:6:12) that nothing wrote (64 times)
    k.metal:7:5: missed barrier: thread (0, 0, 0) waits for all threads of its threadgroup, but thread (60, 0, 0) has finished (at k.metal:6:18)
    k.metal:7:9: missed barrier: thread (0, 0, 0) waits for all threads of its threadgroup, but thread (1, 0, 0) is at k.metal:9:9
    k.metal:7:25: inactive lane: thread (0, 0, 0) reads from lane 1, which is not active here (32 times)
    k.metal:8:14: index out of range: thread (4, 0, 0) takes element 4 of an array of 4 (12 times)
    k.metal:6:14: shift count: thread (62, 0, 0) shifts a uint of 32 bits by 32 (2 times)
    k.metal:6:14: division by zero: thread (0, 0, 0) divides by zero (64 times)
    ");
}
