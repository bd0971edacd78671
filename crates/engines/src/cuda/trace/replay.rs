//! Traces that are replayed to the twin's observers: a search of the tree (encoded by
//! `cuda/index/recorder.cuh`), a warp select (`cuda/select/queue_recorder.cuh`), and the passes of a radix
//! select (`cuda/select/pass_recorder.cuh`). Each is a sequence of events: a word for the kind, followed by
//! the event's data.

use super::events::TraceError;
use super::{INITIAL_WORDS, neighbours, suggest_lockstep};
use crate::Result;
/// Event kinds as numbered by the device.
pub use crate::cuda::interface::index::tree_event as tree_kind;
/// Event kinds as numbered by the device.
pub use crate::cuda::interface::select::{pass_event as pass_kind, queue_event as queue_kind};
use crate::cuda::select::{trace_radix_select, trace_warp_select};
use crate::cuda::{Cuda, index as cuda_index};
use crate::index::{self, BVH, WARP};
use crate::knn::{Neighbors, Parameters, PreparedSearch, Problem};
use crate::lockstep::{Key, Lanes, PADDING, key_of, registers_for};
use crate::select::{self, PassObserver, RADIX_SELECT, WARP_SELECT, warp_select};

struct WordReader<'a> {
    words: &'a [u32],
    /// Index of the event's first word.
    event: usize,
    next: usize,
}

impl<'a> WordReader<'a> {
    fn new(words: &'a [u32]) -> Self {
        Self { words, event: 0, next: 0 }
    }

    /// Begins the next event and returns its kind.
    fn kind(&mut self) -> Result<u32, TraceError> {
        self.event = self.next;
        self.number()
    }

    fn unknown_kind(&self, kind: u32) -> TraceError {
        TraceError::Kind { at: self.event, kind }
    }

    /// Index of the event's first word.
    fn at(&self) -> usize {
        self.event
    }

    fn take(&mut self, count: usize) -> Result<&'a [u32], TraceError> {
        let (taken, _) = self.words[self.next..]
            .split_at_checked(count)
            .ok_or(TraceError::Truncated { at: self.event })?;
        self.next += count;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, TraceError> {
        Ok(self.take(1)?[0])
    }

    /// A key of two words: position, bits of the squared distance.
    fn key(&mut self) -> Result<Key, TraceError> {
        Ok(key(self.take(2)?))
    }

    fn keys(&mut self) -> Result<Lanes<Key, WARP>, TraceError> {
        let words = self.take(2 * WARP)?;
        Ok(std::array::from_fn(|lane| key(&words[2 * lane..])))
    }

    fn queue(&mut self, registers: usize) -> Result<Vec<Lanes<Key, WARP>>, TraceError> {
        (0..registers).map(|_| self.keys()).collect()
    }

    /// Checks that no words follow the last event.
    ///
    /// # Errors
    /// [`TraceError::TrailingWords`] if words are left.
    fn end(&self) -> Result<(), TraceError> {
        if self.next < self.words.len() { Err(TraceError::TrailingWords { at: self.next }) } else { Ok(()) }
    }
}

fn key(words: &[u32]) -> Key {
    key_of(f32::from_bits(words[1]), words[0])
}

/// The recorded search of the tree, and its answer.
#[derive(Clone, Debug)]
pub struct TreeTrace {
    /// Product name of the device.
    pub device: String,
    /// The k nearest as written by the kernel, as in a [`Trace`](super::Trace).
    pub neighbours: Vec<(u32, f32)>,
    words: Vec<u32>,
}

impl TreeTrace {
    /// A trace from the words of a warp, and its answer.
    pub fn new(device: String, words: Vec<u32>, neighbours: Vec<(u32, f32)>) -> Self {
        Self { device, neighbours, words }
    }

