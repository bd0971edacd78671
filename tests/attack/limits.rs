//! Runs the program with limited memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::jobs::TestDir;

/// Memory of threads that `--version` does not start: stacks of 2 MiB for one thread per core and four
/// others, and small buffers.
const THREADS: u64 = 4;

/// How memory is limited.
#[derive(Clone, Copy)]
pub enum MemoryLimit {
    AddressSpace,
    Group,
}

/// How a command ended.
#[derive(Debug)]
pub enum Outcome {
    Done,
    /// With this error line.
    Refused(String),
    /// In a forbidden way.
    Broken(String),
}

impl Outcome {
    pub fn mark(&self) -> char {
        match self {
            Self::Done => '+',
            Self::Refused(_) => '-',
            Self::Broken(_) => '!',
        }
    }
}

/// A control group, removed when dropped.
pub struct ControlGroup {
    folder: PathBuf,
    /// Its file with the peak memory in bytes.
    most: &'static str,
}

impl ControlGroup {
    /// `None` if control groups are not available.
    pub fn new() -> Option<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("warpscope-attack-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        fs::read_to_string("/proc/self/cgroup").ok()?.lines().find_map(|line| {
            let (controllers, own) = line.split_once(':')?.1.split_once(':')?;
            // Version 2 has one unnamed hierarchy; version 1 has one for memory.
            let (mount, most) = match controllers {
                "" => ("/sys/fs/cgroup", "memory.max"),
                "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
                _ => return None,
            };
            let folder = Path::new(mount).join(own.trim_start_matches('/')).join(&name);
            fs::create_dir(&folder).ok()?;
            let group = Self { folder, most };
            // The kernel creates these files, unless the folder is not a control group or its parent does not
            // delegate memory.
            [most, "cgroup.procs"].iter().all(|file| group.folder.join(file).exists()).then_some(group)
        })
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Runs the program with arguments and a limit in bytes.
pub fn run(place: &TestDir, limit: MemoryLimit, bytes: Option<u64>, args: &str) -> Outcome {
    let group = matches!(limit, MemoryLimit::Group).then(|| ControlGroup::new().unwrap());
    let limited = match (&group, bytes) {
        (_, None) => String::new(),
        (None, Some(bytes)) => format!("ulimit -v {}; ", bytes >> 10),
        (Some(group), Some(bytes)) => {
            fs::write(group.folder.join(group.most), bytes.to_string()).unwrap();
            // Disable swap. Systems without swap lack this file.
            for (file, most) in [("memory.swap.max", 0), ("memory.memsw.limit_in_bytes", bytes)] {
                let file = group.folder.join(file);
                assert!(!file.exists() || fs::write(&file, most.to_string()).is_ok(), "{}", file.display());
            }
            format!("echo $$ > {}/cgroup.procs; ", group.folder.display())
        }
    };
    // With little memory a slower engine may be chosen; more than a few minutes is a hang.
    let mut shell = Command::new("timeout");
    shell
        .args(["-s", "KILL", "300", "sh", "-c"])
        .arg(format!("{limited}exec \"$0\" {args}"))
        .arg(env!("CARGO_BIN_EXE_warpscope"));
    let output = place.run_in(&mut shell).stdin(Stdio::null()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<&str> = stderr.lines().filter(|line| !line.starts_with("note: ")).collect();
    match (output.status.code(), errors.as_slice()) {
        (Some(0), []) => Outcome::Done,
        (Some(1), [error])
            if error.starts_with("error: ")
                && !["panicked", "crashed", "defect"].iter().any(|word| error.contains(word)) =>
        {
            // A failed command must leave no output, not even a part.
            place.written().map_or_else(
                || Outcome::Refused((*error).to_owned()),
                |name| Outcome::Broken(format!("{error}, and `{name}` is left")),
            )
        }
        _ => Outcome::Broken(format!("{}: {stderr}", output.status)),
    }
}

/// The lowest limit in MiB for commands: where `--version` succeeds, plus room for threads. Below it the
/// loader or a thread's start fails before the program can report anything.
pub fn floor(place: &TestDir, limit: MemoryLimit) -> u64 {
    let (mut fails, mut works) = (0_u64, 512);
    while works - fails > 1 {
        let middle = fails.midpoint(works);
        let done = matches!(run(place, limit, Some(middle << 20), "--version"), Outcome::Done);
        *(if done { &mut works } else { &mut fails }) = middle;
    }
    works + 2 * (std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64) + THREADS) + 8
}

/// Errors in how a command ended, without a limit and then at decreasing limits.
pub fn faults(name: &str, limits: &[u64], ends: &[Outcome]) -> Vec<String> {
    let mut faults = Vec::new();
    if !matches!(ends[0], Outcome::Done) {
        faults.push(format!("{name} without a limit: {:?}", ends[0]));
    }
    let mut refused = None;
    for (mib, end) in limits.iter().zip(&ends[1..]) {
        match (end, refused) {
            (Outcome::Broken(why), _) => faults.push(format!("{name} in {mib} MiB: {why}")),
            (Outcome::Refused(why), None) => refused = Some((mib, why)),
            (Outcome::Done, Some((above, why))) => {
                faults.push(format!("{name} succeeds in {mib} MiB, but not in {above}: {why}"))
            }
            _ => {}
        }
    }
    faults
}

/// Limits in MiB from far above a floor down to it.
pub fn falling(floor: u64, all: bool) -> Vec<u64> {
    let above: &[u64] = if all {
        &[2048, 1024, 768, 512, 384, 256, 192, 160, 128, 112, 96, 80, 64, 48, 32, 24, 16, 8, 4, 0]
    } else {
        &[64, 32, 16, 0]
    };
    above.iter().map(|mib| floor + mib).collect()
}
