//! HDF5: each numeric data set of one or two dimensions is listed, named by its path from the root.
//!
//! In the ann-benchmarks layout, `train` is the cloud, `test` the queries, and `neighbors` and `distances`
//! the answers.

mod metadata;

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use hdf5_reader::datatype_api::H5Type;
use hdf5_reader::error::Error;
use hdf5_reader::storage::FileStorage;
use hdf5_reader::{
    ByteOrder, DEFAULT_MAX_CHUNK_BYTES, Dataset, Datatype, FilterRegistry, Hdf5File, OpenOptions, SliceInfo,
    SliceInfoElem,
};
use metadata::DatasetList;

use super::datasets::{self, DatasetInfo, DatasetState};
use super::limits::{LZF, MAX_COLUMNS, MAX_HDF5_CHUNK, MAX_HDF5_VALUES};
use super::lzf::LzfReader;
use super::npy::sizes;
use super::{
    ColumnRequest, ColumnStats, Endian, FormatError, Input, NumberType, Records, Result, Sheet, SheetColumn,
    decoded, number_cell, printable,
};
use crate::table::{Real, Values, with_values};

/// LZF's identifier in the HDF Group's filter registry.
const LZF_FILTER: u16 = 32000;
/// Maximum bytes of an unpacked chunk besides its values: a checksum.
const CHECKSUM: u64 = 4;
/// Bytes read at a time, or one row of chunks if that is larger.
const CHUNK: u64 = 1 << 22;

/// Lists the data sets of a file.
pub(super) fn datasets(input: &Input<'_>) -> Result<Vec<DatasetInfo>> {
    decoded("HDF5", input, || Ok(metadata::list(&open(input)?.0, input)?.datasets))
}

pub(super) fn read(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
    decoded("HDF5", input, || read_dataset(input, request))
}

/// The text of an attribute of the root group; ann-benchmarks stores its metric as `distance`.
pub(super) fn attribute(input: &Input<'_>, name: &str) -> Result<Option<String>> {
    let read = || {
        let root = open(input)?.0.root_group().map_err(|why| error(input, "HDF5", why))?;
        Ok(root.attribute(name).ok().and_then(|attribute| attribute.read_string().ok()))
    };
    decoded("HDF5", input, read)
}

/// Opens a file. The number is the maximum decompressed size of an LZF chunk, to be set once it is known.
fn open(input: &Input<'_>) -> Result<(Hdf5File, Arc<AtomicU64>)> {
    let mut filters = FilterRegistry::new();
    let most = Arc::new(AtomicU64::new(DEFAULT_MAX_CHUNK_BYTES as u64));
    let held = Arc::clone(&most);
    filters.register(LZF_FILTER, Box::new(move |_, packed, _| unpack_lzf(packed, held.load(Relaxed))));
    let options = OpenOptions::default().with_filter_registry(filters);
    let storage = FileStorage::open(&input.path).map_err(|why| error(input, "HDF5", why))?;
    let file = Hdf5File::from_storage_with_options(Arc::new(storage), options)
        .map_err(|why| error(input, "HDF5", why))?;
    // In a truncated file, missing data could be read as fill values or as data of another set.
    let promised = file.superblock().eof_address;
    if promised > input.size && promised != u64::MAX {
        return Err(
            input.malformed("cut short", format!("the file has {} bytes instead of {promised}", input.size))
        );
    }
    Ok((file, most))
}

