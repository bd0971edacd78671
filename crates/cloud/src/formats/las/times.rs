//! The GPS times of a compressed scan.
//!
//! These are decoded here because the crate's decoder recurses each time the data switches to another
//! sequence. A few damaged bytes can overflow the stack, which aborts the program.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use laz::decoders::ArithmeticDecoder;
use laz::decompressors::{IntegerDecompressor, IntegerDecompressorBuilder};
use laz::models::{ArithmeticModel, ArithmeticModelBuilder};
use laz::record::FieldDecompressor;

use crate::formats::whole;

/// Number of interleaved time sequences in a file, from overlapping pulses or several lasers.
const SEQUENCES: usize = 4;
/// Largest multiple of the previous step that has its own symbol.
const MAX_MULTIPLIER: i32 = 500;
/// Like [`MAX_MULTIPLIER`], backwards.
const MIN_MULTIPLIER: i32 = -10;
/// The symbol for a time stored verbatim; larger symbols switch the sequence.
const VERBATIM: i32 = MAX_MULTIPLIER - MIN_MULTIPLIER + 1;

/// The times so far, from which the next one is predicted.
#[derive(Clone)]
pub(super) struct TimePredictor {
    /// Whether unchanged times have no symbol, as in layered files.
    layered: bool,
    /// Symbol models: after a step of 0, and after any other step.
    first: ArithmeticModel,
    step: ArithmeticModel,
    correction: IntegerDecompressor,
    /// The bits of the last time of each sequence.
    times: [i64; SEQUENCES],
    steps: [i32; SEQUENCES],
    /// Number of consecutive times that the step did not predict.
    extremes: [u32; SEQUENCES],
    /// The sequence of the last time, and the newest sequence.
    current: usize,
    newest: usize,
}

impl TimePredictor {
    /// The state after a first time, given by its bits.
    pub fn new(layered: bool, first: i64) -> Self {
        let unchanged = u32::from(!layered);
        Self {
            layered,
            first: ArithmeticModelBuilder::new(5 + unchanged).build(),
            step: ArithmeticModelBuilder::new(VERBATIM as u32 + 4 + unchanged).build(),
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
        // Writers switch at most once, directly to the sequence they want.
        for _ in 0..SEQUENCES {
            if !self.advance(decoder)? {
                return Ok(self.times[self.current]);
            }
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "times of no sequence"))
    }

    /// Decodes a symbol and its data; true if it only switches the sequence.
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
                Some(1) => self.verbatim(decoder)?,
                Some(other) => return Ok(self.switch_sequence(other as usize - 1)),
            }
            return Ok(false);
        }
        let symbol = decoder.decode_symbol(&mut self.step)?.cast_signed();
        let symbol = match symbol {
            VERBATIM if !self.layered => return Ok(false),
            above if above > VERBATIM && !self.layered => above - 1,
            symbol => symbol,
        };
        // The number of predicted steps, and the context of the correction.
        let (times, context) = match symbol {
            0 => (0, 7),
            1 => (1, 1),
            2..10 => (symbol, 2),
            10..MAX_MULTIPLIER => (symbol, 3),
            MAX_MULTIPLIER => (MAX_MULTIPLIER, 4),
            VERBATIM => return self.verbatim(decoder).map(|()| false),
            above if above > VERBATIM => return Ok(self.switch_sequence((above - VERBATIM) as usize)),
            back if MAX_MULTIPLIER - back > MIN_MULTIPLIER => (MAX_MULTIPLIER - back, 5),
            _ => (MIN_MULTIPLIER, 6),
        };
        let step = self.correction.decompress(decoder, times.wrapping_mul(self.steps[at]), context)?;
        self.times[at] = self.times[at].wrapping_add(step.into());
        match times {
            1 => self.extremes[at] = 0,
            0 | MAX_MULTIPLIER | MIN_MULTIPLIER => {
                self.extremes[at] += 1;
                if self.extremes[at] > 3 {
                    (self.steps[at], self.extremes[at]) = (step, 0);
                }
            }
            _ => {}
        }
        Ok(false)
    }

    fn switch_sequence(&mut self, by: usize) -> bool {
        self.current = (self.current + by) % SEQUENCES;
        true
    }

    /// Begins a sequence with a verbatim time, whose high half is predicted.
    fn verbatim<R: Read>(&mut self, decoder: &mut ArithmeticDecoder<R>) -> io::Result<()> {
        let high = self.correction.decompress(decoder, (self.times[self.current] >> 32) as i32, 8)?;
        self.newest = (self.newest + 1) % SEQUENCES;
        self.times[self.newest] = i64::from(high) << 32 | i64::from(decoder.read_int()?);
        self.current = self.newest;
        (self.steps[self.current], self.extremes[self.current]) = (0, 0);
        Ok(())
    }
}

