//! What a data set's metadata says twice. Only the newest versions of the format have checksums, so in the others a flipped bit shows where it
//! contradicts the rest.

use std::collections::HashSet;

use hdf5_reader::btree_v1::{BTreeV1Key, BTreeV1Node};
use hdf5_reader::error::Error;
use hdf5_reader::filters::{FILTER_FLETCHER32, FILTER_SHUFFLE};
use hdf5_reader::io::Cursor;
use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::filter_pipeline::FilterDescription;
use hdf5_reader::messages::layout::DataLayout;
use hdf5_reader::{Dataset, Datatype, Hdf5File};

use super::Number;
use crate::formats::FormatError;
use crate::formats::input::Input;

/// Levels of a chunk index at most: each multiplies the chunks by 32 or more.
const MAX_LEVELS: u8 = 12;
/// Bytes of memory for each chunk of an index that is checked.
const OF_CHUNK: u64 = 64;

/// Refuses a data set whose metadata contradicts itself. `what` names it.
pub(super) fn check(file: &Hdf5File, set: &Dataset, number: Number, what: &str, input: &Input<'_>) -> Result<(), FormatError> {
    let failed = |why: Error| match why {
        Error::InvalidData(why) => input.malformed(what, format!("inconsistent metadata ({why}); restore the file from an intact copy")),
        why => super::error(input, what, why),
    };
    is_standard(set, number).map_err(failed)?;
    let header = file.get_or_parse_header(set.address()).map_err(failed)?;
    let elements: u64 = set.shape().iter().fold(1, |product, &size| product.saturating_mul(size));
    let bytes = elements.saturating_mul(number.size() as u64);
    let within = set.max_dims().is_none_or(|most| set.shape().iter().zip(most).all(|(size, most)| size <= most));
    require(within, || format!("shape {:?} exceeds the maximum shape {:?}", set.shape(), set.max_dims().unwrap_or_default())).map_err(failed)?;
    let filters =
        header.messages.iter().find_map(|message| if let HdfMessage::FilterPipeline(pipeline) = message { Some(&pipeline.filters) } else { None });
    for message in &header.messages {
        let HdfMessage::DataLayout(layout) = message else { continue };
        match &layout.layout {
            DataLayout::Compact { data } => require(data.len() as u64 == bytes, || format!("{} bytes of data for {bytes}", data.len())),
            // The first versions of the layout store the number of elements.
            DataLayout::Contiguous { size, .. } => require([bytes, elements].contains(size), || format!("{size} bytes of data for {bytes}")),
            DataLayout::Chunked { address, chunk_indexing: None, .. } => {
                let sizes: Vec<u64> = set.chunks().into_iter().flatten().map(u64::from).collect();
                let grid = set.shape().iter().zip(&sizes).fold(1u64, |product, (size, chunk)| product.saturating_mul(size.div_ceil((*chunk).max(1))));
                let claimed = grid.min(input.size() / 32).saturating_mul(OF_CHUNK);
                input.claim(claimed, "the index of chunks")?;
                let index = Index {
                    file,
                    set,
                    number,
                    filters: filters.map_or(&[], Vec::as_slice),
                    sizes,
                    grid,
                    seen: HashSet::new(),
                    last: None,
                    stored: Vec::new(),
                };
                let checked = index.check(*address);
                input.release(claimed);
                checked
            }
            // Indexes of the newer versions have checksums.
            DataLayout::Chunked { .. } => Ok(()),
        }
        .map_err(failed)?;
    }
    Ok(())
}

fn require(holds: bool, why: impl FnOnce() -> String) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::InvalidData(why())) }
}

/// Whether a number is what its size says: an IEEE 754 float, or an integer without fields of a float.
fn is_standard(set: &Dataset, number: Number) -> Result<(), Error> {
    let raw = set.raw_datatype()?;
    let (head, fields) = raw.split_at_checked(8).unwrap_or((&raw, &[]));
    let bits = 8 * number.size() as u8;
    let standard = match set.dtype() {
        Datatype::FloatingPoint { size, .. } => {
            let (exponent, bias): (u8, u32) = match size {
                2 => (5, 15),
                4 => (8, 127),
                _ => (11, 1023),
            };
            let mantissa = bits - exponent - 1;
            let [a, b, c, d] = bias.to_le_bytes();
            // Little- or big-endian, the first bit of the mantissa implied, the sign in the highest bit.
            head.get(1..4).is_some_and(|head| head[0] & !1 == 0x20 && head[1..] == [bits - 1, 0])
                && fields.starts_with(&[0, 0, bits, 0, mantissa, exponent, 0, mantissa, a, b, c, d])
        }
        Datatype::FixedPoint { .. } => fields.iter().skip(4).all(|&byte| byte == 0),
        _ => true,
    };
    require(standard, || format!("its elements are not those of a {}", number.name()))
}

