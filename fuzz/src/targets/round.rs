//! Files that we write must read back unchanged.

use warpscope::cloud::ColumnChoice;
use warpscope::cloud::formats::{self, ColumnData};
use warpscope::export::table::{Table, TableFormat};
use warpscope::printable::is_unprintable;
use warpscope::progress::NoProgress;

use super::scratch;

/// A column of any type.
#[derive(Debug)]
enum AnyColumn {
    U32(Vec<u32>),
    U64(Vec<u64>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Optional(Vec<Option<f64>>),
    Text(Vec<String>),
}

impl AnyColumn {
    fn some(rows: usize, bytes: &mut ByteReader<'_>) -> Self {
        fn all<T>(rows: usize, of: impl FnMut() -> T) -> Vec<T> {
            std::iter::repeat_with(of).take(rows).collect()
        }
        match bytes.below(7) {
            0 => Self::U32(all(rows, || bytes.word() as u32)),
            1 => Self::U64(all(rows, || bytes.word())),
            2 => Self::I64(all(rows, || bytes.word().cast_signed())),
            3 => Self::F32(all(rows, || f32::from_bits(bytes.word() as u32))),
            4 => Self::F64(all(rows, || f64::from_bits(bytes.word()))),
            5 => Self::Optional(all(rows, || (bytes.below(4) > 0).then(|| f64::from_bits(bytes.word())))),
            _ => Self::Text(all(rows, || format!("t{}", bytes.text(20).trim_end()))),
        }
    }

    fn put<'a>(&'a self, table: Table<'a>, name: &str) -> Table<'a> {
        let name = name.to_owned();
        match self {
            Self::U32(values) => table.with(name, |row| values[row]),
            Self::U64(values) => table.with(name, |row| values[row]),
            Self::I64(values) => table.with(name, |row| values[row]),
            Self::F32(values) => table.with(name, |row| values[row]),
            Self::F64(values) => table.with(name, |row| values[row]),
            Self::Optional(values) => table.with(name, |row| values[row]),
            Self::Text(values) => table.with(name, |row| values[row].as_str()),
        }
    }

    /// As numbers; `None` for texts.
    fn numbers(&self) -> Option<Vec<f64>> {
        Some(match self {
            Self::U32(values) => values.iter().map(|&value| value.into()).collect(),
            Self::U64(values) => values.iter().map(|&value| value as f64).collect(),
            Self::I64(values) => values.iter().map(|&value| value as f64).collect(),
            Self::F32(values) => values.iter().map(|&value| value.into()).collect(),
            Self::F64(values) => values.clone(),
            Self::Optional(values) => values.iter().map(|value| value.unwrap_or(f64::NAN)).collect(),
            Self::Text(_) => return None,
        })
    }
}

/// A small table in each of our formats.
pub fn trip(data: &[u8]) {
    let (rows, columns) = some(&mut ByteReader(data));
    let mut table = Table::new(rows);
    for (name, values) in &columns {
        table = values.put(table, name);
    }
    for format in TableFormat::ALL {
        let path = scratch::folder().join(format!("round.{}", format.extension()));
        table.write(&path).unwrap_or_else(|why| panic!("{format:?} of {columns:?}: {why}"));
        if format == TableFormat::Npz {
            // An array per column; each array is a dataset.
            let parts = formats::datasets(&path, &NoProgress).unwrap_or_else(|why| panic!("{why}"));
            assert_eq!(parts.len(), columns.len(), "arrays of {columns:?}");
            continue;
        }
        let info = formats::describe(&path, &NoProgress).unwrap_or_else(|why| panic!("{why}: {columns:?}"));
        assert_eq!(
            (info.rows, info.columns.len()),
            (rows as u64, columns.len()),
            "{format:?} of {columns:?}"
        );
        for (at, (_, values)) in columns.iter().enumerate() {
            match values.numbers() {
                Some(want) => {
                    let read = formats::read(&path, &ColumnChoice::Named(vec![at.to_string()]), &NoProgress)
                        .unwrap_or_else(|why| panic!("{why}: {columns:?}"));
                    let found: Vec<f64> = (0..read.values.len()).map(|at| read.values.get(at)).collect();
                    // Texts have enough digits to distinguish values of the type.
                    let single = matches!(values, AnyColumn::F32(_));
                    let same = |(&a, &b): (&f64, &f64)| {
                        a == b || a.is_nan() && b.is_nan() || single && a as f32 == b as f32
                    };
                    assert!(
                        found.len() == want.len() && found.iter().zip(&want).all(same),
                        "{format:?}, column {at}: {found:?} of {columns:?}"
                    );
                }
                None => {
                    let AnyColumn::Text(want) = values else { continue };
                    if let Ok(ColumnData::Categories { names, codes }) =
                        formats::column(&path, &info.columns[at].name, &NoProgress)
                    {
                        let found: Vec<&str> =
                            codes.iter().map(|&code| names[code as usize].as_str()).collect();
                        assert_eq!(found, *want, "{format:?}, column {at}");
                    }
                }
            }
        }
    }
}

/// Up to nine rows of up to five columns. The first column counts rows, so that no row is empty and one
/// column is numeric.
fn some(bytes: &mut ByteReader<'_>) -> (usize, Vec<(String, AnyColumn)>) {
    let rows = 1 + bytes.below(9);
    let mut columns = vec![("row".to_owned(), AnyColumn::U32((0..rows as u32).collect()))];
    for at in 0..=bytes.below(4) {
        // Start with a letter: a header of numbers alone is read as a row.
        let name = bytes.text(12);
        columns.push((format!("n{at}{}", name.trim_end()), AnyColumn::some(rows, bytes)));
    }
    (rows, columns)
}

/// Reads values from an input; zeros after its end.
struct ByteReader<'a>(&'a [u8]);

impl ByteReader<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    /// Text without control characters and direction marks, because readers replace these.
    fn text(&mut self, most: usize) -> String {
        let length = self.below(most);
        let (text, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        String::from_utf8_lossy(text).chars().filter(|&c| !is_unprintable(c)).collect()
    }
}
