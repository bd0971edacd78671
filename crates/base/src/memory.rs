//! Memory still available to this process.
//!
//! A failed allocation aborts the program, and overcommitted memory gets it killed. Sizes from files and jobs
//! are therefore checked against [`available`] before allocation.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Reserve for small buffers, file writers and thread stacks, which are not counted individually.
const RESERVE: u64 = 8 << 20;

/// The limit of [`set_limit`]; `u64::MAX` without one.
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Limits the memory of this process, as the user demands. Large freed blocks return to the system, as glibc
/// would otherwise keep up to 32 MiB of each, which count as used.
pub fn set_limit(bytes: u64) {
    LIMIT.store(bytes, Relaxed);
    tune_allocator(Mallopt::TrimThreshold, 1 << 18);
    tune_allocator(Mallopt::MmapThreshold, 1 << 18);
}

/// Parameters of glibc's mallopt(3).
#[derive(Clone, Copy)]
enum Mallopt {
    TrimThreshold = -1,
    MmapThreshold = -3,
    ArenaMax = -8,
}

/// Sets a parameter of glibc's allocator; other systems have none.
fn tune_allocator(parameter: Mallopt, value: i32) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn mallopt(parameter: i32, value: i32) -> i32;
        }
        // SAFETY: sets a number inside the allocator, as mallopt(3) allows at any time. The result tells
        // whether it succeeded and is not needed.
        unsafe { mallopt(parameter as i32, value) };
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = (parameter, value);
}

/// The limit that the user set.
pub fn limit() -> Option<u64> {
    Some(LIMIT.load(Relaxed)).filter(|&limit| limit < u64::MAX)
}

/// Bytes still available: the minimum of the machine's `MemAvailable`, the limits of this process's control
/// groups, the rest of its address space (`RLIMIT_AS`) and that of the user's limit, less a reserve of 8 MiB.
/// `None` if neither the system nor the user sets a limit.
pub fn available() -> Option<u64> {
    // Fuzzing must not depend on the machine's load, and this query takes as long as reading an input. The
    // constant is half of the limit in scripts/fuzz.
    if cfg!(fuzzing) {
        return Some(1 << 30);
    }
    available_under(Path::new("/")).map(|bytes| bytes.saturating_sub(RESERVE))
}

/// Makes all threads share one allocator arena if the address space is limited; call before starting threads.
/// glibc otherwise reserves 64 MiB of address space per thread if it can. These reservations count as used.
/// Under a low limit they fail, so that a job could fit there but be refused under a higher limit.
pub fn share_arenas() {
    if std::fs::read_to_string("/proc/self/limits").is_ok_and(|limits| address_space(&limits).is_some()) {
        tune_allocator(Mallopt::ArenaMax, 1);
    }
}

/// The work needs more memory than is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("needs {} MiB of memory, but only {} MiB is free", .needed.div_ceil(1 << 20), .free >> 20)]
pub struct InsufficientMemory {
    /// Needed memory in bytes.
    pub needed: u64,
    /// Free memory in bytes.
    pub free: u64,
}

/// Rejects work that needs more bytes than are [`available`].
///
/// # Errors
/// [`InsufficientMemory`].
pub fn check(needed: u64) -> Result<(), InsufficientMemory> {
    match available().filter(|&free| needed > free) {
        Some(free) => Err(InsufficientMemory { needed, free }),
        None => Ok(()),
    }
}

/// A vector of `count` copies of `value`.
///
/// # Errors
/// [`InsufficientMemory`].
pub fn filled<T: Clone>(count: usize, value: T) -> Result<Vec<T>, InsufficientMemory> {
    let needed = (count as u64).saturating_mul(size_of::<T>() as u64);
    let insufficient = || InsufficientMemory { needed, free: available().unwrap_or(0) };
    let mut values = room(count).ok_or_else(insufficient)?;
    values.resize(count, value);
    Ok(values)
}

/// An empty vector with capacity for exactly `count` values; `None` if that exceeds [`available`].
pub fn room<T>(count: usize) -> Option<Vec<T>> {
    let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
    let mut values = Vec::new();
    let fits = available().is_none_or(|free| bytes <= free) && values.try_reserve_exact(count).is_ok();
    fits.then_some(values)
}

fn available_under(root: &Path) -> Option<u64> {
    let text = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_default();
    let machine = kilobytes(&text("proc/meminfo"), "MemAvailable:");
    let groups = text("proc/self/cgroup").lines().filter_map(|line| group_left(root, line)).min();
    let used = || kilobytes(&text("proc/self/status"), "RssAnon:").unwrap_or(0);
    let users = limit().map(|limit| limit.saturating_sub(used()));
    [machine, groups, addresses_under(root), users].into_iter().flatten().min()
}

/// Free bytes of this process's address space; `None` without a limit.
pub fn addresses() -> Option<u64> {
    addresses_under(Path::new("/"))
}

fn addresses_under(root: &Path) -> Option<u64> {
    let text = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_default();
    Some(
        address_space(&text("proc/self/limits"))?
            .saturating_sub(kilobytes(&text("proc/self/status"), "VmSize:")?),
    )
}

/// A value such as `MemAvailable:  2048 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
}

