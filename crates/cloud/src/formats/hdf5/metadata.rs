//! Reads a file's metadata: the data sets of its groups, and contradictions.

use std::collections::HashSet;

use hdf5_reader::btree_v1::{BTreeV1Key, BTreeV1Node};
use hdf5_reader::error::Error;
use hdf5_reader::filters::{FILTER_FLETCHER32, FILTER_SHUFFLE};
use hdf5_reader::group::Group;
use hdf5_reader::io::Cursor;
use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::filter_pipeline::FilterDescription;
use hdf5_reader::messages::layout::DataLayout;
use hdf5_reader::{Dataset, Datatype, Hdf5File};

use super::{NumberType, error, inspect};
use crate::formats::limits::{MAX_HDF5_DATASETS, MAX_HDF5_DEPTH, MAX_HDF5_LINKS, MAX_LISTED_AGAIN};
use crate::formats::{DatasetInfo, DatasetState, FormatError, Input, Result, printable};

/// The data sets of a file.
#[derive(Default)]
pub(super) struct DatasetList {
    pub datasets: Vec<DatasetInfo>,
    /// The handle of each, if it could be opened.
    pub handles: Vec<Option<Dataset>>,
    pub states: Vec<DatasetState>,
    /// Whether the list is incomplete.
    pub truncated: bool,
}

/// Lists the data sets below the root, at most [`MAX_HDF5_DATASETS`].
pub(super) fn list(file: &Hdf5File, input: &Input<'_>) -> Result<DatasetList> {
    let root = file.root_group().map_err(|why| error(input, "HDF5", why))?;
    let mut walk = GroupWalker {
        file,
        input,
        above: Vec::new(),
        seen: HashSet::from([root.address()]),
        again: 0,
        found: DatasetList::default(),
    };
    walk.group(&root, "")?;
    Ok(walk.found)
}

/// The name of a group in errors.
fn named(path: &str) -> String {
    if path.is_empty() { "the root group".to_owned() } else { format!("group `{}`", printable(path)) }
}

struct GroupWalker<'w, 'i> {
    file: &'w Hdf5File,
    input: &'w Input<'i>,
    /// The addresses of the current group and those around it.
    above: Vec<u64>,
    /// The addresses of all groups found so far.
    seen: HashSet<u64>,
    /// Number of links to groups that were already listed or not followed.
    again: usize,
    found: DatasetList,
}

impl GroupWalker<'_, '_> {
    fn group(&mut self, group: &Group, path: &str) -> Result<()> {
        self.above.push(group.address());
        self.members(group, path)?;
        self.above.pop();
        Ok(())
    }

    fn members(&mut self, group: &Group, path: &str) -> Result<()> {
        let sorted = self.header(group, path)?;
        let (groups, sets) = group.member_names().map_err(|why| error(self.input, "HDF5", why))?;
        if sorted && ![&groups, &sets].iter().all(|names| names.is_sorted_by(|a, b| a < b)) {
            return Err(self
                .input
                .malformed(named(path), "its names are not sorted; restore the file from an intact copy"));
        }
        for name in sets {
            self.input.check()?;
            if self.found.datasets.len() >= MAX_HDF5_DATASETS {
                self.found.truncated = true;
                return Ok(());
            }
            self.set(group, &name, format!("{path}{name}"))?;
        }
        for name in groups {
            self.input.check()?;
            if self.found.truncated {
                return Ok(());
            }
            let path = format!("{path}{name}/");
            // An unreadable group is an error, because its content would silently be missing from the list.
            let inner = group.group(&name).map_err(|why| error(self.input, &named(&path), why))?;
            // Links between groups may form a cycle.
            let followed = self.above.len() < MAX_HDF5_DEPTH && !self.above.contains(&inner.address());
            // The file size limits the number of groups, but not the number of paths to them: 14 groups of 4
            // links give 268 million paths.
            self.again += usize::from(!self.seen.insert(inner.address()) || !followed);
            if self.again > MAX_LISTED_AGAIN {
                let why =
                    format!("each is listed under every name, which exceeds the limit of {MAX_LISTED_AGAIN}");
                return Err(self.input.unsupported("groups that are linked more than once", why));
            }
            if followed {
                self.group(&inner, &path)?;
            }
        }
        Ok(())
    }

