//! Reads neighbours from files, as benchmarks publish them and as this program writes them.

use std::path::{Path, PathBuf};

use crate::cloud::formats::{self, DatasetInfo, FormatError};
use crate::cloud::{Column, ColumnChoice, Coordinates, Values};
use crate::progress::Progress;
use crate::run::LoadedRun;
use crate::text::count;

/// Names of the matrix of neighbours: in ann-benchmarks, and in files of `warpscope run`.
const MATRIX_NAMES: [&str; 2] = ["neighbors", "indices"];

/// The columns of a table with a line per neighbour.
const LONG_COLUMNS: [&str; 3] = ["query", "rank", "index"];

/// Reads neighbours as a row per query: the record numbers of its neighbours, nearest first. The file has
/// such rows (`.ivecs`, `.ibin`, `.npy`, text), an array `neighbors` (ann-benchmarks) or `indices`, or
/// columns `rank`, `index` and, for several queries, `query`. Also returns the path that was read: the file,
/// or the data set in it.
pub fn read(path: &Path, progress: &dyn Progress) -> Result<(PathBuf, Coordinates), FormatError> {
    let mut from = path.to_owned();
    if formats::file_of(path) == *path {
        let datasets = Datasets::open(path, progress)?;
        if let Some(name) = MATRIX_NAMES.into_iter().find(|name| datasets.has(name)) {
            from = formats::path_of(path, name);
        } else if datasets.has(LONG_COLUMNS[1]) && datasets.has(LONG_COLUMNS[2]) {
            let query =
                if datasets.has(LONG_COLUMNS[0]) { Some(datasets.values(LONG_COLUMNS[0])?) } else { None };
            let (rank, index) = (datasets.values(LONG_COLUMNS[1])?, datasets.values(LONG_COLUMNS[2])?);
            let entry = |at| [query.as_ref().map_or(0.0, |query| query.get(at)), rank.get(at), index.get(at)];
            let equal =
                rank.len() == index.len() && query.as_ref().is_none_or(|query| query.len() == rank.len());
            let matrix = if equal {
                matrix(rank.len(), entry)
            } else {
                Err("its columns have different lengths".to_owned())
            };
            return finish(path, matrix);
        }
    }
    if let Some(matrix) = read_long(&from, LONG_COLUMNS[2], progress)? {
        return finish(path, matrix);
    }
    let table = formats::read(&from, &ColumnChoice::Default, progress)?;
    Ok((from, table))
}

/// The data sets of a file.
struct Datasets<'a> {
    path: &'a Path,
    progress: &'a dyn Progress,
    entries: Vec<DatasetInfo>,
}

impl<'a> Datasets<'a> {
    fn open(path: &'a Path, progress: &'a dyn Progress) -> Result<Self, FormatError> {
        Ok(Self { path, progress, entries: formats::datasets(&formats::file_of(path), progress)? })
    }

    fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|part| part.unread.is_none() && part.name == name)
    }

    fn read(&self, name: &str) -> Result<Coordinates, FormatError> {
        formats::read(&formats::path_of(self.path, name), &ColumnChoice::Default, self.progress)
    }

    fn values(&self, name: &str) -> Result<Values, FormatError> {
        self.read(name).map(|table| table.values)
    }
}

/// The column `name` of a table with a line per neighbour, as a row per query; `None` if the table lacks it.
/// Without a column of queries, as in a pane's export, all lines belong to one query.
fn read_long(
    path: &Path,
    name: &str,
    progress: &dyn Progress,
) -> Result<Option<Result<Coordinates, String>>, FormatError> {
    if let Some(table) = columns(path, &[LONG_COLUMNS[0], LONG_COLUMNS[1], name], progress)? {
        return Ok(Some(matrix(table.rows(), |at| {
            std::array::from_fn(|column| table.values.get(3 * at + column))
        })));
    }
    let table = columns(path, &[LONG_COLUMNS[1], name], progress)?;
    Ok(table.map(|table| {
        matrix(table.rows(), |at| [0.0, table.values.get(2 * at), table.values.get(2 * at + 1)])
    }))
}

/// The names of a file's arrays or columns.
///
/// # Errors
/// Errors of [`read()`].
pub fn names(path: &Path, progress: &dyn Progress) -> Result<Vec<String>, FormatError> {
    let datasets = formats::datasets(path, progress)?;
    if datasets.is_empty() {
        Ok(formats::records(path, &[], progress)?.columns)
    } else {
        Ok(datasets.into_iter().map(|part| part.name).collect())
    }
}

