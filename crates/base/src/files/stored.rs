//! Numbers in memory, or in a scratch file that is mapped into memory.
//!
//! Pages of a mapped file leave memory when it is short. The file has no name, so that it disappears with the
//! program, and no other program can shrink it, which would kill this one.

use std::fs::File;
use std::io::{self, Write as _};
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use memmap2::Mmap;

use super::target::sync;

/// Numbers that were written by a [`StoreWriter`].
#[derive(Debug)]
pub struct Stored<T>(Place<T>);

#[derive(Debug)]
enum Place<T> {
    Memory(Vec<T>),
    Scratch(Mmap, PhantomData<T>),
}

impl<T: Pod> Deref for Stored<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Place::Memory(values) => values,
            Place::Scratch(map, _) => bytemuck::cast_slice(map),
        }
    }
}

/// A scratch file that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write a scratch file: {why}: {}", folder.display())]
pub struct ScratchError {
    pub why: io::Error,
    pub folder: PathBuf,
}

/// Stores numbers in order.
#[derive(Debug)]
pub struct StoreWriter<T> {
    values: Vec<T>,
    scratch: Option<(File, PathBuf)>,
}

impl<T: Pod> StoreWriter<T> {
    /// Stores `len` numbers in a scratch file in a folder; without one, in memory.
    ///
    /// # Errors
    /// [`ScratchError`].
    pub fn new(len: usize, folder: Option<&Path>) -> Result<Self, ScratchError> {
        let open = |folder: &Path| match tempfile::tempfile_in(folder) {
            Ok(file) => Ok((file, folder.to_owned())),
            Err(why) => Err(ScratchError { why, folder: folder.to_owned() }),
        };
        let (scratch, mut values) = (folder.map(open).transpose()?, Vec::new());
        if scratch.is_none() {
            // Without room at once, it grows.
            let _ = values.try_reserve_exact(len);
        }
        Ok(Self { values, scratch })
    }

    /// # Errors
    /// [`ScratchError`], such as a full disk.
    pub fn extend(&mut self, values: &[T]) -> Result<(), ScratchError> {
        let Some((file, folder)) = &mut self.scratch else {
            self.values.extend_from_slice(values);
            return Ok(());
        };
        let written = file.write_all(bytemuck::cast_slice(values));
        written.map_err(|why| ScratchError { why, folder: folder.clone() })
    }

    /// # Errors
    /// [`ScratchError`].
    pub fn finish(self) -> Result<Stored<T>, ScratchError> {
        let Some((file, folder)) = self.scratch else { return Ok(Stored(Place::Memory(self.values))) };
        // A full disk may be reported only by a sync; in a mapping it would kill the program.
        let map = sync(&file).and_then(|()| {
            // SAFETY: the file has no name and is complete. Its only descriptor is closed when this function
            // returns, so nothing on this machine changes or shrinks it while it is mapped.
            unsafe { Mmap::map(&file) }
        });
        map.map(|map| Stored(Place::Scratch(map, PhantomData))).map_err(|why| ScratchError { why, folder })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_a_scratch_file_equal_those_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let store = |folder: Option<&Path>| {
            let mut writer = StoreWriter::new(3, folder).unwrap();
            writer.extend(&[1.5_f64, f64::NAN]).unwrap();
            writer.extend(&[]).unwrap();
            writer.extend(&[-0.0]).unwrap();
            writer.finish().unwrap()
        };
        let (memory, scratch) = (store(None), store(Some(folder.path())));
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&memory), bits(&scratch));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the file has no name");
        assert_eq!(StoreWriter::<u32>::new(0, Some(folder.path())).unwrap().finish().unwrap().len(), 0);
    }

    #[test]
    fn an_unusable_folder_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("none");
        let why = StoreWriter::<u32>::new(9, Some(&missing)).unwrap_err().to_string();
        assert!(why.starts_with("cannot write a scratch file: ") && why.ends_with("/none"), "{why}");
    }
}