    /// Checks a group's header before the decoder reads its members. Returns whether their names must be
    /// sorted, as in a symbol table.
    fn header(&self, group: &Group, path: &str) -> Result<bool> {
        let header =
            self.file.get_or_parse_header(group.address()).map_err(|why| error(self.input, "HDF5", why))?;
        // The decoder treats any object with one group message as a group.
        if header
            .messages
            .iter()
            .any(|message| matches!(message, HdfMessage::Dataspace(_) | HdfMessage::DataLayout(_)))
        {
            return Err(self
                .input
                .malformed(named(path), "its header describes both a group and a data set"));
        }
        let links = header.messages.iter().filter(|message| matches!(message, HdfMessage::Link(_))).count();
        if links > MAX_HDF5_LINKS {
            let why = format!(
                "at most {MAX_HDF5_LINKS} are supported, because each look-up scans all of them; write it \
                 with h5repack IN OUT"
            );
            return Err(self.input.unsupported(format!("{}: {links} links in its header", named(path)), why));
        }
        Ok(header.messages.iter().any(|message| matches!(message, HdfMessage::SymbolTable(_))))
    }

    fn set(&mut self, group: &Group, name: &str, path: String) -> Result<()> {
        let (entry, set, state) = match group.dataset(name) {
            Ok(set) => {
                let (entry, state) = inspect(path, &set);
                (entry, Some(set), state)
            }
            Err(why) => {
                let (unread, state) = match error(self.input, "data set", why) {
                    FormatError::Malformed { why, .. } => (why, DatasetState::Damaged),
                    FormatError::Unsupported { why, .. } => (why, DatasetState::Unread),
                    why => return Err(why),
                };
                (DatasetInfo::unread(path, unread), None, state)
            }
        };
        self.found.datasets.push(entry);
        self.found.handles.push(set);
        self.found.states.push(state);
        Ok(())
    }
}

// Cross-checks redundant metadata of a data set. Only the newest versions of the format have checksums. In
// older ones, a flipped bit can only be detected by a contradiction.

/// Maximum levels of a chunk index; each multiplies the chunks by 32 or more.
const MAX_LEVELS: u8 = 12;
/// Memory per chunk while checking an index, in bytes.
const CHUNK_MEMORY: u64 = 64;

/// Rejects a data set whose metadata contradicts itself. `what` names it.
pub(super) fn check(
    file: &Hdf5File,
    set: &Dataset,
    number: NumberType,
    what: &str,
    input: &Input<'_>,
) -> Result<()> {
    let failed = |why: Error| match why {
        Error::InvalidData(why) => input
            .malformed(what, format!("inconsistent metadata ({why}); restore the file from an intact copy")),
        why => super::error(input, what, why),
    };
    is_standard(set, number).map_err(failed)?;
    let header = file.get_or_parse_header(set.address()).map_err(failed)?;
    let elements: u64 = set.shape().iter().fold(1, |product, &size| product.saturating_mul(size));
    let bytes = elements.saturating_mul(number.size() as u64);
    let within =
        set.max_dims().is_none_or(|most| set.shape().iter().zip(most).all(|(size, most)| size <= most));
    require(within, || {
        format!("shape {:?} exceeds the maximum shape {:?}", set.shape(), set.max_dims().unwrap_or_default())
    })
    .map_err(failed)?;
    let filters = header.messages.iter().find_map(|message| {
        if let HdfMessage::FilterPipeline(pipeline) = message { Some(&pipeline.filters) } else { None }
    });
    for message in &header.messages {
        let HdfMessage::DataLayout(layout) = message else { continue };
        match &layout.layout {
            DataLayout::Compact { data } => {
                require(data.len() as u64 == bytes, || format!("{} bytes of data for {bytes}", data.len()))
            }
            // The first versions of the layout store the number of elements.
            DataLayout::Contiguous { size, .. } => {
                require([bytes, elements].contains(size), || format!("{size} bytes of data for {bytes}"))
            }
            DataLayout::Chunked { address, chunk_indexing: None, .. } => {
                let sizes: Vec<u64> = set.chunks().into_iter().flatten().map(u64::from).collect();
                let grid = set.shape().iter().zip(&sizes).fold(1u64, |product, (size, chunk)| {
                    product.saturating_mul(size.div_ceil((*chunk).max(1)))
                });
                let claimed = grid.min(input.size / 32).saturating_mul(CHUNK_MEMORY);
                input.claim(claimed, "the chunk index")?;
                let index = ChunkIndex {
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
            // Newer versions of the index have checksums.
            DataLayout::Chunked { .. } => Ok(()),
        }
        .map_err(failed)?;
    }
    Ok(())
}

fn require(holds: bool, why: impl FnOnce() -> String) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::InvalidData(why())) }
}

/// Whether a number type is standard: an IEEE 754 float, or an integer without float fields.
fn is_standard(set: &Dataset, number: NumberType) -> Result<(), Error> {
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
    require(standard, || format!("its elements are not standard {}", number.name()))
}

/// A chunk's size in the file, its filter mask, and its position in the data, in elements.
type Key = (u32, u32, Vec<u64>);

