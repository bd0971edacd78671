//! How much room answers take: said before a search where it is much, refused where there is too little.

use std::path::Path;

use super::output;
use crate::export::{self, NeighborFormat, Size, text};

/// Answers of more bytes are announced.
const LARGE: u64 = 1 << 30;

/// Refuses neighbours of a cloud of n points that a file's disk has no room for, and says how large the files will be where they are large.
///
/// # Errors
/// As [`export::check_room`].
pub fn of_file(path: &Path, size: Size, n: usize) -> anyhow::Result<()> {
    export::check_room(path, size)?;
    let format = NeighborFormat::of(path)?;
    let files: Vec<String> = format.files(path).iter().map(|file| file.display().to_string()).collect();
    announce(size, format, n, |expected| format!("{expected} to {}", files.join(" and ")));
    Ok(())
}

/// Says how much will be printed, where it is much. It is printed as it is found: no memory has to hold it.
pub fn of_stdout(format: NeighborFormat, size: Size, n: usize) {
    announce(size, format, n, |expected| format!("{expected} to standard output"));
}

/// Says what is found and goes nowhere, where it is much.
pub fn of_nothing(size: Size, n: usize) {
    announce(size, NeighborFormat::Bin, n, |expected| format!("which are counted only; --out FILE.ibin keeps them, in {expected}"));
}

fn announce(size: Size, format: NeighborFormat, n: usize, how: impl FnOnce(&str) -> String) {
    let expected = size.expected(format, n);
    if expected.bytes > LARGE {
        let count = (size.q as u64).saturating_mul(size.k as u64);
        output::note(&format!("answers {} neighbours, {}", text::thousands(count), how(&expected.to_string())));
    }
}
