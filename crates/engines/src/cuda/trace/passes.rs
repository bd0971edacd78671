//! The trace of radix select; `cuda/select/pass_recorder.cuh` is its encoder.

use super::events::TraceError;
use super::words::Words;
use super::{ROOM, neighbours, or_on_the_twin};
use crate::cuda::Cuda;
/// Event kinds as numbered by the device.
pub use crate::cuda::select::pass_event as kind;
use crate::cuda::select::trace_radix_select;
use crate::knn::{EngineError, Parameters, Problem};
use crate::lockstep::Key;
use crate::select::{PassObserver, RADIX_SELECT};

/// What a block wrote down of its passes over a row, and its answer.
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

    /// Tells an observer what the selection did, in order.
    ///
    /// # Errors
    /// [`TraceError`] where the words are no trace; what comes before was told.
    pub fn tell(&self, observer: &mut impl PassObserver) -> Result<(), TraceError> {
        let mut words = Words::new(&self.words);
        loop {
            match words.kind()? {
                kind::COUNTED => {
                    let buckets = words.number()? as usize;
                    let counters: Vec<usize> = words.take(buckets)?.iter().map(|&count| count as usize).collect();
                    observer.counted(&counters);
                }
                kind::FOUND => {
                    let [bucket, below, size] = [words.number()?, words.number()?, words.number()?].map(|number| number as usize);
                    observer.found(bucket, below, size);
                }
                kind::NARROWED => observer.narrowed(),
                kind::TAKEN => {
                    let count = words.number()?;
                    let found: Result<Vec<Key>, TraceError> = (0..count).map(|_| words.key()).collect();
                    observer.taken(&found?);
                    return words.end();
                }
                kind => return Err(words.no_kind(kind)),
            }
        }
    }
}

impl Cuda {
    /// Selects the k nearest of one query with the traced build of radix select, from a row of distances that the engine's kernel makes. Its digits
    /// have as many values as a warp has lanes, and passes go on where the engine would sort what is left.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] if the kernel cannot be compiled, [`EngineError::Memory`] and [`EngineError::HostMemory`] if row or
    /// trace does not fit, [`EngineError::Limit`], [`EngineError::Device`].
    ///
    /// # Panics
    /// If `query` is out of range.
    pub fn trace_passes(&mut self, problem: &Problem, query: usize) -> Result<PassTrace, EngineError> {
        assert!(query < problem.q(), "query {query} of {}", problem.q());
        RADIX_SELECT.check(problem, &Parameters::default())?;
        let (words, neighbors) = trace_radix_select(self, problem, query, ROOM).map_err(or_on_the_twin)?;
        Ok(PassTrace::new(self.device.name.clone(), words, neighbours(&neighbors, query)))
    }
}

#[cfg(test)]
mod tests {
    use super::kind::*;
    use super::*;
    use crate::lockstep::key_of;

    /// What was told, a line an event.
    #[derive(Default)]
    struct Told(Vec<String>);

    impl PassObserver for Told {
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

    fn told(words: &[u32]) -> (Vec<String>, Result<(), TraceError>) {
        let mut told = Told::default();
        let result = PassTrace::new("a test".to_owned(), words.to_vec(), Vec::new()).tell(&mut told);
        (told.0, result)
    }

    #[test]
    fn every_event_is_told() {
        let (half, one) = (0.5f32.to_bits(), 1.0f32.to_bits());
        let mut words = vec![COUNTED, 4, 0, 7, 2, 1, FOUND, 1, 0, 7, NARROWED, COUNTED, 2, 3, 4, FOUND, 1, 3, 4, TAKEN, 2, 6, half, 9, one];
        let expected = [
            "counted [0, 7, 2, 1]".to_owned(),
            "found 1 0 7".to_owned(),
            "narrowed".to_owned(),
            "counted [3, 4]".to_owned(),
            "found 1 3 4".to_owned(),
            format!("taken {:?}", [key_of(0.5, 6), key_of(1.0, 9)]),
        ];
        assert_eq!(told(&words), (expected.to_vec(), Ok(())));
        for length in 0..words.len() {
            let (cut, result) = told(&words[..length]);
            assert!(matches!(result, Err(TraceError::Cut { at }) if at <= length) && expected.starts_with(&cut), "{length}: {result:?}");
        }
        words.push(NARROWED);
        assert_eq!(told(&words).1, Err(TraceError::Rest { at: words.len() - 1 }));
    }

    #[test]
    fn what_is_no_event_is_refused() {
        for kind in [0, 5, u32::MAX] {
            assert_eq!(told(&[FOUND, 0, 0, 1, kind]).1, Err(TraceError::Kind { at: 4, kind }));
        }
        // More buckets, or keys, than there are words.
        assert_eq!(told(&[NARROWED, COUNTED, u32::MAX, 1, 2]).1, Err(TraceError::Cut { at: 1 }));
        assert_eq!(told(&[TAKEN, u32::MAX, 1, 2, 3]).1, Err(TraceError::Cut { at: 0 }));
    }
}
