//! Loading clouds from files and generators, and queries in the frame of a cloud.

use std::collections::HashSet;

use super::formats::{self, ColumnGuess, FileStamp, FormatError, Reason};
use super::joined::JoinedColumns;
use super::{
    CloudError, Column, ColumnChoice, Coordinates, FileValue, GlobeAxes, PointCloud, Source, Table, generate,
    query_point,
};
use crate::printable;
use crate::progress::{NoProgress, Progress};

/// How columns are selected if the user did not choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AutoColumns {
    /// As for [`ColumnChoice::Default`].
    #[default]
    AllNumeric,
    /// Columns that look like coordinates ([`formats::ColumnGuess`]).
    Inferred,
}

/// Reads or generates a cloud.
///
/// Rows with NaN or ±∞ are an error unless `drop_nonfinite` is set; then they are dropped and counted.
///
/// # Errors
/// Any [`CloudError`] except [`CloudError::Dimensions`].
pub fn load(
    source: &Source,
    drop_nonfinite: bool,
    progress: &dyn Progress,
) -> Result<PointCloud, CloudError> {
    Ok(load_auto(source, AutoColumns::AllNumeric, drop_nonfinite, progress)?.0)
}

/// Like [`load`], also returning the inferred roles of a file's columns. If columns are inferred, the cloud's
/// source lists them by number.
///
/// # Errors
/// As [`load`].
pub fn load_auto(
    source: &Source,
    how: AutoColumns,
    drop_nonfinite: bool,
    progress: &dyn Progress,
) -> Result<(PointCloud, Option<ColumnGuess>), CloudError> {
    let stamp = stamp(source);
    let (table, source, guess) = table_auto(source, how, progress)?;
    let cloud = PointCloud::from_table(table, source.clone(), None, drop_nonfinite);
    match cloud {
        Ok(cloud) => Ok((with_large_integers(cloud.with_stamp(stamp), progress)?, guess)),
        Err(mut why) => {
            if let (CloudError::NonFinite { unusable, .. }, Some(guess)) = (&mut why, &guess) {
                unusable.whole = guess.complete_columns(unusable.rows - unusable.count, unusable.rows);
            }
            Err(with_line(why, &source, progress))
        }
    }
}

/// State of a source's file before it is read, to detect changes.
fn stamp(source: &Source) -> Option<FileStamp> {
    if let Source::File { path, .. } = source { Some(FileStamp::now(path)) } else { None }
}

/// Coordinates, the source with the columns actually selected, and the inferred roles of a file's columns.
fn table_auto(
    source: &Source,
    how: AutoColumns,
    progress: &dyn Progress,
) -> Result<(Coordinates, Source, Option<ColumnGuess>), CloudError> {
    let Source::File { path, columns: ColumnChoice::Default } = source else {
        return Ok((table_of(source, progress)?, source.clone(), None));
    };
    let (table, guess) = formats::read_auto(path, how, progress)?;
    let columns = if how == AutoColumns::Inferred { guess.choice() } else { ColumnChoice::Default };
    Ok((table, Source::File { path: path.clone(), columns }, Some(guess)))
}

/// Reads a separate query file relative to the origins of `data`. Without an explicit selection, columns are
/// matched by the data's names.
///
/// If the file lacks those names, its default columns are used, but only if the data's columns were not
/// selected explicitly. An explicit selection fixes an order that the file's default need not have.
/// [`PointCloud::axes`] of the result shows the selection.
///
/// A file without column names and with a different number of columns also uses its default, because its
/// first columns need not be the data's.
///
/// # Errors
/// As for [`load`], and [`CloudError::Dimensions`].
pub fn load_queries(
    source: &Source,
    data: &PointCloud,
    drop_nonfinite: bool,
    progress: &dyn Progress,
) -> Result<PointCloud, CloudError> {
    load_queries_auto(source, data, AutoColumns::AllNumeric, drop_nonfinite, progress)
}

/// The numbers of a cloud's columns in its file, if they were selected by number.
fn column_numbers(cloud: &PointCloud) -> Option<Vec<usize>> {
    let Source::File { columns: ColumnChoice::Named(names), .. } = cloud.source() else { return None };
    names.iter().map(|name| name.parse().ok()).collect()
}

