//! Holds unpacked text to what its compression can hold.

use std::io::{self, Read};

use super::limits::DEFLATE;

/// A reader that fails after a number of bytes.
pub(super) struct Bounded<R> {
    inner: R,
    most: u64,
    done: u64,
}

impl<R> Bounded<R> {
    /// Limits the unpacked data of a file of `size` bytes.
    pub fn new(inner: R, size: u64) -> Self {
        Self { inner, most: size.saturating_mul(DEFLATE), done: 0 }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.done += count as u64;
        if self.done > self.most {
            let why = format!("gzip unpacks to more than {} bytes, {DEFLATE} times its size, which deflate cannot", self.most);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_deflate_can_hold_is_unpacked() {
        let read = |length: u64, size| io::copy(&mut Bounded::new(io::repeat(0).take(length), size), &mut io::sink());
        assert_eq!(read(DEFLATE << 10, 1 << 10).unwrap(), DEFLATE << 10);
        assert!(read((DEFLATE << 10) + 1, 1 << 10).unwrap_err().to_string().contains("unpacks to more than 1056768 bytes"));
    }
}
