//! When a query was answered on the CPU, and by which thread of the pool: what a profile says of it.

use std::sync::OnceLock;
use std::time::Instant;

use crate::knn::{Answer, Build, WarpSpan};

/// Laps of the thread that makes it, one after the other.
pub struct Laps {
    thread: u32,
    since_ns: u64,
}

impl Laps {
    pub fn start() -> Self {
        // Work that is not shared out is the caller's, which is no thread of the pool.
        let thread = rayon::current_thread_index().map_or(0, |thread| thread as u32);
        Self { thread, since_ns: now_ns() }
    }

    /// Ends a lap, and starts the next.
    pub fn lap(&mut self) -> WarpSpan {
        let start_ns = std::mem::replace(&mut self.since_ns, now_ns());
        WarpSpan { start_ns, stop_ns: self.since_ns, sm: self.thread, warp: 0 }
    }
}

/// Nanoseconds since this process asked first.
fn now_ns() -> u64 {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    BEGAN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Makes room for so many spans, where they are wanted.
pub fn make_room(spans: &mut Vec<WarpSpan>, queries: usize, build: Build) {
    spans.clear();
    if build == Build::Profiled {
        spans.resize(queries, WarpSpan::default());
    }
}

/// Appends the spans of a search's queries, if there are any, to a profile.
pub fn collect(spans: &mut Vec<WarpSpan>, answer: &mut Answer) {
    if !spans.is_empty() {
        answer.profile.get_or_insert_default().spans.append(spans);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knn::Profile;

    #[test]
    fn laps_follow_one_another() {
        let mut laps = Laps::start();
        let (first, second) = (laps.lap(), laps.lap());
        assert!(first.start_ns <= first.stop_ns && first.stop_ns == second.start_ns && second.start_ns <= second.stop_ns);
        assert_eq!((first.sm, first.warp), (0, 0), "a test is no thread of the pool");
    }

    #[test]
    fn only_the_profiled_build_has_spans() {
        let (mut spans, mut answer) = (Vec::new(), Answer::default());
        make_room(&mut spans, 3, Build::Counted);
        collect(&mut spans, &mut answer);
        assert_eq!(answer.profile, None);
        for _ in 0..2 {
            make_room(&mut spans, 3, Build::Profiled);
            collect(&mut spans, &mut answer);
        }
        assert_eq!(answer.profile.map(|Profile { phases, cycles, spans }| (phases.len(), cycles.len(), spans.len())), Some((0, 0, 6)));
    }
}
