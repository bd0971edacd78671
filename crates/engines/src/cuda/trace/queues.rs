//! The trace of warp select; `cuda/select/queue_recorder.cuh` is its encoder.

use super::events::TraceError;
use super::words::Words;
use super::{ROOM, neighbours, or_on_the_twin};
use crate::cuda::Cuda;
/// Event kinds as numbered by the device.
pub use crate::cuda::select::queue_event as kind;
use crate::cuda::select::trace_warp_select;
use crate::knn::{EngineError, Parameters, Problem};
use crate::lockstep::{PADDING, registers_for};
use crate::select::{Observer, WARP_SELECT, warp_select};

/// Lanes of a GPU's warp.
const WARP: usize = 32;

/// What a warp wrote down of its way through a row, and its answer.
#[derive(Clone, Debug)]
pub struct QueueTrace {
    /// Product name of the device.
    pub device: String,
    /// The k nearest as written by the kernel, as in a [`Trace`](super::Trace).
    pub neighbours: Vec<(u32, f32)>,
    /// Keys a lane of the warp's queue.
    registers: usize,
    /// Keys of a lane's queue.
    queue: usize,
    words: Vec<u32>,
}

impl QueueTrace {
    /// A trace from the words of a warp with queues as long as a search for `k` has them, and its answer.
    pub fn new(device: String, k: usize, words: Vec<u32>, neighbours: Vec<(u32, f32)>) -> Self {
        Self { device, neighbours, registers: registers_for(k, WARP), queue: warp_select::default_queue(k), words }
    }

    /// Tells an observer what the search did, in order. Past the last point distances are infinite. Of a group of which nothing was taken neither
    /// distances nor queues were written down: all are told as padding.
    ///
    /// # Errors
    /// [`TraceError`] where the words are no trace; what comes before was told.
    pub fn tell(&self, observer: &mut impl Observer<WARP>) -> Result<(), TraceError> {
        let mut words = Words::new(&self.words);
        loop {
            match words.kind()? {
                kind::PASSED => observer.inserted(words.number()? as usize, &[f32::INFINITY; WARP], &vec![[PADDING; WARP]; self.queue]),
                kind::INSERTED => {
                    let base = words.number()?;
                    let distances: Vec<f32> = words.take(WARP)?.iter().map(|&bits| f32::from_bits(bits)).collect();
                    observer.inserted(base as usize, &distances, &words.queue(self.queue)?);
                }
                kind::CHECKED => {
                    let largest = words.keys()?;
                    observer.checked(&largest, words.key()?);
                }
                kind::DRAINED => observer.drained(),
                kind::SORTED => observer.sorted(&words.queue(self.queue)?),
                kind::EXCHANGED => {
                    let warp_queue = words.queue(self.registers)?;
                    observer.exchanged(&warp_queue, &words.queue(self.queue)?);
                }
                kind::MERGED => observer.merged(&words.queue(self.registers)?),
                kind::DESCENDED => observer.descended(&words.queue(self.queue)?),
                kind::LIMITED => observer.limited(words.key()?),
                kind::FINISHED => {
                    observer.finished();
                    return words.end();
                }
                kind => return Err(words.no_kind(kind)),
            }
        }
    }
}

impl Cuda {
    /// Selects the k nearest of one query with the traced build of warp select, from a row of distances that the engine's kernel makes.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] if the kernel cannot be compiled, [`EngineError::Memory`] and [`EngineError::HostMemory`] if row or
    /// trace does not fit, [`EngineError::Limit`], [`EngineError::Device`].
    ///
    /// # Panics
    /// If `query` is out of range.
    pub fn trace_queues(&mut self, problem: &Problem, query: usize) -> Result<QueueTrace, EngineError> {
        assert!(query < problem.q(), "query {query} of {}", problem.q());
        WARP_SELECT.check(problem, &Parameters::default())?;
        let (words, neighbors) = trace_warp_select(self, problem, query, ROOM).map_err(or_on_the_twin)?;
        Ok(QueueTrace::new(self.device.name.clone(), problem.k(), words, neighbours(&neighbors, query)))
    }
}

#[cfg(test)]
mod tests {
    use super::kind::*;
    use super::*;
    use crate::lockstep::{Key, Lanes, key_of};

    /// What was told, a line an event.
    #[derive(Default)]
    struct Told(Vec<String>);

    impl Observer<WARP> for Told {
        fn inserted(&mut self, first: usize, distances: &[f32], queue: &[Lanes<Key, WARP>]) {
            self.0.push(format!("inserted {first} {} {} {:?}", distances.len(), distances[1], queue.concat()[33]));
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

    fn told(words: &[u32], k: usize) -> (Vec<String>, Result<(), TraceError>) {
        let mut told = Told::default();
        let result = QueueTrace::new("a test".to_owned(), k, words.to_vec(), Vec::new()).tell(&mut told);
        (told.0, result)
    }

    /// A queue of so many registers, of points from `first` on at distance 1.
    fn words(first: u32, registers: u32) -> impl Iterator<Item = u32> {
        (first..first + 32 * registers).flat_map(|position| [position, 1.0f32.to_bits()])
    }

    fn keys(first: u32, registers: u32) -> Vec<Key> {
        (first..first + 32 * registers).map(|position| key_of(1.0, position)).collect()
    }

    #[test]
    fn every_event_is_told() {
        let one = 1.0f32.to_bits();
        // A warp's queue of 64 keys, and lanes' of 3.
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
        assert_eq!(told(&all, 40), (expected.to_vec(), Ok(())));
        for length in 0..all.len() {
            let (cut, result) = told(&all[..length], 40);
            assert!(matches!(result, Err(TraceError::Cut { at }) if at <= length) && expected.starts_with(&cut), "{length}: {result:?}");
        }
        all.push(FINISHED);
        assert_eq!(told(&all, 40).1, Err(TraceError::Rest { at: all.len() - 1 }));
    }

    #[test]
    fn what_is_no_event_is_refused() {
        for kind in [0, 11, u32::MAX] {
            assert_eq!(told(&[PASSED, 0, DRAINED, kind], 1).1, Err(TraceError::Kind { at: 3, kind }));
        }
        // Torn: a queue of another length leaves the reader in the middle of one.
        let mut torn = vec![SORTED];
        torn.extend(words(1000, 2).chain([FINISHED]));
        assert_eq!(told(&torn, 32).1, Ok(()));
        assert_eq!(told(&torn, 33).1, Err(TraceError::Cut { at: 0 }));
        assert_eq!(told(&torn, 1024).1, Err(TraceError::Cut { at: 0 }));
    }
}
