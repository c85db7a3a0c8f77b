//! Measures what is in a file: types, paths, sizes, depth. A sink that counts and keeps nothing, in
//! bounded memory.
//!
//! Values at the same path of their documents are counted together: `$.items[*].price` is one path
//! however many items there are. A map that is used as a dictionary has no such fixed paths; after
//! [`KEYS_MAX`] different keys, further ones are counted together as `.*`.
//!
//! Sizes are those of compact JSON without escapes: a text counts its UTF-8 and two quotes, a value
//! in a map also its key, binary data its Base64.

mod events;
mod kinds;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use crate::model::format::Format;
use crate::model::path::{Path, Step};
use crate::policy::event::TypeBuf;
use crate::policy::fidelity::{Fidelity, LossKind, OnLoss};

pub use kinds::{Kind, Kinds};

/// How many different keys of one map are told apart.
pub const KEYS_MAX: usize = 1000;

/// How many different paths are told apart: about 300 bytes each, 6 MB in total.
pub const PATHS_MAX: usize = 20_000;

/// How many values of one record can be uncounted if it turns out to be broken. Those of a larger
/// record stay counted.
const TAKEN_BACK_MAX: usize = 1 << 16;

/// The values at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathShape {
    /// The path, with `[*]` for the elements of arrays and `.*` for keys that were not told apart.
    pub path: String,
    /// Their types.
    pub kinds: Kinds,
    /// Their total size, including everything in them, in bytes of compact JSON.
    pub bytes: u64,
}

/// The leaders of MARC records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaders {
    /// Records by leader/06, the type: `a` language material, `z` authority, …
    pub types: BTreeMap<char, u64>,
    /// Records by leader/09, the charset: `a` UTF-8, blank MARC-8.
    pub charsets: BTreeMap<char, u64>,
}

/// The lowest and the highest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range<T> {
    /// The lowest.
    pub min: T,
    /// The highest.
    pub max: T,
}

impl<T: Copy + PartialOrd> Range<T> {
    fn widen(range: &mut Option<Range<T>>, value: T) {
        match range {
            None => *range = Some(Range { min: value, max: value }),
            Some(range) if value < range.min => range.min = value,
            Some(range) if value > range.max => range.max = value,
            Some(_) => {}
        }
    }
}

enum Place {
    Root,
    Key(Box<str>),
    OtherKeys,
    Elements,
}

struct Node {
    place: Place,
    parent: u32,
    keys: HashMap<Box<str>, u32>,
    /// The node of array elements, and of keys that are not told apart; 0 if there is none.
    elements: u32,
    others: u32,
    /// The nodes of the first key in this map, and of the key that followed this one last time:
    /// guesses that are nearly always right.
    first: u32,
    next: u32,
    kinds: Kinds,
    bytes: u64,
}

/// One value, to be counted now or when its record is complete.
#[derive(Clone, Copy)]
struct Leaf {
    node: u32,
    kind: Kind,
    bytes: u64,
    measure: Measure,
}

#[derive(Clone, Copy)]
enum Measure {
    None,
    Integer(i128),
    Float(f64),
    /// Bytes of text or binary data.
    Length(u64),
}

struct Open {
    node: u32,
    /// The node of the current value in a map, and of the previous key.
    child: u32,
    /// The size of the current key.
    key_bytes: u64,
    any: bool,
}

/// A sink that measures the shape of documents.
pub struct Shape {
    nodes: Vec<Node>,
    stack: Vec<Open>,
    fidelity: Fidelity,
    documents: u64,
    depth: usize,
    integers: Option<Range<i128>>,
    floats: Option<Range<f64>>,
    texts: Option<Range<u64>>,
    longest_key: u64,
    other_keys: u64,
    types: std::collections::HashMap<TypeBuf, u64>,
    other_types: u64,
    is_marc: bool,
    leaders: Leaders,
    leader: Option<(char, char)>,
    /// Values since the last checkpoint, if there was one.
    journal: Option<Vec<Leaf>>,
}

impl Shape {
    /// Creates an empty shape for documents read from `format`.
    pub fn new(format: Format) -> Shape {
        let mut shape = Shape {
            nodes: Vec::new(),
            stack: Vec::new(),
            fidelity: Fidelity::new(OnLoss::Approximate, format),
            documents: 0,
            depth: 0,
            integers: None,
            floats: None,
            texts: None,
            longest_key: 0,
            other_keys: 0,
            types: std::collections::HashMap::new(),
            other_types: 0,
            is_marc: format.is_marc(),
            leaders: Leaders::default(),
            leader: None,
            journal: None,
        };
        shape.add_node(Place::Root, 0);
        shape
    }