/// A chunk index without checksums: a tree with the chunks in order in its leaves.
struct ChunkIndex<'a> {
    file: &'a Hdf5File,
    set: &'a Dataset,
    number: NumberType,
    filters: &'a [FilterDescription],
    /// The sizes of a chunk along each dimension.
    sizes: Vec<u64>,
    /// Number of chunks in the shape.
    grid: u64,
    /// The addresses of all nodes so far.
    seen: HashSet<u64>,
    /// The last chunk so far.
    last: Option<Vec<u64>>,
    /// Locations of chunks in the file: address and size.
    stored: Vec<(u64, u64)>,
}

impl ChunkIndex<'_> {
    fn check(mut self, address: u64) -> Result<(), Error> {
        if Cursor::is_undefined_offset(address, self.file.superblock().offset_size) {
            return Ok(());
        }
        let (_, (size, ..)) = self.node(address, MAX_LEVELS)?;
        require(size == 0, || "its chunk index ends before the last chunk".to_owned())?;
        self.stored.sort_unstable();
        let end = self.file.storage().len();
        let ends = self.stored.iter().skip(1).map(|&(start, _)| start).chain([end]);
        let apart = self
            .stored
            .iter()
            .zip(ends)
            .all(|(&(start, size), next)| start.checked_add(size).is_some_and(|stop| stop <= next));
        require(apart, || "its chunks overlap, or reach beyond the file".to_owned())
    }

    /// Checks a node and its descendants; returns its first key and the one after its last.
    fn node(&mut self, address: u64, levels: u8) -> Result<(Key, Key), Error> {
        require(levels > 0 && self.seen.insert(address), || {
            "the chunk index contains a cycle or is too deep".to_owned()
        })?;
        let (offset, length) = (self.file.superblock().offset_size, self.file.superblock().length_size);
        let (rank, pointer) = (self.set.ndim(), usize::from(offset));
        let head = self.file.storage().read_range(address, 8)?;
        let (used, key) = (usize::from(u16::from_le_bytes([head[6], head[7]])), 8 + 8 * (rank + 1));
        let bytes =
            self.file.storage().read_range(address, 8 + 2 * pointer + used * (key + pointer) + key)?;
        let node = BTreeV1Node::parse(&mut Cursor::new(&bytes), offset, length, Some(rank as u32))?;
        let keys: Vec<Key> = node.keys.into_iter().filter_map(chunk_key).collect();
        require(keys.len() == used + 1, || "the chunk index points to a group index".to_owned())?;
        for (at, &child) in node.children.iter().enumerate() {
            if node.level == 0 {
                self.chunk(&keys[at], child)?;
                continue;
            }
            let (first, after) = self.node(child, levels - 1)?;
            require(keys[at] == first && keys[at + 1] == after, || {
                "two levels of its chunk index differ".to_owned()
            })?;
        }
        Ok((keys[0].clone(), keys[used].clone()))
    }

    fn chunk(&mut self, (size, mask, place): &Key, address: u64) -> Result<(), Error> {
        let (at, rest) = place.split_at(self.set.ndim());
        let inside = at
            .iter()
            .zip(self.set.shape())
            .zip(&self.sizes)
            .all(|((at, size), chunk)| at < size && at.is_multiple_of((*chunk).max(1)));
        let ordered = self.last.as_deref().is_none_or(|last| last < at);
        require(inside && ordered && rest == [0] && (self.stored.len() as u64) < self.grid, || {
            format!("unexpected chunk at {at:?} in its index")
        })?;
        let raw =
            self.sizes.iter().fold(self.number.size() as u64, |product, &size| product.saturating_mul(size));
        // Whether one of these filters is skipped or used by this chunk.
        let any = |skipped: bool, is: &dyn Fn(u16) -> bool| {
            self.filters
                .iter()
                .enumerate()
                .any(|(at, filter)| is(filter.id) && (mask >> at & 1 == 1) == skipped)
        };
        let packs = any(false, &|id| ![FILTER_SHUFFLE, FILTER_FLETCHER32].contains(&id));
        let plain = raw + if any(false, &|id| id == FILTER_FLETCHER32) { super::CHECKSUM } else { 0 };
        require(packs || u64::from(*size) == plain, || {
            format!("its chunk at {at:?} has {size} bytes, not {plain}")
        })?;
        let skips = any(true, &|id| id == FILTER_SHUFFLE);
        require(mask.checked_shr(self.filters.len() as u32).unwrap_or(0) == 0 && !(packs && skips), || {
            format!("its chunk at {at:?} skips filters {mask:#b}")
        })?;
        self.last = Some(at.to_vec());
        self.stored.push((address, u64::from(*size)));
        Ok(())
    }
}

fn chunk_key(key: BTreeV1Key) -> Option<Key> {
    match key {
        BTreeV1Key::RawData { chunk_size, filter_mask, offsets } => Some((chunk_size, filter_mask, offsets)),
        BTreeV1Key::Group { .. } => None,
    }
}
