//! Small files read without a user's request: settings, caches, lists.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read};
use std::path::Path;

use super::target::{special, target, write};

/// Opens a regular file. Pipes and devices are rejected: opening a pipe blocks, and a device such as
/// /dev/zero never ends.
///
/// # Errors
/// I/O errors; [`io::ErrorKind::InvalidInput`] for anything but a regular file.
pub fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        options,
        (rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY).bits() as i32,
    );
    let file = options.open(path)?;
    // Check the handle, because the path may refer to another file by now.
    match file.metadata()? {
        meta if meta.is_file() => Ok(file),
        meta if meta.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(irregular()),
    }
}

/// Reads a regular file of at most `most` bytes, a multiple of 1 MiB.
///
/// # Errors
/// Those of [`open_regular`]; [`io::ErrorKind::FileTooLarge`] for a longer file.
pub fn read_small(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    bounded(open_regular(path, OpenOptions::new().read(true))?, most)
}

/// Like [`read_small`], but also reads pipes and devices.
///
/// # Errors
/// I/O errors; [`io::ErrorKind::FileTooLarge`] for more than `most` bytes.
pub fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    bounded(File::open(path)?, most)
}

fn bounded(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let size = file.metadata()?.len();
    // A file that grows while it is read is cut off one byte past the limit.
    if size <= most && file.take(most + 1).read_to_end(&mut bytes)? as u64 <= most {
        return Ok(bytes);
    }
    Err(io::Error::new(
        io::ErrorKind::FileTooLarge,
        format!("{} bytes exceed the limit of {} MiB", size.max(most + 1), most >> 20),
    ))
}

/// Writes a file like [`write()`], but rejects pipes and devices.
///
/// # Errors
/// Those of [`write()`]; [`io::ErrorKind::InvalidInput`] for a pipe or a device.
pub fn write_small(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    if special(&target(path)) { Err(irregular()) } else { write(path, content) }
}

fn irregular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file; write it to disk first")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Links to devices and pipes neither block nor fill memory. Opening a pipe without a writer used to
    /// block.
    #[test]
    fn only_regular_files_up_to_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), vec![7; 1 << 20]).unwrap();
        assert_eq!(read_small(&at("file"), 1 << 20).unwrap().len(), 1 << 20);
        std::fs::write(at("file"), vec![7; (1 << 20) + 1]).unwrap();
        let error = read_small(&at("file"), 1 << 20).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (io::ErrorKind::FileTooLarge, "1048577 bytes exceed the limit of 1 MiB")
        );
        assert_eq!(read_small(&at("none"), 1 << 20).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(read_small(folder.path(), 1 << 20).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        for device in ["/dev/zero", "/dev/full"] {
            let link = at(&device.replace('/', "_"));
            std::os::unix::fs::symlink(device, &link).unwrap();
            assert_eq!(
                read_small(&link, 1 << 20).unwrap_err().to_string(),
                "not a regular file; write it to disk first"
            );
        }
        assert_eq!(read_small(&at("pipe"), 1 << 20).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(write_small(&at("pipe"), |_| Ok(())).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        write_small(&at("file"), |_| Ok(())).unwrap();
        assert_eq!(read_small(&at("file"), 0).unwrap(), b"");
    }
}
