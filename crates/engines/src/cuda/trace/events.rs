//! Decodes the output of the traced kernel; `cuda/observer.cuh` is the encoder.

/// Event kinds as numbered by the device.
pub use crate::cuda::interface::trace_event as kind;

/// Why a sequence of words is not a valid trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// No event starts with this word.
    #[error("word {at}: {kind} is not an event kind")]
    Kind {
        /// Index of the word, 0-based.
        at: usize,
        kind: u32,
    },
    /// Lanes that were not candidates wrote to slots.
    #[error("word {at}: lanes {placed:#010x} wrote, but only lanes {candidates:#010x} have candidates")]
    Placed {
        /// Index of the event's first word, 0-based.
        at: usize,
        /// Bit L: lane L wrote.
        placed: u32,
        /// Bit L: lane L has a candidate.
        candidates: u32,
    },
    /// The lane number is out of range.
    #[error("word {at}: invalid lane {lane}: must be between 0 and 31")]
    Lane {
        /// Index of the event's first word, 0-based.
        at: usize,
        lane: u32,
    },
    /// The trace is truncated.
    #[error("word {at}: the trace ends before the search does")]
    Truncated {
        /// Index of the incomplete event's first word, 0-based.
        at: usize,
    },
    /// Words follow the end of the search.
    #[error("word {at}: the trace continues after the end of the search")]
    TrailingWords {
        /// Index of the first such word, 0-based.
        at: usize,
    },
}

/// One step of the kernel. Element sets are bit masks, one word per register: bit L of word r is element L·R
/// + r.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// Points `first` to `end` − 1 were staged in shared memory.
    Batch {
        /// Position of the first point.
        first: u32,
        /// Position after the last point.
        end: u32,
    },
    /// A ballot over the points `base` + lane.
    Group {
        /// Position of lane 0's point.
        base: u32,
        /// Bit L is lane L's vote.
        candidates: u32,
        /// The 32 squared distances as f32 bits; empty if no lane is a candidate.
        distances: &'a [u32],
    },
    /// Candidates were assigned slots, and those whose slot is in the buffer were written.
    Appended {
        /// Bit L: lane L has a candidate.
        candidates: u32,
        /// Bit L: lane L wrote.
        placed: u32,
        /// One slot per candidate, lanes ascending.
        slots: &'a [u32],
        /// The slot contents per written candidate: index, bits of the squared distance.
        keys: &'a [[u32; 2]],
    },
    /// The lanes of `rest` had no slot and voted again.
    FilteredAgain {
        /// Bit L: lane L voted again.
        rest: u32,
        /// Bit L is lane L's vote.
        candidates: u32,
    },
    /// The buffer holds K candidates.
    Full,
    /// After the last point, the slots from `first` on were padded.
    Padded {
        /// The first free slot.
        first: u32,
    },
    /// Registers and buffer were swapped.
    Swapped,
    /// A layer of the network was applied, with the size and stride of [`Layer`](crate::knn::network::Layer),
    /// in elements.
    Layer {
        size: u32,
        stride: u32,
        /// Element set: those whose keys changed.
        changed: &'a [u32],
    },
    /// Element i became the minimum of itself and element K−1−i of the intermediate result.
    Minimum {
        /// Element set: those whose keys changed.
        changed: &'a [u32],
    },
    /// A merge finished: the registers hold the new intermediate result.
    Merged {
        /// Position of the last appended point + 1, or n.
        points_seen: u32,
        /// Squared distance of element k − 1.
        max_distance: f32,
    },
    Finished,
}

/// Iterates over the events of a trace, up to its end or the first error.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    words: &'a [u32],
    registers: usize,
    at: usize,
    /// Whether the end of the search, or an error, was returned.
    ended: bool,
}

impl<'a> Events<'a> {
    /// Decodes the words of a warp with `registers` keys per lane.
    pub fn new(words: &'a [u32], registers: usize) -> Self {
        Self { words, registers, at: 0, ended: false }
    }