/// A chunk's size in the file, its filter mask, and its place in the data, in elements.
type Key = (u32, u32, Vec<u64>);

/// An index of chunks without checksums: a tree whose leaves have the chunks in order.
struct Index<'a> {
    file: &'a Hdf5File,
    set: &'a Dataset,
    number: Number,
    filters: &'a [FilterDescription],
    /// The sizes of a chunk along each dimension.
    sizes: Vec<u64>,
    /// Chunks that the shape has.
    grid: u64,
    /// The addresses of all nodes so far.
    seen: HashSet<u64>,
    /// The last chunk so far.
    last: Option<Vec<u64>>,
    /// Where chunks are in the file: address and size.
    stored: Vec<(u64, u64)>,
}

impl Index<'_> {
    fn check(mut self, address: u64) -> Result<(), Error> {
        if Cursor::is_undefined_offset(address, self.file.superblock().offset_size) {
            return Ok(());
        }
        let (_, (size, ..)) = self.node(address, MAX_LEVELS)?;
        require(size == 0, || "its index of chunks ends before the last of them".to_owned())?;
        self.stored.sort_unstable();
        let end = self.file.storage().len();
        let ends = self.stored.iter().skip(1).map(|&(start, _)| start).chain([end]);
        let apart = self.stored.iter().zip(ends).all(|(&(start, size), next)| start.checked_add(size).is_some_and(|stop| stop <= next));
        require(apart, || "its chunks overlap, or reach beyond the file".to_owned())
    }

    /// Checks a node and those below it, and returns its first key and the one after its last.
    fn node(&mut self, address: u64, levels: u8) -> Result<(Key, Key), Error> {
        require(levels > 0 && self.seen.insert(address), || "the chunk index contains a cycle or is too deep".to_owned())?;
        let (offset, length) = (self.file.superblock().offset_size, self.file.superblock().length_size);
        let (rank, pointer) = (self.set.ndim(), usize::from(offset));
        let head = self.file.storage().read_range(address, 8)?;
        let (used, key) = (usize::from(u16::from_le_bytes([head[6], head[7]])), 8 + 8 * (rank + 1));
        let bytes = self.file.storage().read_range(address, 8 + 2 * pointer + used * (key + pointer) + key)?;
        let node = BTreeV1Node::parse(&mut Cursor::new(&bytes), offset, length, Some(rank as u32))?;
        let keys: Vec<Key> = node.keys.into_iter().filter_map(of_chunks).collect();
        require(keys.len() == used + 1, || "the chunk index points to a group index".to_owned())?;
        for (at, &child) in node.children.iter().enumerate() {
            if node.level == 0 {
                self.chunk(&keys[at], child)?;
                continue;
            }
            let (first, after) = self.node(child, levels - 1)?;
            require(keys[at] == first && keys[at + 1] == after, || "two levels of its index of chunks differ".to_owned())?;
        }
        Ok((keys[0].clone(), keys[used].clone()))
    }

    fn chunk(&mut self, (size, mask, place): &Key, address: u64) -> Result<(), Error> {
        let (at, rest) = place.split_at(self.set.ndim());
        let inside = at.iter().zip(self.set.shape()).zip(&self.sizes).all(|((at, size), chunk)| at < size && at.is_multiple_of((*chunk).max(1)));
        let ordered = self.last.as_deref().is_none_or(|last| last < at);
        require(inside && ordered && rest == [0] && (self.stored.len() as u64) < self.grid, || format!("unexpected chunk at {at:?} in its index"))?;
        let raw = self.sizes.iter().fold(self.number.size() as u64, |product, &size| product.saturating_mul(size));
        let active = |id: u16| self.filters.iter().enumerate().any(|(at, filter)| filter.id == id && mask >> at & 1 == 0);
        let packs =
            self.filters.iter().enumerate().any(|(at, filter)| ![FILTER_SHUFFLE, FILTER_FLETCHER32].contains(&filter.id) && mask >> at & 1 == 0);
        let plain = raw + if active(FILTER_FLETCHER32) { super::CHECKSUM } else { 0 };
        require(packs || u64::from(*size) == plain, || format!("its chunk at {at:?} has {size} bytes, not {plain}"))?;
        let skips = self.filters.iter().enumerate().any(|(at, filter)| filter.id == FILTER_SHUFFLE && mask >> at & 1 == 1);
        require(mask.checked_shr(self.filters.len() as u32).unwrap_or(0) == 0 && !(packs && skips), || {
            format!("its chunk at {at:?} skips filters {mask:#b}")
        })?;
        self.last = Some(at.to_vec());
        self.stored.push((address, u64::from(*size)));
        Ok(())
    }
}

fn of_chunks(key: BTreeV1Key) -> Option<Key> {
    match key {
        BTreeV1Key::RawData { chunk_size, filter_mask, offsets } => Some((chunk_size, filter_mask, offsets)),
        BTreeV1Key::Group { .. } => None,
    }
}
