//! Falling limits of memory: at each limit a command succeeds, or is refused with one sentence and exit code 1, and once refused it is
//! refused at every lower limit. Files that never end or never begin are refused as well, and those that change while they are read. Nobody who
//! listens in a folder that everyone can write to hears of the program.
//!
//! As a test of the whole it runs few commands at few limits; `scripts/attack` (`WARPSCOPE_ATTACK=all`) runs the whole table, with larger
//! data and also in a control group where these can be made, and prints it.

#![cfg(target_os = "linux")]

#[path = "attack/changing.rs"]
mod changing;
#[path = "attack/files.rs"]
mod files;
#[path = "attack/jobs.rs"]
mod jobs;
#[path = "attack/limits.rs"]
mod limits;
#[path = "attack/listener.rs"]
mod listener;

use jobs::{JOBS, Kind, Place};
use limits::{End, Group, Limit};

/// Whether the whole table is run.
fn everything() -> bool {
    std::env::var_os("WARPSCOPE_ATTACK").is_some_and(|value| value == "all")
}

/// Runs the commands of a kind at falling limits and prints a row for each.
fn fall(kind: Kind) {
    let place = Place::new(everything());
    let group = everything().then(Group::new).flatten();
    if everything() && group.is_none() {
        println!("no control group can be made here: limits of the address space only");
    }
    let kinds = std::iter::once(Limit::AddressSpace).chain(group.iter().map(Limit::Group));
    let mut broken = Vec::new();
    for limit in kinds {
        let floor = limits::floor(&place, &limit);
        for job in JOBS.iter().filter(|job| job.kind == kind && (job.short || everything())) {
            let whole = limits::run(&place, &limit, None, job.args);
            assert!(matches!(whole, End::Done), "{} without a limit: {whole:?}", job.name);
            let mut refused = None;
            let mut row = format!("{:24}", job.name);
            for mib in limits::falling(floor, everything()) {
                let end = limits::run(&place, &limit, Some(mib << 20), job.args);
                row += &format!(" {mib}:{}", end.mark());
                match end {
                    End::Broken(why) => broken.push(format!("{} in {mib} MiB: {why}", job.name)),
                    End::Refused(why) => refused = refused.or(Some((mib, why))),
                    End::Done => {
                        if let Some((above, why)) = &refused {
                            broken.push(format!("{} succeeds in {mib} MiB, but not in {above}: {why}", job.name));
                        }
                    }
                }
            }
            println!("{row}");
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn searches_succeed_or_are_refused() {
    fall(Kind::Search);
}

#[test]
fn lessons_succeed_or_are_refused() {
    fall(Kind::Lesson);
}

#[test]
fn other_commands_succeed_or_are_refused() {
    fall(Kind::Other);
}