/// A cloud's axes sorted by the order of their columns in the file, which unnamed coordinates follow.
pub fn axes_in_file_order(cloud: &PointCloud) -> Vec<usize> {
    let mut order: Vec<usize> = (0..cloud.dims()).collect();
    let numbers = match cloud.source() {
        Source::File { columns: ColumnChoice::Named(_), .. } => column_numbers(cloud),
        Source::File { columns: ColumnChoice::Default, .. } => cloud.file().and_then(|path| {
            let names: Vec<String> = cloud.axes().iter().map(|axis| axis.name.clone()).collect();
            formats::column_indices(path, &names, &NoProgress).ok()
        }),
        Source::Generate { .. } | Source::Coordinates(_) => None,
    };
    if let Some(numbers) = numbers.filter(|numbers: &Vec<usize>| numbers.len() == order.len()) {
        order.sort_by_key(|&axis| numbers[axis]);
    }
    order
}

/// Like [`load_queries`]. If the data's columns were inferred, a file without their names falls back to its
/// own inference, and the columns of an unnamed file correspond to the data's in file order.
///
/// # Errors
/// As [`load_queries`].
pub fn load_queries_auto(
    source: &Source,
    data: &PointCloud,
    how: AutoColumns,
    drop_nonfinite: bool,
    progress: &dyn Progress,
) -> Result<PointCloud, CloudError> {
    let mut by_position = false;
    let mut fall_back = || -> Result<_, CloudError> {
        let (mut table, mut resolved, guess) = table_auto(source, how, progress)?;
        let order = axes_in_file_order(data);
        if let (AutoColumns::Inferred, Some(guess), Source::File { path, .. }) = (how, guess, source)
            && (guess.unnamed || matches!(guess.reason, Reason::AllNumeric | Reason::Values))
            && guess.coordinates.len() == order.len()
        {
            by_position = guess.unnamed;
            let mut columns = vec![0; order.len()];
            order.iter().zip(&guess.coordinates).for_each(|(&axis, &column)| columns[axis] = column);
            resolved = Source::File {
                path: path.clone(),
                columns: ColumnChoice::Named(columns.iter().map(usize::to_string).collect()),
            };
            table = table_of(&resolved, progress)?;
        }
        Ok((table, resolved))
    };
    let is_default = matches!(source, Source::File { columns: ColumnChoice::Default, .. });
    let stamp = stamp(source);
    let (table, source) = match source {
        Source::File { path, columns: ColumnChoice::Default } => {
            let names: Vec<String> = data.axes().iter().map(|axis| axis.name.clone()).collect();
            let chosen = how == AutoColumns::AllNumeric
                && matches!(data.source(), Source::File { columns: ColumnChoice::Named(_), .. });
            let distinct = names.iter().collect::<HashSet<_>>().len() == names.len();
            let table = if chosen {
                formats::read(path, &ColumnChoice::Named(names), progress).map(Some)
            } else {
                formats::read_by_names(path, names, progress)
            };
            match table {
                Ok(None) => fall_back()?,
                Ok(Some(table)) => (table, source.clone()),
                Err(FormatError::NoColumn { .. }) if !chosen => fall_back()?,
                // Duplicate column names in the data cannot identify columns.
                Err(FormatError::Column { .. }) if !chosen && !distinct => fall_back()?,
                Err(FormatError::NoColumn { what, why, path }) => {
                    let why = format!(
                        "{why}; name the columns like the data's, or choose them by number in both files"
                    );
                    return Err(FormatError::NoColumn { what, why, path }.into());
                }
                Err(why) => return Err(why.into()),
            }
        }
        // Its axes are the data's.
        Source::Coordinates(at) => return query_point::cloud(&coordinates(at)?, data),
        Source::File { .. } | Source::Generate { .. } => (table_of(source, progress)?, source.clone()),
    };
    if table.columns.len() != data.dims() {
        return Err(CloudError::Dimensions {
            queries: table.columns.len(),
            data: data.dims(),
            origin: source.to_string(),
        });
    }
    if is_default && !by_position && frames_differ(&table.columns, data) {
        let queries = join_names(table.columns.iter().map(|column| column.name.as_str()));
        return Err(CloudError::OtherColumns {
            queries,
            data: join_names(data.axes().iter().map(|axis| axis.name.as_str())),
            origin: source.to_string(),
        });
    }
    let cloud = PointCloud::from_table(table, source.clone(), Some(data), drop_nonfinite);
    match cloud {
        Ok(cloud) => with_large_integers(cloud.with_stamp(stamp), progress),
        Err(why) => Err(with_line(why, &source, progress)),
    }
}

