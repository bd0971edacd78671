//! Runs commands with less and less memory. At each limit a command must succeed or fail with a one-line
//! error and exit code 1; once it fails, it must fail at every lower limit. Files that never end, never
//! begin, or change while they are read must be refused or read consistently. The program must not connect to
//! a socket in a world-writable folder.
//!
//! By default this runs a few commands at few limits. `scripts/attack` (`WARPSCOPE_ATTACK=all`) runs the
//! whole table with larger data, also in a control group where possible, and prints the table.

#![cfg(target_os = "linux")]

#[path = "attack/changing_files.rs"]
mod changing_files;
#[path = "attack/config_files.rs"]
mod config_files;
#[path = "attack/jobs.rs"]
mod jobs;
#[path = "attack/limits.rs"]
mod limits;
#[path = "attack/listener.rs"]
mod listener;

use jobs::{JOBS, JobKind, TestDir};
use limits::{ControlGroup, MemoryLimit, Outcome};
use rayon::prelude::*;

/// Whether to run the whole table.
fn everything() -> bool {
    std::env::var_os("WARPSCOPE_ATTACK").is_some_and(|value| value == "all")
}

/// Runs the commands of a kind at decreasing limits and prints a row for each. Runs are independent, each in
/// its own folder.
fn lower_limits(kind: JobKind) {
    let place = TestDir::new(everything());
    let grouped = everything() && ControlGroup::new().is_some();
    if everything() && !grouped {
        println!("no control group can be made here: limits of the address space only");
    }
    let mut broken = Vec::new();
    for limit in [MemoryLimit::AddressSpace].into_iter().chain(grouped.then_some(MemoryLimit::Group)) {
        let limits = limits::falling(limits::floor(&place, limit), everything());
        let jobs: Vec<_> =
            JOBS.iter().filter(|job| job.kind == kind && (job.short || everything())).collect();
        // First without a limit: a failure there has nothing to do with memory.
        let runs: Vec<_> = jobs
            .iter()
            .flat_map(|&job| {
                [None].into_iter().chain(limits.iter().copied().map(Some)).map(move |mib| (job, mib))
            })
            .collect();
        let ends: Vec<Outcome> = runs
            .par_iter()
            .map(|(job, mib)| limits::run(&place.copy(), limit, mib.map(|mib| mib << 20), job.args))
            .collect();
        for ((job, _), ends) in runs.iter().step_by(1 + limits.len()).zip(ends.chunks(1 + limits.len())) {
            let marks = limits.iter().zip(&ends[1..]).map(|(mib, end)| format!(" {mib}:{}", end.mark()));
            println!("{:24}{}", job.name, marks.collect::<String>());
            broken.extend(limits::faults(job.name, &limits, ends));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn searches_fail_cleanly_when_memory_is_limited() {
    lower_limits(JobKind::Search);
}

#[test]
fn lessons_fail_cleanly_when_memory_is_limited() {
    lower_limits(JobKind::Lesson);
}

#[test]
fn remaining_commands_fail_cleanly_when_memory_is_limited() {
    lower_limits(JobKind::Other);
}
