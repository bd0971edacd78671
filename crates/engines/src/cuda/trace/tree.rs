//! The trace of a search of the tree; `cuda/index/recorder.cuh` is its encoder.

use super::events::TraceError;
use super::words::Words;
use super::{ROOM, neighbours, or_on_the_twin};
use crate::cuda::Cuda;
use crate::cuda::index::BvhSearch;
/// Event kinds as numbered by the device.
pub use crate::cuda::index::tree_event as kind;
use crate::index::{BVH, Observer, WARP};
use crate::knn::{EngineError, Neighbors, Parameters, Problem, Search};

/// What a warp wrote down of its search of the tree, and its answer.
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

    /// Tells an observer what the search did, in order.
    ///
    /// # Errors
    /// [`TraceError`] where the words are no trace; what comes before was told.
    pub fn tell(&self, observer: &mut impl Observer) -> Result<(), TraceError> {
        let mut words = Words::new(&self.words);
        let mut candidates = 0;
        loop {
            match words.kind()? {
                kind::OWN_LEAF => observer.own_leaf(words.number()? as usize),
                kind::NODE => {
                    let (height, group) = (words.number()?, words.number()?);
                    observer.entered(height as usize, group as usize, &words.keys()?);
                }
                kind::CHILD => {
                    let lane = words.number()?;
                    if lane as usize >= WARP {
                        return Err(TraceError::Lane { at: words.at(), lane });
                    }
                    observer.chosen(lane as usize, words.key()?);
                }
                kind::LEFT_OUT => observer.left_out(words.number()?),
                kind::LEAF => {
                    let leaf = words.number()?;
                    candidates = words.number()?;
                    observer.visited(leaf as usize, &words.keys()?, candidates);
                }
                kind::APPENDED => {
                    let placed = words.number()?;
                    if placed & !candidates != 0 {
                        return Err(TraceError::Placed { at: words.at(), placed, candidates });
                    }
                    observer.appended(placed);
                }
                kind::MERGED => observer.merged(words.key()?),
                kind::FILTERED_AGAIN => {
                    let rest = words.number()?;
                    candidates = words.number()?;
                    observer.filtered_again(rest, candidates);
                }
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
    /// Builds the tree over a problem's points and searches it for one query with the traced kernel.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] if the kernel cannot be compiled, [`EngineError::Memory`] and [`EngineError::HostMemory`] if tree or
    /// trace does not fit, [`EngineError::Limit`], [`EngineError::Device`].
    ///
    /// # Panics
    /// If `query` is out of range.
    pub fn trace_tree(&mut self, problem: &Problem, query: usize) -> Result<TreeTrace, EngineError> {
        assert!(query < problem.q(), "query {query} of {}", problem.q());
        BVH.check(problem, &Parameters::default())?;
        let device = self.device.name.clone();
        let mut search = BvhSearch::new(self, problem, Some(false))?;
        let words = search.trace(problem, query, ROOM).map_err(or_on_the_twin)?;
        let mut neighbors = Neighbors::default();
        search.download(&mut neighbors)?;
        Ok(TreeTrace::new(device, words, neighbours(&neighbors, query)))
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

    impl Observer for Told {
        fn own_leaf(&mut self, leaf: usize) {
            self.0.push(format!("own {leaf}"));
        }
        fn entered(&mut self, height: usize, group: usize, keys: &Lanes<Key, WARP>) {
            self.0.push(format!("node {height} {group} {:?}", keys[31]));
        }
        fn chosen(&mut self, lane: usize, key: Key) {
            self.0.push(format!("child {lane} {key:?}"));
        }
        fn left_out(&mut self, lanes: u32) {
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

    fn told(words: &[u32]) -> (Vec<String>, Result<(), TraceError>) {
        let mut told = Told::default();
        let result = TreeTrace::new("a test".to_owned(), words.to_vec(), Vec::new()).tell(&mut told);
        (told.0, result)
    }

    #[test]
    fn every_event_is_told() {
        let one = 1.0f32.to_bits();
        let mut words = vec![OWN_LEAF, 3, LEAF, 3, 6];
        words.extend((0..32).flat_map(|position| [position, one]));
        words.extend([APPENDED, 2, MERGED, 7, one, FILTERED_AGAIN, 4, 0, NODE, 1, 2]);
        words.extend((0..32).flat_map(|position| [position, one]));
        words.extend([CHILD, 5, 8, one, LEFT_OUT, 9, FINISHED]);
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
        assert_eq!(told(&words), (expected.to_vec(), Ok(())));
        for length in 0..words.len() {
            let (cut, result) = told(&words[..length]);
            assert!(matches!(result, Err(TraceError::Cut { at }) if at <= length) && expected.starts_with(&cut), "{length}: {result:?}");
        }
        words.push(FINISHED);
        assert_eq!(told(&words).1, Err(TraceError::Rest { at: words.len() - 1 }));
    }

    #[test]
    fn what_is_no_event_is_refused() {
        for kind in [0, 10, u32::MAX] {
            assert_eq!(told(&[LEFT_OUT, 0, kind]).1, Err(TraceError::Kind { at: 2, kind }));
        }
        assert_eq!(told(&[CHILD, 32, 0, 0]).1, Err(TraceError::Lane { at: 0, lane: 32 }));
        assert_eq!(told(&[FILTERED_AGAIN, 7, 4, APPENDED, 6]).1, Err(TraceError::Placed { at: 3, placed: 6, candidates: 4 }));
    }
}