/// The soft limit of the address space in /proc/self/limits, in bytes; `None` if it is unlimited.
fn address_space(limits: &str) -> Option<u64> {
    limits
        .lines()
        .find_map(|line| line.strip_prefix("Max address space"))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// Free bytes of the control group on a line of /proc/self/cgroup and its ancestors; `None` without a limit.
fn group_left(root: &Path, line: &str) -> Option<u64> {
    let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
    // Version 2 has one unnamed hierarchy, version 1 a separate one for memory.
    let (mount, limit, used) = match controllers {
        "" => ("sys/fs/cgroup", "memory.max", "memory.current"),
        memory if memory.split(',').any(|controller| controller == "memory") => {
            ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
        }
        _ => return None,
    };
    let mount = root.join(mount);
    // Inside a container the path may be the host's, with the group itself mounted at the root.
    let folders = Path::new(group.trim_start_matches('/')).ancestors().map(|part| mount.join(part));
    folders.filter_map(|folder| left_in(&folder, limit, used)).min()
}

fn left_in(folder: &Path, limit: &str, used: &str) -> Option<u64> {
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let limit: u64 = text(limit)?.trim().parse().ok()?;
    let used: u64 = text(used)?.trim().parse().ok()?;
    // The page cache counts as used, but is reclaimed when memory is needed.
    let stat = text("memory.stat").unwrap_or_default();
    let files = ["inactive_file", "active_file"].iter().filter_map(|name| in_group(&stat, name)).sum();
    Some(limit.saturating_sub(used.saturating_sub(files)))
}

/// A value of memory.stat in bytes, including subgroups: NAME in version 2, `total_NAME` in version 1, where
/// NAME excludes subgroups.
fn in_group(stat: &str, name: &str) -> Option<u64> {
    let mut lines = stat.lines().rev().filter_map(|line| line.split_once(' '));
    lines.find(|(key, _)| key.strip_prefix("total_").unwrap_or(key) == name)?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        available_under(root.path())
    }

    const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal:  8000000 kB\nMemAvailable:    4096 kB\n");

    #[test]
    fn reservations_beyond_free_memory_are_refused() {
        assert_eq!(room::<u8>(1000).unwrap().capacity(), 1000);
        let free = available().unwrap();
        // An overcommitting allocator would grant this.
        assert!(room::<u8>(usize::try_from(free + free / 8).unwrap()).is_none());
        assert!(room::<f64>(usize::MAX).is_none());
        assert_eq!(filled(3, 7_u8).unwrap(), [7; 3]);
        let short = InsufficientMemory { needed: (5 << 20) + 1, free: (5 << 20) - 1 };
        assert_eq!(short.to_string(), "needs 6 MiB of memory, but only 4 MiB is free");
        assert!(check(free / 2).is_ok() && check(u64::MAX).is_err() && filled(usize::MAX, 0_u16).is_err());
    }

    #[test]
    fn available_memory_is_read_from_meminfo() {
        assert_eq!(machine(&[MEMINFO]), Some(4 << 20));
        assert_eq!(machine(&[]), None);
        for odd in ["MemAvailable: many kB", "MemAvailable: 18446744073709551615 kB", "MemAvailable: 5"] {
            assert_eq!(machine(&[("proc/meminfo", odd)]), None);
        }
        #[cfg(target_os = "linux")]
        assert!(available().is_some_and(|free| free > 1 << 20));
    }

    #[test]
    fn the_smallest_limit_in_the_cgroup_hierarchy_applies() {
        let group = ("proc/self/cgroup", "0::/jobs/mine\n");
        let mine = [
            ("sys/fs/cgroup/jobs/mine/memory.max", "3145728\n"),
            ("sys/fs/cgroup/jobs/mine/memory.current", "1048576\n"),
        ];
        assert_eq!(machine(&[MEMINFO, group, mine[0], mine[1]]), Some(2 << 20));
        let above = [
            ("sys/fs/cgroup/jobs/memory.max", "2097152\n"),
            ("sys/fs/cgroup/jobs/memory.current", "1572864\n"),
        ];
        assert_eq!(machine(&[MEMINFO, group, mine[0], mine[1], above[0], above[1]]), Some(1 << 19));
        let unlimited = ("sys/fs/cgroup/jobs/mine/memory.max", "max\n");
        assert_eq!(machine(&[MEMINFO, group, unlimited, mine[1]]), Some(4 << 20));
        // A container sees its own group at the root, even if the path is that of the host.
        let top = [("sys/fs/cgroup/memory.max", "1048576"), ("sys/fs/cgroup/memory.current", "0")];
        assert_eq!(machine(&[MEMINFO, ("proc/self/cgroup", "0::/../other"), top[0], top[1]]), Some(1 << 20));
    }

    #[test]
    fn page_cache_counts_as_available_memory() {
        let files = [
            MEMINFO,
            ("proc/self/cgroup", "5:devices:/\n4:cpu,memory:/job\n"),
            ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2097152"),
            ("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "2097152"),
            (
                "sys/fs/cgroup/memory/job/memory.stat",
                "cache 9\ninactive_file 7\nactive_file 5\ntotal_inactive_file 524288\ntotal_active_file \
                 524288\n",
            ),
        ];
        assert_eq!(machine(&files), Some(1 << 20));
    }

    #[test]
    fn the_address_space_limit_applies() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\n\
                      Max address space         3145728    unlimited     bytes\n";
        let status = ("proc/self/status", "Name: a\nVmSize:   1024 kB\n");
        assert_eq!(machine(&[MEMINFO, ("proc/self/limits", limits), status]), Some(2 << 20));
        let unlimited = limits.replace("3145728", "unlimited");
        assert_eq!(machine(&[MEMINFO, ("proc/self/limits", &unlimited), status]), Some(4 << 20));
    }
}
