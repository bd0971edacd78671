//! LZF, the compression of PCD and h5py, decompressed as a stream with a window of 8 KiB.

use std::io::{self, BufRead, Read};

/// Maximum distance of a back-reference.
const WINDOW: usize = 1 << 13;

/// The current token, with its remaining bytes.
enum Token {
    /// Literal bytes to copy from the input.
    Literal(usize),
    /// A back-reference: length and distance.
    Repeat(usize, usize),
}

/// Decompresses a stream of blocks.
pub(super) struct LzfReader<R> {
    inner: R,
    /// Ring buffer of the latest output.
    window: Vec<u8>,
    done: usize,
    run: Token,
}

impl<R: BufRead> LzfReader<R> {
    /// Starts at the beginning of a block.
    pub fn new(inner: R) -> Self {
        Self { inner, window: vec![0; WINDOW], done: 0, run: Token::Literal(0) }
    }

    fn byte(&mut self) -> io::Result<usize> {
        let mut byte = [0];
        self.inner.read_exact(&mut byte)?;
        Ok(usize::from(byte[0]))
    }

    /// Reads the next token; false at the end.
    fn advance(&mut self) -> io::Result<bool> {
        if self.inner.fill_buf()?.is_empty() {
            return Ok(false);
        }
        let control = self.byte()?;
        self.run = if control < 32 {
            Token::Literal(control + 1)
        } else {
            let length = if control >> 5 == 7 { 7 + self.byte()? } else { control >> 5 };
            let distance = ((control & 31) << 8 | self.byte()?) + 1;
            if distance > self.done {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "an LZF back-reference points before the start of the data",
                ));
            }
            Token::Repeat(length + 2, distance)
        };
        Ok(true)
    }

    fn keep(&mut self, byte: u8) {
        self.window[self.done % WINDOW] = byte;
        self.done += 1;
    }
}

impl<R: BufRead> Read for LzfReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            let space = buffer.len() - filled;
            match self.run {
                Token::Literal(0) | Token::Repeat(0, _) => {
                    if !self.advance()? {
                        break;
                    }
                }
                Token::Literal(left) => {
                    let count = left.min(space);
                    let bytes = &mut buffer[filled..filled + count];
                    self.inner.read_exact(bytes)?;
                    bytes.iter().for_each(|&byte| self.keep(byte));
                    filled += count;
                    self.run = Token::Literal(left - count);
                }
                Token::Repeat(left, distance) => {
                    let count = left.min(space);
                    for byte in &mut buffer[filled..filled + count] {
                        *byte = self.window[(self.done - distance) % WINDOW];
                        self.keep(*byte);
                    }
                    filled += count;
                    self.run = Token::Repeat(left - count, distance);
                }
            }
        }
        Ok(filled)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::limits::LZF;
    use super::*;
    use proptest::prelude::*;

    /// Packs greedily, like liblzf: literals, and back-references of three bytes or more.
    pub fn pack(bytes: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        let mut literals = Vec::new();
        let flush = |literals: &mut Vec<u8>, packed: &mut Vec<u8>| {
            for run in literals.chunks(32) {
                packed.push(run.len() as u8 - 1);
                packed.extend(run);
            }
            literals.clear();
        };
        let mut seen: std::collections::HashMap<[u8; 3], usize> = std::collections::HashMap::new();
        let mut at = 0;
        while at < bytes.len() {
            let Some(&[a, b, c]) = bytes.get(at..at + 3) else {
                literals.push(bytes[at]);
                at += 1;
                continue;
            };
            match seen.insert([a, b, c], at).filter(|&from| at - from <= WINDOW) {
                None => {
                    literals.push(a);
                    at += 1;
                }
                Some(from) => {
                    flush(&mut literals, &mut packed);
                    let length = (3..264.min(bytes.len() - at))
                        .find(|&length| bytes[from + length] != bytes[at + length])
                        .unwrap_or(264.min(bytes.len() - at));
                    let (count, back) = (length - 2, at - from - 1);
                    packed.push((count.min(7) << 5 | back >> 8) as u8);
                    if count >= 7 {
                        packed.push((count - 7) as u8);
                    }
                    packed.push(back as u8);
                    at += length;
                }
            }
        }
        flush(&mut literals, &mut packed);
        packed
    }

    fn unpack(packed: &[u8]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        LzfReader::new(packed).read_to_end(&mut bytes).map(|_| bytes)
    }

    #[test]
    fn literals_and_back_references_are_decoded() {
        assert_eq!(unpack(&[2, b'a', b'b', b'c']).unwrap(), b"abc");
        assert_eq!(unpack(&[0, b'a', 1 << 5, 0]).unwrap(), b"aaaa");
        assert_eq!(unpack(&[0, b'a', 7 << 5, 255, 0]).unwrap(), [b'a'; 265]);
        assert_eq!(unpack(&[]).unwrap(), b"");
        assert_eq!(unpack(&[1 << 5, 0]).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(unpack(&[5, b'a']).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        // The best possible compression.
        let zeros = pack(&vec![0; 1 << 20]);
        assert!((1 << 20) / zeros.len() as u64 <= LZF && zeros.len() < 12_100, "{}", zeros.len());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn packed_data_round_trips(
            words in prop::collection::vec(0u8..4, 0..20_000),
            step in 1usize..5000,
        ) {
            let mut bytes = Vec::new();
            let packed = pack(&words);
            let mut lzf = LzfReader::new(&packed[..]);
            while lzf.by_ref().take(step as u64).read_to_end(&mut bytes).unwrap() > 0 {}
            prop_assert_eq!(bytes, words);
        }

        #[test]
        fn unpacking_respects_the_maximum_ratio(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(unpacked) = unpack(&bytes) {
                prop_assert!(unpacked.len() as u64 <= bytes.len() as u64 * LZF);
            }
        }
    }
}