    fn read(&mut self) -> Result<Event<'a>, TraceError> {
        let at = self.at;
        let truncated = TraceError::Truncated { at };
        let mut rest = &self.words[at..];
        let mut take = |count: usize| {
            let (taken, after) = rest.split_at_checked(count).ok_or(truncated.clone())?;
            rest = after;
            Ok::<&'a [u32], TraceError>(taken)
        };
        let event = match take(1)?[0] {
            kind::BATCH => {
                let numbers = take(2)?;
                Event::Batch { first: numbers[0], end: numbers[1] }
            }
            kind::GROUP => {
                let numbers = take(2)?;
                let distances = take(if numbers[1] == 0 { 0 } else { 32 })?;
                Event::Group { base: numbers[0], candidates: numbers[1], distances }
            }
            kind::APPENDED => {
                let numbers = take(2)?;
                let (candidates, placed) = (numbers[0], numbers[1]);
                if placed & !candidates != 0 {
                    return Err(TraceError::Placed { at, placed, candidates });
                }
                let slots = take(candidates.count_ones() as usize)?;
                let (keys, _) = take(2 * placed.count_ones() as usize)?.as_chunks::<2>();
                Event::Appended { candidates, placed, slots, keys }
            }
            kind::FILTERED_AGAIN => {
                let numbers = take(2)?;
                Event::FilteredAgain { rest: numbers[0], candidates: numbers[1] }
            }
            kind::FULL => Event::Full,
            kind::PADDED => Event::Padded { first: take(1)?[0] },
            kind::SWAPPED => Event::Swapped,
            kind::LAYER => {
                let numbers = take(2)?;
                Event::Layer { size: numbers[0], stride: numbers[1], changed: take(self.registers)? }
            }
            kind::MINIMUM => Event::Minimum { changed: take(self.registers)? },
            kind::MERGED => {
                let numbers = take(2)?;
                Event::Merged { points_seen: numbers[0], max_distance: f32::from_bits(numbers[1]) }
            }
            kind::FINISHED => Event::Finished,
            kind => return Err(TraceError::Kind { at, kind }),
        };
        self.at = self.words.len() - rest.len();
        Ok(event)
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Result<Event<'a>, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            // After the end, one more item: an error if words follow.
            let at = std::mem::replace(&mut self.at, self.words.len());
            return (at < self.words.len()).then_some(Err(TraceError::TrailingWords { at }));
        }
        let event = self.read();
        self.ended = !matches!(event, Ok(ref event) if *event != Event::Finished);
        if event.is_err() {
            self.at = self.words.len();
        }
        Some(event)
    }
}

/// The lanes of a mask, ascending.
pub fn lanes(mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1)
}

/// The elements of a set (one word per register), ascending.
pub fn elements(words: &[u32]) -> impl Iterator<Item = u32> + '_ {
    let registers = words.len() as u32;
    (0..32 * registers)
        .filter(move |element| words[(element % registers) as usize] >> (element / registers) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::kind::*;
    use super::*;

    fn read(words: &[u32], registers: usize) -> Vec<Result<Event<'_>, TraceError>> {
        Events::new(words, registers).collect()
    }

    #[test]
    fn all_event_kinds_are_decoded() {
        let mut words = vec![BATCH, 0, 64, GROUP, 0, 0, GROUP, 32, 6];
        words.extend(100..132);
        words.extend([
            APPENDED,
            6,
            2,
            63,
            64,
            33,
            7,
            FILTERED_AGAIN,
            4,
            0,
            FULL,
            PADDED,
            9,
            SWAPPED,
            LAYER,
            4,
            2,
            8,
            9,
            MINIMUM,
            1,
            2,
        ]);
        words.extend([MERGED, 64, 0x7f80_0000, FINISHED]);
        let distances: Vec<u32> = (100..132).collect();
        let expected = [
            Event::Batch { first: 0, end: 64 },
            Event::Group { base: 0, candidates: 0, distances: &[] },
            Event::Group { base: 32, candidates: 6, distances: &distances },
            Event::Appended { candidates: 6, placed: 2, slots: &[63, 64], keys: &[[33, 7]] },
            Event::FilteredAgain { rest: 4, candidates: 0 },
            Event::Full,
            Event::Padded { first: 9 },
            Event::Swapped,
            Event::Layer { size: 4, stride: 2, changed: &[8, 9] },
            Event::Minimum { changed: &[1, 2] },
            Event::Merged { points_seen: 64, max_distance: f32::INFINITY },
            Event::Finished,
        ];
        assert_eq!(read(&words, 2).into_iter().collect::<Result<Vec<_>, _>>().unwrap(), expected);
        // A trace truncated at any length reports that, and nothing is read after it.
        for length in 0..words.len() {
            let truncated = read(&words[..length], 2);
            let (last, whole) = truncated.split_last().unwrap();
            assert!(matches!(last, Err(TraceError::Truncated { at }) if *at <= length), "{length}: {last:?}");
            assert!(whole.iter().zip(&expected).all(|(event, expected)| event.as_ref() == Ok(expected)));
        }
        words.push(FULL);
        assert_eq!(read(&words, 2).last(), Some(&Err(TraceError::TrailingWords { at: words.len() - 1 })));
    }

    #[test]
    fn invalid_events_are_rejected() {
        for kind in [0, 12, u32::MAX] {
            assert_eq!(read(&[FULL, kind, FINISHED], 1)[1..], [Err(TraceError::Kind { at: 1, kind })]);
        }
        let placed = TraceError::Placed { at: 0, placed: 5, candidates: 6 };
        assert_eq!(read(&[APPENDED, 6, 5, 0, 0, 0, 0, 0, 0], 1), [Err(placed.clone())]);
        assert_eq!(
            placed.to_string(),
            "word 0: lanes 0x00000005 wrote, but only lanes 0x00000006 have candidates"
        );
    }

    #[test]
    fn masks_and_bitsets_decode_to_indices() {
        assert_eq!(lanes(0x8000_0005).collect::<Vec<_>>(), [0, 2, 31]);
        assert_eq!(elements(&[1 << 3, 1 | 1 << 31]).collect::<Vec<_>>(), [1, 6, 63]);
    }
}
