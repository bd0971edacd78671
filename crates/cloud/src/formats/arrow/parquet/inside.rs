//! Checks what is in the pages of a column, where the decoder allocates what numbers there promise: how many texts there are,
//! if their lengths are packed as differences, and how many values a row has.

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::Page;
use parquet::file::metadata::ColumnChunkMetaData;

use super::super::super::FormatError;
use super::super::super::input::Input;
use super::thrift::Rest;
use super::{Source, failed, zstd};

/// Unpacks all pages of a column, of at most `largest` bytes each, and returns the most values that a row has. The memory of a page is the caller's to claim.
pub(super) fn check(source: &Source, chunk: &ColumnChunkMetaData, largest: u64, input: &Input<'_>) -> Result<u64, FormatError> {
    let bad = |why: String| input.malformed(format!("column `{}`", chunk.column_path().string()), why);
    let failed = |why| failed(input, "data", why);
    let column = chunk.column_descr();
    let (repeats, defines) = (column.max_rep_level(), column.max_def_level());
    let mut rows = Rows::default();
    let mut pages = zstd::pages(source, chunk, largest).map_err(failed)?;
    while let Some(page) = pages.get_next_page().map_err(failed)? {
        input.check()?;
        if let Some(page) = Parts::of(&page, repeats, defines).map_err(bad)? {
            if repeats > 0 {
                rows.page(&page, width(repeats)).map_err(bad)?;
            }
            texts(&page).map_err(bad)?;
        }
    }
    Ok(rows.longest)
}

/// The number of bits of a level.
fn width(most: i16) -> u32 {
    i16::BITS - most.leading_zeros()
}

/// A page of data.
struct Parts {
    encoding: Encoding,
    values: u64,
    /// How often each value is a repetition, and whether that is packed in runs.
    repeats: Bytes,
    runs: bool,
    data: Bytes,
}

impl Parts {
    fn of(page: &Page, repeats: i16, defines: i16) -> Result<Option<Self>, String> {
        let short = || "a page ends within its levels".to_owned();
        Ok(match page {
            Page::DictionaryPage { .. } => None,
            &Page::DataPage { ref buf, num_values, encoding, def_level_encoding, rep_level_encoding, .. } => {
                let mut rest = buf.clone();
                let mut levels = |most: i16, how: Encoding| {
                    let (before, length) = match how {
                        _ if most == 0 => (0, 0),
                        Encoding::RLE => {
                            let length = rest.first_chunk().ok_or_else(short)?;
                            (4, u64::from(u32::from_le_bytes(*length)))
                        }
                        // Deprecated: each has the same number of bits.
                        _ => (0, (u64::from(num_values) * u64::from(width(most))).div_ceil(8)),
                    };
                    let end = usize::try_from(before + length).ok().filter(|&end| end <= rest.len()).ok_or_else(short)?;
                    Ok::<_, String>(rest.split_to(end).split_off(before as usize))
                };
                let repeats = levels(repeats, rep_level_encoding)?;
                levels(defines, def_level_encoding)?;
                Some(Self { encoding, values: num_values.into(), repeats, runs: rep_level_encoding == Encoding::RLE, data: rest })
            }
            &Page::DataPageV2 { ref buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let (repeats, defines) = (rep_levels_byte_len as usize, def_levels_byte_len as usize);
                let data = repeats.checked_add(defines).filter(|&end| end <= buf.len()).ok_or_else(short)?;
                Some(Self { encoding, values: num_values.into(), repeats: buf.slice(..repeats), runs: true, data: buf.slice(data..) })
            }
        })
    }
}

/// Fails if more texts are promised than the page has values.
fn texts(page: &Parts) -> Result<(), String> {
    let mut rest = Rest(&page.data);
    match page.encoding {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => Differences::of(&mut rest, page.values).map(|_| ()),
        // How many bytes each has of the text before, then how many of its own.
        Encoding::DELTA_BYTE_ARRAY => {
            Differences::of(&mut rest, page.values)?.pass(&mut rest)?;
            Differences::of(&mut rest, page.values).map(|_| ())
        }
        _ => Ok(()),
    }
}

/// The beginning of numbers that are packed as differences (DELTA_BINARY_PACKED): blocks of parts, each with its own number of
/// bits for a difference.
struct Differences {
    block: u64,
    parts: u64,
    count: u64,
}

