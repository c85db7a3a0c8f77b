//! A document as a tree: tables may be spread over a file, so both reader and writer hold it whole.
//!
//! Nodes stand in one vector and are linked by their numbers, so that no walk recurses, and dropping
//! a deep document does not either.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, RandomState};

use hashbrown::HashTable;

use crate::model::path::{Path, Step};

/// The number of a node.
pub(super) type Id = u32;

/// The table at the top.
pub(super) const ROOT: Id = 0;

/// How many nodes a tree has numbers for, the root aside.
pub(super) const NODES_MAX: u64 = NONE as u64 - 1;

/// How many bytes a document may have, so that 32 bits number those of its text and of what is
/// decoded from it, which is never longer.
pub(super) const BYTES_MAX: u64 = i32::MAX as u64;

/// No node.
pub(super) const NONE: Id = Id::MAX;

/// What a tree is told about its nodes' content.
pub(super) trait Content {
    /// Whether the node is a table, whose children have keys.
    fn is_table(&self) -> bool;
}

/// Text of a tree, by its place: see [`Tree::text`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    at: u32,
    len: u32,
}

/// A value with its place among the others. A document may have a million: they hold no text.
#[derive(Debug)]
pub(super) struct Node<C> {
    /// The key in the table around it; empty in an array.
    pub key: Part,
    pub content: C,
    /// The byte where the value begins.
    pub at: u32,
    /// How many tables and arrays there are down to this node, itself included if it is one.
    pub depth: u32,
    /// How many children it has.
    pub count: u32,
    pub parent: Id,
    pub first: Id,
    pub next: Id,
    last: Id,
}

/// The nodes of a document.
#[derive(Debug)]
pub(super) struct Tree<'i, C> {
    nodes: Vec<Node<C>>,
    /// The text that is read.
    source: &'i str,
    /// Text that does not stand in the source.
    held: String,
    /// The nodes of tables by table and key; of those with the same key, the last. Each has its hash
    /// beside it, so that growing reads no key again.
    index: HashTable<(u32, Id)>,
    hasher: RandomState,
}

/// A state of a tree to which [`Tree::rewind`] goes back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    nodes: usize,
    held: usize,
    open: Id,
    last: Id,
    count: u32,
}

impl Part {
    /// The number of bytes.
    pub fn len(self) -> usize {
        self.len as usize
    }
}

