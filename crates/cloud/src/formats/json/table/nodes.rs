//! The tree of values in points: each array element and object member that has a value in some point.
//!
//! A node is added when a value is stored under it, so empty arrays and objects need no memory.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::formats::limits::{MAX_NESTED_NAME, MAX_NODES};
use crate::formats::{Input, Result};

/// The root: the point itself.
pub(in super::super) const POINT: u32 = 0;
/// No node, or no column.
const NONE: u32 = u32::MAX;

/// The step from a node to a child.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Step<'a> {
    /// The element of an array at this position.
    Item(usize),
    /// The member of an object with this key.
    Member(&'a str),
}

/// The position of a value: its node or, if that does not exist yet, the steps to it.
pub(in super::super) struct Place<'a> {
    node: Cell<u32>,
    above: Option<(&'a Place<'a>, Step<'a>)>,
}

impl Place<'_> {
    /// The node, which exists once a value is stored.
    pub(super) fn get(&self) -> u32 {
        self.node.get()
    }

    /// The place of a node.
    pub fn from_node(node: u32) -> Self {
        Self { node: Cell::new(node), above: None }
    }
}

#[derive(Debug)]
enum Origin {
    /// The point, or a named node outside it.
    Root(Box<str>),
    Item(u32),
    Member(Rc<str>),
}

#[derive(Debug)]
struct Node {
    parent: u32,
    column: u32,
    origin: Origin,
    items: Vec<u32>,
    #[expect(
        clippy::box_collection,
        reason = "most of millions of nodes have none, and a map is six times as large"
    )]
    members: Option<Box<HashMap<Rc<str>, u32>>>,
}

/// All nodes. Column names are built from the path to their node.
#[derive(Debug)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    /// The names of the elements of points, if given elsewhere in the file.
    pub given: Vec<String>,
}

impl Nodes {
    pub fn new() -> Self {
        let mut nodes = Self { nodes: Vec::new(), given: Vec::new() };
        nodes.root("d0");
        nodes
    }

    /// Adds a named node outside the point.
    pub fn root(&mut self, name: &str) -> u32 {
        self.push(NONE, Origin::Root(name.into()))
    }

    fn push(&mut self, parent: u32, origin: Origin) -> u32 {
        self.nodes.push(Node { parent, column: NONE, origin, items: Vec::new(), members: None });
        (self.nodes.len() - 1) as u32
    }

    /// The place one step below another.
    pub fn below<'a>(&self, above: &'a Place<'a>, step: Step<'a>) -> Place<'a> {
        Place { node: Cell::new(self.find(above.node.get(), step)), above: Some((above, step)) }
    }

    fn find(&self, node: u32, step: Step<'_>) -> u32 {
        let Some(node) = self.nodes.get(node as usize) else { return NONE };
        let found = match step {
            Step::Item(at) => node.items.get(at),
            Step::Member(key) => node.members.as_ref().and_then(|members| members.get(key)),
        };
        found.copied().unwrap_or(NONE)
    }

    /// The node of a place, created with its ancestors if needed.
    ///
    /// # Errors
    /// [`FormatError::Unsupported`] for more than [`MAX_NODES`]; those of [`Input::claim`].
    pub fn node(&mut self, place: &Place<'_>, input: &Input<'_>) -> Result<u32> {
        let (NONE, Some((above, step))) = (place.node.get(), place.above) else {
            return Ok(place.node.get());
        };
        let parent = self.node(above, input)?;
        let found = self.find(parent, step);
        let node = if found == NONE { self.add(parent, step, input)? } else { found };
        place.node.set(node);
        Ok(node)
    }

    fn add(&mut self, parent: u32, step: Step<'_>, input: &Input<'_>) -> Result<u32> {
        /// Bytes of a member besides its key: a hash table entry, and the reference count of the key.
        const MEMBER: usize = 80;
        if self.nodes.len() >= MAX_NODES {
            let why = "not supported; write one point per row, as an array or object of numbers";
            return Err(
                input.unsupported(format!("points of more than {MAX_NODES} arrays, objects and values"), why)
            );
        }
        input.reserve_for(&mut self.nodes, 1, NODE_NAMES)?;
        let below = &mut self.nodes[parent as usize];
        Ok(match step {
            Step::Item(at) => {
                if at >= below.items.len() {
                    let more = at + 1 - below.items.len();
                    input.reserve_for(&mut below.items, more, NODE_NAMES)?;
                    below.items.resize(at + 1, NONE);
                }
                let node = self.push(parent, Origin::Item(at as u32));
                self.nodes[parent as usize].items[at] = node;
                node
            }
            Step::Member(key) => {
                input.claim((key.len() + MEMBER) as u64, NODE_NAMES)?;
                let key: Rc<str> = key.into();
                let node = self.push(parent, Origin::Member(Rc::clone(&key)));
                self.nodes[parent as usize].members.get_or_insert_default().insert(key, node);
                node
            }
        })
    }

    /// The outermost array around a node.
    pub fn array(&self, mut node: u32) -> u32 {
        let mut array = NONE;
        while let Some(Node { parent, origin, .. }) = self.nodes.get(node as usize) {
            if let Origin::Item(_) = origin {
                array = *parent;
            }
            node = *parent;
        }
        array
    }

    /// The columns of the elements of an array, in order.
    pub fn elements(&self, array: u32) -> impl Iterator<Item = usize> + '_ {
        self.nodes[array as usize]
            .items
            .iter()
            .filter_map(|&item| self.nodes.get(item as usize).and(self.column(item)))
    }

    pub fn column(&self, node: u32) -> Option<usize> {
        Some(self.nodes[node as usize].column).filter(|&column| column != NONE).map(|column| column as usize)
    }

    pub fn set_column(&mut self, node: u32, column: usize) {
        self.nodes[node as usize].column = column as u32;
    }

    /// The name of a node's column, and whether it is made up.
    pub fn name(&self, node: u32) -> (String, bool) {
        let Node { parent, origin, .. } = &self.nodes[node as usize];
        match origin {
            Origin::Root(name) => (name.to_string(), node == POINT),
            Origin::Item(at) if *parent == POINT => match self.given.get(*at as usize) {
                Some(name) => (name.clone(), false),
                None => (format!("d{at}"), true),
            },
            Origin::Member(key) if *parent == POINT => (key.chars().take(MAX_NESTED_NAME).collect(), false),
            Origin::Item(at) => (self.nested(*parent, &format!("_{at}")), false),
            Origin::Member(key) => (
                self.nested(*parent, &format!(".{}", key.chars().take(MAX_NESTED_NAME).collect::<String>())),
                false,
            ),
        }
    }

    fn nested(&self, parent: u32, more: &str) -> String {
        self.name(parent).0.chars().chain(more.chars()).take(MAX_NESTED_NAME).collect()
    }
}

/// Name of the nodes in memory errors.
const NODE_NAMES: &str = "the names of the values in a point";
