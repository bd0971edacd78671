//! A writer for libraries that keep writing after an error.

use std::io::{self, Seek, SeekFrom, Write};

/// Forwards writes until one fails. The error is returned once, and again at the end; in between, all calls
/// succeed without writing. Otherwise a `ZipWriter` dropped after an error would try to complete its archive,
/// fail again and print to stderr.
#[derive(Debug)]
pub struct LatchingWriter<W> {
    out: W,
    /// The error to report at the end, in case the library swallows it.
    failed: Option<io::Error>,
    position: u64,
    end: u64,
}

impl<W: Write + Seek> LatchingWriter<W> {
    /// The writer must be at its start.
    pub fn new(out: W) -> Self {
        Self { out, failed: None, position: 0, end: 0 }
    }

    /// Flushes the writer.
    ///
    /// # Errors
    /// The first error of the writer, which a library may have swallowed.
    pub fn done(mut self) -> io::Result<()> {
        self.failed.map_or_else(|| self.out.flush(), Err)
    }

    fn attempt<T>(&mut self, otherwise: T, work: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        if self.failed.is_some() {
            return Ok(otherwise);
        }
        let result = work(&mut self.out);
        // Interrupted calls are retried.
        if let Some(why) = result.as_ref().err().filter(|why| why.kind() != io::ErrorKind::Interrupted) {
            self.failed =
                Some(why.raw_os_error().map_or_else(
                    || io::Error::new(why.kind(), why.to_string()),
                    io::Error::from_raw_os_error,
                ));
            // The position may have been before the end, to patch a header. The library expects to continue
            // at the end of its output.
            self.position = self.end;
        }
        result
    }
}

impl<W: Write + Seek> Write for LatchingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.attempt(bytes.len(), |out| out.write(bytes))?;
        self.position += count as u64;
        self.end = self.end.max(self.position);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt((), Write::flush)
    }
}

impl<W: Write + Seek> Seek for LatchingWriter<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let there = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::Current(by) => self.position.saturating_add_signed(by),
            SeekFrom::End(by) => self.end.saturating_add_signed(by),
        };
        self.position = self.attempt(there, |out| out.seek(to))?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_is_returned_once_and_later_writes_succeed() {
        struct FullDisk;
        impl Write for FullDisk {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        impl Seek for FullDisk {
            fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
                Err(io::ErrorKind::StorageFull.into())
            }
        }
        let mut out = LatchingWriter::new(FullDisk);
        assert_eq!(out.write(b"ab").unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(
            (
                out.write(b"abcd").unwrap(),
                out.seek(SeekFrom::Current(-1)).unwrap(),
                out.seek(SeekFrom::End(0)).unwrap()
            ),
            (4, 3, 4)
        );
        assert_eq!(out.done().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn system_errors_preserve_their_code_and_message() {
        let mut out = LatchingWriter::new(std::fs::File::options().write(true).open("/dev/full").unwrap());
        let first = out.write(b"ab").unwrap_err();
        let last = out.done().unwrap_err();
        assert_eq!((last.raw_os_error(), last.to_string()), (first.raw_os_error(), first.to_string()));
        assert!(last.to_string().starts_with("No space left"), "{last}");
    }
}
