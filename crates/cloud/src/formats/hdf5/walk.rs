//! The walk over all groups of a file, which lists its data sets.

use std::collections::HashSet;

use hdf5_reader::group::Group;
use hdf5_reader::messages::HdfMessage;
use hdf5_reader::{Dataset, Hdf5File};

use super::super::FormatError;
use super::super::input::{Input, printable};
use super::super::limits::{MAX_DATA_SETS, MAX_HDF5_DEPTH, MAX_HDF5_LINKS, MAX_LISTED_AGAIN};
use super::super::parts::{Entry, State};
use super::{error, part};

/// The data sets of a file.
#[derive(Default)]
pub(super) struct Found {
    pub parts: Vec<Entry>,
    /// The handle of each, if it could be opened.
    pub sets: Vec<Option<Dataset>>,
    pub states: Vec<State>,
    /// Whether there are more than are listed.
    pub more: bool,
}

/// Lists the data sets below the root, at most [`MAX_DATA_SETS`].
pub(super) fn list(file: &Hdf5File, input: &Input<'_>) -> Result<Found, FormatError> {
    let root = file.root_group().map_err(|why| error(input, "HDF5", why))?;
    let mut walk = Walk { file, input, above: Vec::new(), seen: HashSet::from([root.address()]), again: 0, found: Found::default() };
    walk.group(&root, "")?;
    Ok(walk.found)
}

struct Walk<'w, 'i> {
    file: &'w Hdf5File,
    input: &'w Input<'i>,
    /// The addresses of the groups around the current one, and its own.
    above: Vec<u64>,
    /// The addresses of all groups so far.
    seen: HashSet<u64>,
    /// How often a link led to a group that was not new, or was not followed.
    again: usize,
    found: Found,
}

impl Walk<'_, '_> {
    fn group(&mut self, group: &Group, path: &str) -> Result<(), FormatError> {
        self.above.push(group.address());
        self.members(group, path)?;
        self.above.pop();
        Ok(())
    }

    fn members(&mut self, group: &Group, path: &str) -> Result<(), FormatError> {
        let sorted = self.header(group, path)?;
        let (groups, sets) = group.member_names().map_err(|why| error(self.input, "HDF5", why))?;
        if sorted && ![&groups, &sets].iter().all(|names| names.is_sorted_by(|a, b| a < b)) {
            let what = if path.is_empty() { "the root group".to_owned() } else { format!("group `{}`", printable(path)) };
            return Err(self.input.malformed(what, "its names are not sorted; restore the file from an intact copy"));
        }
        for name in sets {
            self.input.check()?;
            if self.found.parts.len() >= MAX_DATA_SETS {
                self.found.more = true;
                return Ok(());
            }
            self.set(group, &name, format!("{path}{name}"))?;
        }
        for name in groups {
            self.input.check()?;
            if self.found.more {
                return Ok(());
            }
            let path = format!("{path}{name}/");
            // What is in it would be missing from the list without a word.
            let inner = group.group(&name).map_err(|why| error(self.input, &format!("group `{}`", printable(&path)), why))?;
            // Links between groups may form a cycle.
            let followed = self.above.len() < MAX_HDF5_DEPTH && !self.above.contains(&inner.address());
            // Groups are as many as the file has room for, but ways to them multiply: 14 groups of 4 links are 268 million.
            self.again += usize::from(!self.seen.insert(inner.address()) || !followed);
            if self.again > MAX_LISTED_AGAIN {
                let why = format!("each is listed under all its names, at most {MAX_LISTED_AGAIN} in all, and there are more");
                return Err(self.input.unsupported("groups that are linked more than once", why));
            }
            if followed {
                self.group(&inner, &path)?;
            }
        }
        Ok(())
    }

    /// Checks the header of a group before the decoder looks for its members, and returns whether their names are sorted, as in a symbol table.
    fn header(&self, group: &Group, path: &str) -> Result<bool, FormatError> {
        let header = self.file.get_or_parse_header(group.address()).map_err(|why| error(self.input, "HDF5", why))?;
        let what = || if path.is_empty() { "the root group".to_owned() } else { format!("group `{}`", printable(path)) };
        // The decoder takes for a group what has one message of a group.
        if header.messages.iter().any(|message| matches!(message, HdfMessage::Dataspace(_) | HdfMessage::DataLayout(_))) {
            return Err(self.input.malformed(what(), "its header is also that of a data set"));
        }
        let links = header.messages.iter().filter(|message| matches!(message, HdfMessage::Link(_))).count();
        if links > MAX_HDF5_LINKS {
            let why = format!("the most that are read are {MAX_HDF5_LINKS}, as each is looked for among all; write it with h5repack IN OUT");
            return Err(self.input.unsupported(format!("{}: {links} links in its header", what()), why));
        }
        Ok(header.messages.iter().any(|message| matches!(message, HdfMessage::SymbolTable(_))))
    }

    fn set(&mut self, group: &Group, name: &str, path: String) -> Result<(), FormatError> {
        let (entry, set, state) = match group.dataset(name) {
            Ok(set) => {
                let (entry, state) = part(path, &set);
                (entry, Some(set), state)
            }
            Err(why) => {
                let (unread, state) = match error(self.input, "data set", why) {
                    FormatError::Malformed { why, .. } => (why, State::Damaged),
                    FormatError::Unsupported { why, .. } => (why, State::Unread),
                    why => return Err(why),
                };
                (Entry { name: path, rows: 0, columns: 0, table: false, about: String::new(), unread: Some(unread) }, None, state)
            }
        };
        self.found.parts.push(entry);
        self.found.sets.push(set);
        self.found.states.push(state);
        Ok(())
    }
}