/// Whether either the queries or the data are longitude and latitude, and the other's names mean something
/// else.
fn frames_differ(queries: &[Column], data: &PointCloud) -> bool {
    let [of_queries, of_data] = [
        queries.iter().map(|column| &column.name).collect(),
        data.axes().iter().map(|axis| &axis.name).collect::<Vec<_>>(),
    ];
    let is_globe = |names: &[&String]| GlobeAxes::is_named(names.iter().map(|name| name.as_str()));
    let made_up = Column::unnamed(data.dims());
    let says = |names: &[&String]| !names.iter().copied().eq(made_up.iter().map(|column| &column.name));
    match (is_globe(&of_queries), is_globe(&of_data)) {
        // Another frame, such as galactic coordinates.
        (true, true) => {
            !of_queries.iter().all(|name| of_data.iter().any(|other| GlobeAxes::same_angle(name, other)))
        }
        (true, false) => says(&of_data),
        (false, true) => says(&of_queries),
        _ => false,
    }
}

fn join_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(printable::name).collect::<Vec<_>>().join(", ")
}

/// Rereads columns that may have integers that f64 rounds.
fn with_large_integers(cloud: PointCloud, progress: &dyn Progress) -> Result<PointCloud, CloudError> {
    let Source::File { path, .. } = cloud.source().clone() else { return Ok(cloud) };
    let axes: Vec<usize> = cloud.axes_of_large_integers().collect();
    if axes.is_empty() {
        return Ok(cloud);
    }
    let all = formats::records(&path, &[], progress)?.columns;
    // Of several columns with one name, axes follow the order of the file.
    let by_name = |axis: usize| {
        let name = &cloud.axes()[axis].name;
        let before = cloud.axes()[..axis].iter().filter(|other| other.name == *name).count();
        (0..all.len()).filter(|&at| all[at] == *name).nth(before)
    };
    let by_number = column_numbers(&cloud).filter(|numbers| numbers.len() == cloud.dims());
    let number = |&axis: &usize| by_number.as_ref().map_or_else(|| by_name(axis), |all| Some(all[axis]));
    let Some(numbers) = axes.iter().map(number).collect::<Option<Vec<usize>>>() else { return Ok(cloud) };
    let integers = JoinedColumns::spelled(&path, &numbers, &cloud, progress, |row, column, text| {
        let (axis, value) = (axes[column], FileValue::parse_decimal(text)?);
        let integer = value.integer()?;
        let is_read = integer as f64 == cloud.coordinate(row, axis);
        (is_read && cloud.value(row, axis).integer() != Some(integer)).then_some((row, axis, value))
    })?;
    Ok(cloud.with_integers(integers))
}

/// Adds the line of a bad value by rereading a text file.
fn with_line(mut why: CloudError, source: &Source, progress: &dyn Progress) -> CloudError {
    if let CloudError::NonFinite { row, line, .. } | CloudError::TooLarge { row, line, .. } = &mut why
        && let Source::File { path, .. } = source
    {
        *line = formats::line_of_record(path, *row, progress);
    }
    why
}

fn table_of(source: &Source, progress: &dyn Progress) -> Result<Coordinates, CloudError> {
    match source {
        Source::File { path, columns } => Ok(formats::read(path, columns, progress)?),
        Source::Generate { spec, seed } => generate::generate(spec, *seed, progress),
        Source::Coordinates(at) => {
            let values = coordinates(at)?;
            let columns = (0..values.len()).map(|axis| Column { name: format!("c{axis}") }).collect();
            Ok(Coordinates { decimals: true, ..Table { columns, values }.into() })
        }
    }
}

fn coordinates(at: &str) -> Result<Vec<f64>, CloudError> {
    query_point::parse(at).map_err(|part| CloudError::Coordinates {
        at: at.to_owned(),
        why: format!("`{part}` is not a number"),
    })
}