/// Names of the queries' rows, in archives and in tables.
const QUERY_ROW_NAMES: [&str; 2] = ["query_rows", "query_row"];

/// Each query's row number in its own file, in the order of [`read()`]; `None` unless the file has one for
/// every query.
///
/// # Errors
/// Errors of [`read()`].
pub fn query_rows(path: &Path, progress: &dyn Progress) -> Result<Option<Vec<u64>>, FormatError> {
    let datasets = Datasets::open(path, progress)?;
    let of_each = if datasets.has(QUERY_ROW_NAMES[0]) {
        let rows = datasets.values(QUERY_ROW_NAMES[0])?;
        (0..rows.len()).map(|query| [query as f64, rows.get(query)]).collect()
    } else if datasets.has(LONG_COLUMNS[0]) && datasets.has(QUERY_ROW_NAMES[1]) {
        let (queries, rows) = (datasets.values(LONG_COLUMNS[0])?, datasets.values(QUERY_ROW_NAMES[1])?);
        (0..queries.len().min(rows.len())).map(|at| [queries.get(at), rows.get(at)]).collect()
    } else if datasets.entries.is_empty()
        && let Some(table) = columns(path, &[LONG_COLUMNS[0], QUERY_ROW_NAMES[1]], progress)?
    {
        (0..table.rows()).map(|at| [table.values.get(2 * at), table.values.get(2 * at + 1)]).collect()
    } else {
        Vec::new()
    };
    Ok(rows_of(of_each))
}

/// Turns pairs of a query and its row into a list; `None` unless each query has exactly one.
fn rows_of(mut pairs: Vec<[f64; 2]>) -> Option<Vec<u64>> {
    pairs.sort_by(|a, b| a[0].total_cmp(&b[0]));
    pairs.dedup();
    let is_row = |row: f64| row >= 0.0 && row.fract() == 0.0;
    let one_each =
        pairs.windows(2).all(|two| two[0][0] < two[1][0]) && pairs.iter().all(|pair| is_row(pair[1]));
    (one_each && !pairs.is_empty()).then(|| pairs.into_iter().map(|[_, row]| row as u64).collect())
}

/// Names of distances, as matrices and as columns of a table.
const DISTANCE_NAMES: [[&str; 2]; 2] = [["squared_distances", "distances"], ["squared_distance", "distance"]];

/// Extensions of two files with the same name: row numbers, and their distances.
const DISTANCE_FILES: [(&str, &str); 2] = [("ivecs", "fvecs"), ("ibin", "fbin")];

/// As [`read()`], with the distances, squared or not: an array `distances` (ann-benchmarks) or
/// `squared_distances` of the same file, a column of the same table, or a `.fvecs` or `.fbin` of the same
/// name. Values of another shape, or that decrease from rank to rank, are ignored.
///
/// # Errors
/// Errors of [`read()`].
pub fn read_with_distances(
    path: &Path,
    progress: &dyn Progress,
) -> Result<(PathBuf, Coordinates, Option<Coordinates>), FormatError> {
    let (from, neighbours) = read(path, progress)?;
    let found = distances(path, progress)?.filter(|distances| are_distances(distances, &neighbours));
    Ok((from, neighbours, found))
}

fn distances(path: &Path, progress: &dyn Progress) -> Result<Option<Coordinates>, FormatError> {
    let file = formats::file_of(path);
    let pair = DISTANCE_FILES
        .iter()
        .find(|(ending, _)| file.extension().is_some_and(|of| of.eq_ignore_ascii_case(ending)));
    if let Some(pair) = pair.map(|(_, ending)| file.with_extension(ending)) {
        return if pair.is_file() {
            formats::read(&pair, &ColumnChoice::Default, progress).map(Some)
        } else {
            Ok(None)
        };
    }
    let datasets = Datasets::open(path, progress)?;
    if let Some(name) = DISTANCE_NAMES[0].into_iter().find(|name| datasets.has(name)) {
        return datasets.read(name).map(Some);
    }
    if !datasets.entries.is_empty() {
        return Ok(None);
    }
    for name in DISTANCE_NAMES[1] {
        if let Some(table) = read_long(path, name, progress)? {
            return Ok(table.ok());
        }
    }
    Ok(None)
}

