//! Parses the value of `--queries FILE|COUNT|all|rows:LIST|at:X,Y,…`.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, bail};

use super::output;
use super::usage::UsageError;
use super::values::whole_number;
use crate::cloud::{Axis, ColumnChoice, GlobeAxes, PointCloud, axes_in_file_order, query_point};
use crate::export::{NeighborFormat, text};
use crate::run::{QuerySpec, RunSpec, defaults};
use crate::{memory, printable};

/// Limit on listed rows, which are all held in memory.
const MAX_LISTED: u64 = 100_000_000;

/// A parsed value of `--queries`.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryChoice {
    All,
    Count(u64),
    Rows(Vec<u64>),
    /// `rows:@FILE`: one number per line.
    RowsIn(PathBuf),
    /// One point, in the data's units.
    At(Vec<(Option<String>, f64)>),
    File(PathBuf),
}

impl FromStr for QueryChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "all" {
            return Ok(Self::All);
        }
        if let Some(list) = text.strip_prefix("rows:") {
            return match list.strip_prefix('@') {
                Some("") => Err("rows:@FILE: file name missing".to_owned()),
                Some(path) => Ok(Self::RowsIn(path.into())),
                None => Ok(Self::Rows(list_of_rows(list)?)),
            };
        }
        if let Some(at) = text.strip_prefix("at:") {
            return Ok(Self::At(point(at)?));
        }
        match whole_number(text) {
            Some(count) => Ok(Self::Count(count)),
            None if text.is_empty() => {
                Err("expected a file, a count, `all`, rows:LIST or at:X,Y,…".to_owned())
            }
            None => Ok(Self::File(text.into())),
        }
    }
}

/// Parses coordinates; either all or none have the names of their columns.
fn point(text: &str) -> Result<Vec<(Option<String>, f64)>, String> {
    let part = |part: &str| {
        let (name, value) =
            part.split_once('=').map_or((None, part), |(name, value)| (Some(name.trim().to_owned()), value));
        let wrong = || {
            format!(
                "`{}` is not a number; write at:X,Y,… or at:NAME=X,NAME=Y,… in the data's own units",
                value.trim()
            )
        };
        Ok((name, value.trim().parse().map_err(|_| wrong())?))
    };
    let parts: Vec<_> = text.split(',').map(part).collect::<Result<_, String>>()?;
    let named = parts.iter().filter(|(name, _)| name.is_some()).count();
    if named != 0 && named != parts.len() {
        Err("name every column of the point or none".to_owned())
    } else {
        Ok(parts)
    }
}

/// Parses `0,5,10-20`; ranges include both ends.
fn list_of_rows(list: &str) -> Result<Vec<u64>, String> {
    let mut rows = Vec::new();
    for part in list.split(',') {
        let number = |text: &str| {
            text.trim()
                .parse::<u64>()
                .map_err(|_| format!("`{}` is neither a row number nor a range like 10-20", part.trim()))
        };
        let (from, to) = match part.split_once('-') {
            Some((from, to)) => (number(from)?, number(to)?),
            None => (number(part)?, number(part)?),
        };
        if from > to {
            return Err(format!("the range {from}-{to} is reversed"));
        }
        if to - from >= MAX_LISTED - rows.len() as u64 {
            return Err(format!(
                "more than {} rows listed; use `all` for every row",
                text::thousands(MAX_LISTED)
            ));
        }
        rows.extend(from..=to);
    }
    Ok(rows)
}