impl Differences {
    fn of(rest: &mut Rest<'_>, most: u64) -> Result<Self, String> {
        let [block, parts, count] = [rest.varint()?, rest.varint()?, rest.varint()?];
        // The first number.
        rest.varint()?;
        if count > most {
            return Err(format!("a page of {most} values promises {count} texts"));
        }
        Ok(Self { block, parts, count })
    }

    /// Passes over the blocks.
    fn pass(self, rest: &mut Rest<'_>) -> Result<(), String> {
        let mut left = self.count.saturating_sub(1);
        let numbers = self.block.checked_div(self.parts).filter(|&numbers| numbers > 0 || left == 0).ok_or("a page has empty blocks")?;
        while left > 0 {
            // The least difference.
            rest.varint()?;
            let mut bytes = 0u64;
            for _ in 0..self.parts {
                let bits = rest.byte()?;
                if left > 0 {
                    bytes = bytes.saturating_add(numbers.saturating_mul(bits.into()) / 8);
                    left = left.saturating_sub(numbers);
                }
            }
            rest.skip(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        }
        Ok(())
    }
}

/// Counts the values of rows. A value that repeats at level 0 begins one, maybe after pages of the row before.
#[derive(Default)]
struct Rows {
    current: u64,
    longest: u64,
}

impl Rows {
    fn take(&mut self, level: u64, count: u64) {
        self.current = if level == 0 { count.min(1) } else { self.current.saturating_add(count) };
        self.longest = self.longest.max(self.current);
    }

    fn page(&mut self, page: &Parts, width: u32) -> Result<(), String> {
        let mut rest = Rest(&page.repeats);
        if !page.runs {
            return self.packed(&mut rest, width, page.values);
        }
        let mut left = page.values;
        while left > 0 {
            let head = rest.varint()?;
            if head & 1 == 0 {
                let count = (head >> 1).min(left);
                let mut level = 0;
                for shift in (0..width).step_by(8) {
                    level |= u64::from(rest.byte()?) << shift;
                }
                if count > 0 {
                    self.take(level, count);
                }
                left -= count;
            } else {
                let count = (head >> 1).saturating_mul(8).min(left);
                self.packed(&mut rest, width, count)?;
                left -= count;
            }
        }
        Ok(())
    }

    /// Levels one after the other, in whole bytes for eight of them.
    fn packed(&mut self, rest: &mut Rest<'_>, width: u32, count: u64) -> Result<(), String> {
        let mut left = count;
        while left > 0 {
            let mut bits = 0u128;
            for shift in (0..width * 8).step_by(8) {
                // The last ones may be left out.
                bits |= u128::from(rest.byte().or_else(|why| if shift > 0 { Ok(0) } else { Err(why) })?) << shift;
            }
            let now = left.min(8);
            for _ in 0..now {
                self.take((bits & ((1 << width) - 1)) as u64, 1);
                bits >>= width;
            }
            left -= now;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most values of a row, by levels of these pages: their bytes and how many there are.
    fn longest(pages: &[(&[u8], u64)], runs: bool, width: u32) -> Result<u64, String> {
        let mut rows = Rows::default();
        for &(repeats, values) in pages {
            let page = Parts { encoding: Encoding::PLAIN, values, repeats: Bytes::copy_from_slice(repeats), runs, data: Bytes::new() };
            rows.page(&page, width)?;
        }
        Ok(rows.longest)
    }

    #[test]
    fn rows_are_counted_by_runs() {
        // A run of one 0, a run of 2²⁹ ones, which goes on in the next page.
        let run = [2, 0, 0x80, 0x80, 0x80, 0x80, 4, 1];
        assert_eq!(longest(&[(&run, (1 << 29) + 1), (&[20, 1], 10)], true, 1), Ok((1 << 29) + 11));
        // A run promises more than the page has.
        assert_eq!(longest(&[(&run, 100)], true, 1), Ok(100));
        // Eight of one bit each, 0 1 1 0 1 1 1 0, and a run of zeros.
        assert_eq!(longest(&[(&[3, 0b0111_0110, 200, 1, 0], 108)], true, 1), Ok(4));
        // Two bits each: 0 1 2 3 0 0 0 0.
        assert_eq!(longest(&[(&[0b1110_0100, 0], 8)], false, 2), Ok(4));
        assert!(longest(&[(&[2, 0], 3)], true, 1).is_err());
    }
}