/// Whether a table has the same shape as the neighbours', with distances ascending in each row up to its last
/// neighbour.
fn are_distances(distances: &Coordinates, neighbours: &Coordinates) -> bool {
    let width = neighbours.columns.len();
    let there = |at: usize| neighbours.values.get(at) >= 0.0;
    let grows =
        |at: usize| at.is_multiple_of(width) || distances.values.get(at - 1) <= distances.values.get(at);
    distances.columns.len() == width
        && distances.rows() == neighbours.rows()
        && (0..distances.values.len()).all(|at| !there(at) || distances.values.get(at) >= 0.0 && grows(at))
}

/// The neighbours of a run and their squared distances, as [`read_with_distances`] returns those of a file.
///
/// # Errors
/// If the record numbers are unknown.
pub fn neighbors_of_run(run: &LoadedRun) -> Result<(Coordinates, Coordinates), &'static str> {
    let records = run.records().ok_or(
        "rows of its cloud were dropped, and the recording has no points to tell which; use exported \
         neighbours instead",
    )?;
    let found = run.neighbors();
    let values: Vec<f64> = found.indices.iter().map(|&row| records(row) as f64).collect();
    let columns = || Column::unnamed(found.k);
    Ok((Coordinates::new(columns(), values), Coordinates::new(columns(), found.squared_distances.clone())))
}

fn finish(path: &Path, matrix: Result<Coordinates, String>) -> Result<(PathBuf, Coordinates), FormatError> {
    let malformed =
        |why| FormatError::Malformed { what: "neighbours".to_owned(), why, path: path.to_owned() };
    Ok((path.to_owned(), matrix.map_err(malformed)?))
}

/// Reads these columns; `None` if the file lacks one.
fn columns(path: &Path, names: &[&str], progress: &dyn Progress) -> Result<Option<Coordinates>, FormatError> {
    let names = names.iter().map(|&name| name.to_owned()).collect();
    match formats::read(path, &ColumnChoice::Named(names), progress) {
        Ok(table) => Ok(Some(table)),
        Err(FormatError::NoColumn { .. }) => Ok(None),
        Err(why) => Err(why),
    }
}