/// The time in a point with sequential fields.
pub(super) struct TimeDecompressor(TimePredictor);

impl Default for TimeDecompressor {
    fn default() -> Self {
        Self(TimePredictor::new(false, 0))
    }
}

impl<R: Read> FieldDecompressor<R> for TimeDecompressor {
    fn size_of_field(&self) -> usize {
        8
    }

    fn decompress_first(&mut self, file: &mut R, out: &mut [u8]) -> io::Result<()> {
        let mut raw = [0; 8];
        file.read_exact(&mut raw)?;
        out.copy_from_slice(&raw);
        self.0 = TimePredictor::new(false, i64::from_le_bytes(raw));
        Ok(())
    }

    fn decompress_with(&mut self, decoder: &mut ArithmeticDecoder<R>, out: &mut [u8]) -> io::Result<()> {
        out.copy_from_slice(&self.0.next(decoder)?.to_le_bytes());
        Ok(())
    }
}

// The GPS times of a chunk in layers, one per field.
//
// The layer of x and y says which points have a new time. The crate decodes this layer but does not expose
// that information, so the layer is read a second time.

/// Byte offsets in a record of the return number with the number of returns, the scanner channel, and the
/// time.
const RETURNS: usize = 14;
const CHANNEL: usize = 15;
const TIME: usize = 22;
/// Number of layers before the times, starting with x and y.
const BEFORE: usize = 8;

/// The median of the last differences, by return number and number of returns.
const MEDIAN_OF: [[u8; 16]; 16] = [
    [0, 1, 2, 3, 4, 5, 3, 4, 4, 5, 5, 5, 5, 5, 5, 5],
    [1, 0, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3],
    [2, 1, 2, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3],
    [3, 3, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4],
    [4, 3, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4],
    [5, 3, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4],
    [3, 3, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4],
    [4, 3, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4, 4],
    [4, 3, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4, 4],
    [5, 3, 4, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4, 4],
    [5, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 4, 4, 4, 4, 4],
    [5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 4, 4, 4],
    [5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 4, 4],
    [5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 4],
    [5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5],
    [5, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5],
];

type Layer = ArithmeticDecoder<Cursor<Vec<u8>>>;

/// Fills in the times of a chunk's points in sequence.
pub(super) struct ChunkTimeDecoder {
    xy: Layer,
    /// `None` if no time differs from the one before.
    gps: Option<Layer>,
    contexts: [Option<Context>; 4],
    channel: usize,
    started: bool,
}

