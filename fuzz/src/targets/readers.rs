//! Readers: a file with any content is described, read entirely and in part, or refused with a one-line
//! error.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use flate2::Compression;
use flate2::write::GzEncoder;
use warpscope::cloud::formats::{self, Cell, ColumnData, FormatError};
use warpscope::cloud::{AutoColumns, ColumnChoice, Coordinates};
use warpscope::progress::Progress;

use super::scratch;

/// Counts progress reports, and never cancels.
#[derive(Default)]
struct ProgressCounter(AtomicU64);

impl Progress for ProgressCounter {
    fn update(&self, _done: u64, _total: u64) {
        self.0.fetch_add(1, Relaxed);
    }

    fn cancelled(&self) -> bool {
        false
    }
}

pub fn delimited(data: &[u8]) {
    named(&["csv", "tsv", "txt", "xyz", "pts", "dat"], true, data);
}

pub fn words(data: &[u8]) {
    named(&["vec", "txt"], true, data);
}

pub fn json(data: &[u8]) {
    named(&["json", "jsonl", "geojson"], true, data);
}

pub fn molecule(data: &[u8]) {
    named(&["xyz", "txt"], true, data);
}

pub fn npy(data: &[u8]) {
    file("npy", data);
}

pub fn npz(data: &[u8]) {
    file("npz", data);
}

pub fn parquet(data: &[u8]) {
    file("parquet", data);
}

pub fn arrow(data: &[u8]) {
    file("arrow", data);
}

pub fn hdf5(data: &[u8]) {
    file("h5", data);
}

pub fn texmex(data: &[u8]) {
    named(&["fvecs", "bvecs", "ivecs"], false, data);
}

pub fn bigann(data: &[u8]) {
    named(&["fbin", "u8bin", "i8bin", "ibin"], false, data);
}

pub fn idx(data: &[u8]) {
    named(&["idx", "idx3-ubyte"], true, data);
}

pub fn ply(data: &[u8]) {
    file("ply", data);
}

pub fn pcd(data: &[u8]) {
    file("pcd", data);
}

pub fn e57(data: &[u8]) {
    file("e57", data);
}

pub fn las(data: &[u8]) {
    file("laz", data);
}

/// The first byte selects the file name. If its high bit is set and the format supports gzip, the rest is
/// compressed.
fn named(extensions: &[&str], gzip: bool, data: &[u8]) {
    let Some((&how, content)) = data.split_first() else { return };
    let extension = extensions[usize::from(how & 0x7f) % extensions.len()];
    if gzip && how & 0x80 != 0 {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(content).expect("writing to memory");
        file(&format!("{extension}.gz"), &packed.finish().expect("writing to memory"));
    } else {
        file(extension, content);
    }
}

fn file(extension: &str, content: &[u8]) {
    check(&scratch::file(&format!("a.{extension}"), content));
}

/// Runs every operation of the program on a file.
fn check(path: &Path) {
    let progress = ProgressCounter::default();
    let parts = told(formats::datasets(path, &progress));
    look(path, &progress);
    // The first of several datasets, the last, and a missing one.
    let parts = parts.unwrap_or_default();
    let ends = [parts.first(), parts.last().filter(|_| parts.len() > 1)];
    for part in ends.into_iter().flatten() {
        look(&formats::path_of(path, &part.name), &progress);
    }
    let _ = told(formats::attribute(path, "distance", &progress));
}

fn look(path: &Path, progress: &ProgressCounter) {
    let info = told(formats::describe(path, progress));
    let table = told(formats::read(path, &ColumnChoice::Default, progress));
    let reversed = ColumnChoice::Named(vec!["1".into(), "0".into()]);
    if let Some(Coordinates { columns, values, .. }) = told(formats::read(path, &reversed, progress)) {
        assert_eq!((columns.len(), values.len() % 2), (2, 0), "two columns were asked for");
    }
    // Read the file like a command without `--columns`.
    if let Some((Coordinates { columns, values, .. }, _)) =
        told(formats::read_auto(path, AutoColumns::Inferred, progress))
    {
        assert!(
            !columns.is_empty() && values.len().is_multiple_of(columns.len()),
            "{} values in {} columns",
            values.len(),
            columns.len()
        );
    }
    let first = told(formats::records(path, &[0], progress));
    if let Some(info) = &info {
        assert!(progress.0.load(Relaxed) > 0, "no progress was reported");
        serde_json::to_string(info).expect("a serialisable description");
        for column in info.columns.iter().take(2) {
            let rows = match told(formats::column(path, &column.name, progress)) {
                Some(ColumnData::Numbers(values)) => values.len(),
                Some(ColumnData::Categories { names, codes }) => {
                    assert!(codes.iter().all(|&code| (code as usize) < names.len()), "a code without a name");
                    codes.len()
                }
                None => continue,
            };
            assert_eq!(rows as u64, info.rows, "rows of column {:?}", column.name);
        }
    }
    let Some(table) = table else { return };
    let width = table.columns.len();
    assert!(
        width > 0 && table.values.len() == table.rows() * width,
        "{} values in {width} columns",
        table.values.len()
    );
    let Some(info) = info else { return };
    assert_eq!(info.rows, table.rows() as u64, "row counts of description and content differ");
    if table.rows() == 0 {
        return;
    }
    // Last before first: rows must come in the requested order.
    let last = table.rows() as u64 - 1;
    let found = told(formats::records(path, &[last, 0], progress))
        .unwrap_or_else(|| panic!("record {last} cannot be read although the file can"));
    assert_eq!(found.rows.len(), 2);
    assert!(first.is_some(), "record 0 cannot be read although the file can");
    for (row, at) in found.rows.iter().zip([table.rows() - 1, 0]) {
        assert_eq!(row.len(), found.columns.len(), "cells of a record");
        if found.columns.len() != info.columns.len() || info.default_columns.len() != width {
            continue;
        }
        for (column, &of) in info.default_columns.iter().enumerate() {
            let value = table.values.get(at * width + column);
            match row[of] {
                Cell::Number(number) => {
                    assert!(
                        number == value || number.is_nan() && value.is_nan(),
                        "record {at}, column {of}: {number} and {value}"
                    )
                }
                Cell::Missing => assert!(value.is_nan(), "record {at}, column {of}: missing and {value}"),
                Cell::Text(_) => {}
            }
        }
    }
}

/// Unwraps a result; an error must be one printable line.
fn told<T>(read: Result<T, FormatError>) -> Option<T> {
    read.map_err(|why| {
        let text = why.to_string();
        assert!(!text.contains(char::is_control), "{text:?}");
        assert!(text.len() < 1 << 16, "an error of {} bytes", text.len());
    })
    .ok()
}