    /// Replays the search to an observer, in order.
    ///
    /// # Errors
    /// [`TraceError`] if the words are not a valid trace; earlier events have been replayed.
    pub fn replay(&self, observer: &mut impl index::Observer) -> Result<(), TraceError> {
        let mut words = WordReader::new(&self.words);
        let mut candidates = 0;
        loop {
            match words.kind()? {
                tree_kind::OWN_LEAF => observer.own_leaf(words.number()? as usize),
                tree_kind::NODE => {
                    let (height, group) = (words.number()?, words.number()?);
                    observer.entered(height as usize, group as usize, &words.keys()?);
                }
                tree_kind::CHILD => {
                    let lane = words.number()?;
                    if lane as usize >= WARP {
                        return Err(TraceError::Lane { at: words.at(), lane });
                    }
                    observer.chosen(lane as usize, words.key()?);
                }
                tree_kind::PRUNED => observer.pruned(words.number()?),
                tree_kind::LEAF => {
                    let leaf = words.number()?;
                    candidates = words.number()?;
                    observer.visited(leaf as usize, &words.keys()?, candidates);
                }
                tree_kind::APPENDED => {
                    let placed = words.number()?;
                    if placed & !candidates != 0 {
                        return Err(TraceError::Placed { at: words.at(), placed, candidates });
                    }
                    observer.appended(placed);
                }
                tree_kind::MERGED => observer.merged(words.key()?),
                tree_kind::FILTERED_AGAIN => {
                    let rest = words.number()?;
                    candidates = words.number()?;
                    observer.filtered_again(rest, candidates);
                }
                tree_kind::FINISHED => {
                    observer.finished();
                    return words.end();
                }
                kind => return Err(words.unknown_kind(kind)),
            }
        }
    }
}

/// The recorded warp select, and its answer.
#[derive(Clone, Debug)]
pub struct QueueTrace {
    /// Product name of the device.
    pub device: String,
    /// The k nearest as written by the kernel, as in a [`Trace`](super::Trace).
    pub neighbours: Vec<(u32, f32)>,
    /// Keys per lane of the warp's queue.
    registers: usize,
    /// Keys per lane's queue.
    queue: usize,
    words: Vec<u32>,
}

impl QueueTrace {
    /// A trace from the words of a warp whose queues have the default lengths for `k`, and its answer.
    pub fn new(device: String, k: usize, words: Vec<u32>, neighbours: Vec<(u32, f32)>) -> Self {
        Self {
            device,
            neighbours,
            registers: registers_for(k, WARP),
            queue: warp_select::default_queue(k),
            words,
        }
    }

    /// Replays the search to an observer, in order. Past the last point distances are infinite. For a group
    /// without insertions neither distances nor queues were recorded: they are replayed as padding.
    ///
    /// # Errors
    /// [`TraceError`] if the words are not a valid trace; earlier events have been replayed.
    pub fn replay(&self, observer: &mut impl select::Observer<WARP>) -> Result<(), TraceError> {
        let mut words = WordReader::new(&self.words);
        loop {
            match words.kind()? {
                queue_kind::PASSED => observer.inserted(
                    words.number()? as usize,
                    &[f32::INFINITY; WARP],
                    &vec![[PADDING; WARP]; self.queue],
                ),
                queue_kind::INSERTED => {
                    let base = words.number()?;
                    let distances: Vec<f32> =
                        words.take(WARP)?.iter().map(|&bits| f32::from_bits(bits)).collect();
                    observer.inserted(base as usize, &distances, &words.queue(self.queue)?);
                }
                queue_kind::CHECKED => {
                    let largest = words.keys()?;
                    observer.checked(&largest, words.key()?);
                }
                queue_kind::DRAINED => observer.drained(),
                queue_kind::SORTED => observer.sorted(&words.queue(self.queue)?),
                queue_kind::EXCHANGED => {
                    let warp_queue = words.queue(self.registers)?;
                    observer.exchanged(&warp_queue, &words.queue(self.queue)?);
                }
                queue_kind::MERGED => observer.merged(&words.queue(self.registers)?),
                queue_kind::DESCENDED => observer.descended(&words.queue(self.queue)?),
                queue_kind::LIMITED => observer.limited(words.key()?),
                queue_kind::FINISHED => {
                    observer.finished();
                    return words.end();
                }
                kind => return Err(words.unknown_kind(kind)),
            }
        }
    }
}

