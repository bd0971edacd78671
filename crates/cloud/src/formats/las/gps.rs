//! The GPS times of a compressed scan.
//!
//! These are decoded here because the crate's decoder calls itself for as long as the data say that another sequence of times
//! goes on. A few damaged bytes say so often enough to overflow the stack, which ends the program.

use std::io::{self, Read};

use laz::decoders::ArithmeticDecoder;
use laz::decompressors::{IntegerDecompressor, IntegerDecompressorBuilder};
use laz::models::{ArithmeticModel, ArithmeticModelBuilder};
use laz::record::FieldDecompressor;

/// Sequences of times, between which a file alternates: pulses that overlap, or several lasers.
const SEQUENCES: usize = 4;
/// Steps of up to this many times the previous one are told apart.
const MOST: i32 = 500;
/// As [`MOST`], backwards.
const LEAST: i32 = -10;
/// The symbol for a time that is stored as it is; those above it mean another sequence.
const WHOLE: i32 = MOST - LEAST + 1;

/// The times so far, from which the next one is predicted.
#[derive(Clone)]
pub(super) struct Times {
    /// Whether unchanged times have no symbol of their own, as in layers, which only hold those that change.
    layered: bool,
    /// The symbols of a sequence whose last step was 0, and of any other.
    first: ArithmeticModel,
    step: ArithmeticModel,
    correction: IntegerDecompressor,
    /// The bits of the last time of each sequence.
    times: [i64; SEQUENCES],
    steps: [i32; SEQUENCES],
    /// Times in a row that the step did not predict.
    extremes: [u32; SEQUENCES],
    /// The sequence of the last time, and the one that was begun last.
    current: usize,
    newest: usize,
}

impl Times {
    /// The state after a first time, given by its bits.
    pub fn new(layered: bool, first: i64) -> Self {
        let unchanged = u32::from(!layered);
        Self {
            layered,
            first: ArithmeticModelBuilder::new(5 + unchanged).build(),
            step: ArithmeticModelBuilder::new(WHOLE as u32 + 4 + unchanged).build(),
            correction: IntegerDecompressorBuilder::new().bits(32).contexts(9).build_initialized(),
            times: [first, 0, 0, 0],
            steps: [0; SEQUENCES],
            extremes: [0; SEQUENCES],
            current: 0,
            newest: 0,
        }
    }

    /// Decodes the bits of the next time.
    pub fn next<R: Read>(&mut self, decoder: &mut ArithmeticDecoder<R>) -> io::Result<i64> {
        // Writers change once, to the sequence that they want.
        for _ in 0..SEQUENCES {
            if !self.advance(decoder)? {
                return Ok(self.times[self.current]);
            }
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "times of no sequence"))
    }

    /// Decodes a symbol and what belongs to it; true if it only says which sequence goes on.
    fn advance<R: Read>(&mut self, decoder: &mut ArithmeticDecoder<R>) -> io::Result<bool> {
        let at = self.current;
        if self.steps[at] == 0 {
            let symbol = decoder.decode_symbol(&mut self.first)?;
            match if self.layered { Some(symbol) } else { symbol.checked_sub(1) } {
                None => {}
                Some(0) => {
                    self.steps[at] = self.correction.decompress(decoder, 0, 0)?;
                    self.times[at] = self.times[at].wrapping_add(self.steps[at].into());
                    self.extremes[at] = 0;
                }
                Some(1) => self.whole(decoder)?,
                Some(other) => return Ok(self.change(other as usize - 1)),
            }
            return Ok(false);
        }
        let symbol = decoder.decode_symbol(&mut self.step)?.cast_signed();
        let symbol = match symbol {
            WHOLE if !self.layered => return Ok(false),
            above if above > WHOLE && !self.layered => above - 1,
            symbol => symbol,
        };
        // Of how many steps the prediction is, and how it is corrected.
        let (times, context) = match symbol {
            0 => (0, 7),
            1 => (1, 1),
            2..10 => (symbol, 2),
            10..MOST => (symbol, 3),
            MOST => (MOST, 4),
            WHOLE => return self.whole(decoder).map(|()| false),
            above if above > WHOLE => return Ok(self.change((above - WHOLE) as usize)),
            back if MOST - back > LEAST => (MOST - back, 5),
            _ => (LEAST, 6),
        };
        let step = self.correction.decompress(decoder, times.wrapping_mul(self.steps[at]), context)?;
        self.times[at] = self.times[at].wrapping_add(step.into());
        match times {
            1 => self.extremes[at] = 0,
            0 | MOST | LEAST => {
                self.extremes[at] += 1;
                if self.extremes[at] > 3 {
                    (self.steps[at], self.extremes[at]) = (step, 0);
                }
            }
            _ => {}
        }
        Ok(false)
    }

    fn change(&mut self, by: usize) -> bool {
        self.current = (self.current + by) % SEQUENCES;
        true
    }

    /// Begins a sequence with a time that is stored as it is, but for its high half, which is predicted.
    fn whole<R: Read>(&mut self, decoder: &mut ArithmeticDecoder<R>) -> io::Result<()> {
        let high = self.correction.decompress(decoder, (self.times[self.current] >> 32) as i32, 8)?;
        self.newest = (self.newest + 1) % SEQUENCES;
        self.times[self.newest] = i64::from(high) << 32 | i64::from(decoder.read_int()?);
        self.current = self.newest;
        (self.steps[self.current], self.extremes[self.current]) = (0, 0);
        Ok(())
    }
}

/// The time of a point whose fields follow one another.
pub(super) struct PointTime(Times);

impl Default for PointTime {
    fn default() -> Self {
        Self(Times::new(false, 0))
    }
}

impl<R: Read> FieldDecompressor<R> for PointTime {
    fn size_of_field(&self) -> usize {
        8
    }

    fn decompress_first(&mut self, file: &mut R, out: &mut [u8]) -> io::Result<()> {
        let mut raw = [0; 8];
        file.read_exact(&mut raw)?;
        out.copy_from_slice(&raw);
        self.0 = Times::new(false, i64::from_le_bytes(raw));
        Ok(())
    }

    fn decompress_with(&mut self, decoder: &mut ArithmeticDecoder<R>, out: &mut [u8]) -> io::Result<()> {
        out.copy_from_slice(&self.0.next(decoder)?.to_le_bytes());
        Ok(())
    }
}
