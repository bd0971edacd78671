//! Guards against decompression bombs.

use std::io::{self, Read};

/// Unpacked size that is always allowed, in bytes.
const ALWAYS: u64 = 1 << 28;
/// Allowed ratio of unpacked to packed size for larger files. Numbers as text compress to a third or a tenth; a ratio of a
/// thousand, gzip's limit, is one line over and over, and would fill the memory from a small file.
const TIMES: u64 = 100;

/// A reader that fails after a number of bytes.
pub(super) struct Bounded<R> {
    inner: R,
    most: u64,
    done: u64,
}

impl<R> Bounded<R> {
    /// Limits the unpacked data of a file of `size` bytes.
    pub fn new(inner: R, size: u64) -> Self {
        Self { inner, most: size.saturating_mul(TIMES).max(ALWAYS), done: 0 }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.done += count as u64;
        if self.done > self.most {
            let why = format!("gzip unpacks to more than {} bytes, {TIMES} times its size; unpack it first, with gunzip", self.most);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_files_may_unpack_to_more() {
        let read = |length: u64, size| io::copy(&mut Bounded::new(io::repeat(0).take(length), size), &mut io::sink());
        assert_eq!(read(ALWAYS, 1).unwrap(), ALWAYS);
        assert_eq!(read(ALWAYS + 1, ALWAYS).unwrap(), ALWAYS + 1);
        assert!(read(ALWAYS + 1, 1).unwrap_err().to_string().contains("unpacks to more than 268435456 bytes"));
    }
}
