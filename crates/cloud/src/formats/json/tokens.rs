//! Bounds the texts and numbers of a JSON text before the parser, which holds each whole, gets them.

use std::io::{self, Read};

use super::super::input::Input;
use super::super::limits::MAX_LINE;

/// Bytes of a token that are not counted.
const FREE: u64 = 1 << 16;
/// How often a token is held: where the parser unescapes it, which may have twice the room, and as a name or text.
const TIMES: u64 = 4;

/// A JSON text that fails at a text or number of more than [`MAX_LINE`] bytes, and counts the memory of long ones.
pub(super) struct Tokens<'i, 'p, R> {
    inner: R,
    input: &'i Input<'p>,
    quoted: bool,
    escaped: bool,
    /// Length of the current text, or of digits that began before what was read last.
    length: u64,
    /// Length of the longest token that is counted.
    counted: u64,
}

impl<'i, 'p, R> Tokens<'i, 'p, R> {
    pub fn new(inner: R, input: &'i Input<'p>) -> Self {
        Self { inner, input, quoted: false, escaped: false, length: 0, counted: FREE }
    }

    fn count(&mut self) -> io::Result<()> {
        if self.length > self.counted {
            if self.length > MAX_LINE {
                return Err(io::Error::other(self.input.too_long("a text")));
            }
            self.input.claim(TIMES * (self.length - self.counted), "a text").map_err(io::Error::other)?;
            self.counted = self.length;
        }
        Ok(())
    }
}

impl<R: Read> Read for Tokens<'_, '_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let bytes = &buffer[..count];
        if !self.quoted && bytes.iter().all(u8::is_ascii_digit) {
            self.length += count as u64;
            return self.count().map(|()| count);
        }
        let mut start = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            if self.escaped {
                self.escaped = false;
            } else if byte == b'"' {
                if self.quoted {
                    self.length += (at - start) as u64;
                    self.count()?;
                }
                (self.quoted, self.length, start) = (!self.quoted, 0, at);
            } else if byte == b'\\' {
                self.escaped = self.quoted;
            }
        }
        self.length = if self.quoted { self.length + (count - start) as u64 } else { 0 };
        self.count().map(|()| count)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::FormatError;
    use super::super::super::tests::with_input;
    use super::*;

    #[test]
    fn long_texts_and_numbers_are_counted() {
        let read = |free: u64, parts: &[(&str, usize)]| {
            let mut text = Vec::new();
            parts.iter().for_each(|(part, times)| text.extend(part.repeat(*times).into_bytes()));
            let mut result = Ok(0);
            with_input(free, |input| {
                result = io::copy(&mut Tokens::new(&text[..], input), &mut io::sink()).map_err(|why| input.io(why));
            });
            result
        };
        let long = 1 << 20;
        for token in [&[("[\"", 1), ("a", long)][..], &[("[\"", 1), ("\\\"", long)], &[("[", 1), ("1", long)]] {
            assert!(matches!(read(1 << 20, token), Err(FormatError::Memory { .. })), "{:?}", token[0]);
            assert!(read(1 << 24, token).is_ok());
        }
        // Many short ones are not.
        for tokens in [&[("\"a\\\\\",", long)][..], &[("1,", long)], &[("[]", long)]] {
            assert!(read(0, tokens).is_ok());
        }
    }
}