/// The recorded passes of a block over a row, and its answer.
#[derive(Clone, Debug)]
pub struct PassTrace {
    /// Product name of the device.
    pub device: String,
    /// The k nearest as sorted on the device, as in a [`Trace`](super::Trace).
    pub neighbours: Vec<(u32, f32)>,
    words: Vec<u32>,
}

impl PassTrace {
    /// A trace from the words of a block, and its answer.
    pub fn new(device: String, words: Vec<u32>, neighbours: Vec<(u32, f32)>) -> Self {
        Self { device, neighbours, words }
    }

    /// Replays the selection to an observer, in order.
    ///
    /// # Errors
    /// [`TraceError`] if the words are not a valid trace; earlier events have been replayed.
    pub fn replay(&self, observer: &mut impl PassObserver) -> Result<(), TraceError> {
        let mut words = WordReader::new(&self.words);
        loop {
            match words.kind()? {
                pass_kind::COUNTED => {
                    let buckets = words.number()? as usize;
                    let counters: Vec<usize> =
                        words.take(buckets)?.iter().map(|&count| count as usize).collect();
                    observer.counted(&counters);
                }
                pass_kind::FOUND => {
                    let [bucket, below, size] =
                        [words.number()?, words.number()?, words.number()?].map(|number| number as usize);
                    observer.found(bucket, below, size);
                }
                pass_kind::NARROWED => observer.narrowed(),
                pass_kind::TAKEN => {
                    let count = words.number()?;
                    let found: Result<Vec<Key>, TraceError> = (0..count).map(|_| words.key()).collect();
                    observer.taken(&found?);
                    return words.end();
                }
                kind => return Err(words.unknown_kind(kind)),
            }
        }
    }
}

impl Cuda {
    /// Builds the tree over a problem's points and searches it for one query with the traced kernel.
    ///
    /// # Errors
    /// `EngineError::Unavailable` if the kernel cannot be compiled, `EngineError::Memory` and
    /// `EngineError::HostMemory` if tree or trace does not fit, `EngineError::Limit`,
    /// `EngineError::Device`.
    ///
    /// # Panics
    /// If `query` is out of range.
    pub fn trace_tree(&mut self, problem: &Problem, query: usize) -> Result<TreeTrace> {
        assert!(query < problem.q(), "query {query} of {}", problem.q());
        BVH.check(problem, &Parameters::default())?;
        let device = self.device.name.clone();
        let mut search = cuda_index::load(self, problem, Some(false))?;
        let words = search.trace(problem, query, INITIAL_WORDS).map_err(suggest_lockstep)?;
        let mut neighbors = Neighbors::default();
        search.download(&mut neighbors)?;
        Ok(TreeTrace::new(device, words, neighbours(&neighbors, query)))
    }

    /// Selects the k nearest of one query with the traced build of warp select, from a row of distances
    /// computed by the engine's kernel.
    ///
    /// # Errors
    /// `EngineError::Unavailable` if the kernel cannot be compiled, `EngineError::Memory` and
    /// `EngineError::HostMemory` if row or trace does not fit, `EngineError::Limit`,
    /// `EngineError::Device`.
    ///
    /// # Panics
    /// If `query` is out of range.
    pub fn trace_queues(&mut self, problem: &Problem, query: usize) -> Result<QueueTrace> {
        assert!(query < problem.q(), "query {query} of {}", problem.q());
        WARP_SELECT.check(problem, &Parameters::default())?;
        let (words, neighbors) =
            trace_warp_select(self, problem, query, INITIAL_WORDS).map_err(suggest_lockstep)?;
        Ok(QueueTrace::new(self.device.name.clone(), problem.k(), words, neighbours(&neighbors, query)))
    }