    /// Returns the number of complete documents.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns how deep arrays and maps nest: 0 for a single scalar.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the types of all values.
    pub fn kinds(&self) -> Kinds {
        let mut all = Kinds::default();
        for node in &self.nodes {
            for (sum, count) in all.0.iter_mut().zip(node.kinds.0) {
                *sum += count;
            }
        }
        all
    }

    /// Returns the size of everything in bytes of compact JSON, without line ends.
    pub fn bytes(&self) -> u64 {
        self.nodes.iter().map(|node| node.bytes).sum()
    }

    /// Returns the lowest and the highest integer, among those that fit 127 bits.
    pub fn integers(&self) -> Option<Range<i128>> {
        self.integers
    }

    /// Returns the lowest and the highest finite float.
    pub fn floats(&self) -> Option<Range<f64>> {
        self.floats
    }

    /// Returns the lengths of the shortest and the longest text or binary value, in bytes.
    pub fn lengths(&self) -> Option<Range<u64>> {
        self.texts
    }

    /// Returns the length of the longest key in bytes.
    pub fn longest_key(&self) -> u64 {
        self.longest_key
    }

    /// Returns the number of keys that are not text.
    pub fn keys_not_text(&self) -> u64 {
        self.other_keys
    }

    /// How many types are told apart.
    const TYPES: usize = 10_000;

    /// Returns the types around values (classes, tags) and how often each was seen, most frequent
    /// first, and the number of values whose type is beyond the first ten thousand.
    pub fn types(&self) -> (Vec<(&TypeBuf, u64)>, u64) {
        let mut types: Vec<_> = self.types.iter().map(|(t, count)| (t, *count)).collect();
        types.sort_by(|(one, count), (other, other_count)| {
            other_count
                .cmp(count)
                .then_with(|| (&one.kind, &one.name).cmp(&(&other.kind, &other.name)))
        });
        (types, self.other_types)
    }

    /// Returns the number of keys that occur twice in their map, if [`crate::Options::report`] is
    /// set.
    pub fn duplicate_keys(&self) -> u64 {
        let losses = self.fidelity.losses().iter();
        losses.filter(|loss| loss.kind == LossKind::DuplicateKey).map(|loss| loss.count).sum()
    }

    /// Returns whether there were more keys than are told apart, so that some are counted as `.*`.
    pub fn is_summed_up(&self) -> bool {
        self.nodes.iter().any(|node| node.others != 0)
    }

    /// Returns the leaders, for a format that carries MARC records.
    pub fn leaders(&self) -> Option<&Leaders> {
        self.is_marc.then_some(&self.leaders)
    }

    /// Returns the tags of MARC fields with their frequencies, in order of the tags.
    pub fn tags(&self) -> Vec<(&str, u64)> {
        let fields =
            self.nodes[0].keys.get("fields").map_or(0, |fields| self.node(*fields).elements);
        if !self.is_marc || fields == 0 {
            return Vec::new();
        }
        let mut tags: Vec<(&str, u64)> = self
            .node(fields)
            .keys
            .iter()
            .map(|(tag, node)| (&**tag, self.node(*node).kinds.total()))
            .filter(|(_, count)| *count > 0)
            .collect();
        tags.sort_unstable();
        tags
    }

    /// Returns all paths with their values, largest first.
    pub fn paths(&self) -> Vec<PathShape> {
        // A node comes after its parent, so one pass from the end sums everything.
        let mut sums: Vec<u64> = self.nodes.iter().map(|node| node.bytes).collect();
        for index in (1..self.nodes.len()).rev() {
            sums[self.nodes[index].parent as usize] += sums[index];
        }
        let mut order: Vec<usize> =
            (0..self.nodes.len()).filter(|index| self.nodes[*index].kinds.total() > 0).collect();
        order.sort_by_key(|index| (std::cmp::Reverse(sums[*index]), *index));
        let shape = |index: usize| PathShape {
            path: self.path(index as u32),
            kinds: self.nodes[index].kinds,
            bytes: sums[index],
        };
        order.into_iter().map(shape).collect()
    }