impl QueryChoice {
    /// Turns the choice into queries of a cloud. Notes tell which default was used and how a point's
    /// coordinates were read. `columns` are those of the cloud: column numbers also apply to a query file;
    /// names are matched with the cloud's axes instead.
    ///
    /// # Errors
    /// When a list of rows cannot be read.
    pub fn resolve(
        choice: Option<&Self>,
        cloud: &PointCloud,
        columns: &ColumnChoice,
        seed: u64,
    ) -> anyhow::Result<QuerySpec> {
        let rows = cloud.len();
        Ok(match choice {
            None if rows as u64 <= defaults::QUERIES => {
                let all = if rows == 1 {
                    "the only row".to_owned()
                } else {
                    format!("all {}", text::count(rows as u64, "row", "rows"))
                };
                output::note(&format!("querying {all} (no --queries given)"));
                QuerySpec::All
            }
            None => {
                let (drawn, rows) = (text::thousands(defaults::QUERIES), text::thousands(rows as u64));
                output::note(&format!(
                    "querying {drawn} of {rows} rows, sampled with seed {seed} (no --queries given)"
                ));
                QuerySpec::Count(defaults::QUERIES)
            }
            Some(Self::All) => QuerySpec::All,
            Some(Self::Count(count)) => QuerySpec::Count(*count),
            Some(Self::Rows(rows)) => QuerySpec::Rows(rows.clone()),
            Some(Self::At(parts)) => {
                let order = if *columns == ColumnChoice::Default {
                    axes_in_file_order(cloud)
                } else {
                    (0..cloud.dims()).collect()
                };
                let at = along_axes(parts, &order, cloud.axes())?;
                query_point::cloud(&at, cloud)?;
                if parts[0].0.is_none() && (2..=MAX_NAMED_AXES).contains(&order.len()) {
                    let named = |&axis: &usize| {
                        format!("{} = {}", printable::name(&cloud.axes()[axis].name), at[axis])
                    };
                    output::note(&format!(
                        "query point: {}",
                        order.iter().map(named).collect::<Vec<_>>().join(", ")
                    ));
                }
                QuerySpec::At(at)
            }
            Some(Self::RowsIn(path)) => QuerySpec::Rows(read_rows(path)?),
            Some(Self::File(path)) => {
                let by_number = matches!(
                    columns,
                    ColumnChoice::Named(names) if names.iter().all(|name| name.parse::<usize>().is_ok())
                );
                let columns = if by_number { columns.clone() } else { ColumnChoice::Default };
                QuerySpec::File { path: path.clone(), columns }
            }
        })
    }
}

/// A point's coordinates are shown with their column names up to this number.
const MAX_NAMED_AXES: usize = 3;

/// The point's values in axis order, placed by column name or, without names, by `order`.
fn along_axes(parts: &[(Option<String>, f64)], order: &[usize], axes: &[Axis]) -> anyhow::Result<Vec<f64>> {
    let values: Vec<f64> = parts.iter().map(|(_, value)| *value).collect();
    if parts.len() != axes.len() {
        // `query_point::cloud` reports the wrong count, with the names of the columns.
        return Ok(values);
    }
    let mut at = vec![f64::NAN; axes.len()];
    for (place, (name, value)) in parts.iter().enumerate() {
        let axis = match name {
            None => order[place],
            Some(name) => axes
                .iter()
                .position(|axis| {
                    axis.name.eq_ignore_ascii_case(name) || GlobeAxes::same_angle(&axis.name, name)
                })
                .ok_or_else(|| {
                    let known: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
                    UsageError(format!(
                        "at:{name}=…: unknown column; searched columns: {}",
                        output::names(&known)
                    ))
                })?,
        };
        if !at[axis].is_nan() {
            bail!(UsageError(format!("at:…: column `{}` given twice", axes[axis].name)));
        }
        at[axis] = *value;
    }
    Ok(at)
}

/// Describes the queries of a run, for people.
pub fn describe(spec: &RunSpec, axes: &[Axis]) -> String {
    match &spec.queries {
        QuerySpec::All => "every row".to_owned(),
        QuerySpec::Count(_) => format!("rows sampled with seed {}", spec.seed),
        QuerySpec::Rows(_) => "listed rows".to_owned(),
        // Column names reveal swapped longitude and latitude.
        QuerySpec::At(at) if at.len() == axes.len() && at.len() <= 3 => {
            let named: Vec<String> = at
                .iter()
                .zip(axes)
                .map(|(value, axis)| format!("{} {value}", printable::name(&axis.name)))
                .collect();
            format!("the point {}", named.join(", "))
        }
        QuerySpec::At(at) => format!("the point {}", query_point::format(at)),
        QuerySpec::File { path, .. } => format!("the rows of {}", path.display()),
    }
}

/// Notes that a file format does not store which rows were queried.
pub fn note_rows_left_out(queries: &QuerySpec, format: NeighborFormat, to: &Path) {
    let chosen = matches!(queries, QuerySpec::Count(_) | QuerySpec::Rows(_));
    if chosen && !format.has_query_rows() {
        output::note(&format!(
            ".{} files do not store the queries' row numbers; tables and .npz do: {}",
            format.extension(),
            to.display()
        ));
    }
}