/// Decompresses LZF, h5py's own compression. Output beyond `most` is truncated, which the reader detects.
fn unpack_lzf(packed: &[u8], most: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    LzfReader::new(packed).take(most.min(packed.len() as u64 * LZF)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Maps an error of the decoder to ours.
fn error(input: &Input<'_>, what: &str, why: Error) -> FormatError {
    match why {
        Error::Io(why) => input.io(why),
        Error::Context { source, .. } => error(input, what, *source),
        Error::UnexpectedEof { .. } => {
            input.malformed("cut short", "the file ends in the middle of its data")
        }
        Error::UnsupportedFilter(filter) => {
            let why = format!(
                "{filter} is not supported; write it with gzip, for instance h5repack -f GZIP=4 IN OUT, or \
                 as .npy"
            );
            input.unsupported(format!("{what}: compression"), why)
        }
        // The decoder reports unsupported features only by this wording.
        why if why.to_string().starts_with("unsupported") => input
            .unsupported(what, format!("not supported ({why}); write it as .npy, or with h5repack IN OUT")),
        why => input.malformed(what, format!("it cannot be decoded ({why})")),
    }
}

/// A list entry for a data set, and its state.
fn inspect(name: String, set: &Dataset) -> (DatasetInfo, DatasetState) {
    let about = element(set.dtype()).map(|(number, _)| number.name());
    let (rows, columns, table) = match *set.shape() {
        [rows] => (rows, 1, false),
        [rows, columns] => (rows, columns, true),
        _ => (0, 0, false),
    };
    let unread = match (&about, set.shape().len()) {
        (Err(why), _) => Some(why.clone()),
        (Ok(_), 1 | 2) if columns == 0 => Some("it has no columns".to_owned()),
        (Ok(_), 1 | 2) => None,
        (Ok(_), 0) => Some("it is one number".to_owned()),
        (Ok(_), rank) => Some(format!(
            "it has {rank} dimensions, {}; reshape it to points × coordinates",
            sizes(set.shape())
        )),
    };
    let state = match (&unread, set.dtype()) {
        (None, _) => DatasetState::Whole,
        _ if set.shape().is_empty() => DatasetState::Scalar,
        (_, Datatype::String { .. }) => DatasetState::Text,
        _ => DatasetState::Unread,
    };
    (DatasetInfo { name, rows, columns, table, about: about.unwrap_or_default(), unread }, state)
}

/// The selected data set.
struct SelectedDataset {
    info: DatasetInfo,
    set: Dataset,
    number: NumberType,
    /// The data set's name for error messages.
    what: String,
}

/// The named data set, or the obvious one, with its handle if it can be read.
fn find(file: &Hdf5File, input: &Input<'_>) -> Result<(DatasetInfo, Option<Dataset>)> {
    let DatasetList { mut datasets, mut handles, states, truncated } = metadata::list(file, input)?;
    if truncated {
        let Some(name) = input.dataset() else {
            let why = format!("choose one with FILE:NAME; the first are {}", datasets::list(&datasets));
            return Err(input.unsupported("too many data sets to list", why));
        };
        if datasets::choose(&datasets, input).is_err() {
            let what = format!("part `{name}`");
            let set = file.dataset(name).map_err(|why| {
                if missing(&why) { input.malformed(&*what, "not found") } else { error(input, &what, why) }
            })?;
            return Ok((inspect(name.trim_matches('/').to_owned(), &set).0, Some(set)));
        }
    }
    let chosen = datasets::choose_array("data set", &datasets, &states, input)?;
    Ok((datasets.swap_remove(chosen), handles.swap_remove(chosen)))
}

/// Whether the error means that the object does not exist.
fn missing(why: &Error) -> bool {
    match why {
        Error::Context { source, .. } => missing(source),
        why => matches!(why, Error::DatasetNotFound(_) | Error::GroupNotFound(_)),
    }
}

fn choose(input: &Input<'_>) -> Result<SelectedDataset> {
    let (file, most) = open(input)?;
    let (info, set) = find(&file, input)?;
    let DatasetInfo { name, rows, columns: width, unread, .. } = &info;
    let what = format!("data set `{}`", printable(name));
    let (None, Some(set)) = (unread, set) else {
        return Err(input.unsupported(what, unread.clone().unwrap_or_default()));
    };
    let (number, _) = element(set.dtype()).map_err(|why| input.unsupported(what.as_str(), why))?;
    if *width > MAX_COLUMNS as u64 {
        return Err(input.unsupported(
            what,
            format!("it has {width} columns; at most {MAX_COLUMNS} are supported; is it transposed?"),
        ));
    }
    input.check_shape(*rows, *width)?;
    let promised = rows.saturating_mul(*width).saturating_mul(number.size() as u64);
    if promised > input.size.saturating_mul(MAX_HDF5_VALUES) {
        let why =
            format!("its shape declares {promised} bytes, which a file of {} bytes cannot hold", input.size);
        return Err(input.malformed(what, why));
    }
    let unpacked = unpacked(&set, number);
    if unpacked > input.size.saturating_mul(MAX_HDF5_VALUES).max(MAX_HDF5_CHUNK) {
        let why =
            format!("its chunks declare {unpacked} bytes, which a file of {} bytes cannot hold", input.size);
        return Err(input.malformed(what, why));
    }
    metadata::check(&file, &set, number, &what, input)?;
    most.store(
        chunk_sizes(&set).fold(number.size() as u64, u64::saturating_mul).saturating_add(CHECKSUM),
        Relaxed,
    );
    Ok(SelectedDataset { info, set, number, what })
}

/// The sizes of a chunk along each dimension; none if the data is not in chunks.
fn chunk_sizes(set: &Dataset) -> impl Iterator<Item = u64> {
    set.chunks().into_iter().flatten().map(|size| u64::from(size).max(1))
}

/// Decompressed bytes of all chunks, which may extend beyond the data at the edges; 0 if there are none.
fn unpacked(set: &Dataset, number: NumberType) -> u64 {
    if set.chunks().is_none() {
        return 0;
    }
    let along = |(&size, chunk): (&u64, u64)| size.div_ceil(chunk).saturating_mul(chunk);
    set.shape().iter().zip(chunk_sizes(set)).map(along).fold(number.size() as u64, u64::saturating_mul)
}

/// Rows of a chunk.
fn chunk_rows(set: &Dataset) -> u64 {
    chunk_sizes(set).next().unwrap_or(1)
}

impl SelectedDataset {
    /// Reads some complete rows and converts their numbers.
    fn rows<T>(
        &self,
        rows: std::ops::Range<u64>,
        input: &Input<'_>,
        make: impl FnOnce(&[Value]) -> Result<T>,
    ) -> Result<T> {
        let lines = SliceInfoElem::Slice { start: rows.start, end: rows.end, step: 1 };
        let values = SliceInfoElem::Slice { start: 0, end: self.info.columns, step: 1 };
        let selections = if self.info.table { vec![lines, values] } else { vec![lines] };
        let taken = self.taken(&rows);
        input.claim(taken, "chunks")?;
        let slice = self
            .set
            .read_slice::<Value>(&SliceInfo { selections })
            .map_err(|why| error(input, &self.what, why))?;
        let made = match slice.as_slice() {
            Some(numbers) => make(numbers),
            None => make(&slice.iter().copied().collect::<Vec<_>>()),
        }?;
        input.release(taken);
        Ok(made)
    }

    /// Bytes needed by [`Self::rows`]: the chunks with the rows, the stored numbers, and the decoded numbers.
    fn taken(&self, rows: &std::ops::Range<u64>) -> u64 {
        let along = chunk_rows(&self.set);
        let chunks = rows.end.div_ceil(along) - rows.start / along;
        let number = (self.number.size() + size_of::<Value>()) as u64;
        let numbers = (rows.end - rows.start).saturating_mul(self.info.columns).saturating_mul(number);
        let all = unpacked(&self.set, self.number);
        (all / self.info.rows.div_ceil(along).max(1)).saturating_mul(chunks).saturating_add(numbers)
    }
}

/// Reads all columns of some records.
pub(super) fn records(input: &Input<'_>, wanted: &[u64]) -> Result<Records> {
    decoded("HDF5", input, || {
        let chosen = choose(input)?;
        let columns = SheetColumn::names(SheetColumn::elements(chosen.info.columns as usize));
        input.check_records(wanted, chosen.info.rows)?;
        let cells = |numbers: &[Value]| Ok(numbers.iter().map(|value| number_cell(value.0)).collect());
        let row = |&record: &u64| chosen.rows(record..record + 1, input, cells);
        Ok(Records { columns, rows: wanted.iter().map(row).collect::<Result<_>>()? })
    })
}

fn read_dataset(input: &Input<'_>, request: &ColumnRequest<'_>) -> Result<Sheet> {
    let chosen = choose(input)?;
    let SelectedDataset { number, what, .. } = &chosen;
    let (rows, width) = (chosen.info.rows, chosen.info.columns);
    input.claim(SheetColumn::memory_of(width), "the names of the columns")?;
    let mut columns = SheetColumn::elements(width as usize);
    let mut selected = request.resolve(&columns, input)?;
    let mut values = Values::new(number.fits_f32());
    let read = if matches!(request, ColumnRequest::Everything) {
        // Descriptions need only the ranges.
        selected.clear();
        let mut ranges = vec![ColumnStats::default(); width as usize];
        let mut take = |numbers: &[Value]| {
            numbers
                .chunks_exact(width as usize)
                .for_each(|row| row.iter().zip(&mut ranges).for_each(|(value, range)| range.add(value.0)));
            Ok(())
        };
        let read = visit(&chosen, input, &mut take);
        columns.iter_mut().zip(ranges).for_each(|(column, range)| column.range = Some(range));
        read
    } else {
        with_values!(&mut values, values => read_rows(&chosen, &selected, values, input))
    };
    read?;
    let format = format!("HDF5, {what}: {rows} × {width} {}", number.name());
    Ok(Sheet::new(input, format, columns, selected, rows, values))
}

/// Appends the selected columns of all rows.
fn read_rows<T: Real>(
    chosen: &SelectedDataset,
    selected: &[usize],
    values: &mut Vec<T>,
    input: &Input<'_>,
) -> Result<()> {
    let width = chosen.info.columns as usize;
    let all = selected.iter().copied().eq(0..width);
    visit(chosen, input, &mut |numbers| {
        input.reserve(values, numbers.len() / width * selected.len())?;
        let one = |value: &Value| T::from_f64(value.0);
        if all {
            values.extend(numbers.iter().map(one));
        } else {
            values
                .extend(numbers.chunks_exact(width).flat_map(|row| selected.iter().map(|&at| one(&row[at]))));
        }
        Ok(())
    })
}

/// Handles the numbers of some complete rows.
type Take<'t> = dyn FnMut(&[Value]) -> Result<()> + 't;

/// Passes all rows to `take` in complete rows of chunks, so that each chunk is decompressed once.
fn visit(chosen: &SelectedDataset, input: &Input<'_>, take: &mut Take<'_>) -> Result<()> {
    let (rows, width) = (chosen.info.rows, chosen.info.columns);
    let chunk_rows = chunk_rows(&chosen.set);
    let step = (CHUNK / (width * chosen.number.size() as u64) / chunk_rows).max(1).saturating_mul(chunk_rows);
    let mut row = 0;
    while row < rows {
        input.check()?;
        let end = row.saturating_add(step).min(rows);
        chosen.rows(row..end, input, |numbers| {
            if numbers.len() as u64 != (end - row) * width {
                return Err(input
                    .malformed("cut short", format!("rows {row} to {end} have {} numbers", numbers.len())));
            }
            take(numbers)
        })?;
        row = end;
        input.progress.update(row, rows);
    }
    Ok(())
}

// Numbers of a data set, of any element type.

/// A number widened to f64 as it is read.
#[derive(Clone, Copy, Debug)]
struct Value(pub f64);

/// The element type of a data set, or the reason it is not numeric.
fn element(dtype: &Datatype) -> Result<(NumberType, Endian), String> {
    let (number, order) = match dtype {
        Datatype::FixedPoint { size, signed, byte_order } => {
            let number = NumberType::from_kind(if *signed { 'i' } else { 'u' }, u64::from(*size));
            (number.ok_or_else(|| format!("its integers have {size} bytes"))?, byte_order)
        }
        Datatype::FloatingPoint { size, byte_order } => {
            let number = NumberType::from_kind('f', u64::from(*size));
            (
                number.ok_or_else(|| format!("its floats have {size} bytes; store 32- or 64-bit ones"))?,
                byte_order,
            )
        }
        // How h5py stores booleans.
        Datatype::Enum { base, .. } => return element(base),
        Datatype::String { .. } => return Err("it is text".to_owned()),
        Datatype::VarLen { .. } => return Err("its rows differ in length".to_owned()),
        Datatype::Compound { .. } => {
            return Err("its elements are records; store their numbers as columns".to_owned());
        }
        _ => return Err("its elements are not numbers".to_owned()),
    };
    Ok((number, if *order == ByteOrder::BigEndian { Endian::Big } else { Endian::Little }))
}

impl H5Type for Value {
    fn hdf5_type() -> Datatype {
        Datatype::FloatingPoint { size: 8, byte_order: ByteOrder::LittleEndian }
    }

    fn from_bytes(bytes: &[u8], dtype: &Datatype) -> Result<Self, Error> {
        let (number, endian) = element(dtype).map_err(Error::InvalidData)?;
        let bytes = bytes
            .get(..number.size())
            .ok_or_else(|| Error::InvalidData("an element is cut short".to_owned()))?;
        Ok(Self(number.decode_one(endian, bytes)))
    }

    fn element_size(dtype: &Datatype) -> usize {
        element(dtype).map_or(1, |(number, _)| number.size())
    }

    fn decode_vec(raw: &[u8], dtype: &Datatype, count: usize) -> Option<Result<Vec<Self>, Error>> {
        let (number, endian) = element(dtype).ok()?;
        let bytes = raw.get(..count.checked_mul(number.size())?)?;
        let mut values: Vec<f64> = Vec::new();
        number.decode(endian, bytes, &mut values);
        Some(Ok(values.into_iter().map(Self).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::lzf::tests::pack;

    #[test]
    fn chunks_unpack_up_to_their_declared_size() {
        let packed = pack(&[0; 1 << 20]);
        for (most, length) in [(u64::MAX, 1 << 20), (1 << 20, 1 << 20), (68, 68), (0, 0)] {
            assert_eq!(unpack_lzf(&packed, most).unwrap().len(), length);
        }
    }
}