impl ChunkTimeDecoder {
    /// Reads the layers of the chunk at the current position, which is preserved. `record` is the size of a
    /// point, `layers` the number of layers; their sizes have been checked against the size of the file.
    pub fn read(file: &mut (impl Read + Seek), record: u64, layers: u64) -> io::Result<Self> {
        if layers <= BEFORE as u64 {
            // The size of this layer was not checked, because the chunk declares fewer layers.
            return Err(io::ErrorKind::InvalidData.into());
        }
        let start = file.stream_position()?;
        let mut first = vec![0; record as usize];
        file.read_exact(&mut first)?;
        file.seek(SeekFrom::Start(start + record + 4))?;
        let mut sizes = [0; 4 * (BEFORE + 1)];
        file.read_exact(&mut sizes)?;
        let size = |at: usize| whole(&sizes[4 * at..][..4]);
        let data = start + record + 4 + 4 * layers;
        let xy = layer(file, data, size(0))?;
        let gps = size(BEFORE);
        let gps =
            if gps > 0 { Some(layer(file, data + (0..BEFORE).map(size).sum::<u64>(), gps)?) } else { None };
        file.seek(SeekFrom::Start(start))?;
        let mut contexts = [None, None, None, None];
        let channel = usize::from(first[CHANNEL] >> 4 & 3);
        let time = first[TIME..].first_chunk().map_or(0, |raw| i64::from_le_bytes(*raw));
        contexts[channel] = Some(Context::new(first[RETURNS] >> 4, first[RETURNS] & 15, time));
        Ok(Self { xy, gps, contexts, channel, started: false })
    }

    /// Writes the times of the next points into their records.
    pub fn fill(&mut self, records: &mut [u8], record: usize) -> io::Result<()> {
        for raw in records.chunks_exact_mut(record) {
            // The first point is stored uncompressed.
            if std::mem::replace(&mut self.started, true) {
                raw[TIME..TIME + 8].copy_from_slice(&self.next()?.to_le_bytes());
            }
        }
        Ok(())
    }

    fn next(&mut self) -> io::Result<i64> {
        let damaged = || io::Error::from(io::ErrorKind::InvalidData);
        let context = self.contexts[self.channel].as_mut().ok_or_else(damaged)?;
        let kind = context.kind();
        let changes = self.xy.decode_symbol(&mut context.changes[kind])?;
        if changes & 64 != 0 {
            let by = self.xy.decode_symbol(&mut context.channel)?;
            let (number, returns, time) = (context.number, context.returns, context.time);
            self.channel = (self.channel + by as usize + 1) % 4;
            self.contexts[self.channel].get_or_insert_with(|| Context::new(returns, number, time));
        }
        let context = self.contexts[self.channel].as_mut().ok_or_else(damaged)?;
        context.point(&mut self.xy, changes)?;
        if context.changed
            && let Some(gps) = &mut self.gps
        {
            context.time = context.times.next(gps)?;
        }
        Ok(context.time)
    }
}