/// Limit on the size of a list of rows, in bytes.
const MAX_LIST_BYTES: u64 = 256 << 20;

/// Parses one number per line; empty lines and `#` comments are ignored.
fn read_rows(path: &Path) -> anyhow::Result<Vec<u64>> {
    let shown = path.display();
    // Two bytes of text become a row of eight bytes, and both lists are copied as they grow.
    let most = MAX_LIST_BYTES.min(memory::available().map_or(u64::MAX, |free| free / 12));
    let mut content = Vec::new();
    let read = File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut content));
    let length =
        read.with_context(|| "cannot read").map_err(|error| anyhow::anyhow!("{error:#}: {shown}"))?;
    if length as u64 > most {
        bail!("the list of rows is longer than the limit of {} MiB; split it: {shown}", most >> 20);
    }
    let Ok(content) = String::from_utf8(content) else {
        bail!("not a list of rows: it is not UTF-8: {shown}")
    };
    let mut rows = Vec::new();
    for (line, text) in content.lines().enumerate() {
        let text = text.split('#').next().unwrap_or_default().trim();
        if !text.is_empty() {
            rows.push(
                text.parse().map_err(|_| {
                    anyhow::anyhow!("line {}: `{text}` is not a row number: {shown}", line + 1)
                })?,
            );
        }
    }
    if rows.is_empty() {
        bail!("not a list of rows: it contains no row numbers: {shown}");
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_syntax_is_parsed() {
        let cases = [
            ("all", QueryChoice::All),
            ("1000", QueryChoice::Count(1000)),
            ("1e6", QueryChoice::Count(1_000_000)),
            ("0", QueryChoice::Count(0)),
            ("rows:0,5,10-12", QueryChoice::Rows(vec![0, 5, 10, 11, 12])),
            ("rows:@list.txt", QueryChoice::RowsIn("list.txt".into())),
            ("at:-0.1275, 51.5,1e3", QueryChoice::At(vec![(None, -0.1275), (None, 51.5), (None, 1000.0)])),
            (
                "at:lat=52.5, lon=13.4",
                QueryChoice::At(vec![(Some("lat".to_owned()), 52.5), (Some("lon".to_owned()), 13.4)]),
            ),
            ("airports.csv", QueryChoice::File("airports.csv".into())),
            ("inf", QueryChoice::File("inf".into())),
            ("./1000", QueryChoice::File("./1000".into())),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn invalid_query_lists_are_rejected() {
        for (text, why) in [
            ("rows:", "neither"),
            ("rows:1,x", "`x`"),
            ("rows:-5", "`-5`"),
            ("rows:9-3", "reversed"),
            ("rows:0-99999999999", "more than"),
            ("rows:0-18446744073709551615", "more than"),
            ("rows:@", "file name missing"),
            ("at:", "`` is not a number"),
            ("at:lat=1,2", "or none"),
            ("at:1,east", "`east`"),
            ("", "expected a file"),
        ] {
            let error = text.parse::<QueryChoice>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn row_lists_are_read_from_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.txt");
        std::fs::write(&path, "7\r\n# a comment\n\n 12 # the last\n").unwrap();
        assert_eq!(read_rows(&path).unwrap(), [7, 12]);
        std::fs::write(&path, "7\n-1\n").unwrap();
        assert_eq!(
            read_rows(&path).unwrap_err().to_string(),
            format!("line 2: `-1` is not a row number: {}", path.display())
        );
        std::fs::write(&path, "# none\n").unwrap();
        assert_eq!(
            read_rows(&path).unwrap_err().to_string(),
            format!("not a list of rows: it contains no row numbers: {}", path.display())
        );
        let message = format!("{:#}", read_rows(&folder.path().join("none")).unwrap_err());
        assert!(message.starts_with("cannot read: ") && message.ends_with("none"), "{message}");
        #[cfg(target_os = "linux")]
        assert!(
            read_rows(Path::new("/dev/zero"))
                .unwrap_err()
                .to_string()
                .starts_with("the list of rows is longer than")
        );
    }
}
