//! The machine of a run, and its load during the run, to judge whether times of two runs are comparable.

use std::fs;

use serde::{Deserialize, Serialize};

use crate::engines::cpu;

/// Properties that the system reports; unknown ones are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Model of the CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// Logical cores, including those that this program may not use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Frequency governor of the first core: `performance`, `powersave`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// Load average of the last minute at the start of the run: running and waiting threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_start: Option<f64>,
    /// The load average at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_end: Option<f64>,
    /// Fraction of the runnable time of this program's threads that they waited for a core during warm-ups
    /// and repeats, 0 to 1. Only for searches on the CPU with no more threads than cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<f64>,
}

impl Machine {
    /// The state at the start of a run.
    pub fn now() -> Self {
        Self {
            cpu: cpu::model(),
            cores: cores(),
            governor: governor(),
            load_start: load(),
            load_end: None,
            waited: None,
        }
    }

    /// `8.3 to 8.7`; `None` if unknown.
    pub fn load(&self) -> Option<String> {
        let (start, end) = (self.load_start?, self.load_end?);
        Some(if start == end { start.to_string() } else { format!("{start} to {end}") })
    }

    /// Why other work may have affected the times of a run: `the load was 8.7 on 2 cores, and its threads
    /// waited 74 % of their time for a core`.
    pub fn load_warning(&self) -> Option<String> {
        /// Waiting above the level of noise.
        const NOISE: f64 = 0.05;
        if self.waited.is_some_and(|share| share <= NOISE) {
            return None;
        }
        let cores = self.cores.unwrap_or(u32::MAX);
        // If the waiting time is unknown, a load of up to one above the number of cores may be this program's
        // own.
        let most = f64::from(cores) + if self.waited.is_some() { 0.0 } else { 1.0 };
        let load =
            self.load_start.into_iter().chain(self.load_end).reduce(f64::max).filter(|load| *load > most);
        let load = load.map(|load| {
            format!("the load was {load} on {}", crate::text::count(u64::from(cores), "core", "cores"))
        });
        let waited = self
            .waited
            .map(|share| format!("its threads waited {:.0} % of their time for a core", share * 100.0));
        let warnings: Vec<String> = load.into_iter().chain(waited).collect();
        (!warnings.is_empty()).then(|| warnings.join(", and "))
    }
}

/// Load average of the last minute, for the whole machine.
pub(super) fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

fn cores() -> Option<u32> {
    let of_stat = |text: String| {
        text.lines()
            .filter(|line| {
                line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
            })
            .count()
    };
    let counted = fs::read_to_string("/proc/stat").map(of_stat).unwrap_or(0);
    let own = || std::thread::available_parallelism().map_or(0, usize::from);
    u32::try_from(if counted > 0 { counted } else { own() }).ok().filter(|cores| *cores > 0)
}

fn governor() -> Option<String> {
    let text = fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").ok()?;
    Some(text.trim().to_owned()).filter(|governor| !governor.is_empty())
}

/// Nanoseconds that this program's threads have run and waited for a core so far. Linux only.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SchedulerStats {
    ran: u64,
    waited: u64,
}

impl SchedulerStats {
    pub fn now() -> Option<Self> {
        let mut all = Self::default();
        for thread in fs::read_dir("/proc/self/task").ok()?.flatten() {
            // The thread may have ended.
            let Ok(text) = fs::read_to_string(thread.path().join("schedstat")) else { continue };
            let mut numbers = text.split_whitespace().map_while(|number| number.parse::<u64>().ok());
            all.ran += numbers.next()?;
            all.waited += numbers.next()?;
        }
        Some(all)
    }

    /// The fraction of the time since then that threads waited; `None` if none ran.
    pub fn waited_since(self, start: Self) -> Option<f64> {
        let (ran, waited) = (self.ran.checked_sub(start.ran)?, self.waited.checked_sub(start.waited)?);
        (ran + waited > 0).then(|| waited as f64 / (ran + waited) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_machines_are_reported() {
        let machine = Machine {
            cores: Some(2),
            load_start: Some(1.5),
            load_end: Some(2.0),
            waited: Some(0.01),
            ..Machine::default()
        };
        assert_eq!((machine.load_warning(), machine.load().as_deref()), (None, Some("1.5 to 2")));
        assert_eq!(
            Machine { load_end: Some(8.7), ..machine.clone() }.load_warning(),
            None,
            "its threads did not \
                                                                                      wait"
        );
        let own = Machine { waited: None, load_end: Some(2.9), ..machine.clone() };
        assert_eq!(own.load_warning(), None, "the load may be its own threads");
        let busy = Machine { load_end: Some(8.7), ..own };
        assert_eq!(busy.load_warning().as_deref(), Some("the load was 8.7 on 2 cores"));
        let waited = Machine { waited: Some(0.744), ..busy };
        assert_eq!(
            waited.load_warning().as_deref(),
            Some("the load was 8.7 on 2 cores, and its threads waited 74 % of their time for a core")
        );
        assert_eq!(Machine::default().load_warning(), None, "unknown");
    }

    #[test]
    fn the_waiting_share_is_relative_to_runnable_time() {
        let at = |ran, waited| SchedulerStats { ran, waited };
        assert_eq!(at(400, 150).waited_since(at(100, 50)), Some(0.25));
        assert_eq!(at(100, 50).waited_since(at(100, 50)), None);
        assert_eq!(at(50, 50).waited_since(at(100, 50)), None, "a thread has ended");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn linux_reports_load_and_waiting_time() {
        let machine = Machine::now();
        assert!(
            machine.cores.is_some_and(|cores| cores > 0)
                && machine.load_start.is_some_and(|load| load >= 0.0),
            "{machine:?}"
        );
        let start = SchedulerStats::now().expect("schedstat");
        let mut sum = 0u64;
        while SchedulerStats::now().is_some_and(|now| now.ran < start.ran + 1_000_000) {
            sum = std::hint::black_box(sum + 1);
        }
        let share = SchedulerStats::now().and_then(|now| now.waited_since(start)).expect("it ran");
        assert!((0.0..1.0).contains(&share), "{share}");
    }
}