/// Arranges entries of (query, rank, index), in any order, as a row per query, by ascending query number. All
/// queries must have the same ranks, from 0.
fn matrix(entries: usize, entry: impl Fn(usize) -> [f64; 3]) -> Result<Coordinates, String> {
    let number = |what: &str, at: usize, value: f64| match value {
        value if value >= 0.0 && value.fract() == 0.0 && value < f64::from(u32::MAX) => Ok(value as u32),
        value => Err(format!("line {at}: {what} {value} is not a whole number of at least 0")),
    };
    let (mut queries, mut width) = (Vec::new(), 0);
    for at in 0..entries {
        let [query, rank, _] = entry(at);
        let query = number(LONG_COLUMNS[0], at, query)?;
        if queries.last() != Some(&query) {
            queries.push(query);
        }
        width = width.max(number(LONG_COLUMNS[1], at, rank)? as usize + 1);
    }
    queries.sort_unstable();
    queries.dedup();
    if queries.len().checked_mul(width) != Some(entries) {
        let [lines, queries, ranks] =
            [(entries, "line", "lines"), (queries.len(), "query", "queries"), (width, "rank", "ranks")]
                .map(|(number, one, many)| count(number as u64, one, many));
        return Err(format!("the table has {lines}; expected {queries} × {ranks}"));
    }
    // The matrix has one cell per entry, so a duplicate leaves a gap.
    let mut values = vec![f64::NAN; entries];
    let mut filled = vec![false; entries];
    for at in 0..entries {
        let [query, rank, index] = entry(at);
        let row = queries.binary_search(&(query as u32)).unwrap_or_default();
        let place = row * width + rank as usize;
        if std::mem::replace(&mut filled[place], true) {
            return Err(format!("query {query} has rank {rank} twice"));
        }
        values[place] = index;
    }
    Ok(Coordinates::new(Column::unnamed(width), values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::NoProgress;

    fn read_text(name: &str, text: &str) -> Result<(Vec<f64>, usize), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let (_, table) = read(&path, &NoProgress).map_err(|why| why.reason())?;
        Ok((table.values.iter().collect(), table.columns.len()))
    }

    #[test]
    fn query_rows_are_read_when_every_query_has_one() {
        let rows = |text: &str| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.csv");
            std::fs::write(&path, text).unwrap();
            query_rows(&path, &NoProgress).unwrap()
        };
        assert_eq!(
            rows("query,query_row,rank,index\n1,5,0,2\n1,5,1,3\n0,7,0,4\n0,7,1,4\n"),
            Some(vec![7, 5])
        );
        for other in [
            "query,rank,index\n0,0,2\n",
            "query,query_row,rank,index\n0,5,0,2\n0,6,1,3\n",
            "query,query_row,rank,index\n0,-1,0,2\n",
            "4,5\n",
        ] {
            assert_eq!(rows(other), None, "{other}");
        }
    }

    #[test]
    fn neighbour_lines_are_grouped_by_query() {
        let whole = (vec![4.0, 0.0, 7.0, 7.0, 5.0, -1.0], 3);
        assert_eq!(read_text("a.csv", "4,0,7\n7,5,-1\n"), Ok(whole.clone()));
        assert_eq!(
            read_text("a.tsv", "query\trank\tindex\n0\t0\t4\n0\t1\t0\n0\t2\t7\n1\t0\t7\n1\t1\t5\n1\t2\t-1\n"),
            Ok(whole.clone())
        );
        let scattered = "index,far,rank,query\n7,0.5,0,9\n0,1,1,3\n5,1,1,9\n7,2,2,3\n4,0,0,3\n-1,inf,2,9\n";
        assert_eq!(read_text("a.csv", scattered), Ok(whole), "in any order, with any query numbers");
        assert_eq!(read_text("a.csv", "rank,index,distance\n0,4,0\n1,0,2\n"), Ok((vec![4.0, 0.0], 2)));
    }

    #[test]
    fn distances_are_read_with_the_neighbours() {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str| {
            let (_, _, distances) = read_with_distances(&folder.path().join(name), &NoProgress).unwrap();
            distances.map(|table| table.values.iter().collect::<Vec<f64>>())
        };
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
        write("a.csv", b"query,rank,index,squared_distance\n0,1,7,2.5\n0,0,4,0\n1,0,3,1\n1,1,-1,inf\n");
        assert_eq!(of("a.csv"), Some(vec![0.0, 2.5, 1.0, f64::INFINITY]));
        write("b.csv", b"rank,index,distance\n0,4,0.5\n1,7,1\n");
        assert_eq!(of("b.csv"), Some(vec![0.5, 1.0]));
        write("c.csv", b"rank,index,distance\n0,4,1\n1,7,0.5\n");
        assert_eq!(of("c.csv"), None, "they do not ascend");
        write("d.csv", b"4,7\n1,2\n");
        assert_eq!(of("d.csv"), None);
        let vectors = |values: [[u8; 4]; 2]| [2u32.to_le_bytes(), values[0], values[1]].concat();
        write("e.ivecs", &vectors([4u32, 7].map(u32::to_le_bytes)));
        assert_eq!(of("e.ivecs"), None);
        write("e.fvecs", &vectors([0.5f32, 2.0].map(f32::to_le_bytes)));
        assert_eq!(of("e.ivecs"), Some(vec![0.5, 2.0]));
        write("e.fvecs", &[1u32.to_le_bytes(), 2f32.to_le_bytes()].concat());
        assert_eq!(of("e.ivecs"), None, "vectors of another file");
    }

    #[test]
    fn tables_with_gaps_are_rejected() {
        let why = |lines: &str| read_text("a.csv", &format!("query,rank,index\n{lines}")).unwrap_err();
        assert_eq!(
            why("0,0,4\n0,1,5\n1,0,4\n"),
            "neighbours: the table has 3 lines; expected 2 queries × 2 ranks"
        );
        assert_eq!(why("0,0,4\n0,1,5\n1,1,4\n1,1,4\n"), "neighbours: query 1 has rank 1 twice");
        assert_eq!(
            why("0,4e9,4\n"),
            "neighbours: the table has 1 line; expected 1 query × 4,000,000,001 ranks"
        );
        assert_eq!(why("0,0,4\n0,-1,5\n"), "neighbours: line 1: rank -1 is not a whole number of at least 0");
        assert_eq!(
            why("0,0,4\n0.5,0,5\n"),
            "neighbours: line 1: query 0.5 is not a whole number of at least 0"
        );
    }
}