    fn path(&self, mut index: u32) -> String {
        let mut way = Vec::new();
        while index != 0 {
            way.push(index);
            index = self.node(index).parent;
        }
        let mut text = String::from("$");
        for index in way.into_iter().rev() {
            match &self.node(index).place {
                Place::Root => {}
                Place::Elements => text.push_str("[*]"),
                Place::OtherKeys => text.push_str(".*"),
                Place::Key(key) => {
                    let step = Path(vec![Step::Key(key.clone())]).to_string();
                    let _ = write!(text, "{}", &step[1..]);
                }
            }
        }
        text
    }

    fn node(&self, index: u32) -> &Node {
        &self.nodes[index as usize]
    }

    fn add_node(&mut self, place: Place, parent: u32) -> u32 {
        let index = self.nodes.len() as u32;
        self.nodes.push(Node {
            place,
            parent,
            keys: HashMap::new(),
            elements: 0,
            others: 0,
            first: 0,
            next: 0,
            kinds: Kinds::default(),
            bytes: 0,
        });
        index
    }

    /// Returns the node of a key in the map of `parent`, following the key of `before`.
    fn key_node(&mut self, parent: u32, before: u32, key: &str) -> u32 {
        let guess = match before {
            0 => self.node(parent).first,
            before => self.node(before).next,
        };
        if guess != 0
            && self.node(guess).parent == parent
            && matches!(&self.node(guess).place, Place::Key(known) if **known == *key)
        {
            return guess;
        }
        let found = self.node(parent).keys.get(key).copied();
        let node = match found {
            Some(node) => node,
            None if self.node(parent).keys.len() < KEYS_MAX && self.nodes.len() < PATHS_MAX => {
                let node = self.add_node(Place::Key(key.into()), parent);
                self.nodes[parent as usize].keys.insert(key.into(), node);
                node
            }
            None if self.node(parent).others != 0 => self.node(parent).others,
            None => {
                let node = self.add_node(Place::OtherKeys, parent);
                self.nodes[parent as usize].others = node;
                node
            }
        };
        match before {
            0 => self.nodes[parent as usize].first = node,
            before => self.nodes[before as usize].next = node,
        }
        node
    }

    /// Returns the node of the next value, and the bytes it costs besides its own size.
    fn place(&mut self) -> (u32, u64) {
        let Some(open) = self.stack.last_mut() else { return (0, 0) };
        let comma = u64::from(std::mem::replace(&mut open.any, true));
        if open.child != 0 {
            return (open.child, comma + std::mem::take(&mut open.key_bytes));
        }
        let parent = open.node;
        let elements = match self.node(parent).elements {
            0 => {
                let node = self.add_node(Place::Elements, parent);
                self.nodes[parent as usize].elements = node;
                node
            }
            node => node,
        };
        (elements, comma)
    }

    #[inline]
    fn leaf(&mut self, kind: Kind, bytes: u64, measure: Measure) -> u32 {
        let (node, more) = self.place();
        let leaf = Leaf { node, kind, bytes: bytes + more, measure };
        match &mut self.journal {
            Some(journal) if journal.len() < TAKEN_BACK_MAX => journal.push(leaf),
            Some(_) => {
                self.settle();
                self.count(leaf);
            }
            None => self.count(leaf),
        }
        node
    }

    fn count(&mut self, leaf: Leaf) {
        let node = &mut self.nodes[leaf.node as usize];
        node.kinds.0[leaf.kind as usize] += 1;
        node.bytes += leaf.bytes;
        match leaf.measure {
            Measure::None => {}
            Measure::Integer(value) => Range::widen(&mut self.integers, value),
            Measure::Float(value) => Range::widen(&mut self.floats, value),
            Measure::Length(value) => Range::widen(&mut self.texts, value),
        }
    }

    /// Counts the values in the journal.
    fn settle(&mut self) {
        if let Some(mut journal) = self.journal.take() {
            for leaf in journal.drain(..) {
                self.count(leaf);
            }
            self.journal = Some(journal);
        }
    }

    fn begin(&mut self, kind: Kind) {
        let node = self.leaf(kind, 2, Measure::None);
        self.stack.push(Open { node, child: 0, key_bytes: 0, any: false });
        self.depth = self.depth.max(self.stack.len());
    }

    fn key_at(&mut self, key: &str) {
        let Some(open) = self.stack.last() else { return };
        let (parent, before) = (open.node, open.child);
        let child = self.key_node(parent, before, key);
        let bytes = key.len() as u64;
        self.longest_key = self.longest_key.max(bytes);
        if let Some(open) = self.stack.last_mut() {
            (open.child, open.key_bytes) = (child, bytes + 3);
        }
    }
}