    /// Selects the k nearest of one query with the traced build of radix select, from a row of distances
    /// computed by the engine's kernel. Its digits have as many values as a warp has lanes, and passes
    /// continue where the engine would sort the rest.
    ///
    /// # Errors
    /// `EngineError::Unavailable` if the kernel cannot be compiled, `EngineError::Memory` and
    /// `EngineError::HostMemory` if row or trace does not fit, `EngineError::Limit`,
    /// `EngineError::Device`.
    ///
    /// # Panics
    /// If `query` is out of range.
    pub fn trace_passes(&mut self, problem: &Problem, query: usize) -> Result<PassTrace> {
        assert!(query < problem.q(), "query {query} of {}", problem.q());
        RADIX_SELECT.check(problem, &Parameters::default())?;
        let (words, neighbors) =
            trace_radix_select(self, problem, query, INITIAL_WORDS).map_err(suggest_lockstep)?;
        Ok(PassTrace::new(self.device.name.clone(), words, neighbours(&neighbors, query)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The replayed events, one line each.
    #[derive(Default)]
    struct EventLog(Vec<String>);

    impl index::Observer for EventLog {
        fn own_leaf(&mut self, leaf: usize) {
            self.0.push(format!("own {leaf}"));
        }
        fn entered(&mut self, height: usize, group: usize, keys: &Lanes<Key, WARP>) {
            self.0.push(format!("node {height} {group} {:?}", keys[31]));
        }
        fn chosen(&mut self, lane: usize, key: Key) {
            self.0.push(format!("child {lane} {key:?}"));
        }
        fn pruned(&mut self, lanes: u32) {
            self.0.push(format!("left out {lanes}"));
        }
        fn visited(&mut self, leaf: usize, keys: &Lanes<Key, WARP>, candidates: u32) {
            self.0.push(format!("leaf {leaf} {:?} {candidates}", keys[0]));
        }
        fn appended(&mut self, lanes: u32) {
            self.0.push(format!("appended {lanes}"));
        }
        fn merged(&mut self, last: Key) {
            self.0.push(format!("merged {last:?}"));
        }
        fn filtered_again(&mut self, rest: u32, candidates: u32) {
            self.0.push(format!("again {rest} {candidates}"));
        }
        fn finished(&mut self) {
            self.0.push("finished".to_owned());
        }
    }

    impl select::Observer<WARP> for EventLog {
        fn inserted(&mut self, first: usize, distances: &[f32], queue: &[Lanes<Key, WARP>]) {
            self.0.push(format!(
                "inserted {first} {} {} {:?}",
                distances.len(),
                distances[1],
                queue.concat()[33]
            ));
        }
        fn checked(&mut self, largest: &Lanes<Key, WARP>, limit: Key) {
            self.0.push(format!("checked {:?} {limit:?}", largest[31]));
        }
        fn drained(&mut self) {
            self.0.push("drained".to_owned());
        }
        fn sorted(&mut self, queue: &[Lanes<Key, WARP>]) {
            self.0.push(format!("sorted {:?}", queue.concat()));
        }
        fn exchanged(&mut self, warp: &[Lanes<Key, WARP>], queue: &[Lanes<Key, WARP>]) {
            self.0.push(format!("exchanged {:?} {:?}", warp.concat(), queue.concat()));
        }
        fn merged(&mut self, warp: &[Lanes<Key, WARP>]) {
            self.0.push(format!("merged {:?}", warp.concat()));
        }
        fn descended(&mut self, queue: &[Lanes<Key, WARP>]) {
            self.0.push(format!("descended {:?}", queue.concat()));
        }
        fn limited(&mut self, limit: Key) {
            self.0.push(format!("limited {limit:?}"));
        }
        fn finished(&mut self) {
            self.0.push("finished".to_owned());
        }
    }

    impl PassObserver for EventLog {
        fn counted(&mut self, counters: &[usize]) {
            self.0.push(format!("counted {counters:?}"));
        }
        fn found(&mut self, bucket: usize, below: usize, size: usize) {
            self.0.push(format!("found {bucket} {below} {size}"));
        }
        fn narrowed(&mut self) {
            self.0.push("narrowed".to_owned());
        }
        fn taken(&mut self, found: &[Key]) {
            self.0.push(format!("taken {found:?}"));
        }
    }

    type Outcome = (Vec<String>, Result<(), TraceError>);

    fn replay_to_log(replay: impl FnOnce(&mut EventLog) -> Result<(), TraceError>) -> Outcome {
        let mut log = EventLog::default();
        let result = replay(&mut log);
        (log.0, result)
    }

    fn tree(words: &[u32]) -> Outcome {
        replay_to_log(|log| TreeTrace::new("a test".to_owned(), words.to_vec(), Vec::new()).replay(log))
    }

    fn queues(words: &[u32], k: usize) -> Outcome {
        replay_to_log(|log| QueueTrace::new("a test".to_owned(), k, words.to_vec(), Vec::new()).replay(log))
    }

    fn passes(words: &[u32]) -> Outcome {
        replay_to_log(|log| PassTrace::new("a test".to_owned(), words.to_vec(), Vec::new()).replay(log))
    }

    /// Checks that all events of a trace are replayed, that a truncated trace replays its complete events,
    /// and that words after the last event are rejected.
    fn check(mut words: Vec<u32>, expected: &[String], replay: impl Fn(&[u32]) -> Outcome) {
        assert_eq!(replay(&words), (expected.to_vec(), Ok(())));
        for length in 0..words.len() {
            let (truncated, result) = replay(&words[..length]);
            assert!(
                matches!(result, Err(TraceError::Truncated { at }) if at <= length),
                "{length}: {result:?}"
            );
            assert!(expected.starts_with(&truncated), "{length}");
        }
        words.push(words[words.len() - 1]);
        assert_eq!(replay(&words).1, Err(TraceError::TrailingWords { at: words.len() - 1 }));
    }

    /// A queue of `registers` registers, of points from `first` on at distance 1.
    fn words(first: u32, registers: u32) -> impl Iterator<Item = u32> {
        (first..first + 32 * registers).flat_map(|position| [position, 1.0f32.to_bits()])
    }

    fn keys(first: u32, registers: u32) -> Vec<Key> {
        (first..first + 32 * registers).map(|position| key_of(1.0, position)).collect()
    }

    #[test]
    fn all_tree_events_are_decoded() {
        use tree_kind::*;
        let one = 1.0f32.to_bits();
        let mut words = vec![OWN_LEAF, 3, LEAF, 3, 6];
        words.extend((0..32).flat_map(|position| [position, one]));
        words.extend([APPENDED, 2, MERGED, 7, one, FILTERED_AGAIN, 4, 0, NODE, 1, 2]);
        words.extend((0..32).flat_map(|position| [position, one]));
        words.extend([CHILD, 5, 8, one, PRUNED, 9, FINISHED]);
        let key = |position: u32| format!("{:?}", key_of(1.0, position));
        let expected = [
            "own 3".to_owned(),
            format!("leaf 3 {} 6", key(0)),
            "appended 2".to_owned(),
            format!("merged {}", key(7)),
            "again 4 0".to_owned(),
            format!("node 1 2 {}", key(31)),
            format!("child 5 {}", key(8)),
            "left out 9".to_owned(),
            "finished".to_owned(),
        ];
        check(words, &expected, tree);
    }

    #[test]
    fn all_queue_events_are_decoded() {
        use queue_kind::*;
        let one = 1.0f32.to_bits();
        // A warp's queue of 64 keys, and lanes' queues of 3.
        let mut all = vec![PASSED, 32, INSERTED, 64];
        all.extend((0..32).map(|lane| (lane as f32).to_bits()));
        all.extend(words(0, 3));
        all.push(CHECKED);
        all.extend(words(100, 1).chain([7, one]));
        all.extend([DRAINED, SORTED]);
        all.extend(words(200, 3));
        all.push(EXCHANGED);
        all.extend(words(300, 2).chain(words(400, 3)));
        all.push(MERGED);
        all.extend(words(500, 2));
        all.push(DESCENDED);
        all.extend(words(600, 3));
        all.extend([LIMITED, 8, one, FINISHED]);
        let key = |position: u32| key_of(1.0, position);
        let expected = [
            format!("inserted 32 32 inf {PADDING:?}"),
            format!("inserted 64 32 1 {:?}", key(33)),
            format!("checked {:?} {:?}", key(131), key(7)),
            "drained".to_owned(),
            format!("sorted {:?}", keys(200, 3)),
            format!("exchanged {:?} {:?}", keys(300, 2), keys(400, 3)),
            format!("merged {:?}", keys(500, 2)),
            format!("descended {:?}", keys(600, 3)),
            format!("limited {:?}", key(8)),
            "finished".to_owned(),
        ];
        check(all, &expected, |words| queues(words, 40));
    }

    #[test]
    fn all_pass_events_are_decoded() {
        use pass_kind::*;
        let (half, one) = (0.5f32.to_bits(), 1.0f32.to_bits());
        let words = vec![
            COUNTED, 4, 0, 7, 2, 1, FOUND, 1, 0, 7, NARROWED, COUNTED, 2, 3, 4, FOUND, 1, 3, 4, TAKEN, 2, 6,
            half, 9, one,
        ];
        let expected = [
            "counted [0, 7, 2, 1]".to_owned(),
            "found 1 0 7".to_owned(),
            "narrowed".to_owned(),
            "counted [3, 4]".to_owned(),
            "found 1 3 4".to_owned(),
            format!("taken {:?}", [key_of(0.5, 6), key_of(1.0, 9)]),
        ];
        check(words, &expected, passes);
    }

    #[test]
    fn invalid_tree_events_are_rejected() {
        use tree_kind::*;
        for kind in [0, 10, u32::MAX] {
            assert_eq!(tree(&[PRUNED, 0, kind]).1, Err(TraceError::Kind { at: 2, kind }));
        }
        assert_eq!(tree(&[CHILD, 32, 0, 0]).1, Err(TraceError::Lane { at: 0, lane: 32 }));
        assert_eq!(
            tree(&[FILTERED_AGAIN, 7, 4, APPENDED, 6]).1,
            Err(TraceError::Placed { at: 3, placed: 6, candidates: 4 })
        );
    }

    #[test]
    fn invalid_queue_events_are_rejected() {
        use queue_kind::*;
        for kind in [0, 11, u32::MAX] {
            assert_eq!(queues(&[PASSED, 0, DRAINED, kind], 1).1, Err(TraceError::Kind { at: 3, kind }));
        }
        // With a wrong queue length, the trace ends in the middle of a queue.
        let mut torn = vec![SORTED];
        torn.extend(words(1000, 2).chain([FINISHED]));
        assert_eq!(queues(&torn, 32).1, Ok(()));
        assert_eq!(queues(&torn, 33).1, Err(TraceError::Truncated { at: 0 }));
        assert_eq!(queues(&torn, 1024).1, Err(TraceError::Truncated { at: 0 }));
    }

    #[test]
    fn invalid_pass_events_are_rejected() {
        use pass_kind::*;
        for kind in [0, 5, u32::MAX] {
            assert_eq!(passes(&[FOUND, 0, 0, 1, kind]).1, Err(TraceError::Kind { at: 4, kind }));
        }
        // The number of buckets, or of keys, exceeds the remaining words.
        assert_eq!(passes(&[NARROWED, COUNTED, u32::MAX, 1, 2]).1, Err(TraceError::Truncated { at: 1 }));
        assert_eq!(passes(&[TAKEN, u32::MAX, 1, 2, 3]).1, Err(TraceError::Truncated { at: 0 }));
    }
}