impl<'i, C: Content> Tree<'i, C> {
    /// A tree of one table, the root, of a document of up to [`BYTES_MAX`].
    pub fn new(source: &'i str, root: C) -> Tree<'i, C> {
        debug_assert!(source.len() as u64 <= BYTES_MAX);
        let root = Node {
            key: Part::default(),
            content: root,
            at: 0,
            depth: 1,
            count: 0,
            parent: NONE,
            first: NONE,
            next: NONE,
            last: NONE,
        };
        Tree {
            nodes: vec![root],
            source,
            held: String::new(),
            index: HashTable::new(),
            hasher: RandomState::new(),
        }
    }

    pub fn node(&self, id: Id) -> &Node<C> {
        &self.nodes[id as usize]
    }

    pub fn node_mut(&mut self, id: Id) -> &mut Node<C> {
        &mut self.nodes[id as usize]
    }

    /// The key of a node in the table around it.
    pub fn key(&self, id: Id) -> &str {
        self.text(self.node(id).key)
    }

    /// The content of every node.
    pub fn contents(&self) -> impl Iterator<Item = &C> {
        self.nodes.iter().map(|node| &node.content)
    }

    /// The number of nodes, without the root.
    pub fn len(&self) -> u64 {
        self.nodes.len() as u64 - 1
    }

    /// The text of a part.
    pub fn text(&self, part: Part) -> &str {
        text(self.source, &self.held, part)
    }

    /// Keeps a text: its place if it stands in the source, and a copy otherwise.
    pub fn keep(&mut self, text: Cow<'i, str>) -> Part {
        if let Cow::Borrowed(text) = text {
            let at = (text.as_ptr() as usize).wrapping_sub(self.source.as_ptr() as usize);
            if at.checked_add(text.len()).is_some_and(|end| end <= self.source.len()) {
                return Part { at: at as u32, len: text.len() as u32 };
            }
        }
        self.keep_with(|held| held.push_str(&text))
    }

    /// Keeps what is written after the text that is held. Callers see to it that all of it has no
    /// more than [`BYTES_MAX`].
    pub fn keep_with(&mut self, write: impl FnOnce(&mut String)) -> Part {
        let start = self.held.len();
        write(&mut self.held);
        let len = (self.held.len() - start) as u32;
        Part { at: (self.source.len() + start) as u32, len }
    }

    /// Adds the last child of a table or an array. Callers see to it that there are no more than
    /// [`NODES_MAX`].
    pub fn add(&mut self, parent: Id, key: Part, content: C, at: usize, depth: u32) -> Id {
        debug_assert!(self.len() < NODES_MAX);
        let id = self.nodes.len() as Id;
        let around = self.node_mut(parent);
        around.count += 1;
        let before = std::mem::replace(&mut around.last, id);
        match before {
            NONE => around.first = id,
            before => self.node_mut(before).next = id,
        }
        self.nodes.push(Node {
            key,
            content,
            at: at as u32,
            depth,
            count: 0,
            parent,
            first: NONE,
            next: NONE,
            last: NONE,
        });
        if self.node(parent).content.is_table() {
            self.enter(id);
        }
        id
    }

    /// Puts a node into the index.
    fn enter(&mut self, id: Id) {
        let Tree { nodes, source, held, index, hasher } = self;
        let of = |id: Id| {
            let node = &nodes[id as usize];
            (node.parent, text(source, held, node.key))
        };
        let key = of(id);
        let hash = hasher.hash_one(key) as u32;
        let is_same = |it: &(u32, Id)| it.0 == hash && of(it.1) == key;
        index.entry(spread(hash), is_same, |it| spread(it.0)).insert((hash, id));
    }

    /// The child of a table that has this key; of several, the last.
    pub fn find(&self, table: Id, key: &str) -> Option<Id> {
        let hash = self.hasher.hash_one((table, key)) as u32;
        let is_it = |(of, id): &(u32, Id)| {
            *of == hash && self.node(*id).parent == table && self.key(*id) == key
        };
        self.index.find(spread(hash), is_it).map(|(_, id)| *id)
    }

    /// The child that was added last.
    pub fn last(&self, id: Id) -> Option<Id> {
        Some(self.node(id).last).filter(|last| *last != NONE)
    }

    /// The children in their order.
    pub fn children(&self, id: Id) -> impl Iterator<Item = Id> {
        let known = |id: Id| Some(id).filter(|id| *id != NONE);
        std::iter::successors(known(self.node(id).first), move |id| known(self.node(*id).next))
    }

    /// The way from the root to a node.
    pub fn path(&self, id: Id) -> Path {
        let mut steps = Vec::new();
        let mut at = id;
        while self.node(at).parent != NONE {
            let parent = self.node(at).parent;
            steps.push(match self.node(parent).content.is_table() {
                true => Step::Key(self.key(at).into()),
                false => Step::Index(
                    self.children(parent).position(|child| child == at).unwrap_or(0) as u64,
                ),
            });
            at = parent;
        }
        steps.reverse();
        Path(steps)
    }

    /// The present state, in which `open` is the innermost node that is not whole.
    pub fn mark(&self, open: Id) -> Mark {
        let Node { last, count, .. } = *self.node(open);
        Mark { nodes: self.nodes.len(), held: self.held.len(), open, last, count }
    }

    /// Drops every node since the mark.
    pub fn rewind(&mut self, mark: Mark) {
        for id in mark.nodes as Id..self.nodes.len() as Id {
            let hash = self.hasher.hash_one((self.node(id).parent, self.key(id))) as u32;
            if let Ok(entry) = self.index.find_entry(spread(hash), |it| it.1 == id) {
                entry.remove();
            }
        }
        self.nodes.truncate(mark.nodes);
        self.held.truncate(mark.held);
        let open = self.node_mut(mark.open);
        (open.last, open.count) = (mark.last, mark.count);
        match mark.last {
            NONE => open.first = NONE,
            last => self.node_mut(last).next = NONE,
        }
    }
}

/// The bits of a hash where the index wants them: at both ends.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

/// The text of a part, whose numbers go on from the source's to those of the held text.
fn text<'t>(source: &'t str, held: &'t str, part: Part) -> &'t str {
    let Part { at, len } = part;
    let (at, len) = (at as usize, len as usize);
    match at.checked_sub(source.len()) {
        Some(at) => &held[at..at + len],
        None => &source[at..at + len],
    }
}