fn layer(file: &mut (impl Read + Seek), start: u64, size: u64) -> io::Result<Layer> {
    // Grow with the available bytes, not by the declared size.
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    if file.by_ref().take(size).read_to_end(&mut bytes)? as u64 != size {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut layer = ArithmeticDecoder::new(Cursor::new(bytes));
    layer.read_init_bytes()?;
    Ok(layer)
}

/// Prediction state from the previous points of a scanner channel.
struct Context {
    /// Return number, and number of returns.
    number: u8,
    returns: u8,
    /// Whether the last point had a new time.
    changed: bool,
    /// The bits of the last time.
    time: i64,
    times: TimePredictor,
    changes: Vec<ArithmeticModel>,
    channel: ArithmeticModel,
    return_counts: [Option<ArithmeticModel>; 16],
    numbers: [Option<ArithmeticModel>; 16],
    number_of_same_time: ArithmeticModel,
    x: IntegerDecompressor,
    y: IntegerDecompressor,
    medians: [[Median; 12]; 2],
}

impl Context {
    fn new(returns: u8, number: u8, time: i64) -> Self {
        let model = |symbols| ArithmeticModelBuilder::new(symbols).build();
        let integer =
            |contexts| IntegerDecompressorBuilder::new().bits(32).contexts(contexts).build_initialized();
        Self {
            number,
            returns,
            changed: false,
            time,
            times: TimePredictor::new(true, time),
            changes: vec![model(128); 8],
            channel: model(3),
            return_counts: [const { None }; 16],
            numbers: [const { None }; 16],
            number_of_same_time: model(13),
            x: integer(2),
            y: integer(22),
            medians: [[Median::default(); 12]; 2],
        }
    }

    /// The model index for the changes of the next point.
    fn kind(&self) -> usize {
        usize::from(self.number == 1)
            + 2 * usize::from(self.number >= self.returns)
            + 4 * usize::from(self.changed)
    }

    /// Skips a point in the layer of x and y.
    fn point(&mut self, layer: &mut Layer, changes: u32) -> io::Result<()> {
        let sixteen = |model: &mut Option<ArithmeticModel>, layer: &mut Layer| {
            layer.decode_symbol(model.get_or_insert_with(|| ArithmeticModelBuilder::new(16).build()))
        };
        self.changed = changes & 16 != 0;
        if changes & 4 != 0 {
            self.returns = sixteen(&mut self.return_counts[usize::from(self.returns)], layer)? as u8;
        }
        self.number = match changes & 3 {
            0 => self.number,
            1 => (self.number + 1) % 16,
            2 => (self.number + 15) % 16,
            _ if self.changed => sixteen(&mut self.numbers[usize::from(self.number)], layer)? as u8,
            _ => (self.number + layer.decode_symbol(&mut self.number_of_same_time)? as u8 + 2) % 16,
        };
        let only = u32::from(self.returns == 1);
        let median = 2 * usize::from(MEDIAN_OF[usize::from(self.returns)][usize::from(self.number)])
            + usize::from(self.changed);
        let [xs, ys] = &mut self.medians;
        xs[median].add(self.x.decompress(layer, xs[median].get(), only)?);
        let bits = self.x.k();
        ys[median].add(self.y.decompress(
            layer,
            ys[median].get(),
            only + if bits < 20 { bits & !1 } else { 20 },
        )?);
        Ok(())
    }
}

/// An approximate median of the last five differences.
#[derive(Clone, Copy)]
struct Median {
    /// The five values, ascending.
    values: [i32; 5],
    high: bool,
}

impl Default for Median {
    fn default() -> Self {
        Self { values: [0; 5], high: true }
    }
}

impl Median {
    fn get(&self) -> i32 {
        self.values[2]
    }

    /// Inserts a value and drops, in turn, the largest or the smallest.
    fn add(&mut self, value: i32) {
        let [.., middle, _, _] = self.values;
        let at = self.values.partition_point(|&other| if self.high { other <= value } else { other < value });
        if self.high {
            if at < 5 {
                self.values.copy_within(at..4, at + 1);
            }
            self.values[at.min(4)] = value;
            self.high = value < middle;
        } else {
            self.values.copy_within(1..at.max(1), 0);
            self.values[at.max(1) - 1] = value;
            self.high = value <= middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chunk that declares fewer layers than the times need. The bytes at the position of the missing size
    /// would mean four gigabytes.
    #[test]
    fn missing_layers_are_rejected() {
        const RECORD: u64 = 30;
        let sizes = [0_u32; BEFORE].into_iter().chain([u32::MAX]).flat_map(u32::to_le_bytes);
        let chunk: Vec<u8> = std::iter::repeat_n(0, RECORD as usize + 4)
            .chain(sizes)
            .chain(std::iter::repeat_n(7, 100))
            .collect();
        for layers in [1, BEFORE as u64] {
            let refused = ChunkTimeDecoder::read(&mut Cursor::new(chunk.clone()), RECORD, layers)
                .err()
                .map(|why| why.kind());
            assert_eq!(refused, Some(io::ErrorKind::InvalidData), "{layers} layers");
        }
        // Declared, but missing.
        let refused = ChunkTimeDecoder::read(&mut Cursor::new(chunk), RECORD, BEFORE as u64 + 1)
            .err()
            .map(|why| why.kind());
        assert_eq!(refused, Some(io::ErrorKind::UnexpectedEof));
    }
}
