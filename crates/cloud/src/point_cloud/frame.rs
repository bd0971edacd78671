//! What the rows of a cloud have in common.

use std::any::Any;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::{Axis, Fingerprint};
use crate::Source;
use crate::formats::FileStamp;
use crate::rounding::RoundingErrors;

/// What holds for all rows of a source, also where only some of them are in memory.
#[derive(Clone, Debug)]
pub struct CloudFrame {
    pub axes: Vec<Axis>,
    /// Whether some stored coordinates differ from the file's, relative to the origin.
    pub is_rounded: bool,
    /// Whether all stored coordinates are integers, once this is needed.
    pub is_whole: OnceLock<bool>,
    /// Whether the file's values are decimals, which f64 rounds.
    pub decimals: bool,
    /// The largest number of decimal places of any value, if they are decimals of few places.
    pub decimal_places: Option<u32>,
    pub dropped: u64,
    pub source: Source,
    /// The source's file before it was read.
    pub stamp: Option<FileStamp>,
    /// A copy of the source's file, and a guard that removes it on drop.
    pub copy: Option<(PathBuf, Arc<dyn Any + Send + Sync>)>,
    /// Forbids opening the source's file. Set for recordings from other people, whose paths are not trusted.
    pub no_file: bool,
    pub fingerprint: Fingerprint,
}

impl CloudFrame {
    /// The frame of rows without decimals.
    pub fn new(axes: Vec<Axis>, is_rounded: bool, source: Source, fingerprint: Fingerprint) -> Self {
        Self {
            axes,
            is_rounded,
            is_whole: OnceLock::new(),
            decimals: false,
            decimal_places: None,
            dropped: 0,
            source,
            stamp: None,
            copy: None,
            no_file: false,
            fingerprint,
        }
    }
}

/// Whether some coordinates are not `origin + local`, or have an origin that they were rounded with.
pub fn is_rounded(exact: Option<&RoundingErrors>, axes: &[Axis]) -> bool {
    exact.is_some() || axes.iter().any(|axis| axis.origin != 0.0)
}
