//! Two files that h5py wrote, in the oldest and the newest version of the format, gzipped. Both have the
//! layout of ann-benchmarks: `train` in chunks, shuffled and deflated, `test` big-endian, `neighbors`, and
//! the attribute `distance`. In addition, the old file has text and nested half-precision numbers, and the
//! new one has LZF, booleans and a cube.

use std::collections::BTreeMap;
use std::io::Read;

use super::*;
use crate::formats::columns::Cell;

pub(super) fn earliest() -> Vec<u8> {
    unpacked(include_bytes!("earliest.hdf5.gz"))
}

pub(super) fn latest() -> Vec<u8> {
    unpacked(include_bytes!("latest.hdf5.gz"))
}

fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn train_is_the_default_data_set() {
    let halves: Vec<f64> = (0..12).map(|i| f64::from(i) * 0.5).collect();
    for content in [earliest(), latest()] {
        let sample = SampleFile::new("a.hdf5", content);
        assert_values(&sample.table("").1, &halves);
        assert_values(&sample.table("1").1, &halves.iter().copied().skip(1).step_by(2).collect::<Vec<_>>());
        assert_values(&sample.dataset("test"), &[0.1, 0.5, 5.0, 5.5]);
        assert_values(&sample.dataset("/neighbors"), &[0.0, 1.0, 2.0, 5.0, 4.0, 3.0]);
        let info = sample.info();
        assert_eq!((info.rows, info.format.as_str()), (6, "HDF5, data set `train`: 6 × 2 f32"));
        let records = records(&sample.path, &[5, 0], &NoProgress).unwrap();
        assert_eq!(
            records.rows,
            [[Cell::Number(5.0), Cell::Number(5.5)], [Cell::Number(0.0), Cell::Number(0.5)]]
        );
        assert!(super::super::records(&sample.path, &[6], &NoProgress).is_err());
        assert_eq!(attribute(&sample.path, "distance", &NoProgress).unwrap().as_deref(), Some("euclidean"));
        assert_eq!(attribute(&sample.path, "colour", &NoProgress).unwrap(), None);
    }
}

#[test]
fn every_type_and_filter_is_read_or_refused() {
    let old = SampleFile::new("a.h5", earliest());
    assert_values(&old.dataset("deep/er/halves"), &[1.5, -2.0, f64::INFINITY, 0.0]);
    let unread = |sample: &SampleFile, name: &str| {
        let datasets = datasets(&sample.path, &NoProgress).unwrap();
        datasets
            .into_iter()
            .find(|dataset| dataset.name == name)
            .and_then(|dataset| dataset.unread)
            .unwrap_or_else(|| panic!("{name} is read"))
    };
    assert_eq!(unread(&old, "names"), "it is text");
    let new = SampleFile::new("a.h5", latest());
    assert_values(&new.dataset("deep/packed"), &[7.0, 9.0].repeat(40));
    assert_values(&new.dataset("flags"), &[1.0, 0.0]);
    assert!(unread(&new, "cube").contains("3 dimensions"));
    let message = new.read_dataset("cube").unwrap_err().to_string();
    assert!(message.starts_with("data set `cube`: it has 3 dimensions"), "{message}");
    let message = new.read_dataset("deep").unwrap_err().to_string();
    assert!(message.starts_with("part `deep`: not found; available: `"), "{message}");
}

#[test]
fn truncated_files_are_refused() {
    let content = latest();
    // The missing part may belong to another data set, but must be reported.
    for length in [content.len() / 2, content.len() - 1] {
        let message = SampleFile::new("a.hdf5", &content[..length]).error();
        assert!(message.starts_with("cut short: the file has "), "{message}");
    }
    let stop = std::sync::atomic::AtomicBool::new(true);
    let sample = SampleFile::new("a.hdf5", content);
    assert!(matches!(read(&sample.path, &ColumnChoice::Default, &stop), Err(FormatError::Cancelled)));
}

/// The values of every data set that is read, by name, with their number of columns.
fn all_values(path: &std::path::Path) -> Result<BTreeMap<String, (usize, Vec<u64>)>, FormatError> {
    let one = |dataset: super::super::datasets::DatasetInfo| {
        let read =
            super::super::read(&path_of(path, &dataset.name), &ColumnChoice::Default, &NoProgress).ok()?;
        Some((dataset.name, (read.columns.len(), read.values.iter().map(f64::to_bits).collect())))
    };
    Ok(datasets(path, &NoProgress)?.into_iter().filter_map(one).collect())
}

/// Bytes of the old file that are values or text: `test`, `neighbors`, `names` and `deep/er/halves`.
const RAW: std::ops::Range<usize> = 8805..8873;

/// Bytes of the old file whose damage cannot be detected: the byte orders of `train`, `test`, `neighbors` and
/// `halves`, and the locations of the last three.
const UNCHECKED: [usize; 10] = [977, 1577, 1849, 12889, 1626, 1627, 1890, 1891, 12938, 12939];

/// The oldest version has no checksums. `WARPSCOPE_FUZZ=1000` tries all 16,256 bits: 9,179 have no effect,
/// because their bytes are unused; 46 change a value, all of them in `UNCHECKED`; the rest cause an error or
/// change a name.
#[test]
fn flipped_metadata_bits_do_not_change_values() {
    let content = earliest();
    let sample = SampleFile::new("a.h5", &content);
    let want = all_values(&sample.path).unwrap();
    let near =
        |at: &usize| content[at.saturating_sub(7)..content.len().min(at + 8)].iter().any(|&byte| byte != 0);
    let bits = (0..content.len())
        .filter(|at| near(at) && !RAW.contains(at))
        .flat_map(|at| (0..8).map(move |bit| (at, bit)));
    let bits: Vec<(usize, u32)> = bits
        .step_by(
            if std::env::var("WARPSCOPE_FUZZ")
                .is_ok_and(|copies| copies.parse().is_ok_and(|copies: u32| copies >= 1000))
            {
                1
            } else {
                29
            },
        )
        .collect();
    let index = content.windows(5).position(|bytes| bytes == b"TREE\x01").unwrap();
    let (mut whole, mut wrong) = (0, Vec::new());
    // These are always included: the number of chunks, and of the second chunk: the sign of its row, its
    // filter mask, and its size.
    for (at, bit) in [(6, 1), (79, 5), (68, 0), (64, 2)]
        .map(|(at, bit)| (index + at, bit))
        .into_iter()
        .chain(bits.iter().copied())
    {
        let mut damaged = content.clone();
        damaged[at] ^= 1 << bit;
        std::fs::write(&sample.path, damaged).unwrap();
        let found = all_values(&sample.path).unwrap_or_default();
        whole += usize::from(found == want);
        let changed =
            found.iter().filter(|&(name, values)| want.get(name).is_some_and(|want| want != values));
        wrong.extend(
            changed.filter(|_| !UNCHECKED.contains(&at)).map(|(name, _)| format!("{name} by {at}.{bit}")),
        );
    }
    assert_eq!(wrong, [""; 0], "{} bits tried", bits.len());
    assert!(whole * 2 > bits.len(), "{whole} of {} read as the whole file", bits.len());
}
